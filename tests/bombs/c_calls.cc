#include <stdexcept>
#include <vector>

#include "proviso/proviso.h"
#include "sym/expr.h"
#include "tests/bombs/calls.h"
#include "tests/bombs/texts.h"

namespace proviso::testing {
namespace {

void check(proviso_status status) {
  if (status == PROVISO_OK || status == PROVISO_ERROR_SPACE) return;
  if (status == PROVISO_ERROR_INTERNAL)
    throw std::runtime_error(proviso_error_text());
  throw Error(proviso_error_text());
}

}  // namespace

void use_c(const Problem& problem, Meter& meter) {
  if (problem.build) return;
  proviso_pool pool{};
  proviso_context context{};
  const proviso_option native{"use_z3", 0};
  check(proviso_pool_new(&pool));
  check(proviso_context_new(pool, &native, 1, &context));
  for (const std::string& fact : problem.facts) {
    proviso_expr e{};
    if (!meter.call("proviso_parse", [&] {
          check(proviso_parse(pool, fact.c_str(), PROVISO_NEW_NAMES, &e));
        }))
      continue;
    meter.call("proviso_assume",
               [&] { check(proviso_assume(context, e, nullptr, nullptr)); });
  }
  if (const std::string text = context_of(problem.facts);
      text.size() <= 12'000) {
    proviso_context loaded{};
    if (meter.call("proviso_load of the facts", [&] {
          check(proviso_load(pool, text.c_str(), nullptr, 0, &loaded));
        }))
      check(proviso_context_free(loaded));
  }
  proviso_expr question{};
  if (meter.call("proviso_parse", [&] {
        check(proviso_parse(pool, problem.question.c_str(), PROVISO_KNOWN_NAMES,
                            &question));
      })) {
    std::vector<char> buffer(size_t{1} << 21);
    size_t length = 0;
    for (int form = 0; form < 4; ++form) {
      meter.call("proviso_print", [&] {
        check(proviso_print(question, static_cast<proviso_form>(form),
                            buffer.data(), buffer.size(), &length));
      });
    }
    proviso_expr other{};
    meter.call("proviso_expr_canonical",
               [&] { check(proviso_expr_canonical(question, &other)); });
    meter.call("proviso_expr_simplify",
               [&] { check(proviso_expr_simplify(question, &other)); });
    proviso_answer answer{};
    if (meter.call("proviso_ask",
                   [&] { check(proviso_ask(context, question, &answer)); })) {
      meter.call("proviso_answer_reason", [&] {
        check(proviso_answer_reason(answer, buffer.data(), buffer.size(),
                                    &length));
      });
      check(proviso_answer_free(answer));
    }
    meter.call("proviso_simplify",
               [&] { check(proviso_simplify(context, question, &other)); });
    meter.call("proviso_canonical",
               [&] { check(proviso_canonical(context, question, &other)); });
    meter.call("proviso_solve_equalities", [&] {
      check(proviso_solve_equalities(context, question, &other));
    });
    meter.call("proviso_to_smtlib", [&] {
      check(proviso_to_smtlib(context, question, buffer.data(), buffer.size(),
                              &length));
    });
    size_t arity = 0;
    check(proviso_expr_arity(question, &arity));
    for (size_t i = 0; i < arity; ++i) {
      proviso_expr side{};
      check(proviso_expr_arg(question, i, &side));
      proviso_type type{};
      check(proviso_expr_type(side, &type));
      if (type != PROVISO_INTEGER) continue;
      proviso_range range{};
      int64_t number = 0, residue = 0;
      std::vector<int64_t> values(64);
      meter.call("proviso_bounds",
                 [&] { check(proviso_bounds(context, side, &range)); });
      meter.call("proviso_strided", [&] {
        check(proviso_strided(context, side, &range, &number, &residue));
      });
      meter.call("proviso_multiple_of",
                 [&] { check(proviso_multiple_of(context, side, &number)); });
      meter.call("proviso_values", [&] {
        check(proviso_values(context, side, values.data(), values.size(),
                             &length));
      });
      break;
    }
    if (meter.call("proviso_save",
                   [&] {
                     check(proviso_save(context, buffer.data(), buffer.size(),
                                        &length));
                   }) &&
        length < 12'000) {
      proviso_context again{};
      if (meter.call("proviso_load", [&] {
            check(proviso_load(pool, buffer.data(), NULL, 0, &again));
          }))
        check(proviso_context_free(again));
    }
  }
  check(proviso_context_free(context));
  check(proviso_pool_free(pool));
}

}  // namespace proviso::testing
