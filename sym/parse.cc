// Recursive descent; chains of operators by Python's precedence, in one
// function (precedence climbing), so that few calls lie within one another.
//
// So that printed text comes back as the expression it was printed from, flat
// chains become one node: a + b - c is one Add, 2*a*b one Mul, a & b & c one
// And.  A sign belongs to its term: -2*x is Mul(-2, x), a - x is
// Add(a, Mul(-1, x)).  Parentheses end a chain.
#include "sym/parse.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

#include "sym/excerpt.h"
#include "sym/lexer.h"
#include "sym/pool_stores.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

// Further names, of Python, PyTorch and SymPy, for rows of sym/op.h.
struct Alias {
  std::string_view name;
  Op op;
  bool swapped = false;  // a > b is b < a
};
constexpr Alias kAliases[] = {
    {"ceiling", Op::kCeilToInt},
    {"int", Op::kTruncToInt},
    {"sym_min", Op::kMin},
    {"sym_max", Op::kMax},
    {"sym_not", Op::kNot},
    {"sym_float", Op::kToFloat},
    {"sym_int", Op::kTruncToInt},
    {"sym_ite", Op::kWhere},
    {"ITE", Op::kWhere},
    {"Gt", Op::kLt, true},
    {"Ge", Op::kLe, true},
    {"StrictLessThan", Op::kLt},
    {"LessThan", Op::kLe},
    {"StrictGreaterThan", Op::kLt, true},
    {"GreaterThan", Op::kLe, true},
    {"Equality", Op::kEq},
    {"Unequality", Op::kNe},
    {"Equivalent", Op::kEq},
    {"Xor", Op::kNe},
};

constexpr std::string_view kDenseInPython = "eval_is_non_overlapping_and_dense";

struct Function {
  Op op;
  bool swapped;
};

// A sign between operands, of a chain of those that bind as tightly.
struct Sign {
  std::string_view text;
  Op op;
  bool swapped = false;

  Precedence precedence() const { return info(op).infix.precedence; }
};

std::string_view without_module(std::string_view name) {
  for (std::string_view prefix : {"math.", "torch.", "sympy."}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name;
}

std::unordered_map<std::string_view, Function> make_functions() {
  std::unordered_map<std::string_view, Function> table;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (is_leaf(row.op)) continue;
    table[row.name] = {row.op, false};
    const std::string_view python = without_module(row.python);
    if (!python.empty()) table.try_emplace(python, Function{row.op, false});
    // torch._sym_sqrt
    if (row.target.starts_with("torch."))
      table.try_emplace(without_module(row.target), Function{row.op, false});
  }
  for (const Alias& a : kAliases) table[a.name] = {a.op, a.swapped};
  return table;
}

const Function* find_function(std::string_view name) {
  static const auto& table = *new auto(make_functions());
  auto it = table.find(without_module(name));
  return it == table.end() ? nullptr : &it->second;
}

// Each sign means its first row.
std::vector<Sign> make_signs() {
  std::vector<Sign> table = {
      {"-", Op::kAdd}, {">", Op::kLt, true}, {">=", Op::kLe, true}};
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    const std::string_view text = row.infix.sign;
    const bool is_known =
        std::any_of(table.begin(), table.end(),
                    [&](const Sign& sign) { return sign.text == text; });
    if (!text.empty() && !is_known) table.push_back({text, row.op});
  }
  return table;
}

const Sign* find_sign(const Token& token) {
  static const auto& table = *new auto(make_signs());
  if (token.kind != TokenKind::kSign && token.kind != TokenKind::kName) {
    return nullptr;
  }
  for (const Sign& sign : table) {
    if (sign.text == token.text) return &sign;
  }
  return nullptr;
}

// PyTorch tells the kind of a symbol by the prefix of its name.
SymbolKind kind_of_name(std::string_view name) {
  auto numbered = [&](std::string_view prefix) {
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           std::all_of(name.begin() + prefix.size(), name.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  if (numbered("s")) return SymbolKind::kBackedSize;
  if (numbered("u")) return SymbolKind::kUnbackedInt;
  if (numbered("zuf")) return SymbolKind::kUnbackedFloat;
  if (numbered("zf")) return SymbolKind::kBackedFloat;
  return SymbolKind::kBackedInt;
}

class Parser {
 public:
  Parser(ExprPool& pool, std::string_view text, const ParseOptions& options)
      : pool_(pool), undo_(pool), options_(options), lexer_("parse", text) {}

  Expr run() {
    if (is_nested_deeper(kLevelsAtOnce)) parse_deep_parts();
    Expr e = expression();
    if (token().kind != TokenKind::kEnd) {
      lexer_.fail_expected("an operator or the end");
    }
    undo_.keep();
    return e;
  }

 private:
  // A factor or term.  `open`: an unparenthesised product, into whose leading
  // coefficient a sign may still go.
  struct Term {
    Expr e;
    bool open = false;
  };

  // Counts the levels of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser)
        : Level(parser, parser.depth_, parser.options_.max_depth) {}
    Level(Parser& parser, size_t& depth, size_t limit) : depth_(depth) {
      if (++depth_ > limit) {
        parser.lexer_.fail(parser.token().at,
                           "nesting deeper than " + std::to_string(limit));
      }
    }
    ~Level() { --depth_; }

   private:
    size_t& depth_;
  };

  const Token& token() const { return lexer_.token(); }

  // --- deep texts: a part kLevelsAtOnce levels below another one is parsed
  // before it, innermost first, so that no call goes deeper than that.

  static constexpr size_t kLevelsAtOnce = 24;

  struct Part {
    size_t at;     // where its name, or its parenthesis, begins
    size_t level;  // of expressions around what it has
    size_t from;   // the level of the innermost part to be parsed by itself
    bool is_parted;
    bool has_arms;  // Piecewise, whose own parentheses are no expressions
  };
  struct Known {
    Expr e;
    size_t end;  // where the next token begins
  };

  bool is_nested_deeper(size_t limit) const {
    size_t level = 0;
    for (char c : lexer_.text()) {
      level = c == '(' ? level + 1 : c == ')' && level > 0 ? level - 1 : level;
      if (level > limit) return true;
    }
    return false;
  }

  void parse_deep_parts() {
    std::vector<Part> open, parted;
    Token before;  // of kName: the name of a function
    for (; token().kind != TokenKind::kEnd; lexer_.advance()) {
      if (lexer_.sees("(")) {
        open.push_back(part_at(before, open.empty() ? nullptr : &open.back()));
      } else if (lexer_.sees(")") && !open.empty()) {
        if (open.back().is_parted) parted.push_back(open.back());
        open.pop_back();
      }
      before = is_reserved(token().text) ? Token() : token();
    }
    if (open.size() > kLevelsAtOnce) lexer_.fail_expected("')'");
    for (const Part& part : parted) {
      depth_ = operands_ = part.level;
      lexer_.seek(part.at);
      const Expr e = primary();
      known_.emplace(part.at, Known{e, token().at});
    }
    depth_ = operands_ = 0;
    lexer_.seek(0);
  }

  Part part_at(const Token& before, const Part* outer) {
    const bool is_call = before.kind == TokenKind::kName;
    const std::string_view word = is_call ? before.text : "";
    const bool is_arm = outer != nullptr && outer->has_arms;
    const bool has_arms = word == "Piecewise";
    const bool is_leaf = word == "Symbol" || word == "Integer" ||
                         word == "Float" || word == "Rational";
    Part part{is_call ? before.at : token().at, outer ? outer->level : 0,
              outer ? outer->from : 0, false, has_arms};
    if (!has_arms && !is_leaf && ++part.level >= options_.max_depth) {
      lexer_.advance();
      lexer_.fail(token().at,
                  "nesting deeper than " + std::to_string(options_.max_depth));
    }
    part.is_parted = !is_arm && part.level >= part.from + kLevelsAtOnce;
    if (part.is_parted) part.from = part.level;
    return part;
  }

  // make() with its complaint placed in the text.
  Expr make(size_t at, Op op, std::span<const Expr> args) {
    try {
      return pool_.make(op, args);
    } catch (const Error& error) {
      lexer_.fail(at, std::string(error.what()) + ";");
    }
  }
  Expr make(size_t at, Op op, std::initializer_list<Expr> args) {
    return make(at, op, std::span<const Expr>(args.begin(), args.size()));
  }

  // --- chains of operators, by how tightly they bind

  Expr expression() {
    Level level(*this);
    Expr value = operand(Precedence::kOr).e;
    size_t at = token().at;
    if (!lexer_.take_name("if")) return value;
    Expr condition = operand(Precedence::kOr).e;
    if (!lexer_.take_name("else")) lexer_.fail_expected("'else'");
    return make(at, Op::kWhere, {condition, value, expression()});
  }

  // A factor and the chains that follow it, tightest first, none looser than
  // `loosest`: one call a parenthesis, and one a chain within a chain.
  Term operand(Precedence loosest) {
    Level level(*this, operands_, kMaxOperands * options_.max_depth);
    size_t at = token().at;
    const bool is_not = loosest <= Precedence::kNot && lexer_.take_name("not");
    Term left = is_not ? Term{negation(at)} : factor();
    while (const Sign* sign = next_sign(loosest)) left = chain(*sign, left);
    return left;
  }

  // The sign that the token is, where it binds no looser than that.
  const Sign* next_sign(Precedence loosest) const {
    const Sign* sign = find_sign(token());
    return sign && sign->precedence() >= loosest ? sign : nullptr;
  }
  const Sign* take_sign(Precedence loosest) {
    const Sign* sign = next_sign(loosest);
    if (sign) lexer_.advance();
    return sign;
  }

  Expr negation(size_t at) {
    Level level(*this);
    return make(at, Op::kNot, {operand(Precedence::kNot).e});
  }

  Term chain(const Sign& sign, Term left) {
    switch (sign.precedence()) {
      case Precedence::kOr:
      case Precedence::kAnd: return {junction(sign.op, left.e)};
      case Precedence::kCompare: return {comparison(left.e)};
      case Precedence::kBitOr:
      case Precedence::kBitAnd: return {bit_chain(sign.op, left.e)};
      case Precedence::kBitXor:
      case Precedence::kShift: return {left_chain(sign.precedence(), left.e)};
      case Precedence::kSum: return sum(left);
      case Precedence::kProduct: return product(left);
      case Precedence::kNot:
      case Precedence::kSign:
      case Precedence::kPower:
      case Precedence::kAtom: break;
    }
    lexer_.fail_expected("an operator");  // no chain; operand() has taken it
  }

  // The operator that a sign means between these.
  static Op meant(Op op, Expr a, Expr b) {
    const bool has_float = a.is_float() || b.is_float();
    if (op == Op::kIntTrueDiv && has_float) return Op::kFloatTrueDiv;
    const bool are_integers = a.is_int() && b.is_int();
    if (op == Op::kPow && !are_integers) return Op::kFloatPow;
    const bool are_conditions = a.is_bool() && b.is_bool();
    return op == Op::kBitXor && are_conditions ? Op::kNe : op;
  }

  // The operands of a chain that begins with `first`.
  std::vector<Expr> operands(Precedence precedence, Expr first) {
    std::vector<Expr> all{first};
    while (take_sign(precedence)) {
      all.push_back(operand(tighter(precedence)).e);
    }
    return all;
  }

  Expr junction(Op op, Expr first) {
    size_t at = token().at;
    return make(at, op, operands(info(op).infix.precedence, first));
  }

  // Conditions join into one node, integers fold from the left.
  Expr bit_chain(Op op, Expr left) {
    size_t at = token().at;
    const auto parts = operands(info(op).infix.precedence, left);
    if (left.is_bool()) {
      return make(at, op == Op::kBitAnd ? Op::kAnd : Op::kOr, parts);
    }
    for (size_t i = 1; i < parts.size(); ++i) {
      left = make(at, op, {left, parts[i]});
    }
    return left;
  }

  Expr left_chain(Precedence precedence, Expr left) {
    size_t at = token().at;
    while (const Sign* sign = take_sign(precedence)) {
      Expr right = operand(tighter(precedence)).e;
      left = make(at, meant(sign->op, left, right), {left, right});
      at = token().at;
    }
    return left;
  }

  Expr comparison(Expr left) {
    std::vector<Expr> parts;
    size_t first_at = token().at, at = first_at;
    while (const Sign* sign = take_sign(Precedence::kCompare)) {
      Expr right = operand(tighter(Precedence::kCompare)).e;
      parts.push_back(sign->swapped ? make(at, sign->op, {right, left})
                                    : make(at, sign->op, {left, right}));
      left = right;
      at = token().at;
    }
    return parts.size() == 1 ? parts[0] : make(first_at, Op::kAnd, parts);
  }

  Term sum(Term first) {
    size_t at = token().at;
    std::vector<Expr> terms{first.e};
    while (next_sign(Precedence::kSum)) {
      bool minus = lexer_.sees("-");
      size_t sign_at = token().at;
      lexer_.advance();
      Term term = operand(tighter(Precedence::kSum));
      terms.push_back(minus ? negate(sign_at, term).e : term.e);
    }
    return {make(at, Op::kAdd, terms)};
  }

  Term negate(size_t at, Term term) {
    if (term.e.is(Op::kInteger)) return {pool_.integer(-term.e.integer())};
    if (term.e.is(Op::kRational)) return {negated_rational(term.e)};
    std::vector<Expr> factors;
    if (term.open) {
      factors.assign(term.e.args().begin(), term.e.args().end());
    } else {
      factors.push_back(term.e);
    }
    if (factors[0].is(Op::kInteger)) {
      factors[0] = pool_.integer(-factors[0].integer());
    } else if (factors[0].is(Op::kRational)) {
      factors[0] = negated_rational(factors[0]);
    } else {
      factors.insert(factors.begin(), pool_.integer(-1));
    }
    return {make(at, Op::kMul, factors), true};
  }

  Expr negated_rational(Expr e) {
    return pool_.rational(Rational(-e.rational().num(), e.rational().den()));
  }

  Term product(Term first) {
    std::vector<Expr> factors{first.e};
    bool open = first.open;
    size_t product_at = token().at;
    while (const Sign* sign = next_sign(Precedence::kProduct)) {
      size_t at = token().at;
      lexer_.advance();
      Expr right = factor().e;
      if (sign->op == Op::kMul) {
        if (open && factors.size() == 1) open_product(factors);
        open = false;
        factors.push_back(right);
        continue;
      }
      Expr left = close_product(product_at, factors);
      const Op op = meant(sign->op, left, right);
      factors.assign(1, make(at, op, {left, right}));
      open = false;
    }
    if (factors.size() == 1) return {factors[0], open};
    return {close_product(product_at, factors), true};
  }

  // -x * y continues the product that the sign began.
  static void open_product(std::vector<Expr>& factors) {
    std::span<const Expr> inner = factors[0].args();
    factors = std::vector<Expr>(inner.begin(), inner.end());
  }
  Expr close_product(size_t at, const std::vector<Expr>& factors) {
    return factors.size() == 1 ? factors[0] : make(at, Op::kMul, factors);
  }

  // Signs bind looser than ** and tighter than *, as in Python.
  Term factor() {
    size_t at = token().at;
    if (lexer_.take("-")) {
      Level level(*this);
      Term inner = factor();
      inner.open = false;  // -(-x) keeps both signs
      return negate(at, inner);
    }
    if (lexer_.take("+")) {
      Level level(*this);
      return {factor().e};
    }
    if (lexer_.take("~")) {
      Level level(*this);
      return {complement(at, factor().e)};
    }
    return {power()};
  }

  Expr complement(size_t at, Expr e) {
    if (e.is_bool()) return make(at, Op::kNot, {e});
    if (!e.is_int()) lexer_.fail(at, "~ of a float");
    return make(at, Op::kAdd, {negate(at, {e}).e, pool_.integer(-1)});
  }

  Expr power() {
    Expr base = primary();
    size_t at = token().at;
    const Sign* sign = take_sign(Precedence::kPower);
    if (sign == nullptr) return base;
    Level level(*this);
    Expr exponent = factor().e;
    return make(at, meant(sign->op, base, exponent), {base, exponent});
  }

  Expr primary() {
    if (!known_.empty()) {
      if (auto at = known_.find(token().at); at != known_.end()) {
        lexer_.seek(at->second.end);
        return at->second.e;
      }
    }
    if (lexer_.take("(")) {
      Expr e = expression();
      lexer_.expect(")");
      return e;
    }
    if (token().kind == TokenKind::kNumber) return number();
    if (token().kind == TokenKind::kName) return name();
    lexer_.fail_expected("a number, a name or '('");
  }

  Expr number() {
    Expr e = number_of(token().at, token().text);
    lexer_.advance();
    return e;
  }

  Expr number_of(size_t at, std::string_view text) {
    if (std::optional<Int> i = Int::parse(text)) return pool_.integer(*i);
    return float_of(at, text);
  }

  Expr float_of(size_t at, std::string_view text) {
    std::string digits(text);
    std::replace(digits.begin(), digits.end(), 'E', 'e');
    std::optional<Rational> r = Rational::parse(digits);
    if (!r) lexer_.fail(at, "malformed or too large a number");
    return pool_.rational(*r);
  }

  // --- names and calls

  Expr name() {
    Token word = token();
    if (std::optional<bool> truth = truth_name(word.text)) {
      lexer_.advance();
      return pool_.boolean(*truth);
    }
    if (word.text == "int_oo") {
      lexer_.fail(word.at,
                  "int_oo is a bound, not a value (declare a range: "
                  "'s0 in [2, int_oo]')");
    }
    if (is_reserved(word.text)) lexer_.fail_expected("a value");
    lexer_.advance();
    if (lexer_.take("(")) return call(word);
    return symbol(word.at, word.text);
  }

  Expr symbol(size_t at, std::string_view name) {
    if (std::optional<Expr> known = pool_.find_symbol(name)) return *known;
    if (!names_a_symbol(name)) lexer_.fail(at, not_a_name(name) + ";");
    if (!options_.make_symbol) return pool_.symbol(name, kind_of_name(name));
    const size_t before = pool_.size();
    Expr made = options_.make_symbol(pool_, name);
    if (pool_.size() != before) undo_.keep();  // the caller may have it
    if (!made) {
      lexer_.fail(at,
                  "unknown symbol '" + excerpt(name, kArgumentLength) + "'");
    }
    if (&made.pool() != &pool_) {
      lexer_.fail(at, "make_symbol gave '" + excerpt(name, kArgumentLength) +
                          "' a symbol of another ExprPool");
    }
    return made;
  }

  // After "NAME(".
  Expr call(const Token& word) {
    std::string_view name = word.text;
    if (name == "Symbol") return srepr_symbol();
    if (name == "Integer") return srepr_integer();
    if (name == "Float") return srepr_float();
    if (name == "Rational") return srepr_rational();
    if (name == "Piecewise") return piecewise(word.at);
    if (name == kDenseInPython) return dense_indicator(word.at);
    std::vector<Expr> args = arguments();
    if (name == "round" || name == "math.round") return round(word.at, args);
    if (name == "sym_int" || name == "torch.sym_int" || name == "int") {
      if (args.size() == 1 && args[0].is_int()) return args[0];
      return make(word.at, Op::kTruncToInt, args);
    }
    const Function* f = find_function(name);
    if (f == nullptr) {
      lexer_.fail(word.at,
                  "unknown function '" + excerpt(name, kArgumentLength) + "'");
    }
    if (f->swapped && args.size() == 2) std::swap(args[0], args[1]);
    return make(word.at, f->op, args);
  }

  std::vector<Expr> arguments() {
    std::vector<Expr> args;
    if (lexer_.take(")")) return args;
    do {
      args.push_back(expression());
    } while (lexer_.take(","));
    close_call();
    return args;
  }

  void close_call() {
    if (!lexer_.take(")")) lexer_.fail_expected("',' or ')'");
  }

  Expr round(size_t at, const std::vector<Expr>& args) {
    return make(at, args.size() == 2 ? Op::kRoundDecimal : Op::kRoundToInt,
                args);
  }

  // Piecewise((a, c), (b, True)), or with SymPy's ExprCondPair.
  Expr piecewise(size_t at) {
    std::vector<std::pair<Expr, Expr>> arms;  // value, condition
    do {
      lexer_.take_name("ExprCondPair");
      lexer_.expect("(");
      Expr value = expression();
      lexer_.expect(",");
      arms.emplace_back(value, expression());
      lexer_.expect(")");
    } while (lexer_.take(","));
    close_call();
    if (!arms.back().second.is_true()) {
      lexer_.fail(at, "the last arm of Piecewise must have condition True");
    }
    Expr result = arms.back().first;
    for (size_t i = arms.size() - 1; i-- > 0;) {
      result = make(at, Op::kWhere, {arms[i].second, arms[i].first, result});
    }
    return result;
  }

  // eval_is_non_overlapping_and_dense([sizes], [strides])
  Expr dense_indicator(size_t at) {
    std::vector<Expr> args = list();
    const size_t sizes = args.size();
    lexer_.expect(",");
    for (Expr stride : list()) args.push_back(stride);
    lexer_.expect(")");
    if (args.size() / 2 != sizes)
      lexer_.fail(at, "there must be a stride of each size");
    return make(at, Op::kDenseIndicator, args);
  }

  std::vector<Expr> list() {
    lexer_.expect("[");
    std::vector<Expr> items;
    if (lexer_.take("]")) return items;
    do {
      items.push_back(expression());
    } while (lexer_.take(","));
    lexer_.expect("]");
    return items;
  }

  // --- srepr's leaves

  std::string_view text_argument() {
    if (token().kind != TokenKind::kText)
      lexer_.fail_expected("a quoted string");
    std::string_view text = token().text;
    lexer_.advance();
    return text;
  }

  // `positive=True, ...` up to ')': SymPy's assumptions follow from the name.
  void skip_keywords() {
    while (lexer_.take(",")) {
      if (token().kind != TokenKind::kName) lexer_.fail_expected("a keyword");
      lexer_.advance();
      lexer_.expect("=");
      if (token().kind != TokenKind::kName &&
          token().kind != TokenKind::kNumber) {
        lexer_.fail_expected("a keyword's value");
      }
      lexer_.advance();
    }
    lexer_.expect(")");
  }

  Expr srepr_symbol() {
    size_t at = token().at;
    std::string_view name = text_argument();
    skip_keywords();
    return symbol(at, name);
  }

  Int signed_integer() {
    bool minus = lexer_.take("-");
    std::optional<Int> value;
    if (token().kind == TokenKind::kNumber) value = Int::parse(token().text);
    if (!value) lexer_.fail_expected("an integer literal");
    lexer_.advance();
    return minus ? -*value : *value;
  }

  Expr srepr_integer() {
    Int value = signed_integer();
    lexer_.expect(")");
    return pool_.integer(value);
  }

  Expr srepr_float() {
    size_t at = token().at;
    std::string_view digits = text_argument();
    skip_keywords();
    if (digits.size() > Lexer::kMaxDigits) lexer_.fail(at, "too long a number");
    return float_of(at, digits);
  }

  Expr srepr_rational() {
    Int num = signed_integer();
    lexer_.expect(",");
    size_t at = token().at;
    Int den = signed_integer();
    if (den.is_zero()) lexer_.fail(at, "a denominator of 0");
    lexer_.expect(")");
    return pool_.rational(Rational(num, den));
  }

  ExprPool& pool_;
  PoolUndo undo_;  // of a text that is not read to its end
  const ParseOptions& options_;
  Lexer lexer_;
  // Levels of parentheses and signs, and operands within operands, of which a
  // parenthesis has few.
  static constexpr size_t kMaxOperands = 2;
  size_t depth_ = 0, operands_ = 0;
  std::unordered_map<size_t, Known> known_;  // by where they begin
};

void require_length(std::string_view call, std::string_view text,
                    size_t limit) {
  if (text.size() <= limit) return;
  throw Error(std::string(call) + ": the text has " +
              std::to_string(text.size()) + " characters, the limit is " +
              std::to_string(limit));
}

// One end of a range; nullopt: infinite on the side that it stands.
std::optional<Int> range_end(Lexer& lexer, bool is_lower) {
  bool minus = lexer.take("-");
  const Token& token = lexer.token();
  if (token.kind == TokenKind::kName &&
      (token.text == "int_oo" || token.text == "oo")) {
    if (minus != is_lower) {
      lexer.fail(token.at, is_lower
                               ? "a lower end of int_oo leaves no value"
                               : "an upper end of -int_oo leaves no value");
    }
    lexer.advance();
    return std::nullopt;
  }
  std::optional<Int> value;
  if (token.kind == TokenKind::kNumber) value = Int::parse(token.text);
  if (!value) lexer.fail_expected("an integer or int_oo");
  lexer.advance();
  return minus ? -*value : *value;
}

}  // namespace

Expr parse(ExprPool& pool, std::string_view text, const ParseOptions& options) {
  require_length("parse", text, options.max_length);
  return Parser(pool, text, options).run();
}

RangeDeclaration parse_range(std::string_view text) {
  require_length("parse_range", text, ParseOptions{}.max_length);
  Lexer lexer("parse_range", text);
  RangeDeclaration range;
  const Token& token = lexer.token();
  if (token.kind != TokenKind::kName || !names_a_symbol(token.text)) {
    lexer.fail_expected("a symbol's name, as in 's0 in [2, int_oo]'");
  }
  range.name = std::string(token.text);
  lexer.advance();
  if (!lexer.take_name("in")) lexer.fail_expected("'in'");
  lexer.expect("[");
  range.lower = range_end(lexer, true);
  lexer.expect(",");
  range.upper = range_end(lexer, false);
  lexer.expect("]");
  if (lexer.token().kind != TokenKind::kEnd) lexer.fail_expected("the end");
  return range;
}

Expr declared_symbol(ExprPool& pool, const RangeDeclaration& range) {
  const bool may_be_negative = !range.lower || *range.lower < Int(0);
  if (may_be_negative && !pool.find_symbol(range.name) &&
      kind_of_name(range.name) == SymbolKind::kBackedSize) {
    return pool.symbol(range.name, SymbolKind::kBackedInt);
  }
  return parse(pool, range.name);
}

}  // namespace proviso::inline v0_2
