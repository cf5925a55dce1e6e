#include "guards/env/symbols.h"

#include <algorithm>

#include "sym/print.h"

namespace proviso::inline v0_2::internal {

namespace {

Interval promised_range(const DimConstraint& constraint) {
  const Int zero = 0;
  Int lower = constraint.min && *constraint.min > zero ? *constraint.min : zero;
  return Interval::of(lower, constraint.max);
}

std::string number_text(const OptionalInt& end, const char* otherwise) {
  return end ? end->to_string() : otherwise;
}

std::string dim_text(const DimConstraint& c) {
  return "Dim('" + c.name + "', min=" + number_text(c.min, "0") +
         ", max=" + number_text(c.max, "int_oo") + ")";
}

void check_static(int64_t hint, const std::string& source,
                  const DimConstraint& c) {
  if (c.min && c.max && *c.min == *c.max && *c.min != Int(hint)) {
    throw ConstraintViolationError("Static shape constraint of " +
                                   c.min->to_string() +
                                   " does not match input size of " +
                                   std::to_string(hint) + ", for " + source);
  }
}

void check_in_range(int64_t hint, const std::string& source,
                    const DimConstraint& c) {
  if (c.min && c.max && *c.min > *c.max) {
    throw Error("create_size: min " + c.min->to_string() +
                " is greater than max " + c.max->to_string() + " for " +
                source + "; give min <= max");
  }
  Interval range = promised_range(c);
  if (range.contains(Int(hint))) return;
  std::string name = c.name.empty() ? source : c.name + " = " + source;
  throw ConstraintViolationError(
      std::to_string(hint) + " not in range " + range.to_string() + " for " +
      name + "; give an example in the range, or widen it in dynamic_shapes");
}

bool is_fixed(const DimConstraint& c) {
  return c.policy == DimPolicy::kStatic || (c.min && c.max && *c.min == *c.max);
}

}  // namespace

Symbols::Symbols(const ShapeEnvOptions& options, SessionFacts& facts,
                 SessionLog& log)
    : options_(options), facts_(facts), log_(log) {}

void Symbols::declare(Expr symbol, const Interval& range,
                      const std::string& why) {
  facts_.declare(symbol, range, why);
  first_ranges_.emplace(symbol, range);
}

Interval Symbols::first_range(Expr symbol) const {
  const auto it = first_ranges_.find(symbol);
  return it == first_ranges_.end() ? Interval::all() : it->second;
}

std::string Symbols::source_name(Expr symbol) const {
  for (const InputDim& d : dims_) {
    if (d.expr == symbol) return d.source;
  }
  return symbol.symbol().name;
}

const std::vector<Expr>& Symbols::in(Expr e) {
  auto [it, is_new] = in_.try_emplace(e.id());
  if (is_new) it->second = free_symbols(e);
  return it->second;
}

bool Symbols::depends_on_data(Expr e) {
  const std::vector<Expr>& symbols = in(e);
  return std::any_of(symbols.begin(), symbols.end(),
                     [](Expr s) { return is_unbacked(s.symbol().kind); });
}

bool Symbols::may_stay_open(Expr condition) {
  return options_.backed_size_oblivious || depends_on_data(condition);
}

Expr Symbols::create_backed(SymbolKind kind, const std::string& name,
                            const Value& hint, const std::string& source,
                            const Interval& range) {
  Expr symbol = facts_.pool().symbol(name, kind, source);
  hints_.set(symbol, hint);
  log_.add_symbol(symbol, hint, range);
  return symbol;
}

// The range is a fact; that other sizes than 0 and 1 stay so is another one,
// because only the second may turn out not to have been needed.
Expr Symbols::create_size_symbol(int64_t hint, const std::string& source,
                                 const Interval& promised) {
  const std::string name = "s" + std::to_string(backed_++);
  Expr s =
      create_backed(SymbolKind::kBackedSize, name, Int(hint), source, promised);
  declare(s, promised, "size " + name + " of " + source);
  Interval shown = promised;
  if (hint >= 2 && options_.specialize_zero_one &&
      options_.assume_at_least_two &&
      (!promised.lower() || *promised.lower() < Int(2))) {
    facts_.assume_at_least_two(s);
    shown = intersect(promised, Interval::at_least(2));
    first_ranges_[s] = shown;
  }
  log_.emit("create_symbol", name,
            "create_symbol " + name + " = " + std::to_string(hint) + " for " +
                source + " " + shown.to_string());
  return s;
}

std::optional<Expr> Symbols::known_named_dim(
    int64_t hint, const std::string& source,
    const DimConstraint& constraint) const {
  auto it = named_.find(constraint.name);
  if (it == named_.end()) return std::nullopt;
  const NamedDim& first = it->second;
  if (promised_range(first.constraint) != promised_range(constraint) ||
      first.constraint.policy != constraint.policy) {
    throw ConstraintViolationError(
        "Found different definitions " + dim_text(first.constraint) + " and " +
        dim_text(constraint) + " for the same symbolic dimension " +
        constraint.name + "!");
  }
  if (first.hint != hint) {
    throw ConstraintViolationError(source + " = " + std::to_string(hint) +
                                   " is not equal to " + first.source + " = " +
                                   std::to_string(first.hint));
  }
  return first.expr;
}

Expr Symbols::create_size(int64_t hint, const std::string& source,
                          const DimConstraint& constraint) {
  if (hint < 0) {
    throw Error("create_size: the example size of " + source + " is " +
                std::to_string(hint) + "; give a size >= 0");
  }
  if (constraint.policy == DimPolicy::kNamed && constraint.name.empty()) {
    throw Error("create_size: the named Dim of " + source +
                " has no name; give DimConstraint::name");
  }
  check_static(hint, source, constraint);
  if (constraint.policy != DimPolicy::kStatic) {
    check_in_range(hint, source, constraint);
  }
  const bool is_unbacked = constraint.policy == DimPolicy::kUnbacked;
  const bool is_named = constraint.policy == DimPolicy::kNamed ||
                        (is_unbacked && !constraint.name.empty());
  const bool is_duck = options_.duck_shape &&
                       constraint.policy == DimPolicy::kAuto &&
                       !constraint.min && !constraint.max;
  Expr e;
  if (is_named) {
    if (auto same = known_named_dim(hint, source, constraint)) e = *same;
  }
  if (!e && is_unbacked) {
    e = create_unbacked(SymbolKind::kUnbackedInt, promised_range(constraint),
                        source);
    mark_size_like(e);
  }
  if (!e &&
      (is_fixed(constraint) || (hint <= 1 && options_.specialize_zero_one))) {
    e = facts_.pool().integer(Int(hint));
  }
  if (!e && is_duck) {
    if (auto it = duck_sizes_.find(hint); it != duck_sizes_.end())
      e = it->second;
  }
  if (!e) {
    e = create_size_symbol(hint, source, promised_range(constraint));
    if (is_duck) duck_sizes_.emplace(hint, e);
  }
  if (is_named)
    named_.try_emplace(constraint.name, NamedDim{constraint, e, hint, source});
  dims_.push_back({source, display_name_of(source), Int(hint), constraint, e});
  return e;
}

Expr Symbols::create_backed_int(int64_t hint, const std::string& source,
                                const DimConstraint& constraint) {
  const Interval range = Interval::of(constraint.min, constraint.max);
  if (!range.contains(Int(hint))) {
    throw ConstraintViolationError(
        std::to_string(hint) + " not in range " + range.to_string() + " for " +
        source +
        "; give an example in the range, or widen it in dynamic_shapes");
  }
  if (constraint.policy == DimPolicy::kStatic) {
    const Expr fixed = facts_.pool().integer(Int(hint));
    dims_.push_back(
        {source, display_name_of(source), Int(hint), constraint, fixed});
    return fixed;
  }
  const std::string name = "s" + std::to_string(backed_++);
  Expr s =
      create_backed(SymbolKind::kBackedInt, name, Int(hint), source, range);
  declare(s, range, "integer input " + source);
  log_.emit("create_symbol", name,
            "create_symbol " + name + " = " + std::to_string(hint) + " for " +
                source + " " + range.to_string());
  dims_.push_back({source, display_name_of(source), Int(hint), constraint, s});
  return s;
}

Expr Symbols::create_backed_float(double hint, const std::string& source) {
  const std::optional<Rational> exact = Rational::from_double(hint);
  const Value value = exact ? Value(*exact) : Value(hint);
  const std::string name = "zf" + std::to_string(backed_floats_++);
  Expr s =
      create_backed(SymbolKind::kBackedFloat, name, value, source, Interval());
  log_.emit("create_symbol", name,
            "create_symbol " + name + " = " + to_string(value) + " for " +
                source + " [-oo, oo]");
  return s;
}

Expr Symbols::create_unbacked(SymbolKind kind, const Interval& range,
                              const std::string& source) {
  const bool is_float = kind == SymbolKind::kUnbackedFloat;
  const std::string name = is_float ? "zuf" + std::to_string(unbacked_floats_++)
                                    : "u" + std::to_string(unbacked_++);
  Expr symbol = facts_.pool().symbol(name, kind, source);
  if (!is_float) declare(symbol, range, "range of " + name);
  log_.add_symbol(symbol, std::nullopt, range);
  log_.emit("create_unbacked_symbol", name,
            "create_unbacked_symbol " + name + " " +
                (source.empty() ? source : "for " + source + " ") +
                (is_float ? std::string("[-oo, oo]") : range.to_string()));
  return symbol;
}

std::string display_name_of(const std::string& source) {
  if (source.size() < 5 || source.compare(0, 3, "L['") != 0) return source;
  size_t end = source.find("']", 3);
  if (end == std::string::npos) return source;
  return source.substr(3, end - 3) + source.substr(end + 2);
}

bool equates_sizes(Expr c) {
  return c.is(Op::kEq) && c.arg(0).is_symbol() && c.arg(1).is_symbol() &&
         c.arg(0).is_int() && !is_unbacked(c.arg(0).symbol().kind) &&
         !is_unbacked(c.arg(1).symbol().kind);
}

}  // namespace proviso::inline v0_2::internal
