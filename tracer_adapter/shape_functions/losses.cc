// tracer_adapter/shape_functions/losses.cc - how far values are from targets:
// element by element, by class, by sequence.
#include <algorithm>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// Whether a loss keeps all its elements: reduction 0 none, 1 mean, 2 sum.
// Kernels do not agree about other numbers, which only a file can hold.
bool keeps_all(const IValue& reduction) {
  const int64_t value = reduction.toInt();
  TORCH_CHECK_VALUE(value >= 0 && value <= 2, value,
                    " is not a valid value for reduction; 0 (none), 1 (mean) "
                    "and 2 (sum) are");
  return value == 0;
}

// --- element by element

bool pointwise_loss(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  Dims shape = broadcast(sizes_of(input), sizes_of(call.tensor(1)));
  Promotion promotion;
  promotion.add(call.args[0]);
  promotion.add(call.args[1]);
  bool whole = keeps_all(arg(call, "reduction"));
  std::vector<Tensor> operands{input, call.tensor(1)};
  call.returns(whole ? make_fake(shape, elementwise_strides(shape, operands),
                                 promotion.result(), input.device())
                     : fresh({}, promotion.result(), input.device()));
  return true;
}

// --- by class

// Targets are class indices: input (N, C, ...), target (N, ...); or, of the
// input's shape, probabilities.
void require_targets(const Tensor& input, const Tensor& target) {
  if (target.dim() == input.dim()) {
    for (int64_t d = 0; d < input.dim(); ++d) {
      PROVISO_REQUIRE(input.sym_size(d).sym_eq(target.sym_size(d)),
                      "input and target must have the same sizes, got ",
                      to_text(input.sym_sizes()), " and ",
                      to_text(target.sym_sizes()));
    }
    return;
  }
  TORCH_CHECK(target.dim() + 1 == input.dim(), "Expected target of ",
              input.dim() - 1, " dimensions, got ", target.dim());
  for (int64_t d = 0; d < target.dim(); ++d) {
    SymInt size = input.sym_size(d == 0 && input.dim() > 1 ? 0 : d + 1);
    PROVISO_REQUIRE(size.sym_eq(target.sym_size(d)),
                    "Expected input batch_size (", size,
                    ") to match target batch_size (", target.sym_size(d), ").");
  }
}

// (self, target, weight?, reduction, ...)
bool loss_by_class(RuleCall& call) {
  const Tensor &input = call.tensor(0), &target = call.tensor(1);
  require_targets(input, target);
  Dims sizes;
  if (keeps_all(call.args[3])) {
    sizes = sizes_of(target);
    bool probabilities = target.dim() == input.dim();
    if (probabilities && !sizes.empty()) {
      sizes.erase(sizes.begin() + (sizes.size() > 1 ? 1 : 0));
    }
  }
  call.returns(fresh(sizes, input.scalar_type(), input.device()));
  if (return_count(call) == 2) {
    call.returns(fresh({}, input.scalar_type(), input.device()));
  }
  return true;
}

// --- by class, with margins

// How many classes the rows of a batch, or one row, have.
SymInt require_classes(const Tensor& self) {
  const SymInt classes = self.dim() == 0 ? SymInt(1) : self.sym_size(-1);
  TORCH_CHECK(self.dim() <= 2 && expect(classes.sym_ne(0)),
              "Expected non-empty vector or matrix with optional 0-dim batch "
              "size, but got: ",
              to_text(self.sym_sizes()));
  return classes;
}

void require_margin_dtypes(const Tensor& self, const Tensor& target,
                           const char* kernel) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() == ScalarType::Float ||
                                  self.scalar_type() == ScalarType::Double,
                              '"', kernel, "\" not implemented for '",
                              c10::toString(self.scalar_type()), "'");
  TORCH_CHECK(target.scalar_type() == ScalarType::Long,
              "expected scalar type Long but found ", target.scalar_type());
}

// (self, target, p, margin, weight, reduction); the kernel looks at each
// target.
bool multi_margin_loss(RuleCall& call) {
  const Tensor &self = call.tensor(0), &target = call.tensor(1);
  const double p = call.args[2].toScalar().toDouble();
  TORCH_CHECK(p >= 1 && p < 3, "only p == 1 and p == 2 supported");
  const SymInt classes = require_classes(self);
  const SymInt frames = self.dim() == 2 ? self.sym_size(0) : SymInt(1);
  TORCH_CHECK(target.dim() <= 1 && expect(target.sym_numel().sym_eq(frames)),
              "multi_margin_loss: target tensor should be 1-D with size equal "
              "to the number of input samples (batch size). Expected target "
              "size [",
              frames, "], but got ", to_text(target.sym_sizes()),
              ". Input has shape ", to_text(self.sym_sizes()), ".");
  require_margin_dtypes(self, target, "multi_margin_loss_cpu_kernel");
  if (const Tensor weight = call.optional_tensor(4); weight.defined()) {
    TORCH_CHECK(weight.dim() <= 1 && expect(weight.sym_numel().sym_eq(classes)),
                "inconsistent weight size, expected ", classes, " but got ",
                to_text(weight.sym_sizes()));
    TORCH_CHECK(weight.scalar_type() == self.scalar_type(),
                "expected scalar type ", self.scalar_type(), " but found ",
                weight.scalar_type());
  }
  const bool is_whole = keeps_all(call.args[5]) && target.dim() > 0;
  call.returns(fresh(is_whole ? Dims{frames} : Dims(), self.scalar_type(),
                     self.device()));
  return true;
}

// (self, target, reduction): the loss, and which classes are targets; the
// kernel looks at each target.
bool multilabel_margin_loss(RuleCall& call) {
  const Tensor &self = call.tensor(0), &target = call.tensor(1);
  const SymInt classes = require_classes(self);
  bool fits = self.dim() == 2 ? target.dim() == 2 : target.dim() <= 1;
  if (fits && self.dim() == 2)
    fits = expect(target.sym_size(0).sym_eq(self.sym_size(0))) &&
           expect(target.sym_size(1).sym_eq(classes));
  else if (fits)
    fits = expect(target.sym_numel().sym_eq(classes));
  TORCH_CHECK(fits, "inconsistent target size: ", to_text(target.sym_sizes()),
              " for input of size: ", to_text(self.sym_sizes()));
  require_margin_dtypes(self, target,
                        "multilabel_margin_loss_forward_out_frame");
  const bool is_whole = keeps_all(call.args[2]) && target.dim() == 2;
  call.returns(fresh(is_whole ? Dims{self.sym_size(0)} : Dims(),
                     self.scalar_type(), self.device()));
  if (return_count(call) == 2)
    call.returns(fresh(sizes_of(target), self.scalar_type(), self.device()));
  return true;
}

// --- ctc_loss

constexpr const char* kInCtc =
    " (while checking arguments for ctc_loss_allocate_outputs)";

// What all CTC losses require; `least`: dimensions of log_probs, 3 at most.
void require_ctc(const RuleCall& call, int64_t least) {
  const Tensor &probs = call.tensor(0), &targets = call.tensor(1);
  const int64_t blank = call.args[4].toInt();
  TORCH_CHECK(probs.dim() >= least && probs.dim() <= 3,
              "Expected 3-dimensional tensor, but got ", probs.dim(),
              "-dimensional tensor for argument #1 'log_probs'", kInCtc);
  TORCH_CHECK(targets.dim() == 1 || targets.dim() == 2,
              "Expected tensor for argument #2 'targets' to have 1 or 2 "
              "dimensions, but got ",
              targets.dim(), kInCtc);
  TORCH_CHECK(
      targets.scalar_type() == at::kLong || targets.scalar_type() == at::kInt,
      "Expected tensor for argument #2 'targets' to have scalar type "
      "Int; but got ",
      targets.toString(), " instead", kInCtc);
  TORCH_CHECK_NOT_IMPLEMENTED(
      probs.scalar_type() == at::kFloat || probs.scalar_type() == at::kDouble,
      "\"ctc_loss_cpu\" not implemented for '",
      c10::toString(probs.scalar_type()), "'");
  PROVISO_REQUIRE(probs.sym_numel().sym_gt(0),
                  "log_probs tensor must not be empty");
  TORCH_CHECK(blank >= 0 && expect(probs.sym_size(-1).sym_gt(blank)),
              "blank must be in label range");
}

// Eager reads past the end where there are fewer rows.
void require_rows(const Tensor& targets, const SymInt& batch) {
  PROVISO_REQUIRE(targets.sym_size(0).sym_ge(batch),
                  "Expected a row of targets for each sequence", kInCtc);
}

// ctc_loss.Tensor(log_probs, targets, input_lengths, target_lengths, blank,
// reduction, zero_infinity): the lengths are data, and are looked at when the
// program runs.
bool ctc_loss_of_data(RuleCall& call) {
  require_ctc(call, 2);
  const Tensor &probs = call.tensor(0), &targets = call.tensor(1);
  const bool is_batched = probs.dim() == 3;
  const SymInt batch = is_batched ? probs.sym_size(1) : SymInt(1);
  for (const char* name : {"input_lengths", "target_lengths"}) {
    const Tensor lengths = arg(call, name).toTensor();
    TORCH_CHECK(c10::isIntegralType(lengths.scalar_type(), false), name,
                " must be integral");
    PROVISO_REQUIRE(lengths.sym_numel().sym_eq(batch), name,
                    " must be of size batch_size");
  }
  if (targets.dim() == 2) require_rows(targets, batch);
  const bool is_one = !keeps_all(call.args[5]) || !is_batched;
  call.returns(fresh(is_one ? Dims() : Dims{batch}, probs.scalar_type(),
                     probs.device()));
  return true;
}

// (log_probs [time, batch, labels], targets, input_lengths, target_lengths,
// blank, zero_infinity): a loss a sequence, and what its gradient reads
bool ctc_loss(RuleCall& call) {
  if (call.args[2].isTensor()) return false;  // the sizes are data
  require_ctc(call, 3);
  const Tensor &probs = call.tensor(0), &targets = call.tensor(1);
  const std::vector<int64_t> lengths = call.args[2].toIntVector(),
                             wanted = call.args[3].toIntVector();
  const SymInt time = probs.sym_size(0), batch = probs.sym_size(1);
  PROVISO_REQUIRE(batch.sym_eq(static_cast<int64_t>(lengths.size())),
                  "input_lengths must be of size batch_size");
  PROVISO_REQUIRE(batch.sym_eq(static_cast<int64_t>(wanted.size())),
                  "target_lengths must be of size batch_size");
  int64_t longest = 0;
  SymInt all(0);
  for (size_t b = 0; b < lengths.size(); ++b) {
    PROVISO_REQUIRE(time.sym_ge(lengths[b]),
                    "Expected input_lengths to have value at most ", time,
                    ", but got value ", lengths[b], kInCtc);
    TORCH_CHECK(wanted[b] >= 0 && lengths[b] >= 0,
                "Expected lengths to have value at least 0, but got ",
                wanted[b], " and ", lengths[b], kInCtc);
    longest = std::max(longest, wanted[b]);
    all = plus(all, wanted[b]);
  }
  if (targets.dim() == 1) {
    PROVISO_REQUIRE(targets.sym_size(0).sym_eq(all),
                    "Expected tensor to have size ", all,
                    " at dimension 0, but got size ", targets.sym_size(0),
                    " for argument #2 'targets'", kInCtc);
  } else {
    require_rows(targets, batch);
    PROVISO_REQUIRE(targets.sym_size(1).sym_ge(longest),
                    "Expected tensor to have size at least ", longest,
                    " at dimension 1, but got size ", targets.sym_size(1),
                    " for argument #2 'targets'", kInCtc);
  }
  const auto made = [&](const Dims& sizes) {
    return fresh(sizes, probs.scalar_type(), probs.device());
  };
  call.returns(made({batch}));
  call.returns(made({batch, time, plus(times(longest, 2), 1)}));
  return true;
}

const RuleEntry kLossRules[] = {
    {"aten::multi_margin_loss", multi_margin_loss, "loss"},
    {"aten::multilabel_margin_loss", multilabel_margin_loss, "loss"},
    {"aten::multilabel_margin_loss_forward", multilabel_margin_loss, "loss"},
    {"aten::binary_cross_entropy", pointwise_loss, "loss"},
    {"aten::binary_cross_entropy_with_logits", pointwise_loss, "loss"},
    {"aten::huber_loss", pointwise_loss, "loss"},
    {"aten::kl_div", pointwise_loss, "loss"},
    {"aten::l1_loss", pointwise_loss, "loss"},
    {"aten::mse_loss", pointwise_loss, "loss"},
    {"aten::smooth_l1_loss", pointwise_loss, "loss"},
    {"aten::soft_margin_loss", pointwise_loss, "loss"},
    {"aten::_ctc_loss", ctc_loss, "loss"},
    {"aten::ctc_loss.Tensor", ctc_loss_of_data, "loss"},
    {"aten::cross_entropy_loss", loss_by_class, "loss"},
    {"aten::nll_loss", loss_by_class, "loss"},
    {"aten::nll_loss2d", loss_by_class, "loss"},
    {"aten::nll_loss2d_forward", loss_by_class, "loss"},
    {"aten::nll_loss_forward", loss_by_class, "loss"},
    {"aten::nll_loss_nd", loss_by_class, "loss"},
};

}  // namespace

void register_loss_rules() { register_rules(kLossRules); }

}  // namespace proviso::inline v0_2
