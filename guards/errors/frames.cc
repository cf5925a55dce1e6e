#include "guards/errors/frames.h"

#include <utility>

#include "guards/errors/text_parts.h"

namespace proviso::inline v0_2::internal {

using std::string_view;

namespace {

// Folders and files of the package torch.  A path that begins within the
// package (2.5 and later cut it so) is known by those that are `alone`: the
// others a program may have too.
struct OwnPart {
  string_view path;
  bool alone;
};
constexpr OwnPart kOwnParts[] = {
    {"_dynamo/", true},
    {"_subclasses/", true},
    {"_prims", true},
    {"_refs/", true},
    {"_export/", true},
    {"_functorch/", true},
    {"_inductor/", true},
    {"_higher_order_ops/", true},
    {"_library/", true},
    {"_decomp/", true},
    {"_ops.py", true},
    {"_meta_registrations.py", true},
    {"_tensor.py", true},
    {"fx/", true},
    {"nn/modules/", true},
    {"nn/functional.py", true},
    {"ao/quantization/", true},
    {"distributed/", true},
    {"utils/_stats.py", true},
    {"utils/_sympy/", true},
    {"export/", false},
    {"nn/", false},
    {"utils/", false},
    {"functional.py", false},
    {"__init__.py", false},
    {"_guards.py", false},
    {"_logging/", false},
    {"_compile.py", false},
    {"overrides.py", false},
    {"autograd/", false},
    {"amp/", false},
    {"ao/", false},
    {"onnx/", false},
    {"library.py", false},
    {"_jit_internal.py", false},
    {"jit/", false},
    {"_C/", false},
    {"sparse/", false},
    {"nested/", false},
    {"masked/", false},
    {"_numpy/", false},
    {"_utils_internal.py", false},
    {"testing/", false},
    {"linalg/", false},
    {"special/", false},
};

}  // namespace

bool is_of_torch(string_view file) {
  if (has(file, "-packages/torch/") || has(file, "/pytorch/torch/")) {
    return true;
  }
  const bool begins = file.starts_with("torch/");
  const std::optional<string_view> inside =
      begins ? file.substr(6) : after(file, "/torch/");
  const bool is_whole = inside.has_value();
  const string_view rest = inside.value_or(file);
  for (const OwnPart& part : kOwnParts) {
    if ((is_whole || part.alone) && rest.starts_with(part.path)) return true;
  }
  return false;
}

bool is_of_program(const TextFrame& frame) {
  return frame.is_known() && !frame.file.starts_with("<") &&
         !is_of_torch(frame.file);
}

const TextFrame* last_of_program(const std::vector<TextFrame>& frames) {
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    if (is_of_program(*it)) return &*it;
  }
  return nullptr;
}

bool is_same_file(string_view a, string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return !b.empty() && a.ends_with(b);
}

std::optional<TextFrame> place_in(string_view text) {
  const size_t in = text.find(" in ");
  const string_view spot = text.substr(0, in);
  const size_t colon = spot.rfind(':');
  if (colon == npos || colon == 0 || colon + 1 >= spot.size()) {
    return std::nullopt;
  }
  if (!is_digit(spot[colon + 1])) return std::nullopt;
  TextFrame frame;
  frame.file = trim(spot.substr(0, colon));
  frame.line = number_of(spot.substr(colon + 1));
  if (in != npos) {
    const string_view name = text.substr(in + 4);
    size_t end = 0;
    while (end < name.size() && (is_name(name[end]) || name[end] == '<' ||
                                 name[end] == '>' || name[end] == '.')) {
      ++end;
    }
    frame.function = name.substr(0, end);
  }
  return frame;
}

std::optional<TextFrame> frame_in(string_view text) {
  TextFrame frame;
  size_t end = npos;
  if (text.starts_with("File \"")) {
    text.remove_prefix(6);
    const size_t quote = text.find("\", line ");
    if (quote == npos) return std::nullopt;
    frame.file = text.substr(0, quote);
    text.remove_prefix(quote + 8);
    end = text.find(", in ");
  } else if (text.starts_with("File ") && has(text, ", lineno ")) {
    const size_t comma = text.find(", lineno ");
    frame.file = text.substr(5, comma - 5);
    text.remove_prefix(comma + 9);
    end = text.find(", in ");
  } else if (text.starts_with("File ") || text.starts_with("Cell In[") ||
             text.starts_with("Input In [")) {
    const bool is_cell = !text.starts_with("File ");
    if (!is_cell) text.remove_prefix(5);
    const string_view mark = is_cell ? ", line " : ":";
    const size_t at = is_cell ? text.find(mark)
                              : text.substr(0, text.find(", in ")).rfind(':');
    if (at == npos || at + mark.size() >= text.size()) return std::nullopt;
    frame.file = trim(text.substr(0, at));
    if (frame.file.starts_with('[') && has(frame.file, "](")) {
      frame.file = frame.file.substr(1, frame.file.find("](") - 1);
    }
    text.remove_prefix(at + mark.size());
    end = text.find(", in ");
  } else {
    const size_t at = text.find(".py:");
    if (at == npos || has(text.substr(0, at), " ")) return std::nullopt;
    frame.file = text.substr(0, at + 3);
    text.remove_prefix(at + 4);
    end = text.find(": in ");
    if (end == npos) return std::nullopt;
  }
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  frame.line = number_of(text);
  if (end != npos) {
    string_view name = text.substr(end + 5);
    frame.function = trim(name.substr(0, name.find('(')));
  }
  return frame;
}

bool is_underline(string_view text) {
  return text.find_first_not_of("^~ |") == npos;
}

std::optional<string_view> code_at_arrow(string_view text) {
  size_t i = 0;
  while (i < text.size() && text[i] == '-') ++i;
  if (i == 0 || i >= text.size() || text[i] != '>') return std::nullopt;
  string_view rest = trim(text.substr(i + 1));
  size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  if (digits == 0) return std::nullopt;
  return trim(rest.substr(digits));
}

std::optional<string_view> assigned_in(string_view code) {
  const size_t at = code.find('=');
  if (at == npos || at == 0 || at + 1 >= code.size() || code[at + 1] == '=') {
    return std::nullopt;
  }
  const string_view name = trim(code.substr(0, at));
  if (!is_identifier(name)) return std::nullopt;
  return name;
}

}  // namespace proviso::inline v0_2::internal
