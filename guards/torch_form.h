// guards/torch_form.h - requirements in the form that PyTorch's own solver
// takes.
//
//   torch_form(env, r).conditions;
//   // {Eq(Mod(s2, 2), 0), Eq(Mod(s2//2, 2), 0), s2 >= 1}
//
// PyTorch carries ranges through sums, products and quotients, and decides what
// it is asked in the form in which it was assumed.  It makes nothing of x != 1,
// and does not see x % 2 == 0 in x % 4 == 0.  Each row of the table says a
// condition so; a row that says more than the requirement is marked: what it
// rules out too the program may take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "guards/requirements.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct TorchCondition {
  Expr condition;
  std::string_view rule;  // "as it is", "apart from one", ...
  bool is_stronger;       // says more than the requirements
};

// An input size that may vary, where the conditions hold.
struct TorchSize {
  std::string source;
  Interval range;
  std::string equals;  // the source of the first size that is always equal
};

struct TorchForm {
  std::vector<TorchCondition> conditions;
  std::vector<TorchSize> sizes;
};

[[nodiscard]] TorchForm torch_form(ShapeEnv& env, const Requirements& r);

// What PyTorch may assume where it asks `question` though it knows a form: the
// example's side, said plainly, and as it was asked, for where PyTorch does not
// see that from the other; of an integer, its value there.  Stronger where the
// requirements do not imply it.  Empty where the example has no value for it.
[[nodiscard]] std::vector<TorchCondition> answers_to_torch(
    ShapeEnv& env, const Requirements& r, Expr question);

// The rows, for documents and tests.
struct TorchRule {
  std::string_view name;
  std::string_view before, after;  // an example, over x, y, v, w >= 0
  bool is_stronger;
};
[[nodiscard]] std::vector<TorchRule> torch_rules();

}  // namespace proviso::inline v0_2
PROVISO_API_END
