// tests/bombs/bombs.h - short texts whose meaning blows up somewhere: powers,
// connectives, big integers, floors, extrema, chains, many facts.
//
//   for (const Family& family : bombs()) use(family.make(24));
//
// A problem grows with n; its text has some 10 KB at the last n <= 192 for
// which it is that short.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "sym/expr.h"

namespace proviso::testing {

// s0, u7: a symbol's name.
inline std::string sym(char letter, int i) {
  return letter + std::to_string(i);
}

struct Problem {
  std::vector<std::string> facts;
  std::string question;
  // Instead of the text, for what no text has: over s0, s1, u0 and u1.
  std::function<Expr(ExprPool&)> build = {};
  // Instead of both, for what reads PyTorch's texts: a whole log.
  std::string log = {};

  size_t length() const;
  Expr question_in(ExprPool& pool) const;
};

struct Family {
  const char* name;
  std::function<Problem(int n)> make;
};

inline void PrintTo(const Family& family, std::ostream* out) {
  *out << family.name;
}

const std::vector<Family>& bombs();
// Of these, the ones that mix operators (mixed.cc).
const std::vector<Family>& mixed_bombs();
// Logs, for the layer that reads PyTorch's texts (log_bombs.cc).
const std::vector<Family>& log_bombs();
// Expressions of n levels, most of which no text that is parsed has.
const std::vector<Family>& deep_bombs();
// The family's name as gtest wants it.
std::string test_name(std::string name);

}  // namespace proviso::testing
