// guards/context_text.h - a context as text, to keep or to send.
//
//   std::ofstream("facts.txt") << save_context(context);
//   ExprPool pool;                       // in another process, say
//   Context same = load_context(pool, text);
//   same.ask(parse(pool, "s0 >= 2"));    // as the first would answer
//
// Line by line, in the order assumed:
//
//   proviso context 1
//   option budget 20000
//   symbol s0 backed_size "L['x'].size()[0]"
//   declare s0 [2, int_oo] ; "assumed: s0 >= 2" "" 0
//   assume Eq(Mod(s0, 8), 0) ; "x.view(-1, 8)" "model.py" 12
//   end
//
// Equal contexts give equal text in every process.  A line `push` stands where
// a push() is open: the loaded context has as many, and pop() forgets the same
// facts.  (A text with such lines says "proviso context 2", so that readers of
// before refuse it.)
#pragma once

#include <string>
#include <string_view>

#include "solver/solver.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

[[nodiscard]] std::string save_context(const Context& context);

// Symbols are made in `pool`, which should have none of the same name and
// another kind.  Throws Error naming line and column for text that
// save_context() did not write, another version, or an incomplete one; where
// its facts take more work than twice its work_limit and 40 units a byte; and
// where its options let a call spend more than `most` (cost_options() of
// solver/options.h): of a text of your own, give highest_costs().
// A text that cannot be read leaves nothing in the pool; one whose facts take
// too much work leaves its symbols.
[[nodiscard]] Context load_context(ExprPool& pool, std::string_view text,
                                   const SolverOptions& most = {});

}  // namespace proviso::inline v0_2
PROVISO_API_END
