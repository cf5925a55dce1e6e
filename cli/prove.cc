// prove, bounds, simplify: one question about facts from the command line or a
// file; facts: the file.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/arguments.h"
#include "cli/command_units.h"
#include "cli/json.h"
#include "cli/timer.h"
#include "guards/context_text.h"
#include "solver/options.h"
#include "solver/solver.h"
#include "sym/budget.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::cli {
namespace {

Context start(ExprPool& pool, const Arguments& arguments) {
  if (arguments.context.empty()) {
    return Context(pool, solver_options(arguments));
  }
  if (arguments.native || arguments.int64 || arguments.sets_options) {
    throw Error(
        "--context: the file says how its facts are asked; leave --tiers, "
        "--int64, --option and --limit to the command that writes it");
  }
  std::ifstream in(arguments.context, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    throw Error("--context: cannot read '" + arguments.context +
                "'; give a file that `proviso facts` wrote");
  }
  // What it says is spent within the command's own budget.
  return load_context(pool, text.str(), highest_costs());
}

// What a command may do in all; a long context file more.
uint64_t command_units(const Arguments& arguments) {
  uint64_t bytes = 0;
  for (const auto* texts :
       {&arguments.symbols, &arguments.assumptions, &arguments.positional}) {
    for (const std::string& text : *texts) bytes += text.size();
  }
  std::error_code none;
  const uint64_t file = std::filesystem::file_size(arguments.context, none);
  return cli::command_units(none ? bytes : bytes + file);
}

// The facts as the user wrote them, assumed by a solver.  All that the command
// does from here on is charged to one budget.
class Session {
 public:
  explicit Session(const Arguments& arguments)
      : budget_(command_units(arguments)), context_(start(pool_, arguments)) {
    if (!arguments.symbols.empty()) {
      question_.make_symbol = [](ExprPool&, std::string_view) {
        return Expr();
      };
    }
    for (const std::string& text : arguments.symbols) declare(text);
    for (const std::string& text : arguments.assumptions) {
      context_.assume(parse(pool_, text), {text, "", 0});
    }
  }

  Context& context() { return context_; }
  Expr parse_only(const char* command, const Arguments& arguments) {
    if (arguments.positional.size() != 1) {
      throw Error(std::string(command) + ": expected one expression, got " +
                  std::to_string(arguments.positional.size()) +
                  "; quote it, as in 's0 + 1 < u0'");
    }
    return parse(pool_, arguments.positional[0], question_);
  }

  std::vector<std::string> texts(const std::vector<FactId>& ids) const {
    std::vector<std::string> out;
    for (FactId id : ids) out.push_back(text_of(context_.fact(id)));
    return out;
  }

  // The facts in conflict, if any.
  std::optional<std::vector<std::string>> contradiction() const {
    auto ids = context_.contradiction();
    if (!ids) return std::nullopt;
    return texts(*ids);
  }

 private:
  void declare(const std::string& text) {
    RangeDeclaration range = parse_range(text);
    if (range.lower && range.upper && *range.lower > *range.upper) {
      throw Error("--symbol '" + text +
                  "': the range is empty; write the "
                  "smaller end first");
    }
    Expr symbol = declared_symbol(pool_, range);
    if (!symbol.is_int()) {
      throw Error("--symbol '" + text + "': " + range.name +
                  " is a float by its name; give its range with --assume");
    }
    context_.declare(symbol, Interval::of(range.lower, range.upper),
                     {text, "", 0});
  }

  static std::string text_of(const Fact& fact) {
    return fact.origin.text.empty() ? to_string(fact.condition)
                                    : fact.origin.text;
  }

  Budget budget_;
  ExprPool pool_;
  // Where symbols are declared, a question names no others: such a name is a
  // slip of the pen.
  ParseOptions question_;
  Context context_;
};

void print_answer(const Session& session, const Answer& answer) {
  std::cout << name_of(answer.verdict) << "\n";
  for (const std::string& fact : session.texts(answer.facts)) {
    std::cout << "  by  " << fact << "\n";
  }
  if (answer.counterexample) {
    std::cout << "  counterexample  " << answer.counterexample->to_string()
              << "\n";
  }
  if (answer.witness) {
    std::cout << "  witness         " << answer.witness->to_string() << "\n";
  }
  // The reason for yes and no is the facts above; it speaks where there are
  // none.
  if (answer.facts.empty() && !answer.reason.empty()) {
    std::cout << "  " << answer.reason << "\n";
  }
  if (answer.verdict != Verdict::kUnknown) {
    std::cout << "  tier: " << name_of(answer.tier) << " ("
              << name_of(answer.strategy) << ")\n";
  }
}

std::string json_of(const std::optional<Assignment>& point) {
  if (!point) return "null";
  JsonObject object;
  for (const auto& [symbol, value] : point->entries()) {
    object.add(symbol.symbol().name, json_text(to_string(value)));
  }
  return object.text();
}

void print_json(const Session& session, const Answer& answer, double us) {
  JsonObject object;
  object.add("answer", json_text(name_of(answer.verdict)))
      .add("facts", json_list(session.texts(answer.facts)))
      .add("counterexample", json_of(answer.counterexample))
      .add("witness", json_of(answer.witness))
      .add("reason", json_text(answer.reason))
      .add("tier", json_text(name_of(answer.tier)))
      .add("strategy", json_text(name_of(answer.strategy)))
      .add("us", format_us(us));
  std::cout << object.text() << "\n";
}

int report_contradiction(const std::vector<std::string>& facts, bool json) {
  std::string line = "contradictory facts: ";
  for (size_t i = 0; i < facts.size(); ++i) {
    line += (i > 0 ? "; " : "") + facts[i];
  }
  std::cout << line << "\n";
  if (json) {
    JsonObject object;
    object.add("answer", "null")
        .add("facts", json_list(facts))
        .add("counterexample", "null")
        .add("tier", json_text("none"))
        .add("us", "0")
        .add("error", json_text(line));
    std::cout << object.text() << "\n";
  }
  return kTrouble;
}

// A result that is one text.
int print_text(const Arguments& arguments, const char* key,
               const std::string& text) {
  std::cout << text << "\n";
  if (arguments.json) {
    std::cout << JsonObject().add(key, json_text(text)).text() << "\n";
  }
  return kYesOrGood;
}

std::string in_form(Expr e, const std::string& form) {
  if (form == "torch") return to_torch(e);
  if (form == "python") return to_python(e);
  if (form == "smtlib") return to_smtlib(e);
  if (form == "srepr") return to_srepr(e);
  throw Error("simplify: --as '" + form +
              "': choose torch, python, smtlib or srepr");
}

}  // namespace

int facts(const Arguments& arguments) {
  if (!arguments.positional.empty()) {
    throw Error("facts: unexpected '" + arguments.positional[0] +
                "'; give facts with --symbol and --assume");
  }
  std::cout << save_context(Session(arguments).context());
  return kYesOrGood;
}

int prove(const Arguments& arguments) {
  Session session(arguments);
  Expr question = session.parse_only("prove", arguments);
  if (!question.is_bool()) {
    throw Error("prove: expected a boolean question, got " +
                to_string(question) + " (" +
                std::string(name_of(question.type())) +
                "); compare it with something");
  }
  Timer timer;
  Answer answer = session.context().ask(question);
  double us = timer.us();
  if (answer.is_contradiction) {
    return report_contradiction(session.texts(answer.facts), arguments.json);
  }
  print_answer(session, answer);
  if (arguments.json) print_json(session, answer, us);
  switch (answer.verdict) {
    case Verdict::kYes: return kYesOrGood;
    case Verdict::kNo: return kNoOrWrong;
    case Verdict::kUnknown: return kUnknownAnswer;
  }
  return kTrouble;
}

int bounds(const Arguments& arguments) {
  Session session(arguments);
  Expr e = session.parse_only("bounds", arguments);
  if (!e.is_int()) {
    throw Error("bounds: expected an integer expression, got " + to_string(e) +
                " (" + std::string(name_of(e.type())) + ")");
  }
  Interval range = session.context().bounds(e);
  if (auto conflict = session.contradiction()) {
    return report_contradiction(*conflict, arguments.json);
  }
  return print_text(arguments, "bounds", range.to_string());
}

int simplify_command(const Arguments& arguments) {
  if (arguments.pairs) return simplify_pairs(arguments);
  Session session(arguments);
  Expr e = session.parse_only("simplify", arguments);
  Expr simple = session.context().simplify(e);
  if (auto conflict = session.contradiction()) {
    return report_contradiction(*conflict, arguments.json);
  }
  return print_text(arguments, "expr", in_form(simple, arguments.form));
}

}  // namespace proviso::cli
