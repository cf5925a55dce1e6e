// tracer_adapter/fake/asked_layout.h - what a program of C++ itself asks of a
// tensor's layout.
//
//   y = a.narrow(1, 0, n).reshape(-1);  // a copy; a view where n is 1
//   if (y.is_contiguous()) ..           // the program asks: a guard
//   y.contiguous() + 1                  // the same values either way: no guard
//   at::cat({y, y})                     // LibTorch asks, not the program
//
// Strides are chosen for sizes of 2 and more, which nobody sees but who asks
// for them (see ShapeEnv::keep_layout_answers).  LibTorch asks a fake through
// the same virtuals as the program does, so the tracer says whose code runs.
// Tensor::contiguous() asks for contiguity "or false", Tensor::is_contiguous()
// for a branch; the answer is a number that tells them apart.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymIntArrayRef.h>

namespace proviso::inline v0_2 {

// While it lives, this thread runs code of the traced program; or, given false,
// an operator that the program called.
class ProgramCode {
 public:
  explicit ProgramCode(bool runs = true);
  ~ProgramCode();
  ProgramCode(const ProgramCode&) = delete;
  ProgramCode& operator=(const ProgramCode&) = delete;

  static bool runs();

 private:
  bool& runs_;  // of this thread
  const bool before_;
};

// Where the program asks, what chose the layouts so far becomes guards.
void keep_asked_layouts();

// The answer to a program that asks whether a tensor is contiguous: what is
// known for who does without a guard, a guard on contiguity() (fake_tensor.h)
// for who branches on it.
c10::SymBool asked_contiguity(c10::SymIntArrayRef sizes,
                              c10::SymIntArrayRef strides,
                              at::MemoryFormat format);

}  // namespace proviso::inline v0_2
