#include "guards/errors/asker.h"

#include "guards/errors/text_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

// Between what asks and what answers there are frames that only pass on.
bool passes_on(const TextFrame& frame) {
  for (string_view part : {"fx/experimental/",
                           "_dynamo/",
                           "utils/_stats.py",
                           "torch/_ops.py",
                           "_subclasses/fake_tensor.py",
                           "_library/",
                           "_logging/",
                           "_compile.py",
                           "overrides.py",
                           "_export/",
                           "torch/export/",
                           "_functorch/",
                           "nn/modules/module.py",
                           "torch/fx/",
                           "_utils_internal.py",
                           "torch/__init__.py",
                           "torch/_guards.py",
                           "torch/_tensor.py",
                           "_prims_common/wrappers.py",
                           "_higher_order_ops/utils.py"}) {
    if (has(frame.file, part)) return true;
  }
  if (frame.file == "_ops.py" || frame.file == "_tensor.py") return true;
  return frame.file.starts_with("<") || frame.file.starts_with("fx/");
}

// Frames in which an operator is called.
bool calls_operator(const TextFrame& frame) {
  const string_view file = frame.file;
  for (string_view own : {"_ops.py", "_subclasses/", "_tensor.py", "_refs/",
                          "_decomp/", "_meta_registrations.py", "nn/functional",
                          "_prims_common/", "functional.py"}) {
    if (has(file, own) && is_of_torch(file)) return true;
  }
  return false;
}

bool is_of_compiler(const TextFrame& frame) {
  return has(frame.file, "_inductor/") && is_of_torch(frame.file);
}

// Nearest the question first: what of the program or of PyTorch asks it.
Asker asker_in(const std::vector<TextFrame>& frames) {
  bool operator_between = false;
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    if (is_of_compiler(*it)) return Asker::kCompiler;
    if (is_of_program(*it)) {
      return operator_between ? Asker::kOperator : Asker::kProgram;
    }
    operator_between |= calls_operator(*it);
    if (!operator_between && !passes_on(*it)) return Asker::kOperator;
  }
  return operator_between ? Asker::kOperator : Asker::kUnknown;
}

// The first frame of the program after the last of the compiler's.
const TextFrame* entry_in(const std::vector<TextFrame>& frames) {
  const TextFrame* entry = nullptr;
  for (const TextFrame& f : frames) {
    const bool is_compiler = has(f.file, "torch/export/") ||
                             has(f.file, "_export/") || has(f.file, "_dynamo/");
    // These pass operators on, inside of what is traced.
    if (is_compiler && f.function != "__torch_function__") entry = nullptr;
    if (is_of_program(f) && entry == nullptr) entry = &f;
  }
  return entry;
}

}  // namespace

// Newer texts cut the path of "Caused by".  Where it shows the line of code it
// is the innermost frame, and a stack of users that ends elsewhere was cut.
TextFrame place_of(const TextError& e) {
  if (const TextFrame* f = last_of_program(e.user)) {
    const bool was_cut = is_of_program(e.caused_by) &&
                         !e.caused_by.code.empty() &&
                         !is_same_file(f->file, e.caused_by.file);
    return was_cut ? e.caused_by : *f;
  }
  const TextFrame* f = last_of_program(e.traceback);
  // What calls the compiler is not what it traces.
  if (f != nullptr && entry_in(e.traceback) == nullptr) f = nullptr;
  const TextFrame& cause = e.caused_by;
  const bool is_same = f && is_same_file(f->file, cause.file);
  if (is_of_program(cause) && !is_same) return cause;
  if (f == nullptr) f = last_of_program(e.culprit);
  return f ? *f : TextFrame{};
}

const TextFrame* entry_of(const TextError& e) {
  return entry_in(e.user.empty() ? e.traceback : e.user);
}

Use use_of(string_view code) {
  if (code.empty()) return Use::kUnknown;
  if (code.starts_with("assert ") || code.starts_with("assert(")) {
    return Use::kAssertion;
  }
  if (has(code, "torch._check") || has(code, "_check_is_size")) {
    return Use::kAssertion;
  }
  if (has(code, "raise ")) return Use::kRefusal;
  if (code.starts_with("for ") || has(code, "range(") || has(code, " for ")) {
    return Use::kLoop;
  }
  if (code.starts_with("if ") || code.starts_with("elif ") ||
      code.starts_with("while ") || code.starts_with("if(") ||
      has(code, " if ")) {
    return Use::kBranch;
  }
  for (string_view word : {" and ", " or ", "not "}) {
    if (has(code, word)) return Use::kBranch;
  }
  // Builtins that choose by a comparison.
  for (string_view call : {"max(", "min(", "bool(", "sorted("}) {
    const size_t at = code.find(call);
    if (at == code.npos) continue;
    const bool is_builtin =
        at == 0 || (!is_name(code[at - 1]) && code[at - 1] != '.');
    if (is_builtin) return Use::kBranch;
  }
  return Use::kCall;
}

Asker asker_of(const TextError& e) {
  for (string_view word :
       {"LoweringException", "InductorError", "BackendCompilerFailed"}) {
    if (has(e.message, word)) return Asker::kCompiler;
  }
  if (is_of_compiler(e.caused_by) || is_of_compiler(e.asked_in)) {
    return Asker::kCompiler;
  }
  const Asker culprit = asker_in(e.culprit);
  if (culprit == Asker::kCompiler || culprit == Asker::kOperator) {
    return culprit;
  }
  const Asker direct = asker_in(e.traceback);
  if (direct == Asker::kCompiler || direct == Asker::kOperator) return direct;
  for (const TextFrame& frame : {e.asked_in, e.caused_by}) {
    if (frame.is_known() && asker_in({frame}) == Asker::kOperator) {
      return Asker::kOperator;
    }
  }
  const Use use = use_of(place_of(e).code);
  if (use == Use::kCall) return Asker::kOperator;
  const bool has_line = use != Use::kUnknown || !e.user.empty() ||
                        direct == Asker::kProgram || is_of_program(e.caused_by);
  return has_line ? Asker::kProgram : Asker::kUnknown;
}

bool is_asked_by_slice(const TextError& e) {
  const auto is_slice = [](const TextFrame& frame) {
    return is_of_torch(frame.file) && has(frame.function, "slice_forward");
  };
  if (is_slice(e.asked_in) || is_slice(e.caused_by)) return true;
  if (!e.culprit.empty() && is_slice(e.culprit.back())) return true;
  for (auto it = e.traceback.rbegin(); it != e.traceback.rend(); ++it) {
    if (is_slice(*it)) return true;
    if (is_of_program(*it)) return false;
  }
  return false;
}

}  // namespace proviso::inline v0_2::internal
