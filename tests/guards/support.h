// tests/guards/support.h - short ways to drive a ShapeEnv by hand.
#pragma once

#include <string>
#include <vector>

#include "guards/shape_env.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {

inline DimConstraint automatic() { return {}; }
inline DimConstraint dynamic() { return {DimPolicy::kDynamic, "", {}, {}}; }
inline DimConstraint fixed() { return {DimPolicy::kStatic, "", {}, {}}; }
inline DimConstraint named(const std::string& name, std::optional<Int> min = {},
                           std::optional<Int> max = {}) {
  return {DimPolicy::kNamed, name, min, max};
}

inline std::string source(const std::string& input, int dim) {
  return "L['" + input + "'].size()[" + std::to_string(dim) + "]";
}

inline std::vector<std::string> texts(const std::vector<Guard>& guards) {
  std::vector<std::string> result;
  for (const Guard& g : guards) result.push_back(to_string(g.condition));
  return result;
}

inline std::vector<std::string> texts(const std::vector<RuntimeAssert>& all) {
  std::vector<std::string> result;
  for (const RuntimeAssert& a : all) result.push_back(to_string(a.condition));
  return result;
}

// The message of the exception that `call` throws, or "" when it throws none.
template <typename Exception, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

// The tutorial's model: w[6, 5], x[4], y[8, 4], z[32];
// x + y, Linear(5, 3)(w), (x + y).flatten() + z.
struct DynamicModel {
  explicit DynamicModel(
      ShapeEnvOptions options = {},
      std::vector<DimConstraint> dims = std::vector<DimConstraint>(6))
      : env(options) {
    w0 = env.create_size(6, source("w", 0), dims[0]);
    w1 = env.create_size(5, source("w", 1), dims[1]);
    x0 = env.create_size(4, source("x", 0), dims[2]);
    y0 = env.create_size(8, source("y", 0), dims[3]);
    y1 = env.create_size(4, source("y", 1), dims[4]);
    z0 = env.create_size(32, source("z", 0), dims[5]);
  }

  void trace() {
    env.guard_bool(eq(x0, y1), {"model.py", 7, "x0 = x + y"});
    env.guard_bool(eq(w1, 5), {"model.py", 8, "x1 = self.l(w)"});
    env.guard_bool(eq(env.simplify(y0 * y1), z0),
                   {"model.py", 10, "x3 = x2 + z"});
  }

  ShapeEnv env;
  Expr w0, w1, x0, y0, y1, z0;
};

}  // namespace proviso
