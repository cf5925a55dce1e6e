// What bounds() and simplify() ask for, so that they know what ask() knows: the
// ends of a range, moved in for as long as ask() proves that nothing lies
// there, and the one value that an expression can have.  Ranges of products and
// bit operations as they are written, too: opened into a polynomial,
// (n % 8)*(k % 8) no longer shows that both factors are small.
#include <algorithm>
#include <unordered_map>

#include "solver/engine.h"
#include "sym/definition.h"

namespace proviso {
namespace {

// What asking in a call's stead does not count.
class Uncounted {
 public:
  explicit Uncounted(Statistics& statistics)
      : statistics_(statistics), before_(statistics) {}
  ~Uncounted() { statistics_ = before_; }

 private:
  Statistics& statistics_;
  const Statistics before_;
};

bool hides_ranges(Expr e) {
  switch (e.op()) {
    case Op::kBitAnd:
    case Op::kBitOr:
    case Op::kBitXor: return true;
    case Op::kMul:
    case Op::kPow:
      return e.is_int() &&
             std::any_of(e.args().begin(), e.args().end(),
                         [](Expr arg) { return !is_leaf(arg.op()); });
    default: return false;
  }
}

// Of an operator by those of its arguments.
Interval range_of_op(Expr e, const std::vector<Interval>& args) {
  switch (e.op()) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax: {
      Interval total = args[0];
      for (size_t i = 1; i < args.size(); ++i) {
        if (e.is(Op::kAdd)) total = total + args[i];
        if (e.is(Op::kMul)) {
          const bool is_square =
              i == 1 && e.arity() == 2 && e.arg(0) == e.arg(1);
          total = is_square ? pow(total, 2) : total * args[i];
        }
        if (e.is(Op::kMin)) total = min(total, args[i]);
        if (e.is(Op::kMax)) total = max(total, args[i]);
      }
      return total;
    }
    case Op::kPow: {
      const auto n = e.arg(1).maybe_int64();
      if (!n || *n < 0 || *n > 64) return {};
      return pow(args[0], static_cast<unsigned>(*n));
    }
    case Op::kFloorDiv:
    case Op::kCleanDiv: return floor_div(args[0], args[1]);
    case Op::kMod:
    case Op::kPythonMod: return mod(args[0], args[1]);
    case Op::kAbs: return abs(args[0]);
    case Op::kIdentity: return args[0];
    case Op::kWhere: return hull(args[1], args[2]);
    case Op::kBitAnd: return bit_and(args[0], args[1]);
    case Op::kBitOr: return bit_or(args[0], args[1]);
    case Op::kBitXor: return bit_xor(args[0], args[1]);
    default: return {};
  }
}

// Lowers `end` to the least k found that holds; what holds at k holds beyond.
template <typename Holds, typename Keep>
void sharpen_end(OptionalInt end, const Holds& holds, const Keep& keep) {
  static const Int kFar = *pow(Int(2), 40);
  auto is_end = [&](const Int& k) {
    if (!holds(k)) return false;
    end = k;
    keep(k);
    return true;
  };
  if (!end) {  // its size first
    if (!is_end(kFar)) return;
    for (int64_t k : {65536, 64, 0}) {
      if (!is_end(Int(k))) break;
    }
  }
  Int step = 1;
  while (step < kFar && is_end(*end - step)) step = step * Int(2);
  Int below = *end - step;  // does not hold
  while (below + Int(1) < *end) {
    const Int middle = floor_div(below + *end, Int(2));
    if (!is_end(middle)) below = middle;
  }
}

}  // namespace

// Of e as it is written; each part is also read as a polynomial.
Interval Engine::written_range(Expr e) {
  std::unordered_map<uint32_t, Interval> known;
  auto of = [&](Expr x) {
    if (x.is(Op::kInteger)) return Interval::point(x.integer());
    if (!x.is_int()) return Interval();
    auto at = known.find(x.id());
    return at != known.end() ? at->second : polynomial_range(x).span;
  };
  visit_arguments_first(
      e, [&](Expr x) { return is_leaf(x.op()) || known.contains(x.id()); },
      [&](Expr x) {
        if (!x.is_int()) {
          known.emplace(x.id(), Interval());
          return;
        }
        Budget::spend(4);
        std::vector<Interval> args;
        for (Expr arg : x.args()) args.push_back(of(arg));
        const Expr meaning = definition(x);
        Interval range =
            meaning == x ? range_of_op(x, args) : written_range(meaning);
        if (x != e) range = intersect(range, polynomial_range(x).span);
        known.emplace(x.id(), range);
      });
  return of(e);
}

// Whether e has a part that its polynomial does not show the range of.
bool Engine::reads_better_as_written(Expr e) {
  if (is_leaf(e.op())) return false;
  visit_arguments_first(
      e,
      [this](Expr x) {
        return is_leaf(x.op()) || hides_ranges_.contains(x.id());
      },
      [this](Expr x) {
        bool found = hides_ranges(x);
        for (Expr arg : x.args()) {
          found = found || (!is_leaf(arg.op()) && hides_ranges_.at(arg.id()));
        }
        hides_ranges_.emplace(x.id(), found);
      });
  return hides_ranges_.at(e.id());
}

// Moves the ends in while ask() says that e lies further in: by steps that
// double, then by halves.  Where work ends, the range is what is known by then.
void Engine::sharpen(Expr e, Interval& range) {
  if (range.is_empty() || range.is_point() || is_leaf(e.op())) return;
  const Uncounted uncounted(statistics);
  auto proves = [&](Expr question) {
    return ask_quick(question) == Verdict::kYes;
  };
  sharpen_end(
      range.upper(),
      [&](const Int& k) { return proves(le(e, pool.integer(k))); },
      [&](const Int& k) { range.set_upper(k); });
  OptionalInt down;
  if (range.lower()) down = -*range.lower();
  sharpen_end(
      down, [&](const Int& k) { return proves(ge(e, pool.integer(-k))); },
      [&](const Int& k) { range.set_lower(-k); });
}

// The value that e has wherever the facts hold, when it has only one.
std::optional<Int> Engine::constant_of(Expr e) {
  const Interval range = range_of(e).span;
  if (range.is_empty()) return std::nullopt;
  if (range.is_point()) return *range.lower();
  if (is_leaf(e.op()) && facts.empty()) return std::nullopt;
  const Uncounted uncounted(statistics);
  const Expr is_zero = eq(e, pool.integer(0));
  Answer points;
  find_models(is_zero, options.budget / 4, points);
  if (points.witness && points.counterexample) return std::nullopt;
  Int value = 0;
  if (points.counterexample) {
    const Evaluation at = evaluate(e, *points.counterexample);
    if (!at.defined()) return std::nullopt;
    value = std::get<Int>(*at.value);
  }
  if (ask_quick(eq(e, pool.integer(value))) != Verdict::kYes) {
    return std::nullopt;
  }
  return value;
}

}  // namespace proviso
