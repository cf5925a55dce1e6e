// guards/errors/asked_alike.h - errors that ask the same under the same facts,
// as each of many ranks does: one answer is that of all.
//
//   AskedAlike alike(text);
//   alike.number_of(text.errors[0]);  // 0
//   alike.number_of(text.errors[1]);  // 0 again, or 1
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

class AskedAlike {
 public:
  // The text outlives it.
  explicit AskedAlike(const ErrorText& text);

  // Numbers are from 0, in the order in which they are first given.  Two errors
  // have one number where all is equal but the line, the process, and how often
  // it was said: the error, the symbols, the facts and the functions before it.
  size_t number_of(const TextError& e);

 private:
  // Of several texts, one after the other.
  class Content {
   public:
    explicit Content(char kind) : all_(1, kind) {}
    void add(std::string_view part);
    void add(const OptionalInt& value);
    void add(int64_t number) { add(std::to_string(number)); }
    void add(const TextFrame& frame);
    void add(const std::vector<std::string>& parts);
    void add(const std::vector<TextFrame>& frames);
    void add(const std::map<std::string, std::string>& parts);
    std::string take() { return std::move(all_); }

   private:
    std::string all_;
  };
  // Of what a process said, the number of all that came first.
  struct Beginnings {
    std::vector<size_t> numbers;
    std::vector<uint32_t> lines;  // where each ends
  };

  // The number of a content, which begins with its kind: what a number stands
  // for is of one kind.
  size_t number(Content content);
  size_t symbols_of(uint32_t env);
  size_t facts_of(uint32_t env, uint32_t count);
  size_t functions_before(uint32_t stream, uint32_t line);
  size_t function(size_t before, const TextFunction& f);

  const ErrorText& text_;
  std::unordered_map<std::string, size_t> numbers_;
  std::map<uint32_t, size_t> symbols_;             // of an env
  std::map<uint32_t, std::vector<size_t>> facts_;  // of an env, so many
  std::map<uint32_t, Beginnings> functions_;       // of a process
  std::unordered_map<std::string, size_t> questions_;
};

}  // namespace proviso::inline v0_2::internal
