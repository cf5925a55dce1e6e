// tests/fuzz/texts/mutate.h - changes to texts that the command reads, by their
// tokens.
//
//   Tokens tokens = split_tokens("assume s0 <= 512\n");
//   // {"assume", " ", "s0", " ", "<=", " ", "512", "\n"}
//   Mutator mutate(seed, texts);             // texts to take tokens from
//   std::string other = mutate(texts[3]);    // "assume s0 <= Mod(512, -1)\n"
//
// A change keeps most of a text a sentence of its language.  Mostly a whole
// part of an expression (a name, a number, a call, what stands in brackets)
// becomes another one of the texts, an operand or an argument; else tokens go,
// come twice, change places, become another of their kind, or a line does.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace proviso::fuzz {

using Tokens = std::vector<std::string>;

// Numbers, words, operators of up to two characters, quoted strings, runs of
// blanks and ends of lines; put together again they are the text.
Tokens split_tokens(std::string_view text);

class Mutator {
 public:
  Mutator(unsigned seed, const std::vector<std::string>& texts);
  // At most `kMost` bytes: `text`, or its first line (which may be a header)
  // and a stretch of the rest, with a change or a few.
  std::string operator()(std::string_view text);
  std::mt19937& random() { return random_; }

  static constexpr size_t kMost = 10'000;

 private:
  void change(Tokens& tokens);
  void change_part(Tokens& tokens);
  void change_token(Tokens& tokens);
  std::string other(const std::string& token);
  std::string wrapped(const std::string& token);
  size_t pick(size_t count) { return random_() % count; }
  const std::string& pick(const Tokens& from) {
    return from[pick(from.size())];
  }
  void change_lines(Tokens& tokens);

  std::mt19937 random_;
  Tokens numbers_, words_, operators_, lines_, parts_;  // seen in the texts
};

}  // namespace proviso::fuzz
