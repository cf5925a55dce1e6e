// tracer_adapter/ir/printable.h - texts of a file as a terminal may show them.
//
//   std::cout << printable(node_text);    // "\x1b[2J" clears no screen
//
// Characters that move, colour or reorder are written as in Python, "\x1b" and
// "\u202e", and so is what is no UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace proviso::inline v0_2 {

std::string escaped(std::string_view text);
// Leaves ends of lines and tabs.
std::string printable(std::string_view text);

// The length of the character in UTF-8 that starts at `at`; 0 where none does.
size_t character_at(std::string_view text, size_t at, uint32_t& character);

}  // namespace proviso::inline v0_2
