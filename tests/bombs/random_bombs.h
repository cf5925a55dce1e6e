// tests/bombs/random_bombs.h - problems of up to 10 KB in which a few random
// shapes are repeated, for what no family of bombs.h is.
//
//   build/bin/bombs guards --random 1000 500     the seeds 1000 to 1499
//   build/bin/bombs guards --numbers 1000 500    the same of long numbers
#pragma once

#include <cstdint>

#include "tests/bombs/bombs.h"

namespace proviso::testing {

Problem random_bomb(uint32_t seed);
// Of operators, most of them shifts, on numbers of thousands of bits.
Problem random_numbers(uint32_t seed);

}  // namespace proviso::testing
