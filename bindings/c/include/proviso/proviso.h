/* proviso/proviso.h - the solver for programs in C, and in whatever calls C.
 *
 *   proviso_pool pool;
 *   proviso_context context;
 *   proviso_expr n, fact, question;
 *   proviso_verdict verdict;
 *   proviso_pool_new(&pool);
 *   proviso_symbol(pool, "n", "backed_size", NULL, &n);
 *   proviso_context_new(pool, NULL, 0, &context);
 *   proviso_parse(pool, "n % 8 == 0", PROVISO_KNOWN_NAMES, &fact);
 *   proviso_assume(context, fact, NULL, NULL);
 *   proviso_parse(pool, "n % 4 == 0", PROVISO_KNOWN_NAMES, &question);
 *   proviso_ask_quick(context, question, &verdict);    PROVISO_YES
 *   proviso_pool_free(pool);
 *
 * Status.  Each call gives a proviso_status; what else it gives goes through
 * its last arguments, which are written when the status is PROVISO_OK alone
 * (and for PROVISO_ERROR_SPACE, as said there).  proviso_error_text() says in
 * words what was wrong and what would be right.  No exception leaves a call.
 *
 * Handles are numbers that are checked: one that was freed, never made or is
 * of another kind is PROVISO_ERROR_HANDLE, and {0} is no handle.
 *   proviso_pool     is the caller's, who frees it.  With it go its contexts
 *                    and expressions: their handles are errors from then on.
 *   proviso_expr     is the pool's: nothing frees it.  Equal expressions of a
 *                    pool have equal ids.
 *   proviso_context  is the caller's, who frees it or its pool.
 *   proviso_answer   is the caller's, who frees it.  It outlives its context.
 *
 * Text goes in as UTF-8 that ends with a zero; it is copied.  Text comes out
 * into the caller's buffer of `size` bytes: *length (where given) is what the
 * text takes without its zero, and where that does not fit, as much as does is
 * written, with a zero, and the status is PROVISO_ERROR_SPACE.  A buffer may be
 * NULL when size is 0.
 *
 * Threads.  Any call may be made on any thread.  Calls that concern one pool
 * wait for each other; calls on different pools run side by side.
 * proviso_interrupt() does not wait.  proviso_error_text() is of this thread.
 *
 * Work is bounded and counted, never timed: the same calls give the same
 * answers on every machine. */
#ifndef PROVISO_PROVISO_H_
#define PROVISO_PROVISO_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define PROVISO_C_API
#else
#define PROVISO_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a call is removed or changes what it takes. */
#define PROVISO_ABI_VERSION 1

typedef enum proviso_status {
  PROVISO_OK = 0,
  PROVISO_ERROR_NULL = 1,     /* a pointer that must not be NULL is */
  PROVISO_ERROR_HANDLE = 2,   /* a handle that was freed or never made */
  PROVISO_ERROR_POOL = 3,     /* handles of different pools */
  PROVISO_ERROR_PARSE = 4,    /* text that is no expression, range or context */
  PROVISO_ERROR_TYPE = 5,     /* an integer where a condition is wanted, .. */
  PROVISO_ERROR_ARGUMENT = 6, /* another value that a call does not take */
  PROVISO_ERROR_RANGE = 7,    /* an index past the end; a number too large */
  PROVISO_ERROR_STATE = 8,    /* a call that does not fit what came before */
  PROVISO_ERROR_SPACE = 9,    /* the buffer is too small */
  PROVISO_ERROR_UNDEFINED = 10, /* a value that does not exist: 1 // 0 */
  PROVISO_ERROR_MEMORY = 11,
  PROVISO_ERROR_INTERNAL = 12 /* a defect of this library */
} proviso_status;

typedef struct proviso_pool {
  uint64_t id;
} proviso_pool;
typedef struct proviso_expr {
  uint64_t id;
} proviso_expr;
typedef struct proviso_context {
  uint64_t id;
} proviso_context;
typedef struct proviso_answer {
  uint64_t id;
} proviso_answer;

/* ---- the library ------------------------------------------------------- */

/* "0.2.0", and PROVISO_ABI_VERSION as the library was built with it: compare
 * it with the header's. */
PROVISO_C_API const char* proviso_version(void);
PROVISO_C_API uint32_t proviso_abi_version(void);
/* Whether Z3 was built in: 0 or 1. */
PROVISO_C_API int proviso_has_z3(void);
/* "PROVISO_ERROR_PARSE"; "unknown status" for another number. */
PROVISO_C_API const char* proviso_status_name(proviso_status status);
/* What was wrong with this thread's last call; empty after PROVISO_OK.  Valid
 * until this thread's next call. */
PROVISO_C_API const char* proviso_error_text(void);

/* ---- pools and expressions --------------------------------------------- */

PROVISO_C_API proviso_status proviso_pool_new(proviso_pool* pool);
PROVISO_C_API proviso_status proviso_pool_free(proviso_pool pool);

/* A symbol.  name: ASCII letters, digits and _, no digit first, and no word of
 * proviso_parse (True, int_oo).  kind: "backed_size", "backed_int",
 * "backed_float", "unbacked_int", "unbacked_float" or "unbacked_bool".  source:
 * where the value comes from, for people; may be NULL.  The same name and kind
 * give the same symbol; another kind is PROVISO_ERROR_ARGUMENT. */
PROVISO_C_API proviso_status proviso_symbol(proviso_pool pool, const char* name,
                                            const char* kind,
                                            const char* source,
                                            proviso_expr* symbol);
/* The pool's symbols, in the order they were made. */
PROVISO_C_API proviso_status proviso_symbol_count(proviso_pool pool,
                                                  size_t* count);
PROVISO_C_API proviso_status proviso_symbol_at(proviso_pool pool, size_t index,
                                               proviso_expr* symbol);

PROVISO_C_API proviso_status proviso_integer(proviso_pool pool, int64_t value,
                                             proviso_expr* constant);
/* Decimal digits, as many as there are, with an optional sign. */
PROVISO_C_API proviso_status proviso_integer_text(proviso_pool pool,
                                                  const char* digits,
                                                  proviso_expr* constant);
PROVISO_C_API proviso_status proviso_boolean(proviso_pool pool, int value,
                                             proviso_expr* constant);
/* The exact value of a finite double. */
PROVISO_C_API proviso_status proviso_float(proviso_pool pool, double value,
                                           proviso_expr* constant);

typedef enum proviso_names {
  PROVISO_KNOWN_NAMES = 0, /* a name that the pool does not have is an error */
  PROVISO_NEW_NAMES = 1 /* it becomes a symbol, by its prefix as in PyTorch */
} proviso_names;
/* PyTorch's printed form, Python's, or SymPy's srepr: "Eq(Mod(n, 8), 0)",
 * "n % 8 == 0". */
PROVISO_C_API proviso_status proviso_parse(proviso_pool pool, const char* text,
                                           proviso_names names,
                                           proviso_expr* expr);
/* op(args): "Add", "Mul", "FloorDiv", "Mod", "CeilDiv", "Min", "Max", "Eq",
 * "Ne", "Lt", "Le", "And", "Or", "Not", "Where", ..: the first name in each
 * row of the table in sym/op.h.  All arguments are of the pool. */
PROVISO_C_API proviso_status proviso_make(proviso_pool pool, const char* op,
                                          const proviso_expr* args,
                                          size_t count, proviso_expr* expr);

typedef enum proviso_type {
  PROVISO_INTEGER = 0,
  PROVISO_FLOAT = 1,
  PROVISO_BOOLEAN = 2
} proviso_type;
PROVISO_C_API proviso_status proviso_expr_type(proviso_expr expr,
                                               proviso_type* type);
/* "Add", "Integer", "Symbol", ..: valid as long as the library. */
PROVISO_C_API proviso_status proviso_expr_op(proviso_expr expr,
                                             const char** op);
PROVISO_C_API proviso_status proviso_expr_arity(proviso_expr expr,
                                                size_t* arity);
PROVISO_C_API proviso_status proviso_expr_arg(proviso_expr expr, size_t index,
                                              proviso_expr* arg);
/* The value of an integer constant: PROVISO_ERROR_TYPE when it is none,
 * PROVISO_ERROR_RANGE when it does not fit. */
PROVISO_C_API proviso_status proviso_expr_int64(proviso_expr expr,
                                                int64_t* value);
/* The truth of True and False: PROVISO_ERROR_TYPE for anything else. */
PROVISO_C_API proviso_status proviso_expr_truth(proviso_expr expr, int* value);
PROVISO_C_API proviso_status proviso_symbol_name(proviso_expr symbol,
                                                 char* buffer, size_t size,
                                                 size_t* length);
PROVISO_C_API proviso_status proviso_symbol_kind(proviso_expr symbol,
                                                 const char** kind);

/* The symbols of an expression, in the order they were made: as many as fit
 * into symbols[capacity]; *count is how many there are. */
PROVISO_C_API proviso_status proviso_free_symbols(proviso_expr expr,
                                                  proviso_expr* symbols,
                                                  size_t capacity,
                                                  size_t* count);
/* from[i] replaced by to[i], all at once. */
PROVISO_C_API proviso_status proviso_substitute(proviso_expr expr,
                                                const proviso_expr* from,
                                                const proviso_expr* to,
                                                size_t count,
                                                proviso_expr* result);
/* The value of an integer or boolean expression where symbols[i] is values[i]:
 * PROVISO_ERROR_UNDEFINED where there is none (a zero divisor, a symbol without
 * a value), PROVISO_ERROR_RANGE where it does not fit. */
PROVISO_C_API proviso_status proviso_evaluate(proviso_expr expr,
                                              const proviso_expr* symbols,
                                              const int64_t* values,
                                              size_t count, int64_t* value);
/* The canonical form, and the cheapest that is found, without facts. */
PROVISO_C_API proviso_status proviso_expr_canonical(proviso_expr expr,
                                                    proviso_expr* result);
PROVISO_C_API proviso_status proviso_expr_simplify(proviso_expr expr,
                                                   proviso_expr* result);
/* The same expression in another pool, by the symbols' names. */
PROVISO_C_API proviso_status proviso_translate(proviso_expr expr,
                                               proviso_pool pool,
                                               proviso_expr* result);

typedef enum proviso_form {
  PROVISO_TEXT = 0,   /* Eq(Mod(n, 8), 0): proviso_parse() reads it back */
  PROVISO_PYTHON = 1, /* n % 8 == 0 */
  PROVISO_SMTLIB = 2, /* (= (mod n 8) 0) */
  PROVISO_SREPR = 3   /* SymPy's srepr, as .pt2 files store it */
} proviso_form;
PROVISO_C_API proviso_status proviso_print(proviso_expr expr, proviso_form form,
                                           char* buffer, size_t size,
                                           size_t* length);

/* ---- contexts ---------------------------------------------------------- */

typedef struct proviso_option {
  const char* name;
  uint64_t value;
} proviso_option;
/* options: NULL and 0 for the defaults; proviso_option_info() lists them. */
PROVISO_C_API proviso_status proviso_context_new(proviso_pool pool,
                                                 const proviso_option* options,
                                                 size_t count,
                                                 proviso_context* context);
PROVISO_C_API proviso_status proviso_context_free(proviso_context context);
/* Name, default and meaning of an option: PROVISO_ERROR_RANGE past the last. */
PROVISO_C_API proviso_status proviso_option_info(size_t index,
                                                 const char** name,
                                                 uint64_t* default_value,
                                                 const char** help);
PROVISO_C_API proviso_status proviso_context_option(proviso_context context,
                                                    const char* name,
                                                    uint64_t* value);

/* With the same facts, in constant time; each goes its own way from here. */
PROVISO_C_API proviso_status proviso_context_clone(proviso_context context,
                                                   proviso_context* clone);
/* Facts assumed after push() are forgotten by the matching pop(), which is
 * PROVISO_ERROR_STATE where no push() is open. */
PROVISO_C_API proviso_status proviso_push(proviso_context context);
PROVISO_C_API proviso_status proviso_pop(proviso_context context);
PROVISO_C_API proviso_status proviso_depth(proviso_context context,
                                           size_t* depth);

/* Where a fact comes from, for reasons; text and file may be NULL. */
typedef struct proviso_origin {
  const char* text;
  const char* file;
  int32_t line;
} proviso_origin;
/* [lower, upper], each end where has_lower and has_upper are not 0. */
typedef struct proviso_range {
  int64_t lower;
  int64_t upper;
  int32_t has_lower;
  int32_t has_upper;
  int32_t is_empty; /* of results: no value; the facts contradict each other */
} proviso_range;

/* The symbol lies in *range from here on.  origin and fact may be NULL. */
PROVISO_C_API proviso_status proviso_declare(proviso_context context,
                                             proviso_expr symbol,
                                             const proviso_range* range,
                                             const proviso_origin* origin,
                                             uint32_t* fact);
/* The same of the values in *range that leave `residue`, divided by `step`,
 * which is at least 1. */
PROVISO_C_API proviso_status proviso_declare_strided(
    proviso_context context, proviso_expr symbol, const proviso_range* range,
    int64_t step, int64_t residue, const proviso_origin* origin,
    uint32_t* fact);
/* The condition holds from here on.  origin and fact may be NULL. */
PROVISO_C_API proviso_status proviso_assume(proviso_context context,
                                            proviso_expr condition,
                                            const proviso_origin* origin,
                                            uint32_t* fact);
PROVISO_C_API proviso_status proviso_fact_count(proviso_context context,
                                                size_t* count);
/* The facts in the order assumed; id may be NULL. */
PROVISO_C_API proviso_status proviso_fact_at(proviso_context context,
                                             size_t index,
                                             proviso_expr* condition,
                                             uint32_t* id);
/* "x.view(-1, 8)  # model.py:12" */
PROVISO_C_API proviso_status proviso_fact_origin(proviso_context context,
                                                 uint32_t id, char* buffer,
                                                 size_t size, size_t* length);
/* How many proviso_push() were open when the fact was assumed. */
PROVISO_C_API proviso_status proviso_fact_depth(proviso_context context,
                                                uint32_t id, size_t* depth);
/* Whether the facts are known to contradict each other: 0 or 1. */
PROVISO_C_API proviso_status proviso_contradiction(proviso_context context,
                                                   int* contradict);

typedef enum proviso_verdict {
  PROVISO_UNKNOWN = 0,
  PROVISO_YES = 1,
  PROVISO_NO = 2
} proviso_verdict;
/* Whether the facts imply the question: by the native tiers alone, in the least
 * time. */
PROVISO_C_API proviso_status proviso_ask_quick(proviso_context context,
                                               proviso_expr question,
                                               proviso_verdict* verdict);
/* With all strategies, and a reason. */
PROVISO_C_API proviso_status proviso_ask(proviso_context context,
                                         proviso_expr question,
                                         proviso_answer* answer);
/* Whether two expressions have the same value wherever the facts hold. */
PROVISO_C_API proviso_status proviso_equivalent(proviso_context context,
                                                proviso_expr a, proviso_expr b,
                                                proviso_verdict* verdict);
/* A range that holds every value of an integer expression.  An end that does
 * not fit is moved outward, or left off. */
PROVISO_C_API proviso_status proviso_bounds(proviso_context context,
                                            proviso_expr expr,
                                            proviso_range* range);
PROVISO_C_API proviso_status proviso_bounds_quick(proviso_context context,
                                                  proviso_expr expr,
                                                  proviso_range* range);
/* proviso_bounds() with the distance between the values: each leaves *residue,
 * divided by *step. */
PROVISO_C_API proviso_status proviso_strided(proviso_context context,
                                             proviso_expr expr,
                                             proviso_range* range,
                                             int64_t* step, int64_t* residue);
/* An expression over the given symbols alone that is never less (never more)
 * than an integer expression; the null handle where none is found. */
PROVISO_C_API proviso_status proviso_upper_bound(proviso_context context,
                                                 proviso_expr expr,
                                                 const proviso_expr* over,
                                                 size_t count,
                                                 proviso_expr* bound);
PROVISO_C_API proviso_status proviso_lower_bound(proviso_context context,
                                                 proviso_expr expr,
                                                 const proviso_expr* over,
                                                 size_t count,
                                                 proviso_expr* bound);

typedef enum proviso_side {
  PROVISO_EQUAL = 0,
  PROVISO_AT_MOST = 1,
  PROVISO_AT_LEAST = 2
} proviso_side;
/* A relation of integers solved for a symbol: it is true exactly where the
 * symbol is == (<=, >=) *value and *condition holds.  *value and *condition are
 * the null handle where it is not solved. */
PROVISO_C_API proviso_status proviso_solve(
    proviso_context context, proviso_expr relation, proviso_expr symbol,
    proviso_side* side, proviso_expr* value, proviso_expr* condition);
/* A product of a number and of factors that divides both integer expressions
 * wherever it is not 0. */
PROVISO_C_API proviso_status proviso_common_divisor(proviso_context context,
                                                    proviso_expr a,
                                                    proviso_expr b,
                                                    proviso_expr* divisor);
/* A number that divides every value of an integer expression; 0 for what is
 * always 0. */
PROVISO_C_API proviso_status proviso_multiple_of(proviso_context context,
                                                 proviso_expr expr,
                                                 int64_t* divisor);
/* The values that an integer expression can take, ascending, none missing:
 * PROVISO_ERROR_SPACE when they may be more than capacity. */
PROVISO_C_API proviso_status proviso_values(proviso_context context,
                                            proviso_expr expr, int64_t* values,
                                            size_t capacity, size_t* count);
/* The cheapest form found under the facts; the canonical form, in less time;
 * and with those symbols substituted that equalities determine. */
PROVISO_C_API proviso_status proviso_simplify(proviso_context context,
                                              proviso_expr expr,
                                              proviso_expr* result);
PROVISO_C_API proviso_status proviso_canonical(proviso_context context,
                                               proviso_expr expr,
                                               proviso_expr* result);
PROVISO_C_API proviso_status proviso_solve_equalities(proviso_context context,
                                                      proviso_expr expr,
                                                      proviso_expr* result);

/* The facts that alone imply what a call gives for an expression: as many as
 * fit.  call: "bounds", "strided", "multiple_of", "values" (64 at most),
 * "simplify", "canonical" or "substitute" (proviso_solve_equalities()). */
PROVISO_C_API proviso_status proviso_facts_behind(
    proviso_context context, const char* call, proviso_expr expr, uint32_t* ids,
    size_t capacity, size_t* count);

/* Gets each call of the context and its clones from here on as a line of text
 * from which it can be made again, without its end; NULL ends it.  It is called
 * while the call holds the pool: it must make no call on that pool.  Without
 * it, PROVISO_TRACE=FILE in the environment writes the lines of every context.
 */
typedef void (*proviso_log_sink)(const char* line, void* user);
PROVISO_C_API proviso_status proviso_set_log(proviso_context context,
                                             proviso_log_sink sink, void* user);

/* Ends the call that runs on another thread, as if its limit were reached. */
PROVISO_C_API proviso_status proviso_interrupt(proviso_context context);
/* Of the context and its clones: in a line, for people. */
PROVISO_C_API proviso_status proviso_statistics(proviso_context context,
                                                char* buffer, size_t size,
                                                size_t* length);
PROVISO_C_API proviso_status proviso_to_smtlib(proviso_context context,
                                               proviso_expr question,
                                               char* buffer, size_t size,
                                               size_t* length);
/* The facts and options as text, and a context from it.  A call on that spends
   no more than one on a context with the options `most` would (NULL and 0: the
   defaults); a text that says more is an error. */
PROVISO_C_API proviso_status proviso_save(proviso_context context, char* buffer,
                                          size_t size, size_t* length);
PROVISO_C_API proviso_status proviso_load(proviso_pool pool, const char* text,
                                          const proviso_option* most,
                                          size_t count,
                                          proviso_context* context);

/* ---- answers ------------------------------------------------------------ */

PROVISO_C_API proviso_status proviso_answer_free(proviso_answer answer);
PROVISO_C_API proviso_status proviso_answer_verdict(proviso_answer answer,
                                                    proviso_verdict* verdict);
/* "ranges", "linear", .., "none", and the strategy of that tier: valid as long
 * as the library. */
PROVISO_C_API proviso_status proviso_answer_tier(proviso_answer answer,
                                                 const char** tier);
PROVISO_C_API proviso_status proviso_answer_strategy(proviso_answer answer,
                                                     const char** strategy);
/* One sentence. */
PROVISO_C_API proviso_status proviso_answer_reason(proviso_answer answer,
                                                   char* buffer, size_t size,
                                                   size_t* length);
/* Sets contradict to 1 where the facts contradict each other: the verdict is
 * then unknown, and the answer's facts are those. */
PROVISO_C_API proviso_status
proviso_answer_is_contradiction(proviso_answer answer, int* contradict);
/* The facts that alone imply a yes or a no, or that contradict each other: as
 * many as fit. */
PROVISO_C_API proviso_status proviso_answer_facts(proviso_answer answer,
                                                  uint32_t* ids,
                                                  size_t capacity,
                                                  size_t* count);

typedef enum proviso_point {
  PROVISO_COUNTEREXAMPLE = 0, /* the facts hold, the question does not */
  PROVISO_WITNESS = 1         /* both hold */
} proviso_point;
/* How many symbols a point of an unknown answer gives a value; 0 where none was
 * found. */
PROVISO_C_API proviso_status proviso_point_size(proviso_answer answer,
                                                proviso_point point,
                                                size_t* count);
/* "n" and "8". */
PROVISO_C_API proviso_status proviso_point_name(proviso_answer answer,
                                                proviso_point point,
                                                size_t index, char* buffer,
                                                size_t size, size_t* length);
PROVISO_C_API proviso_status proviso_point_value(proviso_answer answer,
                                                 proviso_point point,
                                                 size_t index, char* buffer,
                                                 size_t size, size_t* length);

#ifdef __cplusplus
}
#endif

#endif /* PROVISO_PROVISO_H_ */
