// An expression is read into a pool of its own (sympy_reader.h), opened as a
// polynomial over atoms (sym/polynomial.h), and written back: a term is a
// product of SymPy's objects for the atoms, which are those that were read.
#include "bindings/python/core/index_forms.h"

#include <optional>
#include <vector>

#include "bindings/python/bound_class.h"
#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror_state.h"
#include "sym/canonicalizer.h"

namespace proviso::python {

namespace {

// More objects than this are dropped, and read again when they come.
constexpr size_t kMaxFormObjects = 200'000;

}  // namespace

struct IndexForms::State {
  State() : reader(pool) { reader.admit_all(); }

  ExprPool pool;
  SymPyReader reader;
  std::unordered_map<Expr, py::object, ExprHash> written;
};

// Marks the forms as in use.
class IndexForms::Turn {
 public:
  explicit Turn(IndexForms& forms) : forms_(forms), mine_(!forms.busy_) {
    if (!mine_) return;
    forms_.busy_ = true;
    if (!forms_.state_ || forms_.state_->reader.size() > kMaxFormObjects)
      forms_.state_ = std::make_unique<State>();
  }
  ~Turn() {
    if (mine_) forms_.busy_ = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool mine() const { return mine_; }

 private:
  IndexForms& forms_;
  const bool mine_;
};

IndexForms::IndexForms() = default;
IndexForms::~IndexForms() = default;

// Another graph may have given a name to another symbol: then all is read anew.
std::optional<std::vector<Expr>> IndexForms::read(
    std::initializer_list<py::handle> objects) {
  for (const bool is_first : {true, false}) {
    std::vector<Expr> result;
    for (const py::handle& object : objects) {
      const std::optional<Expr> e = state_->reader.read(object.ptr());
      if (e && e->is_int()) result.push_back(*e);
    }
    if (result.size() == objects.size()) return result;
    if (!is_first || !state_->reader.has_other_symbol()) break;
    state_ = std::make_unique<State>();
  }
  return std::nullopt;
}

py::object IndexForms::write(const Polynomial& p) {
  py::list terms;
  for (const auto& [monomial, coefficient] : p.terms()) {
    py::list factors;
    if (monomial.empty() || coefficient != Int(1))
      factors.append(to_sympy(coefficient));
    for (size_t i = 0; i < monomial.size();) {
      size_t power = 1;
      while (i + power < monomial.size() && monomial[i + power] == monomial[i])
        ++power;
      const py::object atom = write(monomial[i]);
      factors.append(
          power == 1 ? atom
                     : sympy_class("Pow")(
                           atom, to_sympy(Int(static_cast<int64_t>(power)))));
      i += power;
    }
    if (p.terms().size() == 1 && factors.size() == 1) return factors[0];
    terms.append(factors.size() == 1 ? py::object(factors[0])
                                     : sympy_class("Mul")(*factors));
  }
  if (terms.empty()) return to_sympy(Int(0));
  return terms.size() == 1 ? py::object(terms[0]) : sympy_class("Add")(*terms);
}

py::object IndexForms::write(Expr e) {
  if (PyObject* object = state_->reader.object_of(e))
    return py::reinterpret_borrow<py::object>(object);
  visit_arguments_first(
      e,
      [&](Expr x) {
        return state_->reader.object_of(x) || state_->written.contains(x);
      },
      [&](Expr x) { state_->written.emplace(x, compute(x)); });
  return state_->written.at(e);
}

// e of arguments that are written.
py::object IndexForms::compute(Expr e) {
  if (e.is(Op::kInteger)) return to_sympy(e.integer());
  if (e.is(Op::kBoolean))
    return e.is_true() ? sympy_values().yes : sympy_values().no;
  py::list args;
  for (const Expr& arg : e.args()) args.append(write(arg));
  return sympy_class(std::string(info(e.op()).name))(*args);
}

py::object IndexForms::stride(py::handle index, py::handle variable) {
  const Turn turn(*this);
  if (!turn.mine()) return not_implemented();
  const auto read_both = read({index, variable});
  if (!read_both) return not_implemented();
  const Expr e = read_both->at(0), x = read_both->at(1);
  if (!x.is(Op::kSymbol)) return not_implemented();
  return write(to_polynomial(substitute(e, {{x, x + 1}})) - to_polynomial(e));
}

py::object IndexForms::exact_quotient(py::handle base, py::handle divisor) {
  const Turn turn(*this);
  if (!turn.mine()) return not_implemented();
  const auto both = read({base, divisor});
  if (!both) return not_implemented();
  const Polynomial divided = to_polynomial(both->at(0)),
                   by = to_polynomial(both->at(1));
  if (by.is_zero()) return py::none();
  const auto result = internal::exact_quotient(divided, by);
  return result ? write(*result) : py::none();
}

void bind_index_forms(py::module_& m) {
  bound_class<IndexForms>(m, "IndexForms")
      .def(py::init<>())
      .def("stride", &IndexForms::stride)
      .def("exact_quotient", &IndexForms::exact_quotient);
}

}  // namespace proviso::python
