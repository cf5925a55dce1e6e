// Expr for proviso/_expr.py: building, reading and evaluating.
#include <array>
#include <unordered_map>

#include "bindings/python/bound_class.h"
#include "bindings/python/core/core.h"
#include "sym/canonical.h"
#include "sym/excerpt.h"
#include "sym/lexer.h"
#include "sym/op.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/simplify.h"
#include "sym/symbol_kinds.h"
#include "sym/translate.h"

namespace proviso::python {
namespace {

using internal::excerpt;
using internal::kArgumentLength;

// --- making

// In errors: whole, or as it begins, of ASCII alone.
std::string quoted(std::string_view text) {
  return "'" + excerpt(internal::Lexer::printable(text), kArgumentLength) + "'";
}

SymbolKind kind_called(const std::string& name, const char* call) {
  if (const auto kind = find_symbol_kind(name)) return *kind;
  throw Error(std::string(call) + ": " + quoted(name) +
              " is no kind of symbol; give one of " + symbol_kind_names());
}

// The kind that is given, else the parser's for the name.
SymbolKind kind_for(const std::string& name,
                    const std::optional<std::string>& kind, const char* call) {
  if (!internal::names_a_symbol(name))
    throw Error(std::string(call) + ": " + internal::not_a_name(name));
  if (kind) return kind_called(*kind, call);
  ExprPool scratch;
  return parse(scratch, name).symbol().kind;
}

PyExpr symbol_in(const PoolPtr& pool, const std::string& name,
                 const std::optional<std::string>& kind,
                 const std::string& source, const char* call) {
  return {pool, pool->pool.symbol(name, kind_for(name, kind, call), source)};
}

// Makes symbols for proviso/_sympy.py, in a pool of their own, as they are in
// `pool` where that has them.
py::cpp_function symbol_maker(const PoolPtr& pool, const PoolPtr& own,
                              const char* call) {
  return py::cpp_function(
      [pool, own, called = std::string(call)](const std::string& name,
                                              const std::string& kind) {
        const auto known = [&] {
          const std::lock_guard<std::mutex> alone(pool->lock);
          return pool->pool.find_symbol(name);
        }();
        if (!known)
          return PyExpr{own, symbol_of_name(*own, name, kind, called.c_str())};
        const Symbol& s = known->symbol();
        return PyExpr{own, own->pool.symbol(name, s.kind, s.source)};
      });
}

Op op_called(const std::string& name) {
  const OpInfo* row = op_named(name);
  if (row != nullptr && !is_leaf(row->op)) return row->op;
  throw Error("make: " + quoted(name) +
              " is no operator; Expr.op of an expression is one, such as "
              "'Mod' or 'FloorDiv'");
}

// The pool of the first Expr among the arguments, else a new one.
PoolPtr pool_of(const py::args& args) {
  for (const py::handle& arg : args) {
    if (py::isinstance<PyExpr>(arg)) return arg.cast<PyExpr&>().pool;
  }
  return std::make_shared<Pool>();
}

PyExpr make(const py::object& op_name, const py::args& given) {
  const std::string name = text_of(op_name, "make", "op");
  const Op op = op_called(name);
  const PoolPtr pool = pool_of(given);
  Given in_pool(pool, name.c_str());
  std::vector<Expr> args;
  for (const py::handle& arg : given) args.push_back(in_pool(arg));
  return {pool, in_pool.make(op, args)};
}

bool is_operand(py::handle value) {
  return py::isinstance<PyExpr>(value) || PyLong_Check(value.ptr()) ||
         PyFloat_Check(value.ptr());
}

// The operator of ints, or of floats where an operand is one.
using Choose = Op (*)(Expr, Expr);

template <Op op>
Op always(Expr, Expr) {
  return op;
}
template <Op ints, Op floats>
Op by_type(Expr a, Expr b) {
  return a.is_float() || b.is_float() ? floats : ints;
}
template <Op truths, Op bits>
Op by_truth(Expr a, Expr) {
  return a.is_bool() ? truths : bits;
}

template <Choose choose, bool swapped = false>
py::object binary(const PyExpr& self, const py::object& other) {
  if (!is_operand(other)) return not_implemented();
  const PoolPtr& pool = self.pool;
  Given given(pool, "an operator of Expr");
  Expr a = self.e, b = given(other);
  if (swapped) std::swap(a, b);
  return py::cast(
      PyExpr{pool, given.make(choose(a, b), std::array<Expr, 2>{a, b})});
}

// a - b, with a constant's sign turned, as the parser builds it.
Expr difference(Expr a, Expr b) {
  if (b.is(Op::kInteger)) return a + b.pool().integer(-b.integer());
  return a - b;
}

template <bool swapped>
py::object minus(const PyExpr& self, const py::object& other) {
  if (!is_operand(other)) return not_implemented();
  Given given(self.pool, "an operator of Expr");
  Expr a = self.e, b = given(other);
  if (swapped) std::swap(a, b);
  // As a sum is refused, before a part of it is made.
  if (a.is_bool() || b.is_bool())
    (void)given.make(Op::kAdd, std::array<Expr, 2>{a, b});
  return py::cast(
      PyExpr{self.pool, briefly(*self.pool, [&] { return difference(a, b); })});
}

// a == b and a != b, where both may be compared.
template <Op op>
py::object equality(const PyExpr& self, const py::object& other) {
  if (!is_operand(other)) return not_implemented();
  const bool is_bool = py::isinstance<PyExpr>(other)
                           ? other.cast<PyExpr&>().e.is_bool()
                           : PyBool_Check(other.ptr()) != 0;
  if (self.e.is_bool() != is_bool) return not_implemented();
  Given given(self.pool, "==");
  const Expr b = given(other);
  return py::cast(
      PyExpr{self.pool, given.make(op, std::array<Expr, 2>{self.e, b})});
}

PyExpr unary(const PyExpr& self, Expr (*apply)(Expr)) {
  return {self.pool, briefly(*self.pool, [&] { return apply(self.e); })};
}

// ~x: not of a truth value, the bits of an integer turned.
Expr inverted(Expr e) { return e.is_bool() ? logical_not(e) : -e - 1; }
Expr absolute(Expr e) { return e.pool().make(Op::kAbs, {e}); }

// --- reading

py::object constant_of(const PyExpr& self) {
  switch (self.e.op()) {
    case Op::kInteger: return to_python(Value(self.e.integer()));
    case Op::kRational: return to_python(Value(self.e.rational()));
    case Op::kBoolean: return py::bool_(self.e.is_true());
    default: return py::none();
  }
}

py::tuple arguments(const PyExpr& self) {
  py::tuple result(self.e.arity());
  for (size_t i = 0; i < self.e.arity(); ++i) {
    result[i] = PyExpr{self.pool, self.e.arg(i)};
  }
  return result;
}

py::list symbols_of(const PyExpr& self) {
  py::list result;
  for (Expr symbol : free_symbols(self.e)) {
    result.append(PyExpr{self.pool, symbol});
  }
  return result;
}

const Symbol& symbol_of(const PyExpr& self, const char* property) {
  if (self.e.is_symbol()) return self.e.symbol();
  throw Error(std::string("Expr.") + property + ": " + excerpt(self.e) +
              " is no symbol; look at its free_symbols");
}

// The same in every pool and process.
size_t structural_hash(Expr root) {
  std::unordered_map<Expr, size_t, ExprHash> known;
  visit_arguments_first(
      root, [&](Expr x) { return known.contains(x); },
      [&](Expr x) {
        size_t hash = static_cast<size_t>(x.op()) * 0x9E3779B97F4A7C15u;
        const auto mix = [&](size_t part) {
          hash = (hash ^ part) * 0xFF51AFD7ED558CCDu;
          hash ^= hash >> 32;
        };
        if (x.is(Op::kInteger)) mix(x.integer().hash());
        if (x.is(Op::kRational)) mix(x.rational().hash());
        if (x.is(Op::kBoolean)) mix(x.is_true());
        if (x.is_symbol()) mix(std::hash<std::string>()(x.symbol().name));
        for (Expr arg : x.args()) mix(known.at(arg));
        known.emplace(x, hash);
      });
  return known.at(root);
}

// Whether two are written alike, whatever their pools.
bool same(const PyExpr& a, const py::object& other) {
  if (!py::isinstance<PyExpr>(other))
    refuse(other, "Expr.same", "other", "an Expr");
  const PyExpr& b = other.cast<PyExpr&>();
  if (a.pool == b.pool) return a.e == b.e;
  // From b's expressions to a's, each once.
  std::unordered_map<Expr, Expr, ExprHash> match;
  std::vector<std::pair<Expr, Expr>> pending{{a.e, b.e}};
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    const auto [known, is_new] = match.emplace(y, x);
    if (!is_new) {
      if (known->second != x) return false;
      continue;
    }
    if (x.op() != y.op() || x.arity() != y.arity()) return false;
    if (x.is(Op::kInteger) && x.integer() != y.integer()) return false;
    if (x.is(Op::kRational) && x.rational() != y.rational()) return false;
    if (x.is(Op::kBoolean) && x.is_true() != y.is_true()) return false;
    if (x.is_symbol() && (x.symbol().name != y.symbol().name ||
                          x.symbol().kind != y.symbol().kind)) {
      return false;
    }
    for (size_t i = 0; i < x.arity(); ++i)
      pending.emplace_back(x.arg(i), y.arg(i));
  }
  return true;
}

// --- values

Value value_of(Expr symbol, py::handle given) {
  if (PyBool_Check(given.ptr())) return Int(given.cast<bool>());
  if (const std::optional<Int> value = to_bound(given)) {
    if (symbol.is_float()) return Rational(*value);
    return *value;
  }
  if (PyFloat_Check(given.ptr()) && symbol.is_float()) {
    if (auto value = Rational::from_double(given.cast<double>())) return *value;
  }
  throw Error(
      "Expr.evaluate: " + excerpt(symbol.symbol().name, kArgumentLength) +
      " is " + shown(given) + "; give " +
      (symbol.is_float() ? "a finite number" : "an int"));
}

std::string name_in(py::handle key, const char* method) {
  if (py::isinstance<PyExpr>(key))
    return symbol_of(key.cast<PyExpr&>(), method).name;
  const std::string call = std::string("Expr.") + method;
  if (PyUnicode_Check(key.ptr())) return text_of(key, call.c_str(), "a key");
  throw py::type_error(call + ": expected a symbol or its name, got " +
                       shown(key));
}

// Values by symbol or by name; None where it is undefined, with no symbol left.
py::object evaluated(const PyExpr& self, const py::object& values) {
  Assignment point;
  std::unordered_map<std::string, Expr> by_name;
  for (Expr s : free_symbols(self.e)) by_name.emplace(s.symbol().name, s);
  for (const auto& [key, value] : dict_of(values, "Expr.evaluate", "values")) {
    const auto found = by_name.find(name_in(key, "evaluate"));
    if (found != by_name.end())
      point.set(found->second, value_of(found->second, value));
  }
  const Evaluation result = evaluate(self.e, point);
  if (result.defined()) return to_python(*result.value);
  throw Error("Expr.evaluate: " + result.why);
}

template <Expr (*rewrite)(Expr)>
PyExpr rewritten(const PyExpr& self) {
  return {self.pool, at_length(*self.pool, [&] { return rewrite(self.e); })};
}

PyExpr substituted(const PyExpr& self, const py::object& values) {
  std::unordered_map<std::string, Expr> by_name;
  for (Expr s : free_symbols(self.e)) by_name.emplace(s.symbol().name, s);
  std::unordered_map<Expr, Expr, ExprHash> map;
  Given given(self.pool, "Expr.subs");
  for (const auto& [key, value] : dict_of(values, "Expr.subs", "values")) {
    const auto found = by_name.find(name_in(key, "subs"));
    if (found == by_name.end()) continue;
    const Expr other = given(value);
    if (other.type() != found->second.type()) {
      throw Error("Expr.subs: " + excerpt(found->first, kArgumentLength) +
                  " is " + std::string(name_of(found->second.type())) +
                  ", and " + excerpt(other) + " is " +
                  std::string(name_of(other.type())));
    }
    map.emplace(found->second, other);
  }
  return {self.pool,
          at_length(*self.pool, [&] { return substitute(self.e, map); })};
}

// --- the class

template <typename Class>
void bind_arithmetic(Class& c) {
  c.def("__add__", &binary<always<Op::kAdd>>)
      .def("__radd__", &binary<always<Op::kAdd>, true>)
      .def("__sub__", &minus<false>)
      .def("__rsub__", &minus<true>)
      .def("__mul__", &binary<always<Op::kMul>>)
      .def("__rmul__", &binary<always<Op::kMul>, true>)
      .def("__floordiv__", &binary<always<Op::kFloorDiv>>)
      .def("__rfloordiv__", &binary<always<Op::kFloorDiv>, true>)
      .def("__mod__", &binary<always<Op::kMod>>)
      .def("__rmod__", &binary<always<Op::kMod>, true>)
      .def("__truediv__", &binary<by_type<Op::kIntTrueDiv, Op::kFloatTrueDiv>>)
      .def("__rtruediv__",
           &binary<by_type<Op::kIntTrueDiv, Op::kFloatTrueDiv>, true>)
      .def("__pow__", &binary<by_type<Op::kPow, Op::kFloatPow>>)
      .def("__rpow__", &binary<by_type<Op::kPow, Op::kFloatPow>, true>)
      .def("__lshift__", &binary<always<Op::kLShift>>)
      .def("__rlshift__", &binary<always<Op::kLShift>, true>)
      .def("__rshift__", &binary<always<Op::kRShift>>)
      .def("__rrshift__", &binary<always<Op::kRShift>, true>)
      .def("__and__", &binary<by_truth<Op::kAnd, Op::kBitAnd>>)
      .def("__rand__", &binary<by_truth<Op::kAnd, Op::kBitAnd>, true>)
      .def("__or__", &binary<by_truth<Op::kOr, Op::kBitOr>>)
      .def("__ror__", &binary<by_truth<Op::kOr, Op::kBitOr>, true>)
      .def("__xor__", &binary<by_truth<Op::kNe, Op::kBitXor>>)
      .def("__rxor__", &binary<by_truth<Op::kNe, Op::kBitXor>, true>)
      .def("__neg__",
           [](const PyExpr& s) {
             return unary(s, [](Expr e) {
               return e.is(Op::kInteger) ? e.pool().integer(-e.integer()) : -e;
             });
           })
      .def("__pos__", [](const PyExpr& s) { return s; })
      .def("__abs__", [](const PyExpr& s) { return unary(s, &absolute); })
      .def("__invert__", [](const PyExpr& s) { return unary(s, &inverted); });
}

template <typename Class>
void bind_relations(Class& c) {
  c.def("__lt__", &binary<always<Op::kLt>>)
      .def("__le__", &binary<always<Op::kLe>>)
      .def("__gt__", &binary<always<Op::kLt>, true>)
      .def("__ge__", &binary<always<Op::kLe>, true>)
      .def("__eq__", &equality<Op::kEq>)
      .def("__ne__", &equality<Op::kNe>)
      .def("__hash__", [](const PyExpr& s) { return structural_hash(s.e); })
      .def("__bool__", [](const PyExpr& s) {
        if (s.e.is(Op::kBoolean)) return s.e.is_true();
        const bool is_eq = s.e.is(Op::kEq), is_ne = s.e.is(Op::kNe);
        if (is_eq || is_ne) return (s.e.arg(0) == s.e.arg(1)) == is_eq;
        throw py::type_error(
            "the truth of " + internal::excerpt(s.e) +
            " depends on its symbols; ask a Context: context.ask(..), and "
            "write &, | and ~ for `and`, `or` and `not`, "
            "(a >= 2) & (a <= 8) for a chain");
      });
}

template <typename Class>
void bind_properties(Class& c) {
  c.def_property_readonly(
       "op", [](const PyExpr& s) { return std::string(info(s.e.op()).name); })
      .def_property_readonly(
          "type",
          [](const PyExpr& s) { return std::string(name_of(s.e.type())); })
      .def_property_readonly("args", &arguments)
      .def_property_readonly("free_symbols", &symbols_of)
      .def_property_readonly("constant", &constant_of)
      .def_property_readonly("is_symbol",
                             [](const PyExpr& s) { return s.e.is_symbol(); })
      .def_property_readonly(
          "name", [](const PyExpr& s) { return symbol_of(s, "name").name; })
      .def_property_readonly(
          "source",
          [](const PyExpr& s) { return symbol_of(s, "source").source; })
      .def_property_readonly("kind", [](const PyExpr& s) {
        return std::string(name_of(symbol_of(s, "kind").kind));
      });
}

}  // namespace

Expr symbol_of_name(Pool& pool, const std::string& name,
                    const std::optional<std::string>& kind, const char* call) {
  return briefly(pool, [&] { return symbol_in(pool.pool, name, kind, call); });
}

Expr symbol_in(ExprPool& pool, const std::string& name,
               const std::optional<std::string>& kind, const char* call) {
  if (auto known = pool.find_symbol(name)) return *known;
  return pool.symbol(name, kind_for(name, kind, call));
}

void bind_expr(py::module_& m) {
  auto expr = bound_class<PyExpr>(m, "Expr",
                                  R"(An expression over sizes: immutable, exact.

>>> n, m = symbols("n m")
>>> (2*n + 1) % 4
Mod(2*n + 1, 4)
>>> Expr("s0 // 8 >= 1").free_symbols
[s0]

Operators are Python's: // and % round down, / is a float, & | ~ ^ are logic
between conditions and bit operations between integers.  == and != make a
condition, whose truth is whether both sides are written alike: expressions
are keys of dicts.  The truth of any other condition is an error; a Context
answers.)");
  expr.def(py::init([](const py::object& text) {
             (void)text_of(text, "Expr", "text");
             const auto pool = std::make_shared<Pool>();
             return PyExpr{pool, Given(pool, "Expr")(text)};
           }),
           py::arg("text"),
           "The expression that the text says, in PyTorch's form or Python's.")
      .def("__str__", [](const PyExpr& s) { return to_string(s.e); })
      .def("__repr__", [](const PyExpr& s) { return to_string(s.e); })
      .def("same", &same, py::arg("other"),
           "Whether both are written alike, whatever they were made with.")
      .def("evaluate", &evaluated, py::arg("values"),
           R"(The value at a point, by symbol or name.

>>> Expr("n // 3").evaluate({"n": -1})
-1

Raises Error where it is undefined or a symbol has no value.)")
      .def("subs", &substituted, py::arg("values"),
           R"(Symbols (or names) replaced, all at once.

>>> Expr("n + m").subs({"n": "m", "m": 3})
m + 3)")
      .def(
          "canonical", &rewritten<proviso::canonical>,
          R"(The canonical form, without facts: equal things are more often the same.

>>> Expr("n + n - 2*n").canonical()
0)")
      .def("simplify", &rewritten<proviso::simplify>,
           R"(The cheapest form that is found without facts.

>>> Expr("8*(n//8) + n%8").simplify()
n)")
      .def(
          "to_python", [](const PyExpr& s) { return to_python(s.e); },
          "Python code: n % 4 == 0.")
      .def(
          "to_smtlib", [](const PyExpr& s) { return to_smtlib(s.e); },
          "SMT-LIB 2: (= (mod n 4) 0).")
      .def(
          "to_srepr", [](const PyExpr& s) { return to_srepr(s.e); },
          "SymPy's srepr, as .pt2 files store it.")
      .def("_rows", &rows);
  bind_arithmetic(expr);
  bind_relations(expr);
  bind_properties(expr);
  m.def("from_rows", &from_rows);
  m.def("shown", &shown);
  m.def("make", &make, py::arg("op"));
  m.def("symbols_in_one_pool",
        [](const py::object& names, const py::object& kind) {
          const auto pool = std::make_shared<Pool>();
          const auto of_kind = text_or_none(kind, "symbols", "kind");
          py::list result;
          for (const py::object& item : items_of(names, "symbols", "names")) {
            result.append(symbol_in(pool, text_of(item, "symbols", "a name"),
                                    of_kind, "", "symbols"));
          }
          return result;
        });
  m.def("symbol", [](const py::object& name, const py::object& kind,
                     const py::object& source) {
    return symbol_in(std::make_shared<Pool>(), text_of(name, "symbol", "name"),
                     text_or_none(kind, "symbol", "kind"),
                     text_of(source, "symbol", "source"), "symbol");
  });
}

}  // namespace proviso::python
