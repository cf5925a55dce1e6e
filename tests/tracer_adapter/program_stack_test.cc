// Lines of a C++ program that says none, by its debug information: this file is
// compiled with -g, whatever the others are, and optimised as they are.
#include "tracer_adapter/trace/program_stack.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tracer_adapter/export.h"

namespace proviso {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

bool has_addr2line() {
  return std::system("addr2line --version > /dev/null 2>&1") == 0;
}

constexpr int kAddLine = __LINE__ + 3;
struct TwoLines {
  at::Tensor half(const at::Tensor& x, const at::Tensor& y) const {
    return at::add(x, y);
  }
  std::vector<at::Tensor> operator()(const std::vector<at::Tensor>& in) const {
    return {half(in[0], in[1]).relu()};
  }
};

TEST(ProgramStack, NamesTheLineOfAGuardAndOfANode) {
  if (!has_addr2line()) GTEST_SKIP() << "SKIPPED: addr2line is not here";
  const ExportedProgram program =
      export_program(TwoLines(), {at::randn({4, 3}), at::randn({4, 3})});
  bool is_found = false;
  for (const Guard& guard : program.guards()) {
    ASSERT_FALSE(guard.origins.empty());
    EXPECT_THAT(guard.origins[0].file, EndsWith("program_stack_test.cc"));
    EXPECT_EQ(guard.origins[0].line, kAddLine);
    EXPECT_EQ(guard.origins[0].code, "return at::add(x, y);");
    is_found = true;
  }
  EXPECT_TRUE(is_found) << "an addition of two sizes has guards";
}

TEST(ProgramStack, IsOutermostFirstAndTheProgramsAlone) {
  if (!has_addr2line()) GTEST_SKIP() << "SKIPPED: addr2line is not here";
  const int line = __LINE__ + 1;
  const std::vector<Frame> frames = internal::program_stack();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().line, line);
  EXPECT_THAT(frames.back().code, HasSubstr("internal::program_stack()"));
  EXPECT_EQ(frames.back().function, "TestBody");
  for (const Frame& frame : frames) {
    EXPECT_THAT(frame.function, ::testing::Not(HasSubstr("std::")));
  }
}

}  // namespace
}  // namespace proviso
