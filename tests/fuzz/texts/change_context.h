// tests/fuzz/texts/change_context.h - a context's text, changed as what it
// says: mostly a text that is read.
//
//   std::mt19937 random(7);
//   std::string other = change_context(text, random);
//
// Parts of conditions become other parts, of the text or made of them; facts
// go, come twice and change places; scopes open; options get other values.
// What load_context() refuses comes back as it is.
#pragma once

#include <random>
#include <string>

namespace proviso::fuzz {

std::string change_context(const std::string& text, std::mt19937& random);

}  // namespace proviso::fuzz
