// guards/errors/symbol_names.h - what the program calls the symbols of an
// error.
//
//   SymbolNames names(env, e, place_of(e));
//   names.of("u0");    // y.shape[0], where the text says so; else ""
//   names.made("u0");  // model.py:9 in `y = x[mask]`
//
// A symbol is known by its source, its making and the frames' variables, and
// never by its number.
#pragma once

#include <string>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

// x.shape[0] of L['x'].size()[0]; empty for what is no argument of the program
// (torch.export has names of its own for flattened inputs).
std::string words_of_source(const std::string& source);

class SymbolNames {
 public:
  // What is given outlives it.
  SymbolNames(const TextEnv& env, const TextError& e, const TextFrame& place)
      : env_(env), error_(e), place_(place) {}

  // What the program calls the symbol at the place; empty where not known.
  std::string of(const std::string& symbol) const;
  bool is_argument(const std::string& symbol) const;
  // Its source, or where it was made; empty where not known.
  std::string made(const std::string& symbol) const;

 private:
  bool is_in_scope(const TextFrame& where) const;

  const TextEnv& env_;
  const TextError& error_;
  const TextFrame& place_;
};

}  // namespace proviso::inline v0_2::internal
