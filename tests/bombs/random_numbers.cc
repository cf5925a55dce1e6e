// Levels of operators whose numbers are of thousands of bits, each around the
// one before; most of them shifts, of which a few bytes make a long number.
//
//   ((((s0 << 3000) + s1) // (s2 << 1500)) << s3*700) % (7**20000 + s1)
//
// What each level adds to a value is random, as is what all of them stand in: a
// relation, a Min, the condition of a Where, a fact for each level.
#include <algorithm>
#include <array>
#include <random>

#include "tests/bombs/random_bombs.h"

namespace proviso::testing {
namespace {

class NumberBomb {
 public:
  explicit NumberBomb(uint32_t seed) : random_(seed) {
    static constexpr std::array kLengths = {200u,  400u,  800u,
                                            1600u, 3200u, 6400u};
    length_ = kLengths[below(kLengths.size())];
    most_bits_ = 1u << (5 + below(12));
    if (below(4) == 0) letter_ = 'u';
    shifts_ = 2 + below(6);
  }

  Problem problem() {
    Problem p;
    for (unsigned more = below(3); more > 0; --more)
      p.facts.push_back(relation(nested(length_ / 4), small()));
    p.question =
        relation(nested(length_ / 2), below(2) ? small() : nested(length_ / 2));
    if (below(6) == 0)
      p.question =
          "(" + p.question + ") | (" + relation(symbol(), small()) + ")";
    return p;
  }

 private:
  unsigned below(size_t n) { return static_cast<unsigned>(random_() % n); }
  std::string number(unsigned n) { return std::to_string(n); }

  std::string symbol() {
    return sym(below(8) == 0 ? (letter_ == 's' ? 'u' : 's') : letter_,
               static_cast<int>(below(4)));
  }
  std::string small() {
    return below(2) ? symbol() : number(1 + below(below(2) ? 9 : 100000));
  }
  // A number of bits.
  std::string bits() {
    switch (below(5)) {
      case 0: return symbol() + "*" + number(1 + below(most_bits_ / 8 + 1));
      case 1: return symbol();
      default: return number(1 + below(most_bits_));
    }
  }
  std::string large() {
    switch (below(7)) {
      case 0: return "2**" + number(1 + below(most_bits_));
      case 1: return "(7**" + number(1 + below(most_bits_ / 3)) + " + 2)";
      case 2: return "(" + symbol() + " << " + bits() + ")";
      case 3: return "(10**" + number(1 + below(most_bits_ / 4)) + " - 1)";
      case 4: return symbol() + "**" + number(2 + below(9));
      default: return small();
    }
  }

  std::string relation(const std::string& a, const std::string& b) {
    static constexpr std::array kRelations = {" < ",  " <= ", " > ",
                                              " >= ", " == ", " != "};
    return "(" + a + ")" + kRelations[below(kRelations.size())] + "(" + b + ")";
  }

  std::string around(const std::string& x) {
    if (below(10) < shifts_)
      return "(" + x + (below(4) ? " << " : " >> ") + bits() + ")";
    switch (below(16)) {
      case 0:
      case 1: return "(" + x + " + " + large() + ")";
      case 2: return "(" + large() + " - " + x + ")";
      case 3: return "(" + x + "*" + large() + ")";
      case 4: return "(" + x + "//" + large() + ")";
      case 5: return "(" + x + " % " + large() + ")";
      case 6: return "(" + large() + " % (" + x + " + 1))";
      case 7: return "Min(" + x + ", " + large() + ")";
      case 8: return "Max(" + x + ", " + large() + ", " + symbol() + ")";
      case 9:
        return "Where(" + relation(symbol(), small()) + ", " + x + ", " +
               large() + ")";
      case 10:
        return "Where(" + relation(x, large()) + ", " + symbol() + ", " +
               large() + ")";
      case 11: return "(" + x + ")**" + number(2 + below(3));
      case 12: return "(" + x + (below(2) ? " & " : " | ") + large() + ")";
      case 13: return "(" + x + " ^ " + large() + ")";
      case 14: return "CeilDiv(" + x + ", " + large() + ")";
      default: return "(" + symbol() + " << (" + x + " % " + bits() + "))";
    }
  }

  std::string nested(size_t length) {
    std::string text = symbol();
    for (unsigned levels = 2 + below(160); levels > 0; --levels) {
      std::string next = around(text);
      if (next.size() > length) break;
      text = std::move(next);
    }
    return text;
  }

  std::mt19937 random_;
  size_t length_;
  unsigned most_bits_, shifts_;
  char letter_ = 's';
};

}  // namespace

Problem random_numbers(uint32_t seed) { return NumberBomb(seed).problem(); }

}  // namespace proviso::testing
