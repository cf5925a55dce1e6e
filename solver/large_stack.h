// solver/large_stack.h - for code of others that takes the machine's stack as
// it likes.
//
//   on_large_stack([&] { result = ask(facts, question); });
//
// Runs the work here where there is room, else on a thread of its own with
// 8 MiB, and throws what it throws.  What it spends (sym/budget.h) is spent of
// the caller's budget.
#pragma once

#include <functional>

namespace proviso::inline v0_2::internal {

void on_large_stack(const std::function<void()>& work);

}  // namespace proviso::inline v0_2::internal
