// tracer_adapter/finish/input_sizes.h - how a program writes the sizes of its
// inputs, once all is learnt of them.
//
//   is_input_size(s0);        // true
//   is_input_size(u0);        // false: it is read from data
//   learnt_size(env, s1);     // 2*s0: the guard Eq(s1, 2*s0) said so
//   learnt_size(env, s3);     // s3, where Eq(s3, s0 + s1 - s2) did: a reader
//                             // would not take that for a size
//   learnt_size(env, s4);     // s4, where Eq(s4, s5*s6) did: an integer input
//                             // s5 may be negative
#pragma once

#include "guards/shape_env.h"

namespace proviso::inline v0_2 {

// A symbol that the caller gives.  What is known of it is checked before the
// program runs, not by the program.
bool is_input_size(Expr e);
Expr learnt_size(ShapeEnv& env, Expr size);

}  // namespace proviso::inline v0_2
