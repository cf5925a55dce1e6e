#include "tracer_adapter/run/checked_calls.h"

#include <ATen/ATen.h>
#include <ATen/core/List.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/run/known_operators.h"
#include "tracer_adapter/trace/interceptor.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

constexpr int64_t kMostInteger = std::numeric_limits<int64_t>::max();

thread_local const pt2::AllowedOperators* asked = nullptr;  // while checking

// As it is where its parts are no sizes and strides.
at::Tensor fake_of(const at::Tensor& t) {
  if (!t.defined() || is_fake(t) || t.layout() != at::kStrided ||
      t.is_quantized() || t.is_nested())
    return t;
  const at::Tensor fake =
      make_fake(t.sym_sizes(), t.sym_strides(), t.scalar_type(), t.device(),
                std::nullopt, t.sym_storage_offset());
  if (t.unsafeGetTensorImpl()->is_wrapped_number())
    fake.unsafeGetTensorImpl()->set_wrapped_number(true);
  return fake;
}

c10::IValue fakes_of(const c10::IValue& value) {
  if (value.isTensor()) return fake_of(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& t : value.toTensorList()) list.push_back(fake_of(t));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorList())
      list.push_back(t ? std::optional(fake_of(*t)) : std::nullopt);
    return list;
  }
  return value;
}

// Kernels that take as many steps as an argument says: for each element, or
// before they look whether the result fits into memory.  No program means as
// many as these.
struct StepArgument {
  std::string_view op;
  size_t argument;
  double most;
  bool is_negative = false;  // the steps are -argument
};
constexpr StepArgument kStepArguments[] = {
    {"aten::combinations", 1, 1e3},
    {"aten::special_chebyshev_polynomial_t", 1, 1e6},
    {"aten::special_chebyshev_polynomial_u", 1, 1e6},
    {"aten::special_chebyshev_polynomial_v", 1, 1e6},
    {"aten::special_chebyshev_polynomial_w", 1, 1e6},
    {"aten::special_hermite_polynomial_h", 1, 1e6},
    {"aten::special_hermite_polynomial_he", 1, 1e6},
    {"aten::special_laguerre_polynomial_l", 1, 1e6},
    {"aten::special_legendre_polynomial_p", 1, 1e6},
    {"aten::special_shifted_chebyshev_polynomial_t", 1, 1e6},
    {"aten::special_shifted_chebyshev_polynomial_u", 1, 1e6},
    {"aten::special_shifted_chebyshev_polynomial_v", 1, 1e6},
    {"aten::special_shifted_chebyshev_polynomial_w", 1, 1e6},
    {"aten::special_zeta", 1, 1e6, true},
    {"aten::polygamma", 1, 1e6, true},
};

// The largest of value, or of -value.
double largest(const c10::IValue& value, bool negated) {
  if (value.isScalar()) return (negated ? -1 : 1) * value.toScalar().toDouble();
  const at::Tensor t = value.toTensor();
  if (is_fake(t) || t.is_complex() || t.numel() == 0) return 0;
  return negated ? -t.min().item().toDouble() : t.max().item().toDouble();
}

void check_steps(const c10::OperatorHandle& op,
                 std::span<const c10::IValue> args) {
  for (const StepArgument& steps : kStepArguments) {
    if (op.schema().name() != steps.op) continue;
    // polygamma(0, x) and (1, x) take none.
    if (steps.op == "aten::polygamma" && args[0].toInt() < 2) continue;
    const double asked = largest(args[steps.argument], steps.is_negative);
    TORCH_CHECK_VALUE(!(asked > steps.most), op.schema().name(), ": ",
                      op.schema().arguments()[steps.argument].name(),
                      " asks for ", asked, ", a number of steps; at most ",
                      steps.most, " are taken");
  }
}

// Throws unless `values`, which are argument i or follow from it, are from
// `least` to `most`.
void check_range(const c10::OperatorHandle& op, size_t i,
                 const at::Tensor& values, int64_t least, int64_t most) {
  if (values.numel() == 0) return;
  const int64_t first = values.min().item<int64_t>(),
                last = values.max().item<int64_t>();
  TORCH_CHECK_VALUE(least <= first && last <= most, op.schema().name(), ": ",
                    op.schema().arguments()[i].name(), " must be from ", least,
                    " to ", most, ", got ", first, " to ", last);
}

// ctc_loss(log_probs (T, N, labels), targets (N, S) or their rows one after
// another, input_lengths, target_lengths, ...): the kernel reads what a target
// says.  What stands behind a row's length is not looked at.
void check_labels(const c10::OperatorHandle& op,
                  std::span<const c10::IValue> args) {
  const std::string& name = op.schema().name();
  const at::Tensor probs = args[0].toTensor(), targets = args[1].toTensor();
  const auto lengths = [&](size_t i, int64_t most) {
    const at::Tensor given = args[i].isTensor()
                                 ? args[i].toTensor().to(at::kLong)
                                 : at::tensor(args[i].toIntVector(), at::kLong);
    check_range(op, i, given, 0, most);
    return given.reshape({-1});
  };
  TORCH_CHECK_VALUE(
      probs.dim() >= 2 && targets.dim() >= 1 && targets.dim() <= 2, name,
      ": log_probs of ", probs.dim(), " dimensions and targets of ",
      targets.dim());
  lengths(2, probs.size(0));
  const at::Tensor used = lengths(3, targets.size(-1));
  at::Tensor labels = targets;
  if (targets.dim() == 2) {
    TORCH_CHECK_VALUE(used.numel() == targets.size(0), name, ": ", used.numel(),
                      " target_lengths for ", targets.size(0),
                      " rows of targets");
    labels =
        targets.masked_select(at::arange(targets.size(1)) < used.unsqueeze(1));
  } else {
    const int64_t all = used.sum().item<int64_t>();
    TORCH_CHECK_VALUE(all <= targets.numel(), name,
                      ": target_lengths add up to ", all, " for ",
                      targets.numel(), " targets");
    labels = targets.narrow(0, 0, all);
  }
  check_range(op, 1, labels, 0, probs.size(-1) - 1);
}

// segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, ...):
// the kernel reads where they say, along their last dimension.
void check_segments(const c10::OperatorHandle& op,
                    std::span<const c10::IValue> args) {
  const at::Tensor data = args[0].toTensor();
  for (size_t i : {2, 4}) {
    if (!args[i].isTensor()) continue;
    const at::Tensor places = args[i].toTensor().to(at::kLong);
    const int64_t size = data.size(places.dim() - 1);
    check_range(op, i, places, 0, size);
    if (i == 2) check_range(op, i, places.sum(-1), 0, size);
  }
}

// linalg_ldl_solve(LD, pivots, B, ...): LAPACK takes a pivot below 0 and the
// one beside it for a block of two rows, and its kernel looks at their range
// alone.
void check_pivots(const c10::OperatorHandle& op,
                  std::span<const c10::IValue> args) {
  const at::Tensor pivots = args[1].toTensor().to(at::kLong).contiguous();
  const int64_t* pivot = pivots.const_data_ptr<int64_t>();
  int64_t below = 0;
  for (int64_t i = 0; i <= pivots.numel(); ++i) {
    const bool is_end = i == pivots.numel() || i % pivots.size(-1) == 0;
    if (!is_end && pivot[i] < 0) {
      ++below;
      continue;
    }
    TORCH_CHECK_VALUE(below % 2 == 0, op.schema().name(),
                      ": pivots below 0 must come in pairs, got ", pivots);
    below = i < pivots.numel() && pivot[i] < 0 ? 1 : 0;
  }
}

// embedding_dense_backward(grad_output, indices, num_weights, padding_idx,
// scale_grad_by_freq): frequencies are counted at the indices, whatever they
// are.
void check_counted(const c10::OperatorHandle& op,
                   std::span<const c10::IValue> args) {
  if (args[4].toBool())
    check_range(op, 1, args[1].toTensor(), 0, args[2].toInt() - 1);
}

// embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
// per_sample_weights, include_last_offset, ...): a bag begins at its offset,
// and for the maximum (2) the kernel writes into the bag of each index.
void check_bags(const c10::OperatorHandle& op,
                std::span<const c10::IValue> args) {
  const at::Tensor indices = args[1].toTensor(), offsets = args[2].toTensor();
  check_range(op, 1, indices, 0, args[0].toTensor().size(0) - 1);
  check_range(op, 2, offsets, 0, indices.numel());
  const int64_t bags = offsets.numel() - (args[7].toBool() ? 1 : 0);
  TORCH_CHECK_VALUE(args[4].toInt() != 2 || bags > 0 || indices.numel() == 0,
                    op.schema().name(), ": of ", indices.numel(),
                    " indices each must be in a bag, and offsets are of none");
}

// nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index,
// ...): a target is a column of self, or ignored.
void check_targets(const c10::OperatorHandle& op,
                   std::span<const c10::IValue> args) {
  const at::Tensor self = args[1].toTensor(), target = args[2].toTensor();
  TORCH_CHECK_VALUE(self.dim() > 0, op.schema().name(),
                    ": self has no dimension of classes");
  const at::Tensor used =
      target.masked_select(target.ne(args[5].toInt())).to(at::kLong);
  check_range(op, 2, used, 0, self.size(self.dim() == 1 ? 0 : 1) - 1);
}

// max_pool2d_with_indices_backward(grad_output, self, ..., indices): an index
// is a place in a plane of self, or -1.
void check_maxima(const c10::OperatorHandle& op,
                  std::span<const c10::IValue> args) {
  const at::Tensor self = args[1].toTensor();
  check_range(op, 7, args[7].toTensor(), -1, self.size(-1) * self.size(-2) - 1);
}

// repeat_interleave(repeats, output_size) and (self, repeats, dim,
// output_size): the kernel adds the repeats up, and writes as many as each
// says.
void check_repeats(const c10::OperatorHandle& op,
                   std::span<const c10::IValue> args) {
  const size_t i = op.schema().arguments()[0].name() == "repeats" ? 0 : 1;
  if (!args[i].isTensor()) return;
  const at::Tensor repeats = args[i].toTensor();
  // A single one is that of each element.
  const int64_t count =
      std::max<int64_t>({1, repeats.numel(), args[0].toTensor().numel()});
  check_range(op, i, repeats, 0, kMostInteger / count);
}

// bincount(self, weights, minlength): as many bins as the largest and one more.
void check_counts(const c10::OperatorHandle& op,
                  std::span<const c10::IValue> args) {
  check_range(op, 0, args[0].toTensor(), 0, kMostInteger - 1);
}

// Throws where `dividend` is the least integer of its type and `divisor` -1:
// processors know no quotient of these, and end the process.
void check_quotients(const c10::OperatorHandle& op, const at::Tensor& dividend,
                     const at::Tensor& divisor, const char* named) {
  const at::ScalarType type = dividend.scalar_type();
  if (type != at::kInt && type != at::kLong) return;
  const int64_t least = type == at::kInt ? std::numeric_limits<int32_t>::min()
                                         : std::numeric_limits<int64_t>::min();
  TORCH_CHECK_VALUE(!(dividend.eq(least) & divisor.eq(-1)).any().item<bool>(),
                    op.schema().name(), ": self must not be ", least, " where ",
                    named, " is -1, for ", type, " has no such quotient");
}

at::Tensor tensor_of(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor()
                          : at::scalar_to_tensor(value.toScalar());
}

// div(self, other, rounding_mode)
void check_division(const c10::OperatorHandle& op,
                    std::span<const c10::IValue> args) {
  if (!args[2].isString() || args[2].toStringRef() != "trunc") return;
  const at::Tensor self = args[0].toTensor(), other = tensor_of(args[1]);
  const at::ScalarType type = at::result_type(self, other);
  check_quotients(op, self.to(type), other.to(type), "other");
}

// lcm(self, other): self is divided by what gcd() says, -1 for some.
void check_multiples(const c10::OperatorHandle& op,
                     std::span<const c10::IValue> args) {
  const at::Tensor self = args[0].toTensor(), other = args[1].toTensor();
  const at::Tensor divisor = at::gcd(self, other);
  check_quotients(op, self.to(divisor.scalar_type()), divisor, "their gcd()");
}

// What is data of a call, and a place in memory for its kernel.  The name is
// that of all overloads, or of one.
struct DataCheck {
  std::string_view op;
  void (*check)(const c10::OperatorHandle& op,
                std::span<const c10::IValue> args);
};
constexpr DataCheck kDataChecks[] = {
    {"aten::_ctc_loss", check_labels},
    {"aten::_embedding_bag", check_bags},
    {"aten::_embedding_bag_forward_only", check_bags},
    {"aten::bincount", check_counts},
    {"aten::ctc_loss", check_labels},
    {"aten::div.Scalar_mode", check_division},
    {"aten::div.Tensor_mode", check_division},
    {"aten::div_.Scalar_mode", check_division},
    {"aten::div_.Tensor_mode", check_division},
    {"aten::embedding_bag", check_bags},
    {"aten::embedding_dense_backward", check_counted},
    {"aten::lcm", check_multiples},
    {"aten::linalg_ldl_solve", check_pivots},
    {"aten::max_pool2d_with_indices_backward", check_maxima},
    {"aten::nll_loss2d_backward", check_targets},
    {"aten::nll_loss_backward", check_targets},
    {"aten::repeat_interleave", check_repeats},
    {"aten::segment_reduce", check_segments},
};

bool names(std::string_view row, const c10::OperatorName& op) {
  if (!row.starts_with(op.name)) return false;
  row.remove_prefix(op.name.size());
  return row.empty() ||
         (row.front() == '.' && row.substr(1) == op.overload_name);
}

const DataCheck* data_check_of(const c10::OperatorHandle& op) {
  const auto* found = std::find_if(
      std::begin(kDataChecks), std::end(kDataChecks),
      [&](const DataCheck& c) { return names(c.op, op.operator_name()); });
  return found == std::end(kDataChecks) ? nullptr : found;
}

bool has_fakes(std::span<const c10::IValue> args) {
  return std::any_of(args.begin(), args.end(), [](const c10::IValue& value) {
    return value.isTensor() && is_fake(value.toTensor());
  });
}

void check_data(const c10::OperatorHandle& op,
                std::span<const c10::IValue> args) {
  const DataCheck* data = data_check_of(op);
  if (data != nullptr && !has_fakes(args)) data->check(op, args);
}

// Namespaces beside these are the user's own operators.
bool comes_with_torch(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  return name.starts_with("aten::") || name.starts_with("prims::");
}

// While it lives, operators come to the tracer alone.
class Traced : public Interceptor {
 public:
  bool intercept(const c10::OperatorHandle& op, c10::Stack*) override {
    has_data_checks |= data_check_of(op) != nullptr;
    return false;
  }

  bool has_data_checks = false;  // an operator that came here
};

// Throws what the operator's shape function throws.  False where the data
// decide what the operator does, or are looked at.
bool shape_function_passes(const c10::OperatorHandle& op,
                           std::span<const c10::IValue> args) {
  c10::Stack fakes;
  for (const c10::IValue& value : args) fakes.push_back(fakes_of(value));
  Traced traced;
  Tracer tracer;
  const RecordingOff off(tracer);
  try {
    op.callBoxed(fakes);
    // Sizes and numbers that the data give have symbols here, others have none.
    return tracer.env().pool().symbols().empty() && !traced.has_data_checks;
  } catch (const DataDependentError&) {
    return false;
  } catch (const c10::NotImplementedError& error) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !comes_with_torch(op) || asked->is_asked(op),
        "nothing looks at its arguments before its kernel does (",
        error.what_without_backtrace(),
        "); where you trust the file, allow it by its name: ", target_name(op));
    return true;
  }
}

bool look_at(const c10::OperatorHandle& op, std::span<const c10::IValue> args) {
  check_steps(op, args);
  const bool is_known = shape_function_passes(op, args);
  check_data(op, args);
  return is_known;
}

void look_at_and_call(const c10::OperatorHandle& op, c10::Stack* stack);

// While it lives, this thread's operators on real tensors come here.
class Parts : public Interceptor {
 public:
  bool intercept(const c10::OperatorHandle& op, c10::Stack* stack) override {
    look_at_and_call(op, stack);
    return true;
  }
};

// Where the data decide what an operator does, or are a place for one of its
// parts, what it is composed of is called one after another, each looked at
// when its tensors are there.
void look_at_and_call(const c10::OperatorHandle& op, c10::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  if (look_at(op, std::span(*stack).last(count)) || !is_composite(op)) {
    const c10::impl::ExcludeDispatchKeyGuard execute(kTraceKey);
    return op.callBoxed(stack);
  }
  Tracer tracer;
  const RecordingOff off(tracer);
  const Parts parts;
  op.callBoxedForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd,
                             *stack);
}

}  // namespace

CheckedCalls::CheckedCalls(pt2::AllowedOperators allowed)
    : allowed_(std::move(allowed)), outer_(std::exchange(asked, &allowed_)) {}
CheckedCalls::~CheckedCalls() { asked = outer_; }

void CheckedCalls::call(const c10::OperatorHandle& op, c10::Stack& stack) {
  if (asked == nullptr || Tracer::current() != nullptr)
    return op.callBoxed(stack);
  look_at_and_call(op, &stack);
}

}  // namespace proviso::inline v0_2
