// What is compared is numbered by its content, so that a number is compared and
// no text twice.  Facts, and functions, are numbered by the number of those
// before them and their own content: a number stands for all of them so far.
#include "guards/errors/asked_alike.h"

#include <algorithm>
#include <utility>

namespace proviso::inline v0_2::internal {

// --- contents

void AskedAlike::Content::add(std::string_view part) {
  (all_ += std::to_string(part.size())) += ' ';
  all_ += part;
}

void AskedAlike::Content::add(const OptionalInt& value) {
  add(value ? value->to_string() : std::string());
}

void AskedAlike::Content::add(const TextFrame& frame) {
  add(frame.file);
  add(int64_t{frame.line});
  add(frame.function);
  add(frame.code);
}

void AskedAlike::Content::add(const std::vector<std::string>& parts) {
  add(static_cast<int64_t>(parts.size()));
  for (const std::string& part : parts) add(part);
}

void AskedAlike::Content::add(const std::vector<TextFrame>& frames) {
  add(static_cast<int64_t>(frames.size()));
  for (const TextFrame& frame : frames) add(frame);
}

void AskedAlike::Content::add(const std::map<std::string, std::string>& parts) {
  add(static_cast<int64_t>(parts.size()));
  for (const auto& [name, value] : parts) {
    add(name);
    add(value);
  }
}

size_t AskedAlike::number(Content content) {
  return numbers_.emplace(content.take(), numbers_.size()).first->second;
}

// --- what an error is of

AskedAlike::AskedAlike(const ErrorText& text) : text_(text) {
  for (const TextFunction& f : text.functions) {
    Beginnings& before = functions_[f.stream];
    const size_t last = before.numbers.empty() ? 0 : before.numbers.back();
    before.numbers.push_back(function(last, f));
    before.lines.push_back(f.line);
  }
}

size_t AskedAlike::function(size_t before, const TextFunction& f) {
  Content content('c');
  content.add(static_cast<int64_t>(before));
  content.add(f.name);
  for (const SourceLine& line : f.lines) {
    content.add(static_cast<int64_t>(line.indent));
    content.add(line.code);
  }
  return number(std::move(content));
}

size_t AskedAlike::functions_before(uint32_t stream, uint32_t line) {
  const Beginnings& of = functions_[stream];
  const auto end = std::lower_bound(of.lines.begin(), of.lines.end(), line);
  const auto count = static_cast<size_t>(end - of.lines.begin());
  return count == 0 ? number(Content('c')) : of.numbers[count - 1];
}

size_t AskedAlike::symbols_of(uint32_t env) {
  const auto [known, is_new] = symbols_.try_emplace(env);
  if (!is_new) return known->second;
  Content content('s');
  for (const auto& [name, symbol] : text_.envs[env].symbols) {
    content.add(name);
    content.add(symbol.source);
    content.add(static_cast<int64_t>(symbol.words.size()));
    for (const WordsFor& words : symbol.words) {
      content.add(words.words);
      content.add(words.where);
    }
    content.add(symbol.lower);
    content.add(symbol.upper);
    content.add(symbol.example);
    content.add(symbol.made_at);
  }
  return known->second = number(std::move(content));
}

size_t AskedAlike::facts_of(uint32_t env, uint32_t count) {
  const std::vector<TextFact>& facts = text_.envs[env].facts;
  std::vector<size_t>& numbers = facts_[env];
  if (numbers.empty()) numbers.push_back(number(Content('f')));
  while (numbers.size() <= std::min<size_t>(count, facts.size())) {
    const TextFact& fact = facts[numbers.size() - 1];
    Content content('f');
    content.add(static_cast<int64_t>(numbers.back()));
    content.add(fact.text);
    content.add(fact.where);
    numbers.push_back(number(std::move(content)));
  }
  return numbers[std::min<size_t>(count, facts.size())];
}

size_t AskedAlike::number_of(const TextError& e) {
  Content content('e');
  content.add(static_cast<int64_t>(e.kind));
  content.add(e.expression);
  content.add(e.message);
  for (bool flag :
       {e.says_size_like, e.advised.has_value(), e.advised.value_or(false),
        e.example.has_value(), e.example.value_or(false)}) {
    content.add(int64_t{flag});
  }
  content.add(e.size_like);
  content.add(e.example_value);
  content.add(e.traceback);
  content.add(e.culprit);
  content.add(e.user);
  content.add(e.caused_by);
  content.add(e.asked_in);
  content.add(e.violations);
  content.add(e.suggestions);
  content.add(e.words);
  for (size_t number : {symbols_of(e.env), facts_of(e.env, e.facts_before),
                        functions_before(e.stream, e.line)}) {
    content.add(static_cast<int64_t>(number));
  }
  return questions_.emplace(content.take(), questions_.size()).first->second;
}

}  // namespace proviso::inline v0_2::internal
