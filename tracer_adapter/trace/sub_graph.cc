#include "tracer_adapter/trace/sub_graph.h"

#include <ATen/ops/clone.h>

#include <algorithm>

#include "sym/excerpt.h"
#include "sym/print.h"
#include "tracer_adapter/trace/op_info.h"

namespace proviso::inline v0_2 {
namespace {

// Symbols read from data that an input of the sub-graph does not have: read or
// made inside.
bool is_inner(const Graph& graph, Expr symbol) {
  const auto mentions = [&](const GraphValue& value) {
    const auto has = [&](Expr e) {
      const std::vector<Expr> symbols = free_symbols(e);
      return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
    };
    if (!value.is_tensor()) return has(value.expr());
    return std::any_of(value.tensor().sizes.begin(), value.tensor().sizes.end(),
                       has);
  };
  for (const InputSpec& input : graph.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      if (mentions(graph.value(ref->id))) return false;
  return std::any_of(graph.values.begin(), graph.values.end(), mentions);
}

bool reads_data(Expr symbol) { return is_unbacked(symbol.symbol().kind); }

}  // namespace

void Tracer::begin_sub_graph(const std::string& what) {
  require_open("begin_sub_graph");
  auto scope = std::make_unique<SubGraphScope>();
  scope->what = what;
  scope->outer = std::move(scope_);
  scope->around = std::exchange(now_, GraphRecording{});
  now_.trace = next_trace();
  scope->first_assert = env_->runtime_asserts().size();
  scope->mode = modes_[modes_.now()];
  scope->nesting = nesting();
  scope_ = std::move(scope);
}

namespace {
void check_in_sub_graph(const SubGraphScope* scope, const char* call) {
  TORCH_CHECK(scope, "Proviso: ", call,
              ": no sub-graph is being recorded; "
              "call begin_sub_graph first");
}
}  // namespace

at::Tensor Tracer::add_operand(const std::string& name,
                               const at::Tensor& like) {
  check_in_sub_graph(scope_.get(), "add_operand");
  TORCH_CHECK_VALUE(like.defined(), "Proviso: add_operand: '", name,
                    "' is an undefined tensor");
  at::Tensor fake = fake_like(like);
  InputSpec spec;
  spec.name = name;
  spec.arg = {ValueRef{fresh(fake)}};
  now_.graph.inputs.push_back(std::move(spec));
  ++scope_->operand_count;
  scope_->foreign.insert(fake.storage().unsafeGetStorageImpl());
  return fake;
}

c10::SymInt Tracer::add_int_operand(const std::string& name) {
  check_in_sub_graph(scope_.get(), "add_int_operand");
  const Expr e = env_->create_unbacked_int();
  InputSpec spec;
  spec.name = name;
  spec.arg = {ValueRef{now_.graph.add_value(e)}};
  now_.graph.inputs.push_back(std::move(spec));
  ++scope_->operand_count;
  return to_sym_int(*env_, e);
}

// A tensor of the scope around becomes an input here, once.
ValueId Tracer::capture(const at::Tensor& t) {
  const FakeTensorImpl* impl = fake_impl(t);
  const auto key = impl ? std::pair(impl->trace, impl->value)
                        : std::pair(uint64_t{0}, ValueId{0});
  if (impl) {
    auto known = scope_->captures.find(key);
    if (known != scope_->captures.end()) return known->second;
  }
  const ValueId id = now_.graph.add_value(meta_of(t));
  if (impl)
    scope_->captures.emplace(key, id);
  else
    now_.real_values[t.unsafeGetTensorImpl()] = id;
  InputSpec spec;
  spec.arg = {ValueRef{id}};
  now_.graph.inputs.push_back(std::move(spec));
  scope_->captured.push_back(t);
  if (t.has_storage())
    scope_->foreign.insert(t.storage().unsafeGetStorageImpl());
  return id;
}

bool Tracer::is_foreign(const at::Tensor& t) const {
  if (!scope_) return false;
  const FakeTensorImpl* impl = fake_impl(t);
  if (!impl || impl->trace != now_.trace) return true;
  return t.has_storage() &&
         scope_->foreign.contains(t.storage().unsafeGetStorageImpl());
}

void Tracer::refuse_write(const OpInfo& oi, const at::Tensor& t) const {
  if (!is_foreign(t)) return;
  TORCH_CHECK(false, "Proviso: ", oi.name, " writes to a tensor that ",
              scope_->what,
              " got from outside. A sub-graph changes nothing but its own "
              "tensors: clone() the tensor first, or return the new value");
}

// A condition learnt inside must not be believed outside, where nobody checks
// it: it may speak of what was read inside only.
void Tracer::check_learnt(const SubGraph& sub) const {
  const auto& asserts = env_->runtime_asserts();
  for (size_t i = scope_->first_assert; i < asserts.size(); ++i) {
    if (asserts_.owner(i) != nullptr) continue;
    bool inside = false, outside = false;
    for (Expr symbol : free_symbols(asserts[i].condition))
      if (reads_data(symbol))
        (is_inner(*sub.graph, symbol) ? inside : outside) = true;
    TORCH_CHECK(inside && !outside, "Proviso: ", scope_->what, " needs ",
                to_string(asserts[i].condition, internal::kMessageLength),
                ", which speaks of data read outside it; nothing would check "
                "it when the sub-graph does not run. Say it before, with "
                "torch._check",
                asserts[i].origin.line
                    ? " (needed by " + asserts[i].origin.to_string() + ")"
                    : "");
  }
}

SubGraph Tracer::end_sub_graph(const std::vector<c10::IValue>& outputs) {
  check_in_sub_graph(scope_.get(), "end_sub_graph");
  check_nesting(nesting(), scope_->nesting, scope_->what);
  SubGraph sub;
  for (const c10::IValue& value : outputs) {
    c10::IValue output = value;
    // What a sub-graph returns is new: no alias of what it got.
    if (value.isTensor() && value.toTensor().defined() &&
        is_foreign(value.toTensor()))
      output = at::clone(value.toTensor());
    OutputSpec spec;
    spec.arg = to_argument(output, IntMeaning::kNumber);
    now_.graph.outputs.push_back(std::move(spec));
    sub.outputs.push_back(std::move(output));
  }
  sub.operand_count = scope_->operand_count;
  sub.captured = std::move(scope_->captured);
  sub.graph = std::make_shared<Graph>(std::move(now_.graph));
  check_learnt(sub);
  outline_mode_blocks(*sub.graph, scope_->mode, trace_modes());
  asserts_.give(scope_->first_assert, sub.graph.get());
  abandon_sub_graph();
  return sub;
}

void Tracer::abandon_sub_graph() {
  check_in_sub_graph(scope_.get(), "abandon_sub_graph");
  now_ = std::move(scope_->around);
  scope_ = std::move(scope_->outer);
}

std::vector<at::Tensor> join_captures(Tracer& tracer,
                                      const std::vector<SubGraph*>& subs) {
  // By the value that a tensor is here, where the operator is recorded.
  std::vector<at::Tensor> all;
  std::vector<ValueId> ids;
  for (const SubGraph* sub : subs)
    for (const at::Tensor& t : sub->captured) {
      const ValueId id = tracer.value_of(t);
      if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
      ids.push_back(id);
      all.push_back(t);
    }
  for (SubGraph* sub : subs) {
    std::vector<InputSpec>& inputs = sub->graph->inputs;
    std::vector<InputSpec> joined(inputs.begin(),
                                  inputs.begin() + sub->operand_count);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto same = [&](const at::Tensor& t) {
        return tracer.value_of(t) == ids[i];
      };
      auto found =
          std::find_if(sub->captured.begin(), sub->captured.end(), same);
      if (found != sub->captured.end()) {
        joined.push_back(
            inputs[sub->operand_count + (found - sub->captured.begin())]);
        continue;
      }
      InputSpec unused;
      unused.arg = {
          ValueRef{sub->graph->add_value(tracer.graph().value(ids[i]).meta)}};
      joined.push_back(std::move(unused));
    }
    inputs = std::move(joined);
    sub->captured = all;
  }
  return all;
}

void record_higher_order(Tracer& tracer, const std::string& name,
                         const std::vector<std::string>& graph_names,
                         const std::vector<HigherOrderArgument>& args,
                         const std::vector<c10::IValue>& outputs) {
  Node node;
  node.kind = Node::Kind::kHigherOrder;
  node.target = "torch.ops.higher_order." + name;
  size_t graphs = 0;
  for (const HigherOrderArgument& arg : args) {
    if (const SubGraph* sub = std::get_if<SubGraph>(&arg)) {
      node.args.push_back(
          {GraphArgument{graph_names.at(graphs++), sub->graph}});
    } else if (const auto* list = std::get_if<std::vector<c10::IValue>>(&arg)) {
      ListArgument items;
      for (const c10::IValue& value : *list)
        items.items.push_back(tracer.to_argument(value, IntMeaning::kNumber));
      node.args.push_back({std::move(items)});
    } else {
      node.args.push_back(
          tracer.to_argument(std::get<c10::IValue>(arg), IntMeaning::kNumber));
    }
  }
  tracer.append(std::move(node), outputs);
}

}  // namespace proviso::inline v0_2
