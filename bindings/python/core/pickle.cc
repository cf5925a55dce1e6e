// Pickled expressions: a row a node, arguments before what is made of them.
//
//   s0 + 1    [("Symbol", "s0", "backed_size", ""), ("Integer", "1"),
//              ("Add", 0, 1)]
#include <unordered_map>

#include "bindings/python/core/core.h"
#include "sym/op.h"
#include "sym/symbol_kinds.h"

namespace proviso::python {

py::list rows(const PyExpr& self) {
  std::unordered_map<Expr, size_t, ExprHash> place;
  py::list result;
  visit_arguments_first(
      self.e, [&](Expr x) { return place.contains(x); },
      [&](Expr x) {
        const py::str op{std::string(info(x.op()).name)};
        if (x.is_symbol()) {
          const Symbol& s = x.symbol();
          result.append(py::make_tuple(op, s.name, std::string(name_of(s.kind)),
                                       s.source));
        } else if (x.is(Op::kInteger)) {
          result.append(py::make_tuple(op, x.integer().to_string()));
        } else if (x.is(Op::kRational)) {
          result.append(py::make_tuple(op, x.rational().to_string()));
        } else if (x.is(Op::kBoolean)) {
          result.append(py::make_tuple(op, x.is_true()));
        } else {
          py::list row;
          row.append(op);
          for (Expr arg : x.args()) row.append(place.at(arg));
          result.append(py::tuple(row));
        }
        place.emplace(x, place.size());
      });
  return result;
}

namespace {

[[noreturn]] void fail_row(size_t i) {
  throw Error("from_rows: row " + std::to_string(i) +
              " of the pickled expression is malformed; it was not written by "
              "pickle.dumps of an Expr");
}

// A str of the row; one without UTF-8 is of no pickle.
std::string text_in(const py::tuple& row, size_t k, size_t i) {
  const py::object text = row[k];
  if (!PyUnicode_Check(text.ptr())) fail_row(i);
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (utf8 == nullptr) PyErr_Clear(), fail_row(i);
  return {utf8, static_cast<size_t>(size)};
}

Expr leaf_of(ExprPool& pool, const py::tuple& row, const std::string& op,
             size_t i) {
  if (op == "Boolean") {
    if (row.size() != 2 || !py::isinstance<py::bool_>(row[1])) fail_row(i);
    return pool.boolean(row[1].cast<bool>());
  }
  if (row.size() < 2) fail_row(i);
  const std::string text = text_in(row, 1, i);
  if (op == "Integer") {
    if (auto value = Int::parse(text)) return pool.integer(*value);
  } else if (op == "Float") {
    if (auto value = Rational::parse(text)) return pool.rational(*value);
  } else if (op == "Symbol" && row.size() == 4) {
    if (auto kind = find_symbol_kind(text_in(row, 2, i)))
      return pool.symbol(text, *kind, text_in(row, 3, i));
  }
  fail_row(i);
}

Expr row_of(ExprPool& pool, const py::tuple& row, const std::vector<Expr>& made,
            size_t i) {
  if (row.empty()) fail_row(i);
  const std::string name = text_in(row, 0, i);
  const OpInfo* op = op_named(name);
  if (op == nullptr || is_leaf(op->op)) return leaf_of(pool, row, name, i);
  std::vector<Expr> args;
  for (size_t k = 1; k < row.size(); ++k) {
    if (!py::isinstance<py::int_>(row[k])) fail_row(i);
    const auto place = PyLong_AsSize_t(row[k].ptr());
    if (PyErr_Occurred() != nullptr) PyErr_Clear(), fail_row(i);
    if (place >= made.size()) fail_row(i);
    args.push_back(made[place]);
  }
  return pool.make(op->op, args);
}

}  // namespace

PyExpr from_rows(const py::object& all) {
  auto pool = std::make_shared<Pool>();
  std::vector<Expr> made;
  for (const py::object& row : items_of(all, "from_rows", "rows")) {
    const size_t i = made.size();
    if (!py::isinstance<py::tuple>(row)) fail_row(i);
    try {
      made.push_back(row_of(pool->pool, row.cast<py::tuple>(), made, i));
    } catch (const Error& error) {  // of a name, or of an operator's arguments
      const std::string why = error.what();
      if (why.starts_with("from_rows: ")) throw;
      throw Error("from_rows: row " + std::to_string(i) + ": " + why);
    }
  }
  if (made.empty()) fail_row(0);
  return {pool, made.back()};
}

}  // namespace proviso::python
