// cli/torch_pt2/contained.h - work that may end its process.
//
//   return contained("model.pt2", [&] { return run(...); });
//
// A kernel of PyTorch may trust its arguments and crash; the user is told which
// it was.
#pragma once

#include <functional>
#include <string>

namespace proviso::cli {

inline constexpr int kTrouble = 3;

// Its exit code; an error is printed and is kTrouble.
int reported(const std::function<int()>& work);
// The same, in a process of its own.
int contained(const std::string& path, const std::function<int()>& work);

}  // namespace proviso::cli
