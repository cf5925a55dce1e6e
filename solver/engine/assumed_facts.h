// solver/engine/assumed_facts.h - the facts, as they were assumed, and which of
// them are about the same symbols.
//
//   const FactId id = facts.add(condition, {"torch._check(u0 >= 0)"});
//   facts.connected_to(question)        // facts and symbols, nearest first
//   facts.in_words({id})                // "torch._check(u0 >= 0)"
//
// Facts are numbered as they come; undoing is shrinking.  The index by symbol
// is made when it is first asked for and grows from there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solver/lower.h"
#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

class AssumedFacts {
 public:
  explicit AssumedFacts(Lowering& lower) : lower_(lower) { all_.reserve(8); }

  size_t size() const { return all_.size(); }
  FactId add(Expr condition, const Provenance& origin);
  void shrink(size_t size);

  // These require an id below size().
  Expr condition(FactId id) const { return all_[id].condition; }
  Fact fact(FactId id) const;

  std::string in_words(const std::vector<FactId>& ids) const;
  bool hold_at(const std::vector<FactId>& ids, const Assignment& point) const;

  // Whether the facts about a symbol are ranges and congruences of symbols.
  bool are_ranges(Expr symbol);

  // The facts connected to symbols, of an expression or some, through those
  // that they share, and all their symbols; no more than
  // limits().relevant_facts.
  struct Connected {
    std::vector<FactId> facts;
    std::vector<Expr> symbols;
  };
  Connected connected_to(Expr e) { return connected_to(free_symbols(e)); }
  Connected connected_to(std::span<const Expr> symbols);

 private:
  struct Assumed {
    Expr condition;
    uint32_t origin;  // in origins_; most have none
  };
  void index_new_facts();

  Lowering& lower_;
  std::vector<Assumed> all_;
  std::vector<Provenance> origins_;
  // The index: what the facts in it mention, one fact after another.
  struct Mention {
    Expr symbol;
    FactId fact;
    uint32_t before;  // the last mention of the symbol before; kNoId
  };
  std::vector<Mention> mentions_;
  std::vector<uint32_t> first_mention_;   // by fact
  std::vector<uint32_t> last_of_symbol_;  // by the symbol's index
};

}  // namespace proviso::inline v0_2::internal
