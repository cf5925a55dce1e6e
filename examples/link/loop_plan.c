/* What a code generator in C asks about a loop over rows of a batch: whether a
 * vector loop needs a tail, whether an access needs a check, how much scratch
 * to take, and why.
 *
 *   loop_plan
 *
 * Prints a line for each decision; exit status 1 where one is not as expected,
 * 2 where a call fails. */
#include <proviso/proviso.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(proviso_status status) {
  if (status == PROVISO_OK) return;
  fprintf(stderr, "loop_plan: %s: %s\n", proviso_status_name(status),
          proviso_error_text());
  exit(2);
}

static proviso_expr expr(proviso_pool pool, const char* text) {
  proviso_expr e;
  must(proviso_parse(pool, text, PROVISO_KNOWN_NAMES, &e));
  return e;
}

static void assume(proviso_pool pool, proviso_context context, const char* text,
                   const char* line_of_source, int line) {
  const proviso_origin origin = {line_of_source, "model.py", line};
  must(proviso_assume(context, expr(pool, text), &origin, NULL));
}

/* "yes", and the source lines that say so; else "no" or "unknown". */
static int holds(proviso_pool pool, proviso_context context,
                 const char* question) {
  proviso_answer answer;
  proviso_verdict verdict;
  uint32_t facts[8];
  size_t count, i;
  char text[256];
  must(proviso_ask(context, expr(pool, question), &answer));
  must(proviso_answer_verdict(answer, &verdict));
  must(proviso_answer_facts(answer, facts, 8, &count));
  if (verdict == PROVISO_YES) {
    for (i = 0; i < count && i < 8; ++i) {
      must(proviso_fact_origin(context, facts[i], text, sizeof text, NULL));
      if (text[0] != '\0') printf("    by %s\n", text);
    }
  }
  must(proviso_answer_free(answer));
  return verdict == PROVISO_YES;
}

static int wrong = 0;
static void decide(const char* what, int decided, int expected) {
  printf("%s: %s\n", what, decided ? "yes" : "no");
  if (decided != expected) ++wrong;
}

int main(void) {
  proviso_pool pool;
  proviso_context context;
  proviso_expr rows, columns, tile, over[2], bound;
  const proviso_range size = {1, 0, 1, 0, 0}; /* at least 1 */
  char text[256];

  must(proviso_pool_new(&pool));
  must(proviso_context_new(pool, NULL, 0, &context));
  must(proviso_symbol(pool, "rows", "backed_size", "x.shape[0]", &rows));
  must(proviso_symbol(pool, "columns", "backed_size", "x.shape[1]", &columns));
  must(proviso_symbol(pool, "tile", "backed_size", NULL, &tile));
  must(proviso_declare(context, rows, &size, NULL, NULL));
  must(proviso_declare_strided(context, columns, &size, 16, 0, NULL, NULL));
  must(proviso_declare(context, tile, &size, NULL, NULL));
  assume(pool, context, "tile <= rows", "tile = min(64, rows)", 7);
  assume(pool, context, "tile <= 64", "tile = min(64, rows)", 7);

  decide("16 columns at a time without a tail",
         holds(pool, context, "columns % 16 == 0"), 1);
  decide("tile rows at a time without a tail",
         holds(pool, context, "rows % tile == 0"), 0);

  /* Inside the loops: for i in [0, rows//tile), for j in [0, tile). */
  {
    proviso_expr i, j;
    must(proviso_push(context));
    must(proviso_symbol(pool, "i", "unbacked_int", NULL, &i));
    must(proviso_symbol(pool, "j", "unbacked_int", NULL, &j));
    assume(pool, context, "(0 <= i) & (i < rows // tile)", "for i", 9);
    assume(pool, context, "(0 <= j) & (j < tile)", "for j", 10);
    decide("row i*tile + j is in the array",
           holds(pool, context, "(0 <= i*tile + j) & (i*tile + j < rows)"), 1);
    decide("and so is the row after it",
           holds(pool, context, "i*tile + j + 1 < rows"), 0);
    must(proviso_pop(context));
  }

  /* Scratch for a tile and one padded row, in what the caller passes. */
  over[0] = columns;
  over[1] = rows;
  must(proviso_upper_bound(context, expr(pool, "tile*columns + columns + 15"),
                           over, 2, &bound));
  if (bound.id == 0) return 1;
  must(proviso_print(bound, PROVISO_PYTHON, text, sizeof text, NULL));
  printf("scratch: at most %s\n", text);
  must(proviso_upper_bound(context, expr(pool, "tile"), NULL, 0, &bound));
  must(proviso_print(bound, PROVISO_TEXT, text, sizeof text, NULL));
  if (strcmp(text, "64") != 0) ++wrong;

  must(proviso_pool_free(pool));
  return wrong == 0 ? 0 : 1;
}
