#include "tracer_adapter/finish/symbol_bindings.h"

#include <algorithm>

#include "sym/canonical.h"
#include "sym/operators.h"
#include "sym/polynomial.h"
#include "tracer_adapter/finish/input_sizes.h"

namespace proviso::inline v0_2 {

void SymbolBindings::define(Expr symbol, const Argument& value) {
  expander_.define(symbol, value.get<ValueRef>()->id);
}

void SymbolBindings::bind(ValueId id) {
  if (graph_.value(id).is_tensor()) return bind_tensor(id);
  const Expr e = graph_.value(id).expr();
  expander_.define(e, id);
  if (e.is(Op::kEq) && e.arg(0).is_int()) bind_truth_value(id, e);
}

// The size of a dim that is a bare symbol.  The size as recorded counts: what
// was learnt of an unbacked symbol is asserted between the values themselves,
// so one must not stand for the other.  An input's size that is known as
// another one's, or as a constant, is read as that, save by the assertion that
// says so.
void SymbolBindings::bind_tensor(ValueId id) {
  for (size_t d = 0; d < graph_.value(id).tensor().sizes.size(); ++d) {
    const Expr size = graph_.value(id).tensor().sizes[d];
    if (size.is_constant()) continue;
    const Expr learnt = env_.simplify(size);
    const bool known = learnt != size && is_input_size(size) &&
                       (learnt.is_constant() || is_input_size(learnt)) &&
                       !uses_.asserted.contains(size);
    if (!known && size.is_symbol()) bind_size(id, d, size);
    if (is_input_size(learnt)) bind_size(id, d, learnt);
  }
}

void SymbolBindings::bind_size(ValueId id, size_t dim, Expr symbol) {
  if (is_wanted(symbol)) define(symbol, builder_.sym_size(id, dim, symbol));
}

// A truth value read from data: Eq(u0, 1).
void SymbolBindings::bind_truth_value(ValueId id, Expr e) {
  for (Expr symbol : free_symbols(e))
    if (is_wanted(symbol) && canonical(eq(symbol, 1)) == e)
      define(symbol, builder_.call("torch.sym_ite",
                                   {{ValueRef{id}}, {int64_t{1}}, {int64_t{0}}},
                                   symbol));
}

// A dim of size a*s + b gives s when nothing else does.
bool SymbolBindings::bind_derived_size(ValueId id, size_t dim) {
  const Expr size = canonical(graph_.value(id).tensor().sizes[dim]);
  if (!size.is_int() || size.is_symbol()) return false;
  std::vector<Expr> unknown;
  for (Expr symbol : free_symbols(size))
    if (!expander_.is_defined(symbol)) unknown.push_back(symbol);
  if (unknown.size() != 1 || !is_wanted(unknown[0])) return false;
  const Expr symbol = unknown[0];
  const Polynomial p = to_polynomial(size);
  auto term = p.terms().find({symbol});
  if (term == p.terms().end()) return false;
  const Expr factor = env_.pool().integer(term->second);
  const Expr scaled = canonical(factor * symbol);
  const Expr rest = canonical(size - scaled);
  const std::vector<Expr> left = free_symbols(rest);
  if (std::find(left.begin(), left.end(), symbol) != left.end()) return false;
  if (!expander_.can_expand(rest)) return false;
  Argument value = builder_.sym_size(id, dim, size);
  if (!(rest.maybe_int64() == 0))
    value =
        builder_.call("_operator.sub", {value, expander_.expand(rest)}, scaled);
  if (!term->second.is_one())
    value = builder_.call("_operator.floordiv",
                          {value, expander_.expand(factor)}, symbol);
  define(symbol, value);
  return true;
}

// One that is bound may make another one the only unknown of its size.
void SymbolBindings::bind_derived_sizes() {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const InputSpec& input : graph_.inputs) {
      const ValueRef* ref = input.arg.get<ValueRef>();
      if (ref == nullptr || !graph_.value(ref->id).is_tensor()) continue;
      const size_t rank = graph_.value(ref->id).tensor().sizes.size();
      for (size_t d = 0; d < rank; ++d)
        progress |= bind_derived_size(ref->id, d);
    }
  }
}

void SymbolBindings::bind_inputs() {
  for (const InputSpec& input : graph_.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>()) bind(ref->id);
  bind_derived_sizes();
}

}  // namespace proviso::inline v0_2
