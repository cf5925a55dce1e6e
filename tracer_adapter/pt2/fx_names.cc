#include "tracer_adapter/pt2/fx_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "tracer_adapter/ir/printable.h"

namespace proviso::inline v0_2::pt2 {
namespace {

// Python's keywords and builtins, and what torch.fx imports into the code that
// it writes: no node is called so.  Sorted; a test compares it with torch's.
// clang-format off
constexpr std::array<std::string_view, 196> kTaken = {
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException",
    "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError",
    "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
    "ConnectionResetError", "DeprecationWarning", "EOFError", "Ellipsis",
    "EncodingWarning", "EnvironmentError", "Exception", "ExceptionGroup",
    "False", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "IOError", "ImportError",
    "ImportWarning", "IndentationError", "IndexError", "InterruptedError",
    "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError",
    "MemoryError", "ModuleNotFoundError", "NameError", "None", "NoneType",
    "NotADirectoryError", "NotImplemented", "NotImplementedError",
    "OSError", "OverflowError", "PendingDeprecationWarning",
    "PermissionError", "ProcessLookupError", "RecursionError",
    "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning",
    "SystemError", "SystemExit", "TabError", "TimeoutError", "True",
    "TypeError", "UnboundLocalError", "UnicodeDecodeError",
    "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError",
    "UnicodeWarning", "UserWarning", "ValueError", "Warning",
    "ZeroDivisionError", "__build_class__", "__debug__", "__doc__",
    "__import__", "__loader__", "__name__", "__package__", "__spec__",
    "abs", "aiter", "all", "and", "anext", "any", "as", "ascii", "assert",
    "async", "await", "bin", "bool", "break", "breakpoint", "bytearray",
    "bytes", "callable", "chr", "class", "classmethod", "compile",
    "complex", "continue", "copyright", "credits", "def", "del", "delattr",
    "device", "dict", "dir", "divmod", "elif", "else", "enumerate", "eval",
    "except", "exec", "exit", "filter", "finally", "float", "for", "format",
    "from", "frozenset", "fx_pytree", "getattr", "global", "globals",
    "hasattr", "hash", "help", "hex", "id", "if", "import", "in", "inf",
    "input", "int", "is", "isinstance", "issubclass", "iter", "lambda",
    "len", "license", "list", "locals", "map", "max", "memoryview", "min",
    "nan", "next", "nonlocal", "not", "object", "oct", "open", "or", "ord",
    "pass", "pow", "print", "property", "pytree", "quit", "raise", "range",
    "repr", "return", "reversed", "round", "set", "setattr", "slice",
    "sorted", "staticmethod", "str", "sum", "super", "torch", "try",
    "tuple", "type", "vars", "while", "with", "yield", "zip"};

// keyword.kwlist, sorted; a test compares it, too.
constexpr std::array<std::string_view, 35> kKeywords = {
    "False", "None", "True", "and", "as", "assert", "async", "await",
    "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield"};

// dir(torch.nn.Module()), sorted; a test compares it, too.
constexpr std::array<std::string_view, 117> kModule = {
    "T_destination", "__annotations__", "__call__", "__class__",
    "__delattr__", "__dict__", "__dir__", "__doc__", "__eq__", "__format__",
    "__ge__", "__getattr__", "__getattribute__", "__getstate__", "__gt__",
    "__hash__", "__init__", "__init_subclass__", "__le__", "__lt__",
    "__module__", "__ne__", "__new__", "__reduce__", "__reduce_ex__",
    "__repr__", "__setattr__", "__setstate__", "__sizeof__", "__str__",
    "__subclasshook__", "__weakref__", "_apply", "_backward_hooks",
    "_backward_pre_hooks", "_buffers", "_call_impl", "_compiled_call_impl",
    "_forward_hooks", "_forward_hooks_always_called",
    "_forward_hooks_with_kwargs", "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs", "_get_backward_hooks",
    "_get_backward_pre_hooks", "_get_name", "_is_full_backward_hook",
    "_load_from_state_dict", "_load_state_dict_post_hooks",
    "_load_state_dict_pre_hooks", "_maybe_warn_non_full_backward_hook",
    "_modules", "_named_members", "_non_persistent_buffers_set",
    "_parameters", "_register_load_state_dict_pre_hook",
    "_register_state_dict_hook", "_replicate_for_data_parallel",
    "_save_to_state_dict", "_slow_forward", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_version", "_wrapped_call_impl", "add_module",
    "apply", "bfloat16", "buffers", "call_super_init", "children",
    "compile", "cpu", "cuda", "double", "dump_patches", "eval",
    "extra_repr", "float", "forward", "get_buffer", "get_extra_state",
    "get_parameter", "get_submodule", "half", "ipu", "load_state_dict",
    "modules", "mtia", "named_buffers", "named_children", "named_modules",
    "named_parameters", "parameters", "register_backward_hook",
    "register_buffer", "register_forward_hook", "register_forward_pre_hook",
    "register_full_backward_hook", "register_full_backward_pre_hook",
    "register_load_state_dict_post_hook",
    "register_load_state_dict_pre_hook", "register_module",
    "register_parameter", "register_state_dict_post_hook",
    "register_state_dict_pre_hook", "requires_grad_", "set_extra_state",
    "set_submodule", "share_memory", "state_dict", "to", "to_empty",
    "train", "training", "type", "xpu", "zero_grad"};

// dir() of the module of an exported program without what kModule has, sorted;
// a test compares it, too.
constexpr std::array<std::string_view, 42> kProgram = {
    "__copy__", "__deepcopy__", "__jit_unused_properties__",
    "__reduce_package__", "_boxed_call", "_code", "_create_node_hooks",
    "_deepcopy_hooks", "_deepcopy_init", "_erase_node_hooks", "_graph",
    "_guards_fn", "_in_spec", "_lineno_map", "_out_spec", "_prologue_start",
    "_recompile_submodules", "_register_create_node_hook",
    "_register_deepcopy_hook", "_register_erase_node_hook",
    "_register_replace_node_hook", "_replace_hooks", "_set_replace_hook",
    "_tracer_cls", "_tracer_extras", "_unregister_create_node_hook",
    "_unregister_deepcopy_hook", "_unregister_erase_node_hook",
    "_unregister_replace_node_hook", "_wrapped_call", "add_submodule",
    "code", "delete_all_unused_submodules", "delete_submodule", "graph",
    "meta", "print_readable", "range_constraints", "recompile", "shape_env",
    "to_folder", "validate_inputs"};
// clang-format on

// Letters outside of ASCII that stay what they are, alone and side by side; a
// test compares them with Python's.
struct Letters {
  uint32_t first, last;
};
constexpr Letters kLetters[] = {
    {0x00C0, 0x00D6}, {0x00D8, 0x00F6}, {0x00F8, 0x0131},  // Latin
    {0x0134, 0x013E}, {0x0141, 0x0148}, {0x014A, 0x017E},
    {0x0391, 0x03A1}, {0x03A3, 0x03CE},                    // Greek
    {0x0400, 0x0481}, {0x048A, 0x052F},                    // Cyrillic
    {0x05D0, 0x05EA},                                      // Hebrew
    {0x0620, 0x064A},                                      // Arabic
    {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x30FC, 0x30FC},  // Kana
    {0x4E00, 0x9FEA},                                      // Han
    {0xAC00, 0xD7A3}};                                     // Hangul

template <size_t N>
bool contains(const std::array<std::string_view, N>& words,
              std::string_view word) {
  return std::binary_search(words.begin(), words.end(), word);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_other_letter(uint32_t character) {
  return std::ranges::any_of(kLetters, [&](const Letters& letters) {
    return letters.first <= character && character <= letters.last;
  });
}

// Whether each character is a letter of another alphabet or one that `ascii`
// takes.
template <typename Ascii>
bool all_are(std::string_view text, Ascii ascii) {
  uint32_t c = 0;
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    length = character_at(text, at, c);
    const bool taken =
        c < 0x80 ? ascii(static_cast<char>(c)) : is_other_letter(c);
    if (length == 0 || !taken) return false;
  }
  return true;
}

// What is left of a text in an identifier: each run of other characters is '_'.
std::string identifier(const std::string& text) {
  std::string name;
  bool skipped = false;
  for (const char c : text) {
    const bool good = is_letter(c) || is_digit(c);
    if (good || !skipped) name += good ? c : '_';
    skipped = !good;
  }
  if (name.empty()) name = "_unnamed";
  return is_digit(name[0]) ? "_" + name : name;
}

// "x_12" is x and 12, "x_" and "x" have no number.
std::pair<std::string, std::optional<uint64_t>> split_number(
    const std::string& name) {
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  if (digits == name.size() || digits < 2 || name[digits - 1] != '_')
    return {name, std::nullopt};
  uint64_t number = 0;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return {name.substr(0, digits - 1), number};
}

}  // namespace

std::string FxNames::create(std::string candidate) {
  candidate = identifier(candidate);
  auto [base, number] = split_number(candidate);
  if (!number || used_.contains(candidate)) {
    number = counts_[base];
    if (contains(kTaken, candidate))
      candidate = base + "_" + std::to_string(++*number);
  }
  while (used_.contains(candidate))
    candidate = base + "_" + std::to_string(++*number);
  used_.insert(candidate);
  counts_[base] = *number;
  return candidate;
}

std::string fx_name_of(std::string_view called) {
  std::string name;
  char before = ' ';
  for (const char c : called) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && before >= 'a' && before <= 'z') name += '_';
    name += upper ? static_cast<char>(c - 'A' + 'a') : c;
    before = c;
  }
  return name;
}

bool is_python_name(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) && !contains(kKeywords, name) &&
         all_are(name, [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_value_name(std::string_view name) {
  return is_python_name(name) && name != "self" && name != "torch" &&
         std::ranges::all_of(name, [](char c) { return c >= 0; });
}

bool is_attribute_part(std::string_view part) {
  return !part.empty() && !contains(kKeywords, part) &&
         all_are(part, [](char c) {
           return c >= ' ' && c <= '~' && c != '"' && c != '\\';
         });
}

bool is_module_attribute(std::string_view name) {
  return contains(kModule, name);
}

bool is_program_attribute(std::string_view name) {
  return contains(kModule, name) || contains(kProgram, name);
}

}  // namespace proviso::inline v0_2::pt2
