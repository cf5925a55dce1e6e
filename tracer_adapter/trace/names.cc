#include "tracer_adapter/trace/names.h"

#include <cctype>
#include <utility>

namespace proviso::inline v0_2 {
namespace {

bool is_reserved(const std::string& name) {
  static const std::unordered_set<std::string> kReserved = {
      // keywords
      "False", "None", "True", "and", "as", "assert", "async", "await", "break",
      "class", "continue", "def", "del", "elif", "else", "except", "finally",
      "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
      "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
      // builtin functions and types
      "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool",
      "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod",
      "compile", "complex", "copyright", "credits", "delattr", "dict", "dir",
      "divmod", "enumerate", "eval", "exec", "exit", "filter", "float",
      "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help",
      "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len",
      "license", "list", "locals", "map", "max", "memoryview", "min", "next",
      "object", "oct", "open", "ord", "pow", "print", "property", "quit",
      "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
      "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip",
      // what generated code imports
      "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree",
      "self"};
  return kReserved.contains(name);
}

// "add_12" is "add" and 12; "conv2d" has no number.
std::pair<std::string, int> split_suffix(const std::string& name) {
  size_t digits = name.size();
  while (digits > 0 && isdigit(static_cast<unsigned char>(name[digits - 1])))
    --digits;
  const size_t length = name.size() - digits;
  if (digits < 2 || length == 0 || length > 8 || name[digits - 1] != '_')
    return {name, 0};
  return {name.substr(0, digits - 1), std::stoi(name.substr(digits))};
}

}  // namespace

std::string Names::fresh(std::string wish) {
  for (char& c : wish)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  if (wish.empty() || isdigit(static_cast<unsigned char>(wish[0])))
    wish = "_" + wish;
  auto [base, number] = split_suffix(wish);
  int& count = counts_[base];
  if (number == 0) number = count;
  std::string name = wish;
  while (is_reserved(name) || !used_.insert(name).second)
    name = base + "_" + std::to_string(++number);
  count = number;
  return name;
}

}  // namespace proviso::inline v0_2
