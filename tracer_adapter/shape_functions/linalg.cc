// tracer_adapter/shape_functions/linalg.cc - products of matrices and batches
// of them, attention.  Results are contiguous but for attention.
#include <algorithm>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

void require_same_dtype(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", a.dtype(),
              " != ", b.dtype());
}

void require_inner(const SymInt& a, const SymInt& b, const Tensor& m1,
                   const Tensor& m2) {
  if (known_equal(a, b)) return;
  PROVISO_REQUIRE(a.sym_eq(b), "mat1 and mat2 shapes cannot be multiplied (",
                  to_text(m1.sym_sizes()), " and ", to_text(m2.sym_sizes()),
                  ")");
}

void require_mat(const Tensor& t, int64_t rank, const char* name) {
  TORCH_CHECK(t.dim() == rank, name, " must be a ", rank, "-D tensor, got ",
              t.dim(), "-D");
}

Tensor mm_of(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 2, "self must be a matrix");
  TORCH_CHECK(b.dim() == 2, "mat2 must be a matrix");
  require_inner(a.sym_size(1), b.sym_size(0), a, b);
  require_same_dtype(a, b);
  return fresh({a.sym_size(0), b.sym_size(1)}, a.scalar_type(), a.device());
}

Tensor bmm_of(const Tensor& a, const Tensor& b) {
  require_mat(a, 3, "batch1");
  require_mat(b, 3, "batch2");
  PROVISO_REQUIRE(a.sym_size(0).sym_eq(b.sym_size(0)),
                  "Expected size for first two dimensions of batch2 tensor to "
                  "be: [",
                  a.sym_size(0), ", ", a.sym_size(2), "] but got: [",
                  b.sym_size(0), ", ", b.sym_size(1), "].");
  PROVISO_REQUIRE(a.sym_size(2).sym_eq(b.sym_size(1)),
                  "Expected size for first two dimensions of batch2 tensor to "
                  "be: [",
                  a.sym_size(0), ", ", a.sym_size(2), "] but got: [",
                  b.sym_size(0), ", ", b.sym_size(1), "].");
  require_same_dtype(a, b);
  return fresh({a.sym_size(0), a.sym_size(1), b.sym_size(2)}, a.scalar_type(),
               a.device());
}

bool mm(RuleCall& call) {
  call.returns(mm_of(call.tensor(0), call.tensor(1)));
  return true;
}

bool bmm(RuleCall& call) {
  call.returns(bmm_of(call.tensor(0), call.tensor(1)));
  return true;
}

// The added term must broadcast to the product's shape.
void require_expands(const Tensor& term, const Tensor& result) {
  Dims shape = broadcast(sizes_of(term), sizes_of(result));
  TORCH_CHECK(shape.size() == static_cast<size_t>(result.dim()), "expand(",
              to_text(term.sym_sizes()), "): cannot be expanded to ",
              to_text(result.sym_sizes()));
}

bool addmm(RuleCall& call) {
  Tensor result = mm_of(call.tensor(1), call.tensor(2));
  require_expands(call.tensor(0), result);
  call.returns(result);
  return true;
}

bool baddbmm(RuleCall& call) {
  Tensor result = bmm_of(call.tensor(1), call.tensor(2));
  require_expands(call.tensor(0), result);
  call.returns(result);
  return true;
}

bool addbmm(RuleCall& call) {
  Tensor batched = bmm_of(call.tensor(1), call.tensor(2));
  Tensor result = fresh({batched.sym_size(1), batched.sym_size(2)},
                        batched.scalar_type(), batched.device());
  require_expands(call.tensor(0), result);
  call.returns(result);
  return true;
}

bool mv(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  TORCH_CHECK(a.dim() == 2 && b.dim() == 1,
              "vector + matrix @ vector expected, "
              "got ",
              1, ", ", a.dim(), ", ", b.dim());
  PROVISO_REQUIRE(a.sym_size(1).sym_eq(b.sym_size(0)),
                  "size mismatch, got input (", a.sym_size(0), "), mat (",
                  a.sym_size(0), "x", a.sym_size(1), "), vec (", b.sym_size(0),
                  ")");
  call.returns(fresh({a.sym_size(0)}, a.scalar_type(), a.device()));
  return true;
}

bool addmv(RuleCall& call) {
  const Tensor& a = call.tensor(1);
  PROVISO_REQUIRE(a.sym_size(1).sym_eq(call.tensor(2).sym_size(0)),
                  "size mismatch, got mat (", a.sym_size(0), "x", a.sym_size(1),
                  "), vec (", call.tensor(2).sym_size(0), ")");
  call.returns(fresh({a.sym_size(0)}, a.scalar_type(), a.device()));
  return true;
}

bool dot(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  TORCH_CHECK(a.dim() == 1 && b.dim() == 1, "1D tensors expected, but got ",
              a.dim(), "D and ", b.dim(), "D tensors");
  PROVISO_REQUIRE(a.sym_size(0).sym_eq(b.sym_size(0)),
                  "inconsistent tensor "
                  "size, expected tensor [",
                  a.sym_size(0), "] and src [", b.sym_size(0),
                  "] to have the same number of elements, but "
                  "got ",
                  a.sym_size(0), " and ", b.sym_size(0),
                  " elements respectively");
  call.returns(fresh({}, a.scalar_type(), a.device()));
  return true;
}

// matmul: a vector on the left is a row, on the right a column; the batch
// dimensions broadcast.
bool matmul(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  TORCH_CHECK(a.dim() != 0 && b.dim() != 0,
              "both arguments to matmul need to "
              "be at least 1D, but they are ",
              a.dim(), "D and ", b.dim(), "D");
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", a.dtype(),
              " != ", b.dtype());
  Dims x = sizes_of(a), y = sizes_of(b);
  bool row = x.size() == 1, column = y.size() == 1;
  if (row) x.insert(x.begin(), SymInt(1));
  if (column) y.push_back(SymInt(1));
  require_inner(x.back(), y[y.size() - 2], a, b);
  Dims result =
      broadcast(Dims(x.begin(), x.end() - 2), Dims(y.begin(), y.end() - 2));
  if (!row) result.push_back(x[x.size() - 2]);
  if (!column) result.push_back(y.back());
  call.returns(fresh(result, a.scalar_type(), a.device()));
  return true;
}

bool linear(RuleCall& call) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1);
  TORCH_CHECK(weight.dim() == 1 || weight.dim() == 2,
              "linear(): weight must be 1-D or 2-D, got ", weight.dim(), "-D");
  TORCH_CHECK(input.dim() > 0,
              "both arguments to linear need to be at least "
              "1D, but they are ",
              input.dim(), "D and ", weight.dim(), "D");
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(),
              "mat1 and mat2 must have the same dtype, but got ",
              input.scalar_type(), " and ", weight.scalar_type());
  Dims sizes = sizes_of(input);
  SymInt features = sizes.back();
  if (!known_equal(features, weight.sym_size(-1))) {
    SymInt rows = product(input.sym_sizes().slice(0, sizes.size() - 1));
    PROVISO_REQUIRE(features.sym_eq(weight.sym_size(-1)),
                    "mat1 and mat2 shapes cannot be multiplied (", rows, "x",
                    features, " and ", weight.sym_size(-1), "x",
                    weight.dim() == 2 ? weight.sym_size(0) : SymInt(1), ")");
  }
  sizes.pop_back();
  if (weight.dim() == 2) sizes.push_back(weight.sym_size(0));
  if (!call.is_none(2)) {
    Tensor bias = call.tensor(2);
    Dims with_bias = broadcast(sizes, sizes_of(bias));
    TORCH_CHECK(with_bias.size() <= std::max<size_t>(sizes.size(), 1),
                "linear(): bias of size ", to_text(bias.sym_sizes()),
                " does not fit the result ", to_text(sizes));
  }
  call.returns(fresh(sizes, input.scalar_type(), input.device()));
  return true;
}

bool bilinear(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &w = call.tensor(2);
  PROVISO_REQUIRE(a.sym_size(-1).sym_eq(w.sym_size(1)),
                  "bilinear(): input1 "
                  "size does not match weight size: got ",
                  a.sym_size(-1), " but expected ", w.sym_size(1));
  PROVISO_REQUIRE(b.sym_size(-1).sym_eq(w.sym_size(2)),
                  "bilinear(): input2 "
                  "size does not match weight size: got ",
                  b.sym_size(-1), " but expected ", w.sym_size(2));
  Dims sizes = sizes_of(a);
  sizes.back() = w.sym_size(0);
  call.returns(fresh(sizes, a.scalar_type(), a.device()));
  return true;
}

// --- attention

bool guarded_equal(const SymInt& a, const SymInt& b) {
  return known_equal(a, b) || a.sym_eq(b).guard_or_false(__FILE__, __LINE__);
}

bool one_or(const SymInt& size, const SymInt& other) {
  return known_one(size) || guarded_equal(size, other);
}

// The fused kernel has no gradient of the mask, and knows masks of 2 and 4
// dimensions.
bool fuses_with(const Tensor& mask, const Tensor& q, const Tensor& k) {
  if (!mask.defined()) return true;
  if (mask.requires_grad()) return false;
  if (mask.dim() != 2 && mask.dim() != 4) return false;
  return one_or(mask.sym_size(-2), q.sym_size(2)) &&
         one_or(mask.sym_size(-1), k.sym_size(2)) &&
         (mask.dim() == 2 || (one_or(mask.sym_size(0), q.sym_size(0)) &&
                              one_or(mask.sym_size(1), q.sym_size(1))));
}

// Whether the CPU takes the fused kernel; the plain formula otherwise.  The
// choice shows in the strides alone.
bool is_fused(const Tensor& q, const Tensor& k, const Tensor& v,
              const Tensor& mask, double dropout, bool grouped) {
  bool floating = q.scalar_type() == ScalarType::Float ||
                  q.scalar_type() == ScalarType::Double ||
                  q.scalar_type() == ScalarType::BFloat16 ||
                  q.scalar_type() == ScalarType::Half;
  if (!floating || dropout != 0) return false;
  const LayoutScope layout;
  for (const Tensor* t : {&q, &k, &v}) {
    if (t->dim() != 4 || !known_one(t->sym_stride(3))) return false;
    if (known_zero(t->sym_size(2))) return false;
  }
  return guarded_equal(q.sym_size(3), k.sym_size(3)) &&
         guarded_equal(q.sym_size(3), v.sym_size(3)) &&
         guarded_equal(q.sym_size(0), k.sym_size(0)) &&
         (grouped || guarded_equal(q.sym_size(1), k.sym_size(1))) &&
         fuses_with(mask, q, k);
}

void require_attention_fits(const Tensor& q, const Tensor& k, const Tensor& v,
                            bool grouped) {
  for (const Tensor* t : {&q, &k, &v}) {
    TORCH_CHECK(t->dim() >= 2,
                "scaled_dot_product_attention: Expected query, "
                "key, and value to all be  at least 2 dimensional, but got "
                "Query dim: ",
                q.dim(), ", Key dim: ", k.dim(), " and Value dim: ", v.dim(),
                " instead.");
    TORCH_CHECK(t->scalar_type() == q.scalar_type(),
                "Expected query, key, and "
                "value to have the same dtype, but got query.dtype: ",
                q.dtype(), " key.dtype: ", k.dtype(),
                " and value.dtype: ", v.dtype(), " instead.");
  }
  PROVISO_REQUIRE(
      q.sym_size(-1).sym_eq(k.sym_size(-1)),
      "scaled_dot_product_attention: query and key must have as many "
      "features, but got ",
      q.sym_size(-1), " and ", k.sym_size(-1));
  PROVISO_REQUIRE(
      k.sym_size(-2).sym_eq(v.sym_size(-2)),
      "scaled_dot_product_attention: key and value must be as long, "
      "but got ",
      k.sym_size(-2), " and ", v.sym_size(-2));
  if (grouped) {
    for (const Tensor* t : {&k, &v}) {
      PROVISO_REQUIRE(t->sym_size(-3).sym_ge(1),
                      "Number of heads in key and value must not be 0");
      PROVISO_REQUIRE((q.sym_size(-3) % t->sym_size(-3)).sym_eq(0),
                      "Number of heads in key and value must divide the number "
                      "of heads in query");
    }
  }
}

bool attention(RuleCall& call) {
  const Tensor &q = call.tensor(0), &k = call.tensor(1), &v = call.tensor(2);
  bool grouped = flag_or(arg(call, "enable_gqa"), false);
  double dropout = call.args[4].toDouble();
  require_attention_fits(q, k, v, grouped);
  Dims sizes = sizes_of(q);
  Dims batch(sizes.begin(), sizes.end() - 2);
  if (!grouped) {
    for (const Tensor* t : {&k, &v}) {
      Dims other = sizes_of(*t);
      batch = broadcast(batch, Dims(other.begin(), other.end() - 2));
    }
  }
  if (!call.is_none(3)) {
    Dims scores = batch;
    scores.push_back(q.sym_size(-2));
    scores.push_back(k.sym_size(-2));
    broadcast(scores, sizes_of(call.tensor(3)));
  }
  Dims result = batch;
  result.push_back(q.sym_size(-2));
  result.push_back(v.sym_size(-1));
  call.returns(is_fused(q, k, v, call.optional_tensor(3), dropout, grouped)
                   ? fresh_like(q)
                   : fresh(result, q.scalar_type(), q.device()));
  return true;
}

bool flash_attention_cpu(RuleCall& call) {
  const Tensor& q = call.tensor(0);
  Dims sums_of{q.sym_size(0), q.sym_size(2), q.sym_size(1)};
  Dims strides = contiguous_strides(sums_of);
  std::swap(strides[1], strides[2]);
  std::swap(sums_of[1], sums_of[2]);
  call.returns(fresh_like(q));
  ScalarType sums = q.scalar_type() == ScalarType::Double ? ScalarType::Double
                                                          : ScalarType::Float;
  call.returns(make_fake(sums_of, strides, sums, q.device()));
  return true;
}

bool attention_choice(RuleCall& call) {
  bool fused = is_fused(call.tensor(0), call.tensor(1), call.tensor(2),
                        call.optional_tensor(3), call.args[4].toDouble(),
                        flag_or(arg(call, "enable_gqa"), false));
  call.returns(int64_t{fused ? 1 : 0});  // sdp::SDPBackend: flash or math
  return true;
}

// The whole layer at once, as nn.TransformerEncoderLayer runs it for inference.
bool encoder_layer(RuleCall& call) {
  const Tensor& source = call.tensor(0);
  call.returns(fresh(sizes_of(source), source.scalar_type(), source.device()));
  return true;
}

bool multi_head_attention(RuleCall& call) {
  const Tensor &q = call.tensor(0), &k = call.tensor(1);
  call.returns(fresh(sizes_of(q), q.scalar_type(), q.device()));
  if (!flag_or(arg(call, "need_weights"), true)) {
    call.returns(Tensor());
    return true;
  }
  Dims weights{q.sym_size(0)};
  if (!flag_or(arg(call, "average_attn_weights"), true)) {
    weights.push_back(to_sym(arg(call, "num_head")));
  }
  weights.push_back(q.sym_size(1));
  weights.push_back(k.sym_size(1));
  call.returns(fresh(weights, q.scalar_type(), q.device()));
  return true;
}

// kron: both shapes padded to a common rank, then multiplied.
bool kron(RuleCall& call) {
  Dims a = sizes_of(call.tensor(0)), b = sizes_of(call.tensor(1));
  size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), SymInt(1));
  b.insert(b.begin(), rank - b.size(), SymInt(1));
  for (size_t i = 0; i < rank; ++i) a[i] = a[i] * b[i];
  Promotion promotion;
  promotion.add(call.args[0]);
  promotion.add(call.args[1]);
  call.returns(fresh(a, promotion.result(), call.tensor(0).device()));
  return true;
}

// A dim that an input is expanded to (or that is summed away).
bool lists(const std::vector<int64_t>& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim): the product of the
// three, each with a dim of size 1 put in where its list says, summed over
// `sumdim`.
bool trilinear(RuleCall& call) {
  std::vector<int64_t> expand[3];
  for (size_t i = 0; i < 3; ++i) expand[i] = call.args[3 + i].toIntVector();
  const std::vector<int64_t> sums = call.args[6].toIntVector();
  const int64_t rank =
      call.tensor(0).dim() + static_cast<int64_t>(expand[0].size());
  const int64_t unroll = arg(call, "unroll_dim").toInt();
  TORCH_CHECK(unroll >= 0 && unroll < rank, "unroll_dim must be in [0,",
              rank - 1, "]");
  int64_t next[3] = {0, 0, 0};
  Dims sizes;
  for (int64_t d = 0; d < rank; ++d) {
    std::optional<SymInt> size;
    for (size_t i = 0; i < 3; ++i) {
      if (lists(expand[i], d)) continue;
      const Tensor& t = call.tensor(i);
      TORCH_CHECK(next[i] < t.dim(), "_trilinear: input ", i + 1, " has ",
                  t.dim(), " dims, too few for a product of ", rank);
      const SymInt here = t.sym_size(next[i]++);
      if (size)
        PROVISO_REQUIRE(size->sym_eq(here), "The size of tensor a (", *size,
                        ") must match the size of tensor b (", here,
                        ") at non-singleton dimension ", d);
      size = here;
    }
    if (!lists(sums, d)) sizes.push_back(size.value_or(SymInt(0)));
  }
  Promotion promotion;
  for (size_t i = 0; i < 3; ++i) promotion.add(call.args[i]);
  call.returns(fresh(sizes, promotion.result(), call.tensor(0).device()));
  return true;
}

// cdist(x1 (..., P, M), x2 (..., R, M)): distances (..., P, R)
bool cdist(RuleCall& call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  TORCH_CHECK(x.dim() >= 2 && y.dim() >= 2,
              "cdist only supports at least 2D tensors, X1 got: ", x.dim(),
              "D, X2 got: ", y.dim(), "D");
  PROVISO_REQUIRE(x.sym_size(-1).sym_eq(y.sym_size(-1)),
                  "X1 and X2 must have "
                  "the same number of columns. X1: ",
                  x.sym_size(-1), " X2: ", y.sym_size(-1));
  Dims a = sizes_of(x), b = sizes_of(y);
  Dims sizes =
      broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  sizes.push_back(x.sym_size(-2));
  sizes.push_back(y.sym_size(-2));
  call.returns(fresh(sizes, x.scalar_type(), x.device()));
  return true;
}

// The distances of n rows: n*(n - 1)/2 of them.
bool pdist_forward(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  require_rank(self, 2, 2, "pdist");
  const SymInt n = self.sym_size(0);
  call.returns(fresh({floor_div(times(n, n - 1), 2)}, self.scalar_type(),
                     self.device()));
  return true;
}

// --- in place

bool same_shape_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Tensor result = self.dim() == 3 ? bmm_of(call.tensor(1), call.tensor(2))
                                  : mm_of(call.tensor(1), call.tensor(2));
  for (int64_t d = 0; d < self.dim(); ++d) {
    PROVISO_REQUIRE(self.sym_size(d).sym_eq(result.sym_size(d)),
                    "The input tensor must be of the result's shape ",
                    to_text(result.sym_sizes()), ", but got ",
                    to_text(self.sym_sizes()));
  }
  return return_self(call);
}

const RuleEntry kLinalgRules[] = {
    {"aten::addbmm", addbmm, "linear algebra"},
    {"aten::addmm", addmm, "linear algebra"},
    {"aten::addmm_", same_shape_in_place, "linear algebra"},
    {"aten::addmv", addmv, "linear algebra"},
    {"aten::baddbmm", baddbmm, "linear algebra"},
    {"aten::baddbmm_", same_shape_in_place, "linear algebra"},
    {"aten::bilinear", bilinear, "linear algebra"},
    {"aten::bmm", bmm, "linear algebra"},
    {"aten::_cdist_forward", cdist, "linear algebra"},
    {"aten::cdist", cdist, "linear algebra"},
    {"aten::dot", dot, "linear algebra"},
    {"aten::kron", kron, "linear algebra"},
    {"aten::linalg_matmul", matmul, "linear algebra"},
    {"aten::linear", linear, "linear algebra"},
    {"aten::matmul", matmul, "linear algebra"},
    {"aten::mm", mm, "linear algebra"},
    {"aten::mv", mv, "linear algebra"},
    {"aten::_trilinear", trilinear, "linear algebra"},
    {"aten::vdot", dot, "linear algebra"},
    {"aten::_fused_sdp_choice", attention_choice, "attention"},
    {"aten::_native_multi_head_attention", multi_head_attention, "attention"},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", flash_attention_cpu,
     "attention"},
    {"aten::_transformer_encoder_layer_fwd", encoder_layer, "attention"},
    {"aten::scaled_dot_product_attention", attention, "attention"},
    {"aten::_pdist_forward", pdist_forward, "distance"},
};

}  // namespace

void register_linalg_rules() { register_rules(kLinalgRules); }

}  // namespace proviso::inline v0_2
