// A shape is a text with two holes: what is nested in it, and a number that
// goes up.  A few random shapes, each written again and again with the next
// number, are the facts and the question:
//
//   "(s% % 3)*(@ // u%)"      nested   (s2 % 3)*((s1 % 3)*((s0 % 3)*(s0 // u0)
//   ..
//                             joined   (s0 % 3)*(s0 // u0) + (s1 % 3)*(s0 // ..
//
// Repetition is what makes work grow; chance finds which operators it has to
// be of, and which of them beside each other.
#include "tests/bombs/random_bombs.h"

#include <array>
#include <random>

namespace proviso::testing {
namespace {

constexpr size_t kLongest = 9'800;  // bytes of a problem

using Shape = std::function<std::string(const std::string& inner, int i)>;

class RandomBomb {
 public:
  explicit RandomBomb(uint32_t seed) : random_(seed) {}

  Problem problem() {
    Problem p;
    switch (below(4)) {
      case 0: p.question = long_condition(kLongest); return p;
      case 1: add_facts(p, 9'000); break;
      case 2: add_facts(p, 5'000); break;
      default:
        for (int more = below(4); more > 0; --more)
          p.facts.push_back(long_condition(2'300));
        break;
    }
    const size_t left = kLongest - p.length();
    p.question = left < 400 || below(3) == 0
                     ? first(condition(1 + below(2), false))
                     : long_condition(left);
    return p;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % unsigned(n)); }
  template <size_t n>
  const char* one_of(const std::array<const char*, n>& words) {
    return words[static_cast<size_t>(below(int(n)))];
  }
  static std::string first(const Shape& s) { return s("s0", 0); }

  // --- shapes

  Shape leaf() {
    const int modulus = 1 + below(60), step = 1 + below(5), offset = below(4);
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: {
        const char letter = below(2) ? 's' : 'u';
        return [=](auto&, int i) {
          return sym(letter, (i * step + offset) % modulus);
        };
      }
      case 6: return [](auto&, int i) { return sym('s', i); };
      case 7: return [=](auto&, int) { return std::to_string(1 + offset); };
      case 8:
      case 9: return [=](auto&, int i) { return std::to_string(i * step + 3); };
      case 10: {
        constexpr std::array kLarge = {"(2**64 - 1)", "(10**30 + 7)",
                                       "9223372036854775807", "(2**200)"};
        const std::string large = one_of(kLarge);
        return [=](auto&, int) { return large; };
      }
      default:
        return [=](auto&, int i) {
          return "(" + std::to_string(2 + offset) + "**" + std::to_string(i) +
                 ")";
        };
    }
  }

  // Where the inner text goes, to the left or to the right of an operator.
  std::array<bool, 2> sides(bool has_inner) {
    if (!has_inner) return {false, false};
    switch (below(6)) {
      case 0: return {true, true};
      case 1: return {false, true};
      default: return {true, false};
    }
  }
  Shape infix(const char* op, const Shape& a, const Shape& b) {
    return [=](auto& x, int i) { return "(" + a(x, i) + op + b(x, i) + ")"; };
  }
  Shape call(const char* name, const std::vector<Shape>& args) {
    return [=](auto& x, int i) {
      std::string text = name;
      for (size_t k = 0; k < args.size(); ++k)
        text += (k == 0 ? "(" : ", ") + args[k](x, i);
      return text + ")";
    };
  }

  Shape integer(int depth, bool has_inner) {
    if (has_inner && (depth <= 0 || below(3) == 0))
      return [](auto& x, int) { return x; };
    if (depth <= 0) return leaf();
    const auto [left, right] = sides(has_inner);
    const int next = depth - 1 - below(2);
    const auto a = [&, left = left] { return integer(next, left); };
    const auto b = [&, right = right] { return integer(next, right); };
    const auto other = [&] { return integer(next, false); };
    constexpr std::array kInfix = {" + ", " + ",  " + ",  " - ", " - ", "*",
                                   "*",   "*",    "//",   "//",  " % ", " % ",
                                   "**",  " << ", " >> ", " & ", " | ", " ^ "};
    constexpr std::array kPairs = {"CeilDiv", "Min", "Max"};
    constexpr std::array kRounded = {"math.floor", "math.ceil", "round",
                                     "math.trunc"};
    switch (below(12)) {
      case 0: return call(one_of(kPairs), {a(), b()});
      case 1:
        return infix(
            "**", integer(next, has_inner),
            [k = std::to_string(2 + below(4))](auto&, int) { return k; });
      case 2: return call("Abs", {integer(next, has_inner)});
      case 3: {
        const Shape when = condition(next, has_inner && below(2) == 0);
        return call("Where", {when, a(), b()});
      }
      case 4: return call("ModularIndexing", {a(), b(), other()});
      case 5: return call(one_of(kRounded), {real(next, has_inner)});
      case 6: return call(below(2) ? "Min" : "Max", {a(), b(), other()});
      default: return infix(one_of(kInfix), a(), b());
    }
  }

  Shape real(int depth, bool has_inner) {
    constexpr std::array kFactors = {"0.1",    "1.5", "0.333333", "1e308",
                                     "1e-300", "2.0", "1e17",     "0.7"};
    constexpr std::array kFunctions = {"float", "math.sqrt", "math.exp",
                                       "math.log", "math.log2"};
    const Shape e = integer(depth - 1, has_inner);
    switch (below(6)) {
      case 0: return infix("/", e, integer(depth - 1, false));
      case 1:
        return infix("*", e, [k = std::string(one_of(kFactors))](auto&, int) {
          return k;
        });
      case 2: return call(one_of(kFunctions), {e});
      case 3:
        return [=](auto& x, int i) {
          return "(" + e(x, i) + "/" + std::to_string(2 * i + 3) + ")";
        };
      case 4:
        return [=, digits = std::to_string(below(5) - 1)](auto& x, int i) {
          return "round(" + e(x, i) + "/3, " + digits + ")";
        };
      default: return infix(" + ", real(std::max(depth - 1, 0), false), e);
    }
  }

  Shape condition(int depth, bool has_inner) {
    constexpr std::array kRelations = {" < ",  " <= ", " > ",
                                       " >= ", " == ", " != "};
    const auto [left, right] = sides(has_inner);
    if (depth <= 0 || below(3) > 0) {
      const Shape a =
          below(8) == 0 ? real(depth - 1, left) : integer(depth - 1, left);
      const Shape b = integer(depth - 1, right);
      if (below(5) == 0) return call("Eq", {infix(" % ", a, leaf()), b});
      return infix(one_of(kRelations), a, b);
    }
    const Shape a = condition(depth - 1, left), b = condition(depth - 1, right);
    switch (below(5)) {
      case 0: return infix(" & ", a, b);
      case 1: return infix(" | ", a, b);
      case 2: return [=](auto& x, int i) { return "(~" + a(x, i) + ")"; };
      case 3: return call("Eq", {a, b});
      default: return call("Where", {a, b, condition(depth - 1, false)});
    }
  }

  // --- texts of shapes

  // Both end where the text would be too long, or after so many times.
  std::string nested(const Shape& s, std::string inner, size_t length) {
    for (int i = 0, times = 20 + below(150); i < times; ++i) {
      std::string next = s(inner, i);
      if (next.size() > length || next == inner) break;
      inner = std::move(next);
    }
    return inner;
  }
  std::string joined(const Shape& s, const std::string& op, size_t length) {
    std::string text = first(s);
    for (int i = 1, times = 2 + below(1000); i < times; ++i) {
      const std::string next = s("s0", i);
      if (text.size() + op.size() + next.size() > length) break;
      text += op + next;
    }
    return text;
  }

  std::string long_integer(size_t length) {
    constexpr std::array kJoins = {" + ", "*",   " - ", "//",   " % ",
                                   " & ", " | ", " ^ ", " << ", " >> "};
    const int depth = 1 + below(3);
    switch (below(3)) {
      case 0:
        return nested(integer(depth, true), below(2) ? "s0" : "u0", length);
      case 1: return joined(integer(depth, false), one_of(kJoins), length);
      default:
        return (below(2) ? "Min(" : "Max(") +
               joined(integer(depth, false), ", ", length) + ")";
    }
  }

  std::string long_condition(size_t length) {
    constexpr std::array kRelations = {" < ", " == ", " >= "};
    const auto relation = [&](const std::string& a, const std::string& b) {
      return "(" + a + ")" + one_of(kRelations) + "(" + b + ")";
    };
    switch (below(5)) {
      case 0:
        return joined(condition(1 + below(3), false), below(2) ? " & " : " | ",
                      length);
      case 1: {
        const size_t half = length / 2 - 10;
        return relation(long_integer(half), long_integer(half));
      }
      case 2:
        return relation(long_integer(length - 60), first(integer(1, false)));
      case 3:
        return "Eq(Mod(" + long_integer(length - 60) + ", " + first(leaf()) +
               "), " + first(leaf()) + ")";
      default: {
        const Shape a = condition(1 + below(2), false);
        const int kind = below(3);
        const auto around = [=](auto& x, int i) {
          const std::string part = a(x, i);
          if (kind == 0) return "(" + part + " & (~" + x + "))";
          if (kind == 1) return "((" + x + ") | " + part + ")";
          return (i % 2 ? "(" + part + " | " : "(" + part + " & ") + x + ")";
        };
        return nested(around, "(s0 > 1)", length);
      }
    }
  }

  void add_facts(Problem& p, size_t length) {
    std::vector<Shape> shapes;
    for (int more = 1 + below(3); more > 0; --more)
      shapes.push_back(condition(below(4), false));
    for (int i = 0; i < 3000; ++i) {
      std::string fact =
          shapes[static_cast<size_t>(i) % shapes.size()]("s0", i);
      if (p.length() + fact.size() > length) return;
      p.facts.push_back(std::move(fact));
    }
  }

  std::mt19937 random_;
};

}  // namespace

Problem random_bomb(uint32_t seed) { return RandomBomb(seed).problem(); }

}  // namespace proviso::testing
