// guards/errors/user_checks.h - checks of the quoted program that stand before
// the line that asks.
//
//     def forward(self, x, t):
//         a, b, c = t.tolist()
//         torch._check(a <= b)
//         torch._check(b <= c)
//         if a <= c:                  asks u0 <= u2
//
//   QuotedCode code(text);
//   assume_user_checks(code, e, question, place, names, context);
//   context.ask(question).verdict;    // kYes
//
// A check counts where it is made before the line on every way to it, in the
// same function, of values that are not assigned again in between.  A word is a
// symbol where the text names it so, or where the line that asks matches the
// question in one way only; any other word is an integer of its own, where the
// code shows that it is one.  What is not clear is left out.
#pragma once

#include "guards/errors/error_text.h"
#include "guards/errors/quoted_code.h"
#include "guards/errors/symbol_names.h"
#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

// Assumes the checks in the context of the question; whether there were any.
// Where the code is too much to be looked through there are none.
// Symbols for other words have names that begin with kWordPrefix.
bool assume_user_checks(QuotedCode& code, const TextError& e, Expr question,
                        const TextFrame& place, const SymbolNames& names,
                        Context& context);

inline constexpr std::string_view kWordPrefix = "the word ";

}  // namespace proviso::inline v0_2::internal
