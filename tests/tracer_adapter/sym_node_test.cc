// Each virtual of the symbolic number beside numbers.
#include "tracer_adapter/fake/sym_node.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sym/print.h"
#include "tests/tracer_adapter/support.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;
using Node = c10::SymNode;

double as_double(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b;
  if (const Int* i = std::get_if<Int>(&value)) return i->to_double();
  if (const Rational* r = std::get_if<Rational>(&value)) return r->to_double();
  return std::get<double>(value);
}

// Integer and float inputs with each of these examples.
class SymNodeTest : public ::testing::Test {
 protected:
  Node integer(int64_t value) {
    const std::string name = "n" + std::to_string(count_++);
    return make_sym_node(env_, env_.create_backed_int(value, name));
  }
  Node real(double value) {
    const std::string name = "f" + std::to_string(count_++);
    return make_sym_node(env_, env_.create_backed_float(value, name));
  }
  Node truth(bool value) { return integer(value)->gt(integer(0)); }
  double hint(const Node& node) {
    return as_double(*env_.hint(as_sym_node(node.get())->expr()));
  }

  ShapeEnv env_;
  int count_ = 0;
};

using Binary = Node (c10::SymNodeImpl::*)(const Node&);
using Reference = std::function<double(double, double)>;

const double kUndefined = std::nan("");

double floor_mod(double a, double b) { return a - std::floor(a / b) * b; }
double power(double a, double b) {
  return (a == 0 && b < 0) || (a < 0 && std::floor(b) != b) ? kUndefined
                                                            : std::pow(a, b);
}

struct BinaryRow {
  const char* name;
  Binary method;
  Reference reference;  // NaN where Python raises
};
using Impl = c10::SymNodeImpl;

double quotient(double a, double b) { return b == 0 ? kUndefined : a / b; }

TEST_F(SymNodeTest, IntegersComputeAsPythonsDo) {
  const BinaryRow rows[] = {{"add", &Impl::add, std::plus<>()},
                            {"sub", &Impl::sub, std::minus<>()},
                            {"mul", &Impl::mul, std::multiplies<>()},
                            {"truediv", &Impl::truediv, quotient},
                            {"float_truediv", &Impl::float_truediv, quotient},
                            {"int_truediv", &Impl::int_truediv, quotient},
                            {"floordiv", &Impl::floordiv,
                             [](double a, double b) {
                               return b == 0 ? kUndefined : std::floor(a / b);
                             }},
                            {"int_floordiv", &Impl::int_floordiv,
                             [](double a, double b) {
                               return b == 0 ? kUndefined : std::floor(a / b);
                             }},
                            {"mod", &Impl::mod,
                             [](double a, double b) {
                               return b == 0 ? kUndefined : floor_mod(a, b);
                             }},
                            {"eq", &Impl::eq, std::equal_to<>()},
                            {"ne", &Impl::ne, std::not_equal_to<>()},
                            {"lt", &Impl::lt, std::less<>()},
                            {"le", &Impl::le, std::less_equal<>()},
                            {"gt", &Impl::gt, std::greater<>()},
                            {"ge", &Impl::ge, std::greater_equal<>()},
                            {"sym_min", &Impl::sym_min,
                             [](double a, double b) { return std::min(a, b); }},
                            {"sym_max", &Impl::sym_max,
                             [](double a, double b) { return std::max(a, b); }},
                            {"float_pow", &Impl::float_pow, power}};
  for (const BinaryRow& row : rows) {
    for (int64_t a = -4; a <= 4; ++a) {
      for (int64_t b = -3; b <= 3; ++b) {
        SCOPED_TRACE(std::string(row.name) + " of " + std::to_string(a) + ", " +
                     std::to_string(b));
        const double expected = row.reference(double(a), double(b));
        // Symbolic operands, and a plain one.
        for (const bool plain : {false, true}) {
          const Node x = integer(a);
          const Node y = plain ? x->wrap_int(b) : integer(b);
          Node result;
          const std::string error =
              error_of([&] { result = (x.get()->*row.method)(y); });
          EXPECT_EQ(error.empty(), !std::isnan(expected)) << error;
          if (error.empty()) {
            EXPECT_DOUBLE_EQ(hint(result), expected);
          }
        }
      }
    }
  }
}

TEST_F(SymNodeTest, FloatsComputeAsPythonsDo) {
  const BinaryRow rows[] = {{"add", &Impl::add, std::plus<>()},
                            {"sub", &Impl::sub, std::minus<>()},
                            {"mul", &Impl::mul, std::multiplies<>()},
                            {"truediv", &Impl::truediv, quotient},
                            {"lt", &Impl::lt, std::less<>()},
                            {"eq", &Impl::eq, std::equal_to<>()}};
  for (const BinaryRow& row : rows) {
    for (double a : {-1.5, 0.0, 0.5, 4.0}) {
      for (double b : {-2.0, 0.0, 0.5, 3.0}) {
        SCOPED_TRACE(std::string(row.name) + " of " + std::to_string(a) + ", " +
                     std::to_string(b));
        const double expected = row.reference(a, b);
        Node result;
        const std::string error =
            error_of([&] { result = (real(a).get()->*row.method)(real(b)); });
        EXPECT_EQ(error.empty(), !std::isnan(expected)) << error;
        if (error.empty()) {
          EXPECT_DOUBLE_EQ(hint(result), expected);
        }
      }
    }
  }
}

TEST_F(SymNodeTest, NaturalPowersAndUnaryFunctions) {
  for (int64_t a = -4; a <= 4; ++a) {
    for (int64_t b = 0; b <= 4; ++b)
      EXPECT_EQ(hint(integer(a)->pow_by_natural(integer(b))), std::pow(a, b));
    const Node n = integer(a);
    EXPECT_EQ(hint(n->neg()), -a);
    EXPECT_EQ(hint(n->ceil()), a);
    EXPECT_EQ(hint(n->floor()), a);
    EXPECT_EQ(hint(n->sym_float()), a);
    EXPECT_TRUE(n->sym_float()->is_float());
    EXPECT_EQ(hint(n->clone()), a);
    EXPECT_EQ(n->guard_int("", 0), a);
    EXPECT_EQ(n->int_(), a);
    EXPECT_EQ(n->bool_(), a != 0);
  }
  for (double f : {-1.5, -1.0, 0.0, 0.25, 2.5}) {
    EXPECT_EQ(hint(real(f)->ceil()), std::ceil(f));
    EXPECT_EQ(hint(real(f)->floor()), std::floor(f));
    EXPECT_EQ(hint(real(f)->neg()), -f);
    EXPECT_EQ(real(f)->guard_float("", 0), f);
  }
}

TEST_F(SymNodeTest, LogicAndQuestions) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      EXPECT_EQ(hint(truth(a)->sym_and(truth(b))), a && b);
      EXPECT_EQ(hint(truth(a)->sym_or(truth(b))), a || b);
      EXPECT_EQ(hint(truth(a)->sym_ite(integer(2), integer(3))), a ? 2 : 3);
    }
    EXPECT_EQ(hint(truth(a)->sym_not()), !a);
    EXPECT_EQ(truth(a)->guard_bool("", 0), a);
    EXPECT_EQ(truth(a)->bool_(), a);
    EXPECT_EQ(truth(a)->expect_true("", 0), a);
    EXPECT_EQ(truth(a)->guard_or_false("", 0), a);
    EXPECT_EQ(truth(a)->guard_or_true("", 0), a);
    EXPECT_EQ(truth(a)->guard_size_oblivious("", 0), a);
    EXPECT_FALSE(truth(a)->statically_known_true("", 0));
    EXPECT_EQ(integer(0)->wrap_bool(a)->statically_known_true("", 0), a);
  }
}

TEST_F(SymNodeTest, WhatANodeIs) {
  const Node n = integer(5), c = n->wrap_int(7), f = n->wrap_float(0.5),
             b = n->wrap_bool(true),
             u = make_sym_node(env_, env_.create_unbacked_int());
  EXPECT_TRUE(n->is_int() && c->is_int() && !n->is_float() && !n->is_bool());
  EXPECT_TRUE(f->is_float() && b->is_bool());
  EXPECT_FALSE(n->is_nested_int());
  EXPECT_EQ(n->nested_int(), std::nullopt);
  EXPECT_TRUE(n->is_symbolic() && !n->is_constant());
  EXPECT_TRUE(c->is_constant() && !c->is_symbolic());
  EXPECT_EQ(n->maybe_as_int(), std::nullopt);
  EXPECT_EQ(n->constant_int(), std::nullopt);
  EXPECT_EQ(c->maybe_as_int(), 7);
  EXPECT_EQ(c->constant_int(), 7);
  EXPECT_EQ(c->constant_bool(), std::nullopt);
  EXPECT_EQ(b->constant_bool(), true);
  EXPECT_EQ(b->constant_int(), std::nullopt);
  EXPECT_EQ(f->constant_int(), std::nullopt);
  EXPECT_EQ(f->guard_float("", 0), 0.5);
  EXPECT_TRUE(n->has_hint());
  EXPECT_FALSE(u->has_hint());
  EXPECT_EQ(c->str(), "7");
  EXPECT_EQ(u->str(), "u0");
  EXPECT_EQ(u->_graph_repr(), "u0");
}

// Of a real tensor's sizes and strides as nodes.
TEST_F(SymNodeTest, LayoutsOfRealTensors) {
  const at::Tensor tensors[] = {
      at::ones({2, 3}),
      at::ones({2, 3}).t(),
      at::ones({2, 3, 4, 5}),
      at::ones({2, 3, 4, 5}).contiguous(c10::MemoryFormat::ChannelsLast),
      at::ones({2, 3, 4, 5}).slice(3, 1, 4),
      at::ones({2, 2, 2, 2, 3}).contiguous(c10::MemoryFormat::ChannelsLast3d),
      at::ones({1, 3}).expand({4, 3})};
  for (const at::Tensor& t : tensors) {
    std::vector<Node> sizes, strides;
    const Node any = integer(0);
    for (const int64_t n : t.sizes()) sizes.push_back(any->wrap_int(n));
    for (const int64_t n : t.strides()) strides.push_back(any->wrap_int(n));
    const auto yes = [&](const Node& node) { return node->guard_bool("", 0); };
    EXPECT_EQ(yes(any->is_contiguous(sizes, strides)), t.is_contiguous());
    EXPECT_EQ(yes(any->is_channels_last_contiguous_2d(sizes, strides)),
              t.is_contiguous(c10::MemoryFormat::ChannelsLast));
    EXPECT_EQ(yes(any->is_channels_last_contiguous_3d(sizes, strides)),
              t.is_contiguous(c10::MemoryFormat::ChannelsLast3d));
    EXPECT_LE(yes(any->is_channels_last_strides_2d(sizes, strides)),
              t.unsafeGetTensorImpl()->is_strides_like(
                  c10::MemoryFormat::ChannelsLast));
    EXPECT_LE(yes(any->is_channels_last_strides_3d(sizes, strides)),
              t.unsafeGetTensorImpl()->is_strides_like(
                  c10::MemoryFormat::ChannelsLast3d));
    EXPECT_EQ(yes(any->is_non_overlapping_and_dense(sizes, strides)),
              t.is_non_overlapping_and_dense());
  }
}

// (u0*u1)//u0 is u1 where u0 is not 0: what the simplifier leaves out is
// checked when the program runs.
TEST_F(SymNodeTest, AnUndefinedOperationLeavesACheck) {
  const Node u0 = make_sym_node(env_, env_.create_unbacked_int());
  const Node u1 = make_sym_node(env_, env_.create_unbacked_int());
  const Node quotient = u0->mul(u1)->floordiv(u0);
  EXPECT_EQ(quotient->str(), "u1");
  ASSERT_EQ(env_.runtime_asserts().size(), 1u);
  EXPECT_EQ(to_string(env_.runtime_asserts()[0].condition), "Ne(u0, 0)");
  // It is known from there on, and not said again.
  (void)u1->mod(u0);
  (void)u1->truediv(u0->mul(u0));
  const auto& asserts = env_.runtime_asserts();
  EXPECT_EQ(std::count_if(asserts.begin(), asserts.end(),
                          [](const RuntimeAssert& check) {
                            return check.message == "division by zero";
                          }),
            1);
  EXPECT_THAT(error_of([&] { u0->floordiv(u0->wrap_int(0)); }),
              HasSubstr("division by zero"));
}

}  // namespace
}  // namespace proviso
