#include "guards/errors/env_text.h"

#include <optional>

#include "guards/errors/text_parts.h"
#include "guards/fixed_limits.h"
#include "sym/excerpt.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

// An end of a range; what is as far as integers of the machine go is open.
OptionalInt range_end(string_view text) {
  text = trim(text);
  if (has(text, "oo")) return std::nullopt;
  OptionalInt value = Int::parse(text);
  if (!value) return std::nullopt;
  static const Int most = Int(INT64_MAX) - Int(1), least = Int(INT64_MIN);
  if (*value >= most || *value <= least) return std::nullopt;
  return value;
}

// "[0, 9]" anywhere in the text, to the symbol.
void narrow(TextSymbol& symbol, string_view text) {
  const size_t open = text.find('[');
  if (open == npos) return;
  const size_t close = text.find(']', open);
  if (close == npos) return;
  const string_view inside = text.substr(open + 1, close - open - 1);
  const size_t comma = inside.find(',');
  if (comma == npos) return;
  if (OptionalInt low = range_end(inside.substr(0, comma))) {
    if (!symbol.lower || *symbol.lower < *low) symbol.lower = low;
  }
  if (OptionalInt high = range_end(inside.substr(comma + 1))) {
    if (!symbol.upper || *symbol.upper > *high) symbol.upper = high;
  }
}

// "0.0: create_env" of PyTorch 2.1
string_view without_env_number(string_view text) {
  const size_t end = text.find(": ");
  if (end == npos || end > 9 || !is_digit(text[0])) return text;
  for (char c : text.substr(0, end)) {
    if (!is_digit(c) && c != '.') return text;
  }
  return text.substr(end + 2);
}

}  // namespace

bool EnvReader::event(string_view text) {
  struct Event {
    string_view begins;
    bool (EnvReader::*read)(string_view rest);
  };
  static constexpr Event kEvents[] = {
      {"create_symbol ", &EnvReader::created},
      {"_update_var_to_range ", &EnvReader::ranged},
      {"update_range ", &EnvReader::ranged},
      {"constrain_symbol_range ", &EnvReader::ranged},
      {"runtime_assert ", &EnvReader::learnt},
      {"eval ", &EnvReader::learnt},
      {"set_replacement ", &EnvReader::replaced},
      {"names ", &EnvReader::named},
      {"create_unbacked_symbol ", &EnvReader::made_from_data},  // 2.1
      {"create_unbacked_symint ", &EnvReader::made_from_data},
      {"create_unbacked_symbool ", &EnvReader::made_from_data},
      {"create_unbacked_symfloat ", &EnvReader::made_from_data},
  };
  text = without_env_number(text);
  if (text.starts_with("[proviso] ")) text.remove_prefix(10);
  for (const Event& e : kEvents) {
    if (text.starts_with(e.begins)) {
      return (this->*e.read)(text.substr(e.begins.size()));
    }
  }
  if (auto rest = after(text, "set_real_tensor_prop_unbacked_vals ")) {
    return example(*rest);
  }
  return asserted_in_graph(text);
}

// s0 = 6 for L['x'].size()[0] [2, int_oo] (model.py:3 in f), for more ..
bool EnvReader::created(string_view text) {
  const size_t equals = text.find(" = "), for_ = text.find(" for ");
  if (equals == npos || for_ == npos || for_ < equals) return false;
  TextSymbol* s = symbol(text.substr(0, equals));
  if (!s) return false;
  *s = {};
  s->example = Int::parse(trim(text.substr(equals + 3, for_ - equals - 3)));
  const string_view rest = text.substr(for_ + 5);
  s->source = trim(rest.substr(0, rest.find(' ')));
  narrow(*s, rest.substr(std::min(s->source.size(), rest.size())));
  return true;
}

// u0 [-int_oo, int_oo] (_subclasses/fake_impls.py:651 in f)
bool EnvReader::made_from_data(string_view text) {
  TextSymbol* s = symbol(text.substr(0, text.find(' ')));
  if (!s) return false;
  *s = {};
  narrow(*s, text);
  if (auto where = after(text, "] (")) {
    if (auto found = place_in(*where)) s->made_at = *found;
  }
  return true;
}

// u0 = VR[0, 9] (update)     u0 [0, 9]
bool EnvReader::ranged(string_view text) {
  const std::string name(text.substr(0, text.find(' ')));
  TextSymbol* s = symbol(name);
  if (!s) return false;
  TextSymbol found;
  narrow(found, text);
  if (found.lower && (!s->lower || *s->lower < *found.lower)) {
    add({name + " >= " + found.lower->to_string(), {}});
  }
  if (found.upper && (!s->upper || *s->upper > *found.upper)) {
    add({name + " <= " + found.upper->to_string(), {}});
  }
  return true;
}

// u0 >= 0 [guard added] (model.py:3 in f), for more ..
bool EnvReader::learnt(string_view text) {
  const size_t mark = text.find(" [guard added]");
  if (mark == npos) return has(text, "[statically known]");
  TextFact fact;
  fact.text = trim(text.substr(0, mark));
  if (auto where = after(text.substr(mark), "] (")) {
    if (auto found = place_in(*where)) fact.where = *found;
  } else if (auto at = after(text.substr(mark), "] at ")) {
    if (auto found = place_in(*at)) fact.where = *found;
  }
  add(std::move(fact));
  return true;
}

// u0 = s0 + 3 (solve) VR[..]
bool EnvReader::replaced(string_view text) {
  const size_t equals = text.find(" = ");
  if (equals == npos || !is_symbol_name(text.substr(0, equals))) return false;
  string_view value = text.substr(equals + 3);
  for (string_view end :
       {" (solve", " (range", " (trivial", " (find", " (", " VR["}) {
    const size_t at = value.find(end);
    if (at != npos && at > 0) {
      value = value.substr(0, at);
      break;
    }
  }
  TextFact fact;
  fact.text = "Eq(" + std::string(text.substr(0, equals)) + ", " +
              std::string(trim(value)) + ")";
  add(std::move(fact));
  return true;
}

bool EnvReader::example(string_view text) {
  const size_t equals = text.find(" = ");
  if (equals == npos) return false;
  TextSymbol* s = symbol(text.substr(0, equals));
  if (s) s->example = Int::parse(trim(text.substr(equals + 3)));
  return s != nullptr;
}

// u0 = y.shape[0] at model.py:3 in f     of proviso.diagnose
bool EnvReader::named(string_view text) {
  const size_t equals = text.find(" = "), at = text.find(" at ");
  if (equals == npos || at == npos || at < equals) return false;
  TextSymbol* s = symbol(text.substr(0, equals));
  std::optional<TextFrame> where = place_in(text.substr(at + 4));
  if (!s || !where || s->words.size() >= fixed::read_names) return false;
  s->words.push_back(
      {std::string(text.substr(equals + 3, at - equals - 3)), *where});
  return true;
}

// _assert_scalar.default(ge, "Runtime assertion failed for expression u0 >= 2
// on node 'ge'"): the graph so far asserts it.
bool EnvReader::asserted_in_graph(string_view text) {
  if (!has(text, "_assert_scalar")) return false;
  auto expression = between(text, "failed for expression ", " on node");
  if (!expression) return true;
  TextFact fact;
  fact.text = trim(*expression);
  const string_view code = graph_code_;
  if (auto where = place_in(code.substr(0, code.find(", code: ")))) {
    fact.where = *where;
  }
  add(std::move(fact));
  return true;
}

bool EnvReader::allocation(string_view text) {
  auto name = between(text, "Data dependent variable '", "'");
  if (!name) return false;
  allocated_ = *name;
  if (TextSymbol* s = symbol(allocated_)) made_before_ = *s;
  return true;
}

void EnvReader::add(TextFact fact) {
  auto& facts = env_.facts;
  if (facts.size() >= fixed::read_facts || !seen_.insert(fact.text).second)
    return;
  facts.push_back(std::move(fact));
}

// The program's own frame where a symbol was made.  What calls the compiler
// is not it.
void EnvReader::allocated_at(const TextFrame& frame) {
  TextSymbol* s = symbol(allocated_);
  if (!s) return;
  if (is_of_torch(frame.file)) {
    const bool is_entry =
        has(frame.file, "_dynamo/") || has(frame.file, "export/");
    if (is_entry) *s = made_before_;
    return;
  }
  made_before_.example = s->example;
  s->made_at = frame;
  const string_view code = frame.code;
  std::optional<string_view> name = assigned_in(code);
  if (!name || !code.ends_with(".item()")) return;
  if (s->words.size() >= fixed::read_names) return;
  if (code.find(".item()") != code.size() - 7) return;
  s->words.push_back({std::string(*name), frame});
}

TextSymbol* EnvReader::symbol(string_view name) {
  if (!is_symbol_name(name)) return nullptr;
  auto& symbols = env_.symbols;
  auto it = symbols.find(std::string(name));
  if (it != symbols.end()) return &it->second;
  if (symbols.size() >= fixed::read_symbols) return nullptr;
  return &symbols[std::string(name)];
}

// --- the graph so far, which newer errors print
//   # File: model.py:10 in forward, code: n = m.sum().item()
//   item: "Sym(u0)" = torch.ops.aten.item.default(sum_1)
// What a line makes last is what it assigns.

bool EnvReader::graph(string_view text) {
  if (text.starts_with("# File: ")) {
    graph_named_.clear();
    graph_checked_ = false;
    graph_code_ = text.substr(8, kFactLength);
    graph_type_ = {};
    return true;
  }
  if (graph_code_.empty()) return false;
  const size_t colon = text.find(": \"");
  if (colon == npos) return false;
  const string_view type = text.substr(colon + 3);
  const size_t quote = type.find("\" = ");
  if (quote == npos) return false;
  graph_type_ = type.substr(0, quote);
  name_by_graph();
  return true;
}
void EnvReader::name_by_graph() {
  const size_t mark = graph_code_.find(", code: ");
  if (mark == npos) return;
  std::optional<TextFrame> where =
      place_in(string_view(graph_code_).substr(0, mark));
  if (!where) return;
  where->code = graph_code_.substr(mark + 8, kSentenceLength);
  std::optional<string_view> name = assigned_in(where->code);
  for (const auto& [owner, words] : graph_named_) {
    if (TextSymbol* s = symbol(owner)) {
      std::erase_if(s->words, [&, w = words](const WordsFor& has) {
        return has.words == w && has.where.line == where->line;
      });
    }
  }
  graph_named_.clear();
  if (graph_checked_) env_.facts.pop_back();
  graph_checked_ = false;
  std::string number;  // the symbolic number that the line makes
  if (graph_type_.starts_with("Sym(") && graph_type_.back() == ')') {
    number = graph_type_.substr(4, graph_type_.size() - 5);
  }
  if (where->code.starts_with("torch._check(") && !number.empty()) {
    const size_t before = env_.facts.size();
    add({number, *where});
    graph_checked_ = env_.facts.size() > before;
    return;
  }
  if (!name) return;
  if (!number.empty()) {
    name_symbol(number, std::string(*name), *where);
    return;
  }
  const size_t open = graph_type_.find('[');
  if (open == npos || graph_type_.back() != ']') return;
  const std::string dims(
      graph_type_.substr(open + 1, graph_type_.size() - open - 2));
  const std::vector<string_view> sizes = split(dims, ",");
  for (size_t d = 0; d < sizes.size(); ++d) {
    name_symbol(sizes[d],
                std::string(*name) + ".shape[" + std::to_string(d) + "]",
                *where);
  }
}

void EnvReader::name_symbol(string_view symbol_name, std::string words,
                            const TextFrame& where) {
  TextSymbol* s = symbol(symbol_name);
  if (!s || s->words.size() >= fixed::read_graph_names) return;
  for (const WordsFor& known : s->words) {
    if (known.words == words) return;
  }
  graph_named_.push_back({std::string(symbol_name), words});
  s->words.push_back({std::move(words), where});
}

}  // namespace proviso::inline v0_2::internal
