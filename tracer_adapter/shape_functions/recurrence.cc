// tracer_adapter/shape_functions/recurrence.cc - LSTM, GRU and plain recurrent
// networks: whole ones, one step of them, and oneDNN's layer.
//
// The weights of a layer and direction, for inputs of I and states of H values
// and g gates (4 of an LSTM, 3 of a GRU, 1 of a plain one):
//
//   w_ih (g H, I)   w_hh (g H, H)   b_ih (g H)   b_hh (g H)
//
// An LSTM with projections has w_hr (P, H) as well, and hidden states of P
// values.  The kernels trust these sizes.
#include <ATen/core/dispatch/Dispatcher.h>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

void require_sizes(const RuleCall& call, const std::string& what,
                   const Tensor& t, const Dims& wanted) {
  bool fits = t.defined() && t.dim() == static_cast<int64_t>(wanted.size());
  for (size_t d = 0; fits && d < wanted.size(); ++d)
    fits = expect(t.sym_size(static_cast<int64_t>(d)).sym_eq(wanted[d]));
  TORCH_CHECK(fits, op_name(call), ": ", what, " has sizes ",
              t.defined() ? to_text(t.sym_sizes()) : "of no tensor",
              " where the others need ", to_text(wanted));
}

void require_dtype(const RuleCall& call, const std::string& what,
                   const Tensor& t, ScalarType wanted) {
  TORCH_CHECK(t.defined() && t.scalar_type() == wanted, op_name(call), ": ",
              what, " is not a tensor of the input's dtype, ", wanted);
}

int64_t gates_of(const RuleCall& call) {
  const std::string_view name = op_name(call);
  return name.starts_with("lstm") ? 4 : name.starts_with("gru") ? 3 : 1;
}

// Whether b_ih and b_hh stand behind w_ih and w_hh, and w_hr at the end.
struct LayerWeights {
  bool biases;
  bool projection;
  size_t count() const { return 2 + (biases ? 2 : 0) + (projection ? 1 : 0); }
};

// `hidden`: of the hidden states, `cell`: of the cells (the same but where an
// LSTM projects).
void require_weights(const RuleCall& call, const LayerWeights& layer,
                     std::span<const Tensor> weights, const SymInt& input,
                     const SymInt& hidden, const SymInt& cell) {
  const SymInt gates = times(gates_of(call), cell);
  require_sizes(call, "w_ih", weights[0], {gates, input});
  require_sizes(call, "w_hh", weights[1], {gates, hidden});
  if (layer.biases) {
    require_sizes(call, "b_ih", weights[2], {gates});
    require_sizes(call, "b_hh", weights[3], {gates});
  }
  if (layer.projection)
    require_sizes(call, "w_hr", weights[layer.count() - 1], {hidden, cell});
}

// (input, hidden, params, biases, layers, dropout, train, bidirectional,
// batch_first): lstm's hidden is a list of two.
bool recurrent(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  const bool two_states = call.args[1].isTensorList() || call.args[1].isList();
  const std::vector<Tensor> states =
      two_states ? to_tensors(call.args[1]) : std::vector{call.tensor(1)};
  if (states.empty() || !call.args[7].isBool() || !call.args[8].isBool()) {
    return false;  // packed sequences
  }
  const int64_t directions = call.args[7].toBool() ? 2 : 1;
  const bool batch_first = call.args[8].toBool();
  TORCH_CHECK(input.dim() == 3, "RNN: Expected input to be 3-D, got ",
              input.dim(), "-D");
  TORCH_CHECK(states.size() == (gates_of(call) == 4 ? 2u : 1u), op_name(call),
              " expects ", gates_of(call) == 4 ? 2 : 1, " hidden states, got ",
              states.size());
  const Tensor& hidden = states[0];
  TORCH_CHECK(hidden.defined() && hidden.dim() == 3,
              "RNN: Expected hidden to be 3-D, got ",
              hidden.defined() ? hidden.dim() : 0, "-D");
  const int64_t batch_dim = batch_first ? 0 : 1;
  PROVISO_REQUIRE(input.sym_size(batch_dim).sym_eq(hidden.sym_size(1)),
                  "Expected hidden size (", hidden.sym_size(0), ", ",
                  input.sym_size(batch_dim), ", ", hidden.sym_size(2),
                  "), got ", to_text(hidden.sym_sizes()));
  const std::vector<Tensor> weights = to_tensors(call.args[2]);
  const Tensor& cell_state = states.back();
  TORCH_CHECK(cell_state.defined() && cell_state.dim() == 3, op_name(call),
              ": the cells must be a tensor of 3 dimensions");
  const SymInt cells = cell_state.sym_size(2);
  const int64_t layers = call.args[4].toInt();
  TORCH_CHECK(layers >= 1 && layers <= static_cast<int64_t>(weights.size()),
              op_name(call), ": ", weights.size(), " weights for ", layers,
              " layers");
  const size_t parts = static_cast<size_t>(layers * directions);
  LayerWeights layer{.biases = call.args[3].toBool(), .projection = false};
  layer.projection =
      two_states && weights.size() == parts * (layer.count() + 1);
  TORCH_CHECK(weights.size() == parts * layer.count(), op_name(call), ": ",
              weights.size(), " weights for ", layers, " layers of ",
              directions, " directions; each takes ", layer.count());
  PROVISO_REQUIRE(input.sym_size(2).sym_eq(weights[0].sym_size(-1)),
                  "input.size(-1) must be equal to input_size. Expected ",
                  weights[0].sym_size(-1), ", got ", input.sym_size(2));
  for (const Tensor& weight : weights)
    require_dtype(call, "a weight", weight, input.scalar_type());
  for (const Tensor& state : states)
    require_dtype(call, "a state", state, input.scalar_type());
  const SymInt width = times(hidden.sym_size(2), directions);
  for (size_t i = 0; i < weights.size(); i += layer.count())
    require_weights(call, layer, std::span(weights).subspan(i, layer.count()),
                    i < layer.count() * static_cast<size_t>(directions)
                        ? input.sym_size(2)
                        : width,
                    hidden.sym_size(2), cells);
  const SymInt rows(layers * directions);
  require_sizes(call, "a hidden state", hidden,
                {rows, input.sym_size(batch_dim), hidden.sym_size(2)});
  require_sizes(call, "a cell state", cell_state,
                {rows, input.sym_size(batch_dim), cells});
  Dims sizes = sizes_of(input);
  sizes[2] = width;
  Dims strides = contiguous_strides(sizes);
  if (batch_first) {  // computed by time, then seen by batch
    const Dims by_time{sizes[1], sizes[0], sizes[2]};
    strides = contiguous_strides(by_time);
    std::swap(strides[0], strides[1]);
  }
  call.returns(make_fake(sizes, strides, input.scalar_type(), input.device()));
  for (const Tensor& state : states)
    call.returns(fresh(sizes_of(state), state.scalar_type(), state.device()));
  return true;
}

// (input, states, w_ih, w_hh, b_ih, b_hh): new states like those given.
bool recurrent_cell(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  const std::vector<Tensor> states = call.args[1].isTensor()
                                         ? std::vector{call.tensor(1)}
                                         : to_tensors(call.args[1]);
  TORCH_CHECK(states.size() == (gates_of(call) == 4 ? 2u : 1u) &&
                  states[0].defined() && states[0].dim() == 2 &&
                  input.dim() == 2,
              op_name(call), ": an input and states of 2 dimensions are taken");
  const SymInt batch = input.sym_size(0), hidden = states[0].sym_size(1);
  for (const Tensor& state : states)
    require_sizes(call, "a state", state, {batch, hidden});
  const Tensor b_ih = call.optional_tensor(4), b_hh = call.optional_tensor(5);
  require_weights(call, {.biases = false, .projection = false},
                  std::vector{call.tensor(2), call.tensor(3)},
                  input.sym_size(1), hidden, hidden);
  const Dims gates{times(gates_of(call), hidden)};
  if (b_ih.defined()) require_sizes(call, "b_ih", b_ih, gates);
  if (b_hh.defined()) require_sizes(call, "b_hh", b_hh, gates);
  for (const Tensor& state : states)
    call.returns(fresh(sizes_of(state), state.scalar_type(), state.device()));
  return true;
}

// Of a tensor of which the layout is known: oneDNN reads memory as if dense.
void require_dense(const RuleCall& call, const std::string& what,
                   const Tensor& t) {
  for (const SymInt& number : strides_of(t))
    if (!constant(number)) return;
  for (const SymInt& size : sizes_of(t))
    if (!constant(size)) return;
  TORCH_CHECK(is_contiguous(t), op_name(call), ": ", what,
              " must be contiguous");
}

// One layer and direction of an LSTM as torch's decompositions call it:
// (input, w_ih, w_hh, b_ih, b_hh, hidden, cell, reverse, batch_sizes, mode,
// hidden_size, num_layers, has_biases, bidirectional, batch_first, train).
// Of other calls the kernel makes what torch's own meta function does not say.
bool mkldnn_rnn_layer(RuleCall& call) {
  constexpr int64_t kLstm = 2, kGates = 4;
  const auto is = [&](const char* name, int64_t wanted, const char* why) {
    const IValue& value = arg(call, name);
    const int64_t given = value.isBool() ? value.toBool() : value.toInt();
    TORCH_CHECK(given == wanted, op_name(call), ": ", name, " is ", given, "; ",
                wanted, why, " is taken");
  };
  is("mode", kLstm, ", an LSTM,");
  is("num_layers", 1, "");
  is("bidirectional", 0, "");
  is("batch_first", 0, "");
  is("train", 0, "");
  TORCH_CHECK(call.sym_ints(8).empty(), op_name(call),
              ": batch_sizes must be empty");
  const Tensor& input = call.tensor(0);
  require_rank(input, 3, 3, "mkldnn_rnn_layer");
  const SymInt hidden = call.sym_int(10);
  PROVISO_REQUIRE(hidden.sym_ge(1), op_name(call), ": hidden_size is ", hidden);
  for (const SymInt& size : sizes_of(input))
    TORCH_CHECK(!known_zero(size), op_name(call), ": the input is empty");
  const SymInt gates = times(kGates, hidden);
  const Dims weights[] = {
      {gates, input.sym_size(2)}, {gates, hidden}, {gates}, {gates}};
  const Dims state{1, input.sym_size(1), hidden};
  for (size_t i = 0; i < 7; ++i) {
    const std::string name = call.op.schema().arguments()[i].name();
    // Weights and biases stand between the input and the states.  Without
    // biases the decomposition gives zeros as large as the weights.
    const bool unused = (i == 3 || i == 4) && !call.args[12].toBool();
    if (unused) continue;
    require_dtype(call, name, call.tensor(i), input.scalar_type());
    if (i >= 1)
      require_sizes(call, name, call.tensor(i),
                    i <= 4 ? weights[i - 1] : state);
    if (i == 0 || i >= 5) require_dense(call, name, call.tensor(i));
  }
  call.returns(fresh({input.sym_size(0), input.sym_size(1), hidden},
                     input.scalar_type(), input.device()));
  for (int i = 0; i < 2; ++i)
    call.returns(fresh(state, input.scalar_type(), input.device()));
  call.returns(fresh({0}, ScalarType::Byte, input.device()));
  return true;
}

const RuleEntry kRecurrenceRules[] = {
    {"aten::gru.input", recurrent, "recurrence"},
    {"aten::gru_cell", recurrent_cell, "recurrence"},
    {"aten::lstm.input", recurrent, "recurrence"},
    {"aten::lstm_cell", recurrent_cell, "recurrence"},
    {"aten::mkldnn_rnn_layer", mkldnn_rnn_layer, "recurrence"},
    {"aten::rnn_relu.input", recurrent, "recurrence"},
    {"aten::rnn_tanh.input", recurrent, "recurrence"},
};

}  // namespace

void register_recurrence_rules() { register_rules(kRecurrenceRules); }

}  // namespace proviso::inline v0_2
