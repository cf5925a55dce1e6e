// A C++ program that looks at a layout is exported for the sizes that have it;
// one that does not is exported for all (the Python side:
// tests/python/test_seen_layouts.py).
#include "tracer_adapter/fake/asked_layout.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/control_flow_ops.h"
#include "tracer_adapter/export.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::HasSubstr;

constexpr auto kLast = at::MemoryFormat::ChannelsLast;

// Of a matrix and a length.
using Base = std::function<Tensor(const Tensor&, const c10::SymInt&)>;
using Copy = std::function<Tensor(const Tensor&)>;
// Of a tensor and a copy, or view, of it.
using Look = std::function<Tensor(const Tensor&, const Tensor&)>;
template <typename F>
using Named = std::vector<std::pair<std::string, F>>;

Tensor first(const Tensor& a, int64_t dim, const c10::SymInt& n) {
  return a.narrow_symint(dim, 0, n);
}

const Named<Base>& bases() {
  static const Named<Base> result = {
      {"columns", [](auto& a, auto& n) { return first(a, 1, n); }},
      {"rows", [](auto& a, auto& n) { return first(a, 0, n); }},
      {"transposed", [](auto& a, auto& n) { return first(a, 0, n).t(); }},
      {"of a sum", [](auto& a, auto& n) { return first(a, 1, n).t() + 0.5; }},
      {"broadcast",
       [](auto& a, auto& n) {
         return (first(a, 1, 1) + first(first(a, 0, 1), 1, n)).t();
       }},
      {"expanded",
       [](auto& a, auto& n) {
         return first(first(a, 0, 1), 1, 1).expand_symint({5, n});
       }},
      {"diagonal",
       [](auto& a, auto& n) { return first(a.diagonal(), 0, n).unsqueeze(1); }},
      {"from the second",
       [](auto& a, auto& n) { return a.narrow_symint(1, 1, n).t(); }}};
  return result;
}

const Named<Copy>& copies() {
  static const Named<Copy> result = {
      {"none", [](auto& x) { return x; }},
      {"reshape", [](auto& x) { return x.reshape({-1}); }},
      {"reshape of two",
       [](auto& x) {
         return x.reshape_symint({x.sym_size(1), x.sym_size(0)});
       }},
      {"flatten", [](auto& x) { return x.flatten(); }},
      {"contiguous", [](auto& x) { return x.contiguous(); }},
      {"contiguous, transposed", [](auto& x) { return x.contiguous().t(); }},
      {"channels last",
       [](auto& x) { return x.unsqueeze(0).unsqueeze(0).contiguous(kLast); }},
      {"like", [](auto& x) { return at::full_like(x, 0.25); }}};
  return result;
}

Tensor either(bool yes, const Tensor& y) { return yes ? y + 1 : y * 2; }

const Named<Look>& looks() {
  static const Named<Look> result = {
      {"contiguous",
       [](auto&, auto& y) { return either(y.is_contiguous(), y); }},
      {"contiguous, as a number",
       [](auto&, auto& y) {
         return either(y.sym_is_contiguous().guard_or_true("", 0), y);
       }},
      {"not contiguous",
       [](auto&, auto& y) {
         return either((~y.sym_is_contiguous()).guard_bool("", 0), y);
       }},
      {"channels last",
       [](auto&, auto& y) { return either(y.is_contiguous(kLast), y); }},
      {"dense",
       [](auto&, auto& y) {
         return either(y.is_non_overlapping_and_dense(), y);
       }},
      {"suggested format",
       [](auto&, auto& y) {
         return either(y.suggest_memory_format() == kLast, y);
       }},
      {"stride",
       [](auto&, auto& y) {
         return either(y.sym_stride(0).guard_int("", 0) == 1, y);
       }},
      {"strides",
       [](auto&, auto& y) { return either(y.sym_strides().back() == 1, y); }},
      {"offset",
       [](auto&, auto& y) { return either(y.sym_storage_offset() == 0, y); }},
      {"value",
       [](auto&, auto& y) { return y * at::scalar_tensor(y.sym_stride(-1)); }},
  };
  return result;
}

Program program_of(const Base& base, const Copy& copy, const Look& look) {
  return [=](std::vector<Tensor> in) -> std::vector<Tensor> {
    const Tensor x = base(in[0] * 1, in[1].sym_size(0));
    return {look(x, copy(x))};
  };
}

std::vector<Tensor> inputs(int64_t n) {
  return {at::arange(30.0).reshape({5, 6}).mul(0.37).cos(), at::zeros({n})};
}

std::optional<Tensor> eager(const Program& program, int64_t n) {
  try {
    return program(inputs(n))[0];
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

ExportedProgram exported(const Program& program) {
  return export_program(
      program, inputs(3),
      {.dynamic_shapes = {{Dim::fixed(), Dim::fixed()}, {Dim::automatic()}},
       .input_names = {},
       .shape_env = {}});
}

// At how many of the sizes at which eager runs the program runs.
struct Share {
  int checked = 0, taken = 0;
};

void check(const Program& program, Share& share) {
  const ExportedProgram ep = exported(program);
  for (int64_t n = 0; n <= 4; ++n) {
    const std::optional<Tensor> expected = eager(program, n);
    if (!expected) continue;
    ++share.checked;
    Tensor found;
    const std::string error =
        error_of([&] { found = ep.module()(inputs(n))[0]; });
    if (!error.empty()) {
      EXPECT_NE(n, 3) << error;
      continue;
    }
    ++share.taken;
    EXPECT_TRUE(at::equal(found, *expected)) << n << "\n" << ep.to_string();
  }
}

TEST(AskedLayoutTest, AProgramThatLooksIsTakenAtSizesThatHaveTheLayoutAlone) {
  for (const auto& [seen, look] : looks()) {
    Share share;
    for (const auto& [of, base] : bases())
      for (const auto& [made, copy] : copies()) {
        SCOPED_TRACE(seen + " of " + made + " of " + of);
        const Program program = program_of(base, copy, look);
        if (eager(program, 3)) check(program, share);
      }
    EXPECT_GT(share.taken * 2, share.checked) << seen;
  }
}

TEST(AskedLayoutTest, AProgramThatDoesNotLookIsTakenAtAllSizes) {
  const Look none = [](auto&, auto& y) { return y.contiguous() + 1; };
  const Look operators = [](auto& x, auto& y) {
    return at::cat({y.reshape({-1}), x.flatten()}).view({-1});
  };
  for (const Look& look : {none, operators})
    for (const auto& [of, base] : bases())
      for (const auto& [made, copy] : copies()) {
        SCOPED_TRACE(made + " of " + of);
        Share share;
        check(program_of(base, copy, look), share);
        EXPECT_EQ(share.taken, share.checked);
      }
}

TEST(AskedLayoutTest, TheGuardNamesWhatIsRefused) {
  const ExportedProgram ep = exported(
      program_of(bases()[0].second, copies()[1].second, looks()[0].second));
  EXPECT_THAT(error_of([&] { ep.module()(inputs(1)); }), HasSubstr("x1"));
}

TEST(AskedLayoutTest, ABranchOfCondIsTheProgram) {
  const Program program = [](std::vector<Tensor> in) -> std::vector<Tensor> {
    const Tensor y = first(in[0] * 1, 1, in[1].sym_size(0)).reshape({-1});
    return cond(
        in[0].sum().gt(0),
        [](const Tensors& t) -> Tensors {
          return {either(t[0].is_contiguous(), t[0])};
        },
        [](const Tensors& t) -> Tensors { return {t[0] * 3}; }, {y});
  };
  Share share;
  check(program, share);
  EXPECT_LT(share.taken, share.checked);
}

TEST(AskedLayoutTest, CodeOfTheProgramNests) {
  EXPECT_FALSE(ProgramCode::runs());
  {
    const ProgramCode program;
    EXPECT_TRUE(ProgramCode::runs());
    {
      const ProgramCode an_operator(false);
      EXPECT_FALSE(ProgramCode::runs());
    }
    EXPECT_TRUE(ProgramCode::runs());
  }
  EXPECT_FALSE(ProgramCode::runs());
}

}  // namespace
}  // namespace proviso
