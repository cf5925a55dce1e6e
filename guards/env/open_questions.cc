#include "guards/env/open_questions.h"

#include "guards/conjuncts.h"
#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

namespace {

thread_local const OpenQuestions* refused_last = nullptr;

std::string size_like_text(const std::vector<Expr>& symbols,
                           const Symbols& known) {
  std::string text;
  for (Expr s : symbols) {
    if (!known.is_size_like(s)) continue;
    text += (text.empty() ? "" : ", ") + s.symbol().name;
  }
  return text.empty() ? "none" : text;
}

// The expression at the example inputs; what depends on data stays.
Expr at_hints(Expr e, const std::vector<Expr>& symbols, ExprPool& pool,
              const Assignment& hints) {
  std::unordered_map<Expr, Expr, ExprHash> map;
  for (Expr s : symbols) {
    const Value* value = hints.find(s);
    if (!value) continue;
    if (auto* i = std::get_if<Int>(value)) map.emplace(s, pool.integer(*i));
    if (auto* r = std::get_if<Rational>(value)) {
      map.emplace(s, pool.rational(*r));
    }
  }
  return map.empty() ? e : simplified(substitute(e, map));
}

bool is_long(Expr e) {
  return to_string(e, kMessageLength).find("...") != std::string::npos;
}

std::string checks_text(Expr c, Expr negation) {
  if (is_long(c)) {
    return "To fix the error, say before this call which side holds, with "
           "torch._check.\n";
  }
  return "To fix the error, insert one of the following checks before this "
         "call:\n"
         "  1. " +
         to_check(c) + "\n  2. " + to_check(negation) + "\n";
}

std::string guard_advice(Expr c, Expr negation) {
  return "The program branches on a value that only the data decides, and what "
         "is known does not decide it. Either tell the tracer what holds "
         "(torch._check), or ask a question that may stay open: "
         "guard_or_false(cond) and guard_or_true(cond) take the named branch "
         "when undecided, statically_known_true(cond) is False when "
         "undecided.\n" +
         checks_text(c, negation);
}

std::string value_advice(Expr e) {
  return "The program needs this value while it is traced (int(), range() or "
         "a Python index), and only the data decides it. Keep the value "
         "symbolic (torch.sym_int and torch.sym_float do, where int() and "
         "float() cannot), write the loop as a tensor operation, or, when the "
         "value is always the same, say so before this call:\n"
         "  1. torch._check(" +
         (is_long(e) ? "it" : to_python(e)) + " == <value>)\n";
}

// Which inputs have no example by the caller's wish.
std::string unbacked_inputs_text(const std::vector<Expr>& symbols) {
  std::string text;
  for (Expr s : symbols) {
    const Symbol& symbol = s.symbol();
    if (!is_unbacked(symbol.kind) || symbol.source.empty()) continue;
    text += symbol.name + " is " + display_name_of(symbol.source) +
            ", which is marked as unbacked: no branch may depend on it.\n";
  }
  return text;
}

}  // namespace

OpenQuestions::~OpenQuestions() {
  if (refused_last == this) refused_last = nullptr;
}

const OpenQuestion* OpenQuestions::last_of(const ExprPool& pool) {
  if (refused_last == nullptr || &refused_last->facts_.pool() != &pool)
    return nullptr;
  return &*refused_last->last_;
}

DataDependentError OpenQuestions::refuse(Expr asked,
                                         const SourceLocation& where,
                                         bool is_value) {
  const Expr question = replacements_.apply(asked);
  const std::string text = text_of(question, where, is_value);
  last_ = OpenQuestion{question, text};
  refused_last = this;
  return {text, question};
}

std::string OpenQuestions::text_of(Expr question, const SourceLocation& where,
                                   bool is_value) {
  const std::vector<Expr>& symbols = symbols_.in(question);
  std::string text =
      is_value ? "Could not extract specialized " +
                     std::string(question.is_int() ? "integer"
                                                   : name_of(question.type())) +
                     " from data-dependent expression "
               : std::string("Could not guard on data-dependent expression ");
  text +=
      to_string(at_hints(question, symbols, facts_.pool(), symbols_.hints()),
                kMessageLength) +
      " (unhinted: " + to_string(question, kMessageLength) +
      ").  (Size-like symbols: " + size_like_text(symbols, symbols_) + ")\n\n";
  text += unbacked_inputs_text(symbols);
  text += is_value ? value_advice(question)
                   : guard_advice(question, negate(question));
  if (where.line > 0 || !where.file.empty()) {
    text += "Caused by: " + where.to_string() + "\n";
  }
  return text +
         "For what is known at this point, run with PROVISO_LOGS=dynamic.";
}

}  // namespace proviso::inline v0_2::internal
