#include "tracer_adapter/pt2/allowed_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/pt2/zip_reader.h"
#include "tracer_adapter/run/known_operators.h"

namespace proviso::inline v0_2::pt2 {
namespace {

// Namespaces that come with PyTorch and its libraries beside aten and prims:
// their operators talk to other processes, keep state or take raw handles.
constexpr std::array<std::string_view, 23> kOther = {
    "_c10d_functional",
    "_c10d_functional_autograd",
    "_native",
    "_quantized",
    "_test",
    "c10d",
    "cuda",
    "debug_mode_ops",
    "image",
    "inductor",
    "inductor_prims",
    "mkl",
    "mkldnn",
    "mkldnn_prepacked",
    "onednn",
    "profiler",
    "quantization",
    "quantized",
    "rpc",
    "sparse",
    "static_runtime",
    "symm_mem",
    "video_reader"};

struct Refusal {
  std::string_view pattern;  // of aten's names; '*' at an end: anything
  std::string_view what;
};
constexpr std::string_view kMemory = "swaps the memory of a tensor";
constexpr std::string_view kUnchecked =
    "makes a tensor of parts that it does not check";
constexpr std::string_view kHandle = "takes a raw handle";
constexpr std::string_view kProcess = "reaches for more than its tensors";
constexpr std::string_view kPart =
    "is a part of others, which trusts its arguments";
constexpr std::string_view kUnknown =
    "has no shape function, which would look at its arguments before its "
    "kernel trusts them";
constexpr std::string_view kSteps = "takes as many steps as a number says";
constexpr Refusal kRefused[] = {{"choose_qparams_optimized", kSteps},
                                {"from_file", "reads and writes a file"},
                                {"_print", "prints"},
                                {"set", kMemory},
                                {"set_", kMemory},
                                {"set_data", kMemory},
                                {"_cow*", kMemory},
                                {"_lazy_clone", kMemory},
                                {"*_unsafe", kUnchecked},
                                {"*_tensor_with_dims*", kUnchecked},
                                {"_coalesced*", kUnchecked},
                                {"sparse_resize*", kUnchecked},
                                {"_nested_*", kUnchecked},
                                {"fbgemm_*", kHandle},
                                {"quantized_*", kHandle},
                                {"*_prepacked", kHandle},
                                {"_cudnn_*", kHandle},
                                {"record_stream", kProcess},
                                {"_cufft_*", kProcess},
                                {"_backward", kProcess},
                                {"retain_grad", kProcess},
                                {"_add_batch_dim", kProcess},
                                {"_remove_batch_dim", kProcess},
                                {"_make_dual*", kProcess},
                                {"_unpack_dual", kProcess},
                                {"_test_*", kProcess},
                                {"_propagate_xla_data", kProcess}};

bool matches(std::string_view name, std::string_view pattern) {
  const bool open_start = pattern.starts_with('*');
  const bool open_end = pattern.ends_with('*');
  pattern.remove_prefix(open_start);
  pattern.remove_suffix(open_end);
  if (open_start && open_end) return name.find(pattern) != name.npos;
  if (open_start) return name.ends_with(pattern);
  return open_end ? name.starts_with(pattern) : name == pattern;
}

bool writes_out(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const c10::Argument& a) { return a.is_out(); });
}

// Empty: nothing speaks against it.
std::string_view objection(const c10::OperatorHandle& op,
                           std::string_view space, std::string_view name) {
  if (std::find(kOther.begin(), kOther.end(), space) != kOther.end())
    return kProcess;
  if (space != "aten") return "";
  for (const Refusal& row : kRefused)
    if (matches(name, row.pattern)) return row.what;
  const bool gradient = name.find("_backward") != std::string_view::npos;
  // What gradients are composed of trusts its arguments as well.
  if (gradient && !has_rule(op)) return kPart;
  if (is_known(op)) return "";
  if (name.starts_with('_') || writes_out(op.schema())) return kPart;
  return has_meta_function(op) ? "" : kUnknown;
}

}  // namespace

bool AllowedOperators::is_asked(const c10::OperatorHandle& op) const {
  const std::string target = target_name(op);  // aten.set_.source_Tensor
  return std::any_of(
      asked_.begin(), asked_.end(), [&](const std::string& asked) {
        return target == asked || target.starts_with(asked + ".");
      });
}

void AllowedOperators::check(const c10::OperatorHandle& op) const {
  const std::string& whole = op.schema().name();  // aten::set_
  const size_t colons = whole.find("::");
  const std::string space = whole.substr(0, colons);
  const std::string base = whole.substr(colons + 2);
  const std::string_view what = objection(op, space, base);
  if (what.empty() || is_asked(op)) return;
  throw FileError("the operator " + std::string(what) +
                  "; where you trust the file, allow it by its name: " + space +
                  "." + base);
}

}  // namespace proviso::inline v0_2::pt2
