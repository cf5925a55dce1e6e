/* The C API from C11: what it does, and what it says to wrong calls.  Built
 * with the header alone; links proviso::c.  Prints nothing when all is well. */
#include <math.h>
#include <proviso/proviso.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int ok, const char* what, int line) {
  if (ok) return;
  printf("api_test.c:%d: %s\n  status text: %s\n", line, what,
         proviso_error_text());
  ++failures;
}
#define CHECK(condition) check((condition), #condition, __LINE__)
#define OK(call) CHECK((call) == PROVISO_OK)

/* A wrong call gives this status, and a text that has these words. */
static void wrong(proviso_status found, proviso_status wanted,
                  const char* words, int line) {
  if (found == wanted && strstr(proviso_error_text(), words) != NULL &&
      strstr(proviso_error_text(), "proviso_") == proviso_error_text())
    return;
  printf("api_test.c:%d: wanted %s with '%s', got %s: %s\n", line,
         proviso_status_name(wanted), words, proviso_status_name(found),
         proviso_error_text());
  ++failures;
}
static int misuses = 0;
#define WRONG(call, status, words) \
  (++misuses, wrong((call), PROVISO_ERROR_##status, (words), __LINE__))

static proviso_expr parsed(proviso_pool pool, const char* text) {
  proviso_expr e = {0};
  OK(proviso_parse(pool, text, PROVISO_NEW_NAMES, &e));
  return e;
}

static void count_lines(const char* line, void* user) {
  CHECK(line[0] == '@' && strchr(line, '\n') == NULL);
  ++*(int*)user;
}

/* n is in [8, 64], and a multiple of 8 by fact 1. */
static void abilities(proviso_pool pool, proviso_context context,
                      proviso_expr n) {
  proviso_expr bound, value, condition, m, over[1];
  proviso_range range;
  proviso_side side;
  proviso_verdict verdict;
  int64_t step, residue;
  uint32_t ids[4], fact;
  size_t count, depth;
  int lines = 0;
  char text[256];

  OK(proviso_strided(context, parsed(pool, "2*n + 1"), &range, &step,
                     &residue));
  CHECK(range.lower == 17 && range.upper == 129 && step == 16 && residue == 1);
  OK(proviso_facts_behind(context, "multiple_of", n, ids, 4, &count));
  CHECK(count == 1 && ids[0] == 1);
  OK(proviso_facts_behind(context, "bounds", n, ids, 4, &count));
  CHECK(count == 2);

  OK(proviso_push(context));
  OK(proviso_symbol(pool, "m", "backed_size", NULL, &m));
  range.lower = 16;
  range.has_upper = 0;
  OK(proviso_declare_strided(context, m, &range, 16, 0, NULL, NULL));
  OK(proviso_assume(context, parsed(pool, "n <= m"), NULL, &fact));
  OK(proviso_fact_depth(context, fact, &depth));
  CHECK(depth == 1);
  over[0] = m;
  OK(proviso_upper_bound(context, parsed(pool, "2*n + 1"), over, 1, &bound));
  OK(proviso_equivalent(context, bound, parsed(pool, "Min(129, 2*m + 1)"),
                        &verdict));
  CHECK(verdict == PROVISO_YES);
  OK(proviso_lower_bound(context, parsed(pool, "m"), NULL, 0, &bound));
  OK(proviso_expr_int64(bound, &step));
  CHECK(step == 16);
  OK(proviso_upper_bound(context, parsed(pool, "m"), NULL, 0, &bound));
  CHECK(bound.id == 0);
  OK(proviso_solve(context, parsed(pool, "3*n + 1 <= m"), n, &side, &value,
                   &condition));
  CHECK(side == PROVISO_AT_MOST);
  OK(proviso_equivalent(context, value, parsed(pool, "(m - 1) // 3"),
                        &verdict));
  CHECK(verdict == PROVISO_YES);
  OK(proviso_expr_truth(condition, &lines));
  CHECK(lines == 1);
  OK(proviso_solve(context, parsed(pool, "n*n <= m"), n, &side, &value,
                   &condition));
  CHECK(value.id == 0 && condition.id == 0);
  OK(proviso_common_divisor(context, parsed(pool, "6*m*n"), parsed(pool, "4*m"),
                            &value));
  OK(proviso_print(value, PROVISO_TEXT, text, sizeof text, NULL));
  CHECK(strcmp(text, "4*m") == 0);
  OK(proviso_pop(context));

  lines = 0;
  OK(proviso_set_log(context, count_lines, &lines));
  OK(proviso_ask_quick(context, parsed(pool, "n % 8 == 0"), &verdict));
  OK(proviso_set_log(context, NULL, NULL));
  OK(proviso_ask_quick(context, parsed(pool, "n % 2 == 0"), &verdict));
  CHECK(lines >= 3);
  OK(proviso_fact_count(context, &count));
  CHECK(count == 2);
}

static void questions(void) {
  proviso_pool pool;
  proviso_context context, copy;
  proviso_answer answer;
  proviso_expr n, e, simple;
  proviso_verdict verdict;
  proviso_range range = {1, 64, 1, 1, 0};
  proviso_origin origin = {"x.view(-1, 8)", "model.py", 12};
  uint32_t fact, ids[4];
  int contradict;
  size_t count, length;
  int64_t divisor, values[16];
  char text[4096];
  const char *tier, *op, *kind;

  OK(proviso_pool_new(&pool));
  OK(proviso_symbol(pool, "n", "backed_size", "x.size()[0]", &n));
  OK(proviso_context_new(pool, NULL, 0, &context));
  OK(proviso_declare(context, n, &range, NULL, NULL));
  OK(proviso_assume(context, parsed(pool, "n % 8 == 0"), &origin, &fact));
  OK(proviso_ask_quick(context, parsed(pool, "n % 4 == 0"), &verdict));
  CHECK(verdict == PROVISO_YES);
  OK(proviso_ask_quick(context, parsed(pool, "n > 64"), &verdict));
  CHECK(verdict == PROVISO_NO);

  OK(proviso_ask(context, parsed(pool, "n % 4 == 0"), &answer));
  OK(proviso_answer_verdict(answer, &verdict));
  CHECK(verdict == PROVISO_YES);
  OK(proviso_answer_facts(answer, ids, 4, &count));
  CHECK(count == 1 && ids[0] == fact);
  OK(proviso_answer_is_contradiction(answer, &contradict));
  CHECK(contradict == 0);
  OK(proviso_answer_tier(answer, &tier));
  CHECK(strlen(tier) > 0);
  OK(proviso_answer_reason(answer, text, sizeof text, &length));
  CHECK(strstr(text, "x.view(-1, 8)") != NULL && strlen(text) == length);
  OK(proviso_answer_free(answer));
  OK(proviso_fact_origin(context, fact, text, sizeof text, NULL));
  CHECK(strcmp(text, "x.view(-1, 8)  # model.py:12") == 0);

  OK(proviso_ask(context, parsed(pool, "n % 16 == 0"), &answer));
  OK(proviso_point_size(answer, PROVISO_COUNTEREXAMPLE, &count));
  CHECK(count == 1);
  OK(proviso_point_name(answer, PROVISO_COUNTEREXAMPLE, 0, text, sizeof text,
                        NULL));
  CHECK(strcmp(text, "n") == 0);
  OK(proviso_point_value(answer, PROVISO_WITNESS, 0, text, sizeof text, NULL));
  OK(proviso_answer_free(answer));

  OK(proviso_bounds(context, n, &range));
  CHECK(range.lower == 8 && range.upper == 64 && range.has_lower &&
        range.has_upper && !range.is_empty);
  OK(proviso_multiple_of(context, parsed(pool, "3*n"), &divisor));
  CHECK(divisor == 24);
  OK(proviso_values(context, parsed(pool, "n // 8"), values, 16, &count));
  CHECK(count == 8 && values[0] == 1 && values[7] == 8);
  OK(proviso_simplify(context, parsed(pool, "8*(n//8)"), &simple));
  CHECK(simple.id == n.id);
  OK(proviso_equivalent(context, parsed(pool, "8*(n//8)"), n, &verdict));
  CHECK(verdict == PROVISO_YES);

  abilities(pool, context, n);
  OK(proviso_push(context));
  OK(proviso_assume(context, parsed(pool, "n == 8"), NULL, NULL));
  OK(proviso_solve_equalities(context, parsed(pool, "n + 1"), &e));
  OK(proviso_expr_simplify(e, &e));
  OK(proviso_expr_int64(e, &divisor));
  CHECK(divisor == 9);
  OK(proviso_depth(context, &count));
  CHECK(count == 1);
  OK(proviso_pop(context));
  OK(proviso_context_clone(context, &copy));
  OK(proviso_assume(copy, parsed(pool, "n < 0"), NULL, NULL));
  {
    OK(proviso_contradiction(copy, &contradict));
    CHECK(contradict == 1);
    OK(proviso_ask(copy, parsed(pool, "n > 8"), &answer));
    OK(proviso_answer_is_contradiction(answer, &contradict));
    CHECK(contradict == 1);
    OK(proviso_answer_free(answer));
    OK(proviso_contradiction(context, &contradict));
    CHECK(contradict == 0);
  }
  OK(proviso_bounds(copy, n, &range));
  CHECK(range.is_empty == 1);

  OK(proviso_fact_count(context, &count));
  CHECK(count == 2);
  OK(proviso_fact_at(context, 1, &e, NULL));
  CHECK(e.id == parsed(pool, "n % 8 == 0").id);
  OK(proviso_print(e, PROVISO_TEXT, text, sizeof text, NULL));
  CHECK(strcmp(text, "Eq(Mod(n, 8), 0)") == 0);
  OK(proviso_print(e, PROVISO_PYTHON, text, sizeof text, NULL));
  CHECK(strcmp(text, "n % 8 == 0") == 0);
  OK(proviso_expr_op(e, &op));
  CHECK(strcmp(op, "Eq") == 0);
  OK(proviso_symbol_kind(n, &kind));
  CHECK(strcmp(kind, "backed_size") == 0);

  OK(proviso_save(context, text, sizeof text, NULL));
  {
    proviso_pool other;
    proviso_context same;
    OK(proviso_pool_new(&other));
    OK(proviso_load(other, text, NULL, 0, &same));
    OK(proviso_translate(parsed(pool, "n % 4 == 0"), other, &e));
    OK(proviso_ask_quick(same, e, &verdict));
    CHECK(verdict == PROVISO_YES);
    OK(proviso_pool_free(other));
  }
  OK(proviso_statistics(context, text, sizeof text, NULL));
  CHECK(strstr(text, "questions") != NULL);
  OK(proviso_to_smtlib(context, e.id ? parsed(pool, "n > 1") : n, text,
                       sizeof text, NULL));
  CHECK(strstr(text, "(check-sat)") != NULL);
  OK(proviso_interrupt(context));
  OK(proviso_pool_free(pool));
}

static void expressions(void) {
  proviso_pool pool;
  proviso_expr n, m, two, e, found[2], from[1], to[1];
  int64_t value, at[2] = {7, 0};
  size_t count;
  proviso_type type;
  char text[64];
  OK(proviso_pool_new(&pool));
  OK(proviso_symbol(pool, "n", "backed_int", NULL, &n));
  OK(proviso_symbol(pool, "m", "backed_int", NULL, &m));
  OK(proviso_integer(pool, 2, &two));
  from[0] = n;
  to[0] = m;
  {
    proviso_expr pair[2];
    pair[0] = n;
    pair[1] = two;
    OK(proviso_make(pool, "FloorDiv", pair, 2, &e));
    CHECK(e.id == parsed(pool, "n // 2").id);
    OK(proviso_evaluate(e, pair, at, 1, &value));
    CHECK(value == 3);
  }
  OK(proviso_substitute(e, from, to, 1, &e));
  CHECK(e.id == parsed(pool, "m // 2").id);
  OK(proviso_free_symbols(parsed(pool, "n + m*n"), found, 2, &count));
  CHECK(count == 2 && found[0].id == n.id && found[1].id == m.id);
  OK(proviso_free_symbols(parsed(pool, "n + m*n"), NULL, 0, &count));
  CHECK(count == 2);
  OK(proviso_expr_type(parsed(pool, "n > 2"), &type));
  CHECK(type == PROVISO_BOOLEAN);
  OK(proviso_integer_text(pool, "-123456789012345678901234567890", &e));
  OK(proviso_print(e, PROVISO_TEXT, text, sizeof text, NULL));
  CHECK(strcmp(text, "-123456789012345678901234567890") == 0);
  OK(proviso_symbol_count(pool, &count));
  CHECK(count == 2);
  OK(proviso_float(pool, 0.5, &e));
  OK(proviso_boolean(pool, 1, &e));
  OK(proviso_pool_free(pool));
}

static void wrong_expressions(proviso_pool pool, proviso_expr n) {
  proviso_expr e = {0}, none = {0}, stale, of_other, big, pair[2];
  proviso_pool other, null_pool = {0};
  int64_t value = 0;
  int truth;
  size_t count;
  char text[4];
  const char* word;
  proviso_type type;
  OK(proviso_pool_new(&other));
  of_other = parsed(other, "n");
  stale.id = n.id + 1000;
  pair[0] = n;
  pair[1] = of_other;
  OK(proviso_parse(pool, "2**70", PROVISO_NEW_NAMES, &big));

  WRONG(proviso_pool_new(NULL), NULL, "pool is NULL");
  WRONG(proviso_pool_free(null_pool), HANDLE, "null handle");
  WRONG(proviso_symbol(pool, NULL, "backed_int", NULL, &e), NULL, "name");
  WRONG(proviso_symbol(pool, "a", NULL, NULL, &e), NULL, "kind");
  WRONG(proviso_symbol(pool, "a", "backed_int", NULL, NULL), NULL, "result");
  WRONG(proviso_symbol(pool, "", "backed_int", NULL, &e), ARGUMENT,
        "'' is not a symbol's name");
  WRONG(proviso_symbol(pool, "a b", "backed_int", NULL, &e), ARGUMENT,
        "'a b' is not a symbol's name");
  WRONG(proviso_symbol(pool, "\xff", "backed_int", NULL, &e), ARGUMENT,
        "'?' is not a symbol's name");
  WRONG(proviso_symbol(pool, "True", "backed_int", NULL, &e), ARGUMENT,
        "'True' is not a symbol's name");
  WRONG(proviso_symbol(pool, "a", "size", NULL, &e), ARGUMENT, "backed_size");
  WRONG(proviso_symbol(pool, "n", "unbacked_int", NULL, &e), ARGUMENT,
        "another kind");
  WRONG(proviso_symbol(null_pool, "a", "backed_int", NULL, &e), HANDLE,
        "a pool");
  WRONG(proviso_symbol_at(pool, 99, &e), RANGE, "index 99");
  WRONG(proviso_symbol_count(pool, NULL), NULL, "count");
  WRONG(proviso_integer_text(pool, "12x", &e), PARSE, "'12x'");
  WRONG(proviso_integer_text(pool, "", &e), PARSE, "no integer");
  WRONG(proviso_integer_text(pool, NULL, &e), NULL, "digits");
  WRONG(proviso_boolean(pool, 2, &e), ARGUMENT, "give 0 or 1");
  WRONG(proviso_float(pool, (double)NAN, &e), ARGUMENT, "finite");
  WRONG(proviso_float(pool, (double)INFINITY, &e), ARGUMENT, "finite");
  WRONG(proviso_parse(pool, NULL, PROVISO_NEW_NAMES, &e), NULL, "text");
  WRONG(proviso_parse(pool, "n +", PROVISO_NEW_NAMES, &e), PARSE, "column");
  WRONG(proviso_parse(pool, "left_over +", PROVISO_NEW_NAMES, &e), PARSE,
        "column");
  WRONG(proviso_parse(pool, "left_over", PROVISO_KNOWN_NAMES, &e), PARSE,
        "unknown symbol 'left_over'");
  WRONG(proviso_parse(pool, "", PROVISO_NEW_NAMES, &e), PARSE, "parse");
  WRONG(proviso_parse(pool, "k + 1", PROVISO_KNOWN_NAMES, &e), PARSE,
        "unknown symbol 'k'");
  WRONG(proviso_parse(pool, "n", (proviso_names)7, &e), ARGUMENT, "names is 7");
  WRONG(proviso_make(pool, "Plus", &n, 1, &e), ARGUMENT, "'Plus'");
  WRONG(proviso_make(pool, "Symbol", &n, 1, &e), ARGUMENT, "'Symbol'");
  WRONG(proviso_make(pool, NULL, &n, 1, &e), NULL, "op");
  WRONG(proviso_make(pool, "Add", NULL, 2, &e), NULL, "args");
  WRONG(proviso_make(pool, "Mod", &n, 1, &e), TYPE, "expected 2");
  WRONG(proviso_make(pool, "Not", &n, 1, &e), TYPE, "integer");
  WRONG(proviso_make(pool, "Add", pair, 2, &e), POOL, "another pool");
  WRONG(proviso_make(pool, "Add", &none, 1, &e), HANDLE, "null handle");
  WRONG(proviso_expr_type(stale, &type), HANDLE, "never made");
  WRONG(proviso_expr_type(n, NULL), NULL, "type");
  WRONG(proviso_expr_arg(n, 0, &e), RANGE, "of 0 arguments");
  WRONG(proviso_expr_int64(n, &value), TYPE, "no integer constant");
  WRONG(proviso_expr_int64(big, &value), TYPE, "no integer constant");
  OK(proviso_expr_canonical(big, &big));
  WRONG(proviso_expr_int64(big, &value), RANGE, "64 bits");
  WRONG(proviso_expr_truth(n, &truth), TYPE, "neither");
  WRONG(proviso_symbol_name(parsed(pool, "n + 1"), text, 4, NULL), TYPE,
        "expected a symbol");
  WRONG(proviso_symbol_kind(big, &word), TYPE, "expected a symbol");
  WRONG(proviso_free_symbols(n, NULL, 3, &count), NULL, "array");
  WRONG(proviso_substitute(n, &n, &of_other, 1, &e), POOL, "another pool");
  {
    proviso_expr condition = parsed(pool, "n > 1");
    WRONG(proviso_substitute(n, &n, &condition, 1, &e), TYPE, "boolean");
  }
  WRONG(proviso_substitute(n, NULL, &n, 1, &e), NULL, "from");
  value = 0;
  WRONG(proviso_evaluate(parsed(pool, "4 // n"), &n, &value, 1, &value),
        UNDEFINED, "divisor");
  WRONG(proviso_evaluate(n, NULL, NULL, 0, &value), UNDEFINED, "n");
  WRONG(proviso_evaluate(big, NULL, NULL, 0, &value), RANGE, "64 bits");
  WRONG(proviso_evaluate(n, NULL, &value, 1, &value), NULL, "symbols");
  WRONG(proviso_print(n, (proviso_form)9, text, 4, NULL), ARGUMENT, "form");
  WRONG(proviso_print(parsed(pool, "n + 100"), PROVISO_TEXT, text, 4, &count),
        SPACE, "takes 8 bytes");
  CHECK(strcmp(text, "n +") == 0 && count == 7);
  WRONG(proviso_print(n, PROVISO_TEXT, NULL, 4, NULL), NULL, "buffer");
  WRONG(proviso_print(n, PROVISO_TEXT, NULL, 0, &count), SPACE, "2 bytes");
  WRONG(proviso_translate(n, null_pool, &e), HANDLE, "a pool");
  OK(proviso_pool_free(other));
  WRONG(proviso_translate(of_other, pool, &e), HANDLE, "its pool was");
  WRONG(proviso_pool_free(other), HANDLE, "freed");
  WRONG(proviso_integer(other, 1, &e), HANDLE, "freed");
}

static void wrong_contexts(proviso_pool pool, proviso_expr n) {
  proviso_context context, gone, null_context = {0}, forged;
  proviso_answer answer, null_answer = {0};
  proviso_expr e, condition = parsed(pool, "n > 1"), of_other;
  proviso_pool other;
  proviso_option bad = {"fast", 1}, big = {"use_z3", 7}, unnamed = {NULL, 1};
  proviso_range range = {0, 1, 1, 1, 0};
  proviso_verdict verdict;
  proviso_side side;
  size_t count;
  uint64_t value;
  int64_t values[4];
  char text[8];
  const char* word;
  OK(proviso_pool_new(&other));
  of_other = parsed(other, "n > 1");
  OK(proviso_context_new(pool, NULL, 0, &context));
  OK(proviso_context_clone(context, &gone));
  OK(proviso_context_free(gone));
  OK(proviso_ask(context, condition, &answer));
  forged.id = answer.id;

  WRONG(proviso_context_new(pool, &bad, 1, &gone), ARGUMENT, "use_z3");
  WRONG(proviso_context_new(pool, &big, 1, &gone), ARGUMENT, "too large");
  WRONG(proviso_context_new(pool, &unnamed, 1, &gone), NULL, "name");
  WRONG(proviso_context_new(pool, NULL, 1, &gone), NULL, "options");
  WRONG(proviso_context_new(pool, NULL, 0, NULL), NULL, "context");
  WRONG(proviso_option_info(1000, &word, &value, &word), RANGE, "1000");
  WRONG(proviso_context_option(context, "fast", &value), ARGUMENT, "budget");
  WRONG(proviso_context_free(gone), HANDLE, "freed");
  WRONG(proviso_context_free(null_context), HANDLE, "null handle");
  WRONG(proviso_push(gone), HANDLE, "freed");
  WRONG(proviso_push(forged), HANDLE, "a context");
  WRONG(proviso_pop(context), STATE, "proviso_push");
  WRONG(proviso_declare(context, n, NULL, NULL, NULL), NULL, "range");
  WRONG(proviso_declare(context, condition, &range, NULL, NULL), TYPE,
        "expected a symbol");
  WRONG(proviso_assume(context, n, NULL, NULL), TYPE, "expected a condition");
  WRONG(proviso_assume(context, of_other, NULL, NULL), POOL, "another pool");
  WRONG(proviso_fact_at(context, 0, &e, NULL), RANGE, "of 0 facts");
  WRONG(proviso_fact_origin(context, 77, text, 8, NULL), ARGUMENT, "77");
  WRONG(proviso_ask_quick(context, n, &verdict), TYPE, "condition");
  WRONG(proviso_ask_quick(context, condition, NULL), NULL, "verdict");
  WRONG(proviso_ask(context, condition, NULL), NULL, "answer");
  WRONG(proviso_ask(context, of_other, &answer), POOL, "another pool");
  WRONG(proviso_equivalent(context, n, condition, &verdict), TYPE, "boolean");
  WRONG(proviso_bounds(context, condition, &range), TYPE, "integer");
  WRONG(proviso_bounds(context, n, NULL), NULL, "range");
  WRONG(proviso_bounds_quick(gone, n, &range), HANDLE, "freed");
  WRONG(proviso_multiple_of(context, n, NULL), NULL, "divisor");
  WRONG(proviso_values(context, n, values, 4, &count), SPACE, "more than 4");
  WRONG(proviso_values(context, n, NULL, 4, &count), NULL, "values");
  WRONG(proviso_simplify(context, n, NULL), NULL, "result");
  WRONG(proviso_strided(context, n, &range, NULL, NULL), NULL, "step");
  WRONG(proviso_strided(context, condition, &range, values, values), TYPE,
        "integer");
  WRONG(proviso_declare_strided(context, n, &range, 0, 0, NULL, NULL), ARGUMENT,
        "at least 1");
  WRONG(proviso_upper_bound(context, n, NULL, 2, &e), NULL, "over");
  WRONG(proviso_upper_bound(context, n, &condition, 1, &e), TYPE, "symbol");
  WRONG(proviso_lower_bound(context, condition, NULL, 0, &e), TYPE, "integer");
  WRONG(proviso_lower_bound(context, n, &of_other, 1, &e), POOL,
        "another pool");
  WRONG(proviso_solve(context, n, n, &side, &e, &e), TYPE, "relation");
  WRONG(proviso_solve(context, condition, condition, &side, &e, &e), TYPE,
        "symbol");
  WRONG(proviso_solve(context, condition, n, NULL, &e, &e), NULL, "side");
  WRONG(proviso_common_divisor(context, condition, n, &e), TYPE, "integer");
  WRONG(proviso_facts_behind(context, "truth", n, NULL, 0, &count), ARGUMENT,
        "multiple_of");
  WRONG(proviso_facts_behind(context, NULL, n, NULL, 0, &count), NULL, "call");
  WRONG(proviso_fact_depth(context, 77, &count), ARGUMENT, "77");
  WRONG(proviso_set_log(gone, count_lines, NULL), HANDLE, "freed");
  WRONG(proviso_canonical(context, of_other, &e), POOL, "another pool");
  WRONG(proviso_to_smtlib(context, n, text, 8, NULL), TYPE, "condition");
  WRONG(proviso_save(context, text, 8, &count), SPACE, "bytes");
  WRONG(proviso_load(pool, "proviso context 9", NULL, 0, &gone), PARSE, "line 1");
  WRONG(proviso_load(pool, NULL, NULL, 0, &gone), NULL, "text");
  WRONG(proviso_interrupt(null_context), HANDLE, "null handle");
  WRONG(proviso_answer_verdict(null_answer, &verdict), HANDLE, "null handle");
  WRONG(proviso_answer_verdict(answer, NULL), NULL, "verdict");
  WRONG(proviso_answer_is_contradiction(answer, NULL), NULL, "contradict");
  WRONG(proviso_answer_reason(answer, NULL, 5, NULL), NULL, "buffer");
  WRONG(proviso_point_size(answer, (proviso_point)3, &count), ARGUMENT,
        "PROVISO_WITNESS");
  WRONG(proviso_point_name(answer, PROVISO_WITNESS, 50, text, 8, NULL), RANGE,
        "index 50");
  OK(proviso_answer_free(answer));
  WRONG(proviso_answer_free(answer), HANDLE, "freed");
  WRONG(proviso_answer_tier(answer, &word), HANDLE, "freed");
  OK(proviso_pool_free(other));
  OK(proviso_pool_free(pool));
  WRONG(proviso_ask_quick(context, condition, &verdict), HANDLE, "freed");
  WRONG(proviso_context_free(context), HANDLE, "freed");
}

int main(void) {
  proviso_pool pool;
  proviso_expr n;
  CHECK(proviso_abi_version() == PROVISO_ABI_VERSION);
  CHECK(strlen(proviso_version()) > 0);
  CHECK(strcmp(proviso_status_name((proviso_status)99), "unknown status") == 0);
  questions();
  expressions();
  OK(proviso_pool_new(&pool));
  OK(proviso_symbol(pool, "n", "backed_int", NULL, &n));
  wrong_expressions(pool, n);
  wrong_contexts(pool, n);
  CHECK(misuses >= 60);
  OK(proviso_pool_new(&pool));
  CHECK(proviso_error_text()[0] == '\0');
  OK(proviso_pool_free(pool));
  return failures != 0;
}
