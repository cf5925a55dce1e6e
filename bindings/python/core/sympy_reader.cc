// Walks an object's arguments, deepest first, on a stack of its own.  A class
// is looked up in the table; its arguments are read before it is made.
#include "bindings/python/core/sympy_reader.h"

#include "bindings/python/values.h"
#include "sym/op.h"
#include "sym/pool_stores.h"

namespace proviso::python {
namespace {

// More objects in one expression than this are refused.
constexpr size_t kMaxVisits = 200'000;

// Never destroyed: readers may die while the interpreter ends.
std::unordered_map<PyObject*, std::string>& class_names() {
  static auto* names = new std::unordered_map<PyObject*, std::string>;
  return *names;
}

std::unordered_map<std::string, PyObject*>& classes_by_name() {
  static auto* classes = new std::unordered_map<std::string, PyObject*>;
  return *classes;
}

constexpr const char* kOtherSymbol = "Symbol whose name another symbol has";

const std::string* name_of_class(PyObject* object) {
  const auto& names = class_names();
  auto it = names.find(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  return it == names.end() ? nullptr : &it->second;
}

// A new reference, or null with no error set.
py::object attribute(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (!value) PyErr_Clear();
  return py::reinterpret_steal<py::object>(value);
}

// The arguments, borrowed: the object keeps them.
std::optional<std::vector<PyObject*>> arguments(PyObject* object) {
  const py::object args = attribute(object, "_args");
  if (!args || !PyTuple_Check(args.ptr())) return std::nullopt;
  std::vector<PyObject*> result(
      static_cast<size_t>(PyTuple_GET_SIZE(args.ptr())));
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
  return result;
}

}  // namespace

void set_sympy_classes(const py::dict& classes) {
  for (const auto& [type, name] : classes) {
    class_names()[type.ptr()] = py::str(name);
    classes_by_name()[py::str(name)] = type.ptr();
    type.inc_ref();
  }
}

py::object sympy_class(const std::string& name) {
  return py::reinterpret_borrow<py::object>(classes_by_name().at(name));
}

SymPyReader::~SymPyReader() {
  for (PyObject* object : held_) Py_DECREF(object);
}

std::optional<Expr> SymPyReader::refuse(std::string what) {
  refused_ = std::move(what);
  return std::nullopt;
}

Expr SymPyReader::remember(PyObject* object, Expr e) {
  if (memo_.emplace(object, e).second) {
    Py_INCREF(object);
    held_.push_back(object);
    if (admits_all_) objects_.emplace(e, object);
  }
  return e;
}

std::optional<Expr> SymPyReader::admit(PyObject* symbol) {
  if (auto it = memo_.find(symbol); it != memo_.end()) return it->second;
  const std::string* kind = name_of_class(symbol);
  if (!kind || *kind != "Symbol") return refuse("a range of no symbol");
  const py::object name = attribute(symbol, "name");
  const py::object integer = attribute(symbol, "is_integer");
  if (!name || !PyUnicode_Check(name.ptr()) || integer.ptr() != Py_True)
    return refuse("Symbol that is no integer");
  const std::string text = py::str(name);
  auto [it, is_new] = symbols_.emplace(text, symbol);
  if (!is_new && PyObject_RichCompareBool(it->second, symbol, Py_EQ) != 1) {
    PyErr_Clear();
    return refuse(kOtherSymbol);
  }
  return remember(symbol, internal::PoolStores::symbol_of_any_name(
                              pool_, text,
                              text.starts_with('u') ? SymbolKind::kUnbackedInt
                                                    : SymbolKind::kBackedInt));
}

bool SymPyReader::has_other_symbol() const { return refused_ == kOtherSymbol; }

PyObject* SymPyReader::object_of(Expr e) const {
  auto it = objects_.find(e);
  return it == objects_.end() ? nullptr : it->second;
}

PyObject* SymPyReader::symbol_named(const std::string& name) const {
  auto it = symbols_.find(name);
  return it == symbols_.end() ? nullptr : it->second;
}

std::optional<Expr> SymPyReader::leaf(PyObject* object,
                                      const std::string& name) {
  if (name == "true") return pool_.boolean(true);
  if (name == "false") return pool_.boolean(false);
  if (name == "Integer") {
    const py::object p = attribute(object, "p");
    const std::optional<Int> value = p ? to_bound(p) : std::optional<Int>();
    if (value) return pool_.integer(*value);
  }
  if (name == "Symbol") {
    // Equal symbols may be two objects.
    const py::object text = attribute(object, "name");
    if (text && PyUnicode_Check(text.ptr()) &&
        (admits_all_ || symbols_.contains(std::string(py::str(text)))))
      return admit(object);
    const py::object integer = attribute(object, "is_integer");
    return refuse(integer.ptr() == Py_True ? "Symbol without a range"
                                           : "Symbol that is no integer");
  }
  return refuse(name);
}

// Piecewise((1, c), (0, True)) is Where(c, 1, 0).  The last condition must be
// true: else the value may be undefined.
std::optional<Expr> SymPyReader::pieces(const std::vector<PyObject*>& args) {
  std::optional<Expr> result;
  for (size_t i = args.size(); i-- > 0;) {
    const auto pair = arguments(args[i]);
    if (!pair || pair->size() != 2) return refuse("Piecewise");
    const Expr value = memo_.at((*pair)[0]), when = memo_.at((*pair)[1]);
    if (!result && !when.is_true()) return refuse("Piecewise without an end");
    result = result ? where(when, value, *result) : value;
  }
  return result ? result : refuse("Piecewise");
}

std::optional<Expr> SymPyReader::make(PyObject*, const std::string& name,
                                      const std::vector<PyObject*>& args) {
  if (name == "Piecewise") return pieces(args);
  std::vector<Expr> parts;
  for (PyObject* arg : args) parts.push_back(memo_.at(arg));
  if (name == "Gt") return pool_.make(Op::kLt, {parts.at(1), parts.at(0)});
  if (name == "Ge") return pool_.make(Op::kLe, {parts.at(1), parts.at(0)});
  if (name == "Pow") {
    const auto exponent = parts.at(1).maybe_int64();
    if (!exponent || *exponent < 0) return refuse("Pow");
    // As kPow it opens as a product (sym/polynomial.h).
    return pool_.make(admits_all_ ? Op::kPow : Op::kPowByNatural, parts);
  }
  const OpInfo* row = op_named(name);
  if (!row) return refuse(name);
  const Expr e = pool_.make(row->op, parts);
  // Floats are exact here and doubles there.
  if (e.is_float()) return refuse(name);
  return e;
}

std::optional<Expr> SymPyReader::read(PyObject* object) {
  std::vector<PyObject*> stack{object};
  size_t visits = 0;
  while (!stack.empty()) {
    PyObject* next = stack.back();
    if (memo_.contains(next)) {
      stack.pop_back();
      continue;
    }
    if (++visits > kMaxVisits) return refuse("expression past the limit");
    const std::string* name = name_of_class(next);
    if (!name) return refuse(Py_TYPE(next)->tp_name);
    const auto args = arguments(next);
    if (!args || args->empty()) {
      const std::optional<Expr> e = leaf(next, *name);
      if (!e) return std::nullopt;
      remember(next, *e);
      continue;
    }
    // What a pair holds is read with the pieces.
    std::vector<PyObject*> below = *args;
    if (*name == "Piecewise") {
      below.clear();
      for (PyObject* pair : *args) {
        const auto inside = arguments(pair);
        if (!inside) return refuse("Piecewise");
        below.insert(below.end(), inside->begin(), inside->end());
      }
    }
    const size_t depth = stack.size();
    for (PyObject* arg : below)
      if (!memo_.contains(arg)) stack.push_back(arg);
    if (stack.size() > depth) continue;
    try {
      const std::optional<Expr> e = make(next, *name, *args);
      if (!e) return std::nullopt;
      remember(next, *e);
    } catch (const std::exception&) {  // wrong number or types of arguments
      return refuse(*name);
    }
  }
  return memo_.at(object);
}

}  // namespace proviso::python
