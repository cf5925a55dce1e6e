// sym/text_writer.h - how an expression becomes text in some style: piece by
// piece, from left to right.  Not for callers of the library.
//
//   struct Sums {
//     Precedence write(Expr e, Line& line) const {     // a + b
//       line << at_least(e.arg(0), Precedence::kSum) << " + "
//            << at_least(e.arg(1), Precedence::kProduct);
//       return Precedence::kSum;
//     }
//   };
//   Sums style;
//   whole_text("to_sums", style, e);
//
// A style says what is written for a node and how tightly that binds; pieces
// that wait lie on a stack of the writer's own, so that depth is no concern of
// the machine's.  In a long text, an expression that stands in it again is
// copied from where it was first written: shared parts cost their characters
// alone.  The styles are print.cc, print_srepr.cc and print_smtlib.cc.
#pragma once

#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sym/budget.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

// What is to be written, in order: text, and expressions in parentheses where
// they bind looser than `level`.
struct Piece {
  std::string text;
  Expr e = {};
  Precedence level = Precedence::kOr;
};
struct Line {
  std::vector<Piece> pieces;

  Line& operator<<(std::string text) {
    pieces.push_back({std::move(text)});
    return *this;
  }
  Line& operator<<(Piece piece) {
    pieces.push_back(std::move(piece));
    return *this;
  }
  Line& operator<<(Line line) {
    std::move(line.pieces.begin(), line.pieces.end(),
              std::back_inserter(pieces));
    return *this;
  }
};
inline Piece at_least(Expr e, Precedence level) { return {{}, e, level}; }
inline Piece loose(Expr e) { return {{}, e}; }

inline Line joined(std::span<const Expr> args, std::string_view separator,
                   Precedence level = Precedence::kOr) {
  Line line;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) line << std::string(separator);
    line << at_least(args[i], level);
  }
  return line;
}

// Where expressions stand in a text that is being written.
class WrittenParts {
 public:
  struct Part {
    size_t begin = 0, end = 0;
    Precedence level = Precedence::kOr;
  };

  // `e` begins at `begin`, and ends when no more than `waiting` pieces wait.
  // Of a short text nothing is kept: it is written again sooner than found.
  void open(Expr e, size_t begin, Precedence level, size_t waiting) {
    if (begin < kLongText || e.arity() == 0) return;
    open_.push_back({e, {begin, 0, level}, waiting});
  }
  void close(size_t waiting, size_t end) {
    while (!open_.empty() && open_.back().waiting == waiting) {
      Open& last = open_.back();
      last.part.end = end;
      parts_.emplace(last.e, last.part);
      open_.pop_back();
    }
  }
  const Part* find(Expr e) const {
    const auto it = parts_.find(e);
    return it == parts_.end() ? nullptr : &it->second;
  }

 private:
  static constexpr size_t kLongText = 4096;

  struct Open {
    Expr e;
    Part part;
    size_t waiting;
  };
  std::vector<Open> open_;
  std::unordered_map<Expr, Part, ExprHash> parts_;
};

// The text of an expression in a style, written from left to right; pieces that
// wait lie on a stack of its own.  style.write(e, line) appends what is written
// for e, and returns how tightly that binds.  Past the limit it ends in "...",
// and `is_cut` is set.
template <typename Style>
std::string write_text(Style& style, Expr root, bool& is_cut,
                       size_t max_length = kMaxTextLength) {
  std::string out;
  std::vector<Piece> waiting{loose(root)};
  WrittenParts written;
  while (!waiting.empty()) {
    written.close(waiting.size(), out.size());
    const Piece piece = std::move(waiting.back());
    waiting.pop_back();
    Budget::charge(2);
    if (!piece.e) {
      out += piece.text;
      continue;
    }
    if (out.size() > max_length) break;
    if (const WrittenParts::Part* part = written.find(piece.e)) {
      const size_t length = part->end - part->begin;
      if (out.size() + length < max_length) {
        Budget::charge(length / 64);
        const bool is_loose = part->level < piece.level;
        if (is_loose) out += "(";
        out.append(out, part->begin, length);
        if (is_loose) out += ")";
        continue;
      }
    }
    Line line;
    const Precedence level = style.write(piece.e, line);
    if (level < piece.level) {
      waiting.push_back({")"});
      out += "(";
    }
    written.open(piece.e, out.size(), level, waiting.size());
    std::move(line.pieces.rbegin(), line.pieces.rend(),
              std::back_inserter(waiting));
  }
  is_cut = !waiting.empty() || out.size() > 2 * max_length;
  if (is_cut) out = out.substr(0, max_length) + "...";
  return out;
}

template <typename Style>
std::string whole_text(const char* call, Style& style, Expr e) {
  bool is_cut = false;
  std::string text = write_text(style, e, is_cut);
  if (!is_cut) return text;
  throw Error(std::string(call) + ": the text would have more than " +
              std::to_string(kMaxTextLength) +
              " characters; give parts that are used often a symbol of their "
              "own");
}

// --- numbers

inline bool is_negative(Expr e) {
  if (e.is(Op::kInteger)) return e.integer().sign() < 0;
  return e.is(Op::kRational) && e.rational().num().sign() < 0;
}
inline Rational magnitude(const Rational& r) { return {abs(r.num()), r.den()}; }
// Every digit of r >= 0 ("0.25", "1.0e-12"), where they end.
std::optional<std::string> decimal(const Rational& r);

// Whether a relation compares a constant with a value that is none: PyTorch
// writes the constant right.
inline bool flips(Expr e) {
  return e.arg(0).is_constant() && !e.arg(1).is_constant();
}

}  // namespace proviso::inline v0_2::internal
