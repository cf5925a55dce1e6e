// bindings/facts_behind.h - the calls whose results have facts behind them, by
// name.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "solver/solver.h"

namespace proviso {

struct CallWithFacts {
  std::string_view name;
  bool of_integers;  // it takes nothing else
  void (*ask)(Context& context, Expr e, std::vector<FactId>* facts);
};

template <auto kCall>
void ask(Context& context, Expr e, std::vector<FactId>* facts) {
  std::ignore = (context.*kCall)(e, facts);
}
inline void ask_values(Context& context, Expr e, std::vector<FactId>* facts) {
  constexpr size_t kMostValues = 64;
  std::ignore = context.values(e, kMostValues, facts);
}

inline constexpr CallWithFacts kCallsWithFacts[] = {
    {"bounds", true, ask<&Context::bounds>},
    {"strided", true, ask<&Context::strided>},
    {"multiple_of", true, ask<&Context::multiple_of>},
    {"values", true, ask_values},
    {"simplify", false, ask<&Context::simplify>},
    {"canonical", false, ask<&Context::canonical>},
    {"substitute", false, ask<&Context::substitute>},
};

// nullptr for another name.
inline const CallWithFacts* call_with_facts(std::string_view name) {
  for (const CallWithFacts& call : kCallsWithFacts) {
    if (call.name == name) return &call;
  }
  return nullptr;
}

// "bounds, strided, ..."
inline std::string names_of_calls_with_facts() {
  std::string names;
  for (const CallWithFacts& call : kCallsWithFacts) {
    if (!names.empty()) names += ", ";
    names += call.name;
  }
  return names;
}

// The facts that imply what the call gives for e.
inline std::vector<FactId> facts_behind(Context& context,
                                        const CallWithFacts& call, Expr e) {
  std::vector<FactId> facts;
  call.ask(context, e, &facts);
  return facts;
}

}  // namespace proviso
