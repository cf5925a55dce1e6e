// tracer_adapter/shape_functions/factorisations.cc - factors, inverses and
// determinants of batches of matrices, and what is solved by them.
//
// LAPACK keeps matrices column by column: a factor of sizes [b, m, n] has the
// strides [m*n, 1, m], whatever those of the input are.
#include <c10/core/ScalarType.h>

#include <string>

#include "sym/expr.h"
#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/shape_functions/common.h"
#include "tracer_adapter/shape_functions/view_layout.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

Tensor by_columns(const Dims& sizes, ScalarType dtype, c10::Device device) {
  const LayoutScope layout;
  Dims strides = contiguous_strides(sizes);
  const size_t rank = sizes.size();
  if (rank >= 2) {
    strides[rank - 1] = at_least_one(sizes[rank - 2]);
    strides[rank - 2] = 1;
  }
  return make_fake(sizes, strides, dtype, device);
}

Tensor by_columns(const Dims& sizes, const Tensor& like) {
  return by_columns(sizes, like.scalar_type(), like.device());
}

// A batch of matrices [..., rows, columns].
class Matrices {
 public:
  Matrices(const Tensor& t, const std::string& what) : self(t) {
    TORCH_CHECK(t.dim() >= 2, what,
                ": The input tensor A must have at least 2 dimensions.");
    TORCH_CHECK(t.is_floating_point() || t.is_complex(), what,
                ": Expected a floating point or complex tensor as input. Got ",
                t.scalar_type());
    split();
  }
  // Of a tensor of two dimensions at least.
  static Matrices of_any_dtype(const Tensor& t) { return Matrices(t); }

  Dims with(std::initializer_list<SymInt> more) const {
    Dims sizes = batch;
    sizes.insert(sizes.end(), more);
    return sizes;
  }
  SymInt shorter() const {
    return known_less_equal(rows, columns)   ? rows
           : known_less_equal(columns, rows) ? columns
                                             : rows.min(columns);
  }
  Tensor factor(const SymInt& m, const SymInt& n) const {
    return by_columns(with({m, n}), self);
  }
  Tensor like_self() const { return factor(rows, columns); }
  Tensor integers(const Dims& sizes) const {
    return fresh(sizes, at::kInt, self.device());
  }
  Tensor reals(const Dims& sizes) const {
    return fresh(sizes, c10::toRealValueType(self.scalar_type()),
                 self.device());
  }
  Tensor nothing() const {
    return fresh({SymInt(0)}, self.scalar_type(), self.device());
  }

  Tensor self;
  Dims batch;
  SymInt rows, columns;

 private:
  explicit Matrices(const Tensor& t) : self(t) { split(); }
  void split() {
    batch = sizes_of(self);
    columns = batch.back();
    batch.pop_back();
    rows = batch.back();
    batch.pop_back();
  }
};

Matrices square(const Tensor& t, const std::string& what) {
  Matrices a(t, what);
  PROVISO_REQUIRE(a.rows.sym_eq(a.columns), what,
                  ": A must be batches of square matrices, but they are ",
                  a.rows, " by ", a.columns, " matrices");
  return a;
}

// A factor of a square matrix and an error code a matrix.
bool square_and_info(RuleCall& call) {
  const Matrices a = square(call.tensor(0), std::string(op_name(call)));
  call.returns(a.like_self());
  call.returns(a.integers(a.batch));
  return true;
}

// (determinant, LU, pivots); slogdet has the logarithm beside the sign.
bool determinant(RuleCall& call) {
  const bool logarithm = op_name(call) == "_linalg_slogdet";
  const Matrices a =
      square(call.tensor(0), logarithm ? "linalg.slogdet" : "linalg.det");
  call.returns(fresh(a.batch, a.self.scalar_type(), a.self.device()));
  if (logarithm) call.returns(a.reals(a.batch));
  call.returns(a.like_self());
  call.returns(a.integers(a.with({a.rows})));
  return true;
}

// (Q, R)
bool qr(RuleCall& call) {
  const Matrices a(call.tensor(0), "linalg.qr");
  const std::string& mode = call.args[1].toStringRef();
  TORCH_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
              "qr received unrecognized mode '", mode,
              "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const SymInt inner = mode == "complete" ? a.rows : a.shorter();
  call.returns(mode == "r" ? a.nothing() : a.factor(a.rows, inner));
  call.returns(a.factor(inner, a.columns));
  return true;
}

// (a, tau): the reflections of a QR
bool geqrf(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() >= 2,
              "torch.geqrf: input must have at least 2 dimensions.");
  const Matrices a(self, "torch.geqrf");
  call.returns(a.like_self());
  call.returns(fresh(a.with({a.shorter()}), self.scalar_type(), self.device()));
  return true;
}

// (U, S, Vh)
bool svd(RuleCall& call) {
  const Matrices a(call.tensor(0), "linalg.svd");
  const bool full = call.args[1].toBool(), vectors = call.args[2].toBool();
  const SymInt k = a.shorter();
  call.returns(vectors ? a.factor(a.rows, full ? a.rows : k) : a.nothing());
  call.returns(a.reals(a.with({k})));
  call.returns(vectors ? a.factor(full ? a.columns : k, a.columns)
                       : a.nothing());
  return true;
}

// (values, vectors) of a symmetric matrix.
bool eigh(RuleCall& call) {
  const Matrices a = square(call.tensor(0), "linalg.eigh");
  call.returns(a.reals(a.with({a.rows})));
  call.returns(call.args[2].toBool() ? a.like_self() : a.nothing());
  return true;
}

// (values, vectors), or the values alone.
bool eig(RuleCall& call) {
  const Matrices a = square(call.tensor(0), "linalg.eig");
  const ScalarType dtype = c10::toComplexType(a.self.scalar_type());
  call.returns(fresh(a.with({a.rows}), dtype, a.self.device()));
  if (return_count(call) > 1)
    call.returns(
        by_columns(a.with({a.rows, a.columns}), dtype, a.self.device()));
  return true;
}

// (LU, pivots, info)
bool lu_factor(RuleCall& call) {
  const Matrices a(call.tensor(0), "torch.lu_factor");
  call.returns(a.like_self());
  call.returns(a.integers(a.with({a.shorter()})));
  call.returns(a.integers(a.batch));
  return true;
}

// (P, L, U) of an LU
void return_unpacked(RuleCall& call, const Matrices& a, bool data,
                     bool pivots) {
  const SymInt k = a.shorter();
  const auto made = [&](const SymInt& m, const SymInt& n, bool is_wanted) {
    return is_wanted
               ? fresh(a.with({m, n}), a.self.scalar_type(), a.self.device())
               : a.nothing();
  };
  call.returns(made(a.rows, a.rows, pivots));
  call.returns(made(a.rows, k, data));
  call.returns(made(k, a.columns, data));
}

void require_lapack(const Tensor& t, const char* kernel) {
  const ScalarType real = c10::toRealValueType(t.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(
      real == ScalarType::Float || real == ScalarType::Double, '"', kernel,
      "\" not implemented for '", c10::toString(t.scalar_type()), "'");
}

// linalg_lu(A, pivot)
bool lu(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(
      self.dim() >= 2,
      "linalg.lu: Expected tensor with 2 or more dimensions. Got size: ",
      to_text(self.sym_sizes()), " instead");
  require_lapack(self, "lu_cpu");
  TORCH_CHECK(call.args[1].toBool() || !self.is_cpu(),
              "linalg.lu_factor: LU without pivoting is not implemented on the "
              "CPU");
  return_unpacked(call, Matrices(self, "linalg.lu"), true, true);
  return true;
}

// A number a row, in each matrix of the batch.
void require_pivots(const Matrices& a, const Tensor& pivots,
                    const SymInt& count, const char* what) {
  bool fits = pivots.dim() == a.self.dim() - 1;
  for (size_t d = 0; fits && d < a.batch.size(); ++d)
    fits = expect(pivots.sym_size(static_cast<int64_t>(d)).sym_eq(a.batch[d]));
  TORCH_CHECK(
      fits && expect(pivots.sym_size(-1).sym_eq(count)), what, ": Expected ",
      count, " pivots for each matrix of the batch, but got matrices of sizes ",
      to_text(a.self.sym_sizes()), " and pivots of sizes ",
      to_text(pivots.sym_sizes()));
}

// lu_unpack(LU, pivots, unpack_data, unpack_pivots): what the pivots say is
// looked at by the kernel, and how many there are is not.
bool lu_unpack(RuleCall& call) {
  const Tensor &self = call.tensor(0), &pivots = call.tensor(1);
  TORCH_CHECK(self.dim() >= 2,
              "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got "
              "size: ",
              to_text(self.sym_sizes()), " instead");
  const Matrices a = Matrices::of_any_dtype(self);
  const bool data = call.args[2].toBool(), permutes = call.args[3].toBool();
  if (permutes) {
    TORCH_CHECK(
        pivots.scalar_type() == at::kInt,
        "torch.lu_unpack: LU_pivots is expected to be a contiguous "
        "tensor of torch.int32 dtype.\nNote: this function is intended "
        "to be used with the output produced by torch.linalg.lu_factor");
    require_pivots(a, pivots, a.shorter(), "torch.lu_unpack");
  }
  return_unpacked(call, a, data, permutes);
  return true;
}

// linalg_ldl_factor_ex(A, hermitian, check_errors): (LD, pivots, info)
bool ldl_factor(RuleCall& call) {
  const Matrices a = square(call.tensor(0), "torch.linalg.ldl_factor_ex");
  require_lapack(a.self, "ldl_factor_kernel_cpu");
  call.returns(a.like_self());
  call.returns(a.integers(a.with({a.rows})));
  call.returns(a.integers(a.batch));
  return true;
}

// The batches of two inputs as one.
Dims common_batch(const Matrices& a, const Matrices& b) {
  return broadcast(a.batch, b.batch);
}

// A vector a matrix, in place of a matrix of right hand sides.
bool is_vector_side(const Tensor& a, const Tensor& b) {
  if (b.dim() == 1) return true;
  if (b.dim() != a.dim() - 1) return false;
  for (int64_t d = 0; d < b.dim(); ++d)
    if (!branches_on(b.sym_size(d).sym_eq(a.sym_size(d)))) return false;
  return true;
}

void require_fitting(const Matrices& a, const Matrices& b, bool left,
                     const std::string& what) {
  PROVISO_REQUIRE((left ? b.rows.sym_eq(a.rows) : b.columns.sym_eq(a.columns)),
                  what, ": Incompatible shapes of A and B for the equation ",
                  left ? "AX = B" : "XA = B", " (", a.rows, "x", a.columns,
                  " and ", b.rows, "x", b.columns, ")");
}

void require_one_dtype(const Tensor& a, const Tensor& b,
                       const std::string& what) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), what,
              ": Expected A and B to have the same dtype, but found A of type ",
              a.scalar_type(), " and B of type ", b.scalar_type(), " instead");
}

// (X, LU, pivots, info)
bool solve_ex(RuleCall& call) {
  const Tensor& b = call.tensor(1);
  const Matrices a = square(call.tensor(0), "linalg.solve");
  require_one_dtype(a.self, b, "linalg.solve");
  const bool left = call.args[2].toBool();
  const bool is_vector = is_vector_side(a.self, b);
  TORCH_CHECK(left || !is_vector,
              "linalg.solve: Vector broadcasting of the left hand side is not "
              "supported for left=False");
  Dims sizes;
  if (is_vector) {
    PROVISO_REQUIRE(b.sym_size(-1).sym_eq(a.rows),
                    "linalg.solve: Incompatible shapes of A and B for the "
                    "equation AX = B (",
                    a.rows, "x", a.columns, " and ", b.sym_size(-1), "x1)");
    sizes = broadcast(a.batch,
                      Dims(b.sym_sizes().begin(), b.sym_sizes().end() - 1));
    sizes.push_back(a.rows);
  } else {
    const Matrices sides(b, "linalg.solve");
    require_fitting(a, sides, left, "linalg.solve");
    sizes = common_batch(a, sides);
    sizes.insert(sizes.end(), {sides.rows, sides.columns});
  }
  call.returns(left ? by_columns(sizes, b)
                    : fresh(sizes, b.scalar_type(), b.device()));
  call.returns(a.like_self());
  call.returns(a.integers(a.with({a.rows})));
  call.returns(a.integers(a.batch));
  return true;
}

// linalg_lu_solve(LU, pivots, B, left, adjoint)
bool lu_solve(RuleCall& call) {
  const char* name = "linalg.lu_solve";
  const Tensor& pivots = call.tensor(1);
  const Matrices a = square(call.tensor(0), "torch.linalg.lu_solve");
  require_lapack(a.self, "linalg.lu_solve_cpu");
  require_one_dtype(a.self, call.tensor(2), name);
  TORCH_CHECK(pivots.scalar_type() == at::kInt, name,
              ": pivots should be a Tensor of scalar type torch.int32");
  const Matrices b(call.tensor(2), name);
  const bool left = arg(call, "left").toBool();
  require_fitting(a, b, left, name);
  require_pivots(a, pivots, a.rows, name);
  Dims sizes = common_batch(a, b);
  sizes.insert(sizes.end(), {b.rows, b.columns});
  call.returns(left ? by_columns(sizes, b.self)
                    : fresh(sizes, b.self.scalar_type(), b.self.device()));
  return true;
}

// linalg_ldl_solve(LD, pivots, B, hermitian).  The kernel takes the pivots of
// the matrix after matrix of B: eager reads on where LD has fewer.
bool ldl_solve(RuleCall& call) {
  const char* name = "torch.linalg.ldl_solve";
  const Tensor& pivots = call.tensor(1);
  const Matrices a = square(call.tensor(0), name);
  const Matrices b(call.tensor(2), name);
  require_lapack(a.self, "ldl_solve_kernel_cpu");
  require_one_dtype(a.self, b.self, name);
  TORCH_CHECK(c10::isIntegralType(pivots.scalar_type(), false), name,
              ": Expected pivots to be integers. Got ", pivots.scalar_type());
  require_fitting(a, b, true, name);
  require_pivots(a, pivots, a.rows, name);
  Dims sizes = common_batch(a, b);
  bool has_all = a.batch.empty() || a.batch.size() == sizes.size();
  for (size_t d = 0; has_all && d < a.batch.size(); ++d)
    has_all = expect(a.batch[d].sym_eq(sizes[d]));
  TORCH_CHECK(has_all, name,
              ": LD must be one matrix or have the batch of the "
              "result ",
              to_text(sizes), ", but it has sizes ",
              to_text(a.self.sym_sizes()));
  sizes.insert(sizes.end(), {b.rows, b.columns});
  call.returns(by_columns(sizes, b.self));
  return true;
}

// linalg_solve_triangular(A, B, upper, left, unitriangular)
bool solve_triangular(RuleCall& call) {
  const Matrices a = square(call.tensor(0), "linalg.solve_triangular");
  const Matrices b(call.tensor(1), "linalg.solve_triangular");
  require_one_dtype(a.self, b.self, "linalg.solve_triangular");
  require_fitting(a, b, arg(call, "left").toBool(), "linalg.solve_triangular");
  Dims sizes = common_batch(a, b);
  sizes.insert(sizes.end(), {b.rows, b.columns});
  call.returns(by_columns(sizes, b.self));
  return true;
}

// triangular_solve(B, A, upper, transpose, unitriangular): (X, a copy of A)
bool triangular_solve(RuleCall& call) {
  const Matrices b(call.tensor(0), "torch.triangular_solve");
  const Matrices a = square(call.tensor(1), "torch.triangular_solve");
  require_one_dtype(a.self, b.self, "torch.triangular_solve");
  require_fitting(a, b, true, "torch.triangular_solve");
  const Dims batch = common_batch(a, b);
  for (const Matrices* m : {&b, &a}) {
    Dims sizes = batch;
    sizes.insert(sizes.end(), {m->rows, m->columns});
    call.returns(by_columns(sizes, m->self));
  }
  return true;
}

// cholesky_solve(B, L, upper)
bool cholesky_solve(RuleCall& call) {
  const Matrices b(call.tensor(0), "cholesky_solve");
  const Matrices a = square(call.tensor(1), "cholesky_solve");
  require_fitting(a, b, true, "cholesky_solve");
  Dims sizes = common_batch(a, b);
  sizes.insert(sizes.end(), {b.rows, b.columns});
  call.returns(by_columns(sizes, b.self));
  return true;
}

// What the least-squares solvers leave beside the solution.
struct LeastSquares {
  bool residuals, rank, singular_values;
};

LeastSquares kept_by(const std::string& driver) {
  TORCH_CHECK(driver == "gels" || driver == "gelsy" || driver == "gelsd" ||
                  driver == "gelss",
              "torch.linalg.lstsq: parameter `driver` should be one of (gels, "
              "gelsy, gelsd, gelss)");
  const bool values = driver == "gelsd" || driver == "gelss";
  return {driver != "gelsy", driver != "gels", values};
}

// More equations than unknowns leave residuals, one a right-hand side, which
// drivers that find the rank keep where it is full.  Of one system there is a
// dimension of them even so.
Dims residuals_of(RuleCall& call, const Matrices& a, const Dims& batch,
                  const SymInt& sides, bool rank_decides) {
  const c10::SymBool has_some = a.rows.sym_gt(a.columns);
  if (batch.empty() && !rank_decides) {
    ShapeEnv& env = call.env();
    const Expr count = where(to_expr(env, has_some), to_expr(env, sides),
                             env.pool().integer(0));
    return {to_sym_int(env, env.simplify(count))};
  }
  if (!branches_on(has_some)) return {SymInt(0)};
  if (batch.empty()) return {fresh_size(call, sides)};
  TORCH_CHECK_NOT_IMPLEMENTED(
      !rank_decides,
      "Proviso: linalg.lstsq: with the drivers gelsd and gelss the rank "
      "decides how many dimensions the residuals of a batch have; name the "
      "driver gels or gelsy");
  Dims sizes = batch;
  sizes.push_back(sides);
  return sizes;
}

// linalg_lstsq(A, B, rcond, driver): (solution, residuals, rank, singular
// values).  LAPACK solves in as many rows as the longer side has, and the
// solution is the first of them.
bool lstsq(RuleCall& call) {
  const Tensor& b = call.tensor(1);
  TORCH_CHECK(call.tensor(0).dim() >= 2,
              "torch.linalg.lstsq: input must have at least 2 dimensions.");
  TORCH_CHECK(b.dim() >= 1,
              "torch.linalg.lstsq: other must have at least 1 dimension.");
  const Matrices a(call.tensor(0), "torch.linalg.lstsq");
  const int64_t missing = a.self.dim() - b.dim();
  TORCH_CHECK(missing == 0 || missing == 1,
              "torch.linalg.lstsq: input.dim() must be greater or equal to "
              "other.dim() and (input.dim() - other.dim()) <= 1");
  require_one_dtype(a.self, b, "torch.linalg.lstsq");
  const bool is_vector = is_vector_side(a.self, b);
  TORCH_CHECK(is_vector || missing == 0,
              "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  const SymInt given = b.sym_size(is_vector ? -1 : -2);
  PROVISO_REQUIRE(given.sym_eq(a.rows),
                  "torch.linalg.lstsq: input.size(-2) should match other.size(",
                  is_vector ? -1 : -2, ")");
  const SymInt sides = is_vector ? SymInt(1) : b.sym_size(-1);
  const auto wanted =
      call.args[3].isNone() ? std::string("gelsy") : call.args[3].toStringRef();
  // LAPACK's function ends the process without a right-hand side.
  if (wanted == "gelss")
    PROVISO_REQUIRE(sides.sym_ge(1).sym_or(a.self.sym_numel().sym_eq(0)),
                    "torch.linalg.lstsq: the driver gelss needs a right-hand "
                    "side, got other of sizes ",
                    to_text(b.sym_sizes()));
  Dims sizes = broadcast(a.batch, Dims(b.sym_sizes().begin(),
                                       b.sym_sizes().end() - 2 + is_vector));
  const Dims batch = sizes;
  const LeastSquares kept = kept_by(wanted);
  const SymInt longer = known_less_equal(a.rows, a.columns) ? a.columns
                        : known_less_equal(a.columns, a.rows)
                            ? a.rows
                            : a.rows.max(a.columns);
  sizes.push_back(longer);
  if (!is_vector) sizes.push_back(sides);
  const Tensor solved = is_vector ? fresh(sizes, b.scalar_type(), b.device())
                                  : by_columns(sizes, b);
  sizes[batch.size()] = a.columns;
  call.returns(
      make_fake(sizes, solved.sym_strides(), b.scalar_type(), b.device()));
  const Dims none{SymInt(0)};
  call.returns(a.reals(
      kept.residuals ? residuals_of(call, a, batch, sides, kept.singular_values)
                     : none));
  call.returns(
      fresh(kept.rank ? a.batch : none, ScalarType::Long, a.self.device()));
  call.returns(a.reals(kept.singular_values ? a.with({a.shorter()}) : none));
  return true;
}

bool square_by_columns(RuleCall& call) {
  call.returns(square(call.tensor(0), std::string(op_name(call))).like_self());
  return true;
}

// `t` has the batch of the matrices that geqrf() left.
void require_batch(const Matrices& a, const Tensor& t, const char* what,
                   const char* name) {
  for (size_t d = 0; d < a.batch.size(); ++d)
    PROVISO_REQUIRE(a.batch[d].sym_eq(t.sym_size(static_cast<int64_t>(d))),
                    what, ": Expected batch dimensions of ", name,
                    " to be equal to input.shape[:-2]");
}

void require_tau(const Matrices& a, const Tensor& tau, const char* what) {
  require_one_dtype(a.self, tau, what);
  TORCH_CHECK(tau.dim() == a.self.dim() - 1, what,
              ": Expected tau to have one dimension less than input, but got "
              "tau.ndim equal to ",
              tau.dim(), " and input.ndim is equal to ", a.self.dim());
}

// The product of the reflections that geqrf() left.
bool householder_product(RuleCall& call) {
  const Matrices a(call.tensor(0), "torch.linalg.householder_product");
  const Tensor& tau = call.tensor(1);
  const char* name = "torch.linalg.householder_product";
  require_tau(a, tau, name);
  PROVISO_REQUIRE(a.rows.sym_ge(a.columns), name,
                  ": input.shape[-2] must be greater than or equal to "
                  "input.shape[-1]");
  PROVISO_REQUIRE(a.columns.sym_ge(tau.sym_size(-1)), name,
                  ": input.shape[-1] must be greater than or equal to "
                  "tau.shape[-1]");
  require_batch(a, tau, name, "tau");
  call.returns(a.like_self());
  return true;
}

// ormqr(input, tau, other, left, transpose): other times those reflections.
bool ormqr(RuleCall& call) {
  const char* name = "torch.ormqr";
  const Tensor &input = call.tensor(0), &tau = call.tensor(1),
               &other = call.tensor(2);
  TORCH_CHECK(input.dim() >= 2, name,
              ": input must have at least 2 dimensions.");
  TORCH_CHECK(other.dim() >= 2, name,
              ": other must have at least 2 dimensions.");
  const Matrices a(input, name), b(other, name);
  const bool left = call.args[3].toBool();
  const SymInt side = left ? b.rows : b.columns;
  PROVISO_REQUIRE(side.sym_eq(a.rows), name, ": other.shape[", left ? -2 : -1,
                  "] must be equal to input.shape[-2]");
  require_tau(a, tau, name);
  PROVISO_REQUIRE(tau.sym_size(-1).sym_eq(a.shorter()), name,
                  ": tau.shape[-1] must be equal to min(other.shape[",
                  left ? -2 : -1, "], input.shape[-1])");
  TORCH_CHECK(input.dim() == other.dim(), name,
              ": Expected other to have the same number of dimensions as "
              "input, but got other.ndim equal to ",
              other.dim(), " and input.ndim is equal to ", input.dim());
  require_batch(a, tau, name, "tau");
  require_batch(a, other, name, "other");
  require_one_dtype(input, other, name);
  require_lapack(input, "ormqr_cpu");
  call.returns(b.like_self());
  return true;
}

bool matrix_exp(RuleCall& call) {
  const Matrices a = square(call.tensor(0), "linalg.matrix_exp");
  call.returns(fresh(sizes_of(a.self), a.self.scalar_type(), a.self.device()));
  return true;
}

bool pinv(RuleCall& call) {
  const Matrices a(call.tensor(0), "linalg.pinv");
  if (arg(call, "hermitian").toBool()) square(call.tensor(0), "linalg.pinv");
  call.returns(fresh(a.with({a.columns, a.rows}), a.self.scalar_type(),
                     a.self.device()));
  return true;
}

// How many singular values are above the tolerances.  The kernel asks whether
// there is an element; without one the ranks are 0.
bool matrix_rank(RuleCall& call) {
  const Matrices a(call.tensor(0), "torch.linalg.matrix_rank");
  if (arg(call, "hermitian").toBool() && !known_equal(a.rows, a.columns))
    PROVISO_REQUIRE(
        a.rows.sym_eq(a.columns).sym_or(a.self.sym_numel().sym_eq(0)),
        "linalg.eigh: A must be batches of square matrices, but they are ",
        a.rows, " by ", a.columns, " matrices");
  Dims sizes = a.batch;
  for (const char* name : {"tol", "atol", "rtol"}) {
    const IValue& limit = arg(call, name);
    if (!limit.isTensor() || limit.toTensor().dim() == 0) continue;
    if (branches_on(a.self.sym_numel().sym_eq(0))) break;
    sizes = broadcast(sizes, sizes_of(limit.toTensor()));
  }
  call.returns(fresh(sizes, ScalarType::Long, a.self.device()));
  return true;
}

// linalg_cross(a, b, dim): of vectors of three elements.
bool cross(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  TORCH_CHECK(a.dim() == b.dim(),
              "linalg.cross: inputs must have the same number of dimensions.");
  const int64_t dim = wrap_dim(arg(call, "dim").toInt(), a.dim());
  const auto is_three = [&](const Tensor& t) {
    return expect(t.sym_size(dim).sym_eq(3));
  };
  TORCH_CHECK(is_three(a) && is_three(b), "linalg.cross: inputs dimension ",
              dim, " must have length 3. Got ", a.sym_size(dim), " and ",
              b.sym_size(dim));
  Promotion promotion;
  promotion.add(a);
  promotion.add(b);
  call.returns(fresh(broadcast(sizes_of(a), sizes_of(b)), promotion.result(),
                     a.device()));
  return true;
}

// The product of a chain of matrices; a vector may begin and end it.
bool multi_dot(RuleCall& call) {
  const std::vector<Tensor> chain = to_tensors(call.args[0]);
  TORCH_CHECK(chain.size() >= 2,
              "multi_dot(): expected at least 2 tensors but got ",
              chain.size());
  Dims sizes;
  SymInt inner;
  for (size_t i = 0; i < chain.size(); ++i) {
    const Tensor& t = chain[i];
    const bool is_end = i == 0 || i + 1 == chain.size();
    TORCH_CHECK(t.dim() == 2 || (is_end && t.dim() == 1),
                "multi_dot(): tensor ", i, " must be ", is_end ? "1D or " : "",
                "2D but got ", t.dim(), "D");
    TORCH_CHECK(t.scalar_type() == chain[0].scalar_type(),
                "multi_dot(): all tensors must have be the same dtype but "
                "tensor 0 is ",
                chain[0].scalar_type(), " and tensor ", i, " ",
                t.scalar_type());
    if (i == 0) {
      if (t.dim() == 2) sizes.push_back(t.sym_size(0));
    } else {
      PROVISO_REQUIRE(inner.sym_eq(t.sym_size(0)), "multi_dot(): tensors ",
                      i - 1, " and ", i, " with shapes ",
                      to_text(chain[i - 1].sym_sizes()), " and ",
                      to_text(t.sym_sizes()), " cannot be multiplied");
      if (i + 1 == chain.size() && t.dim() == 2) sizes.push_back(t.sym_size(1));
    }
    inner = t.sym_size(-1);
  }
  call.returns(fresh(sizes, chain[0].scalar_type(), chain[0].device()));
  return true;
}

// addr(self, a, b): self + the outer product of two vectors.
bool addr(RuleCall& call) {
  const Tensor &a = call.tensor(1), &b = call.tensor(2);
  TORCH_CHECK(a.dim() == 1 && b.dim() == 1,
              "addr: Expected 1-D argument vec1 and vec2, but got ", a.dim(),
              "-D and ", b.dim(), "-D");
  const Dims sizes{a.sym_size(0), b.sym_size(0)};
  const Dims whole = broadcast(sizes_of(call.tensor(0)), sizes);
  TORCH_CHECK(whole.size() == 2, "addr: self has ", call.tensor(0).dim(),
              " dimensions; give it 2 at the most");
  Promotion promotion;
  for (size_t i = 0; i < 3; ++i) promotion.add(call.args[i]);
  if (op_name(call) == "addr_") {
    const Tensor& self = call.tensor(0);
    require_castable(promotion.result(), self.scalar_type());
    TORCH_CHECK(self.dim() == 2, "addr_: self has ", self.dim(),
                " dimensions; give it 2");
    for (int64_t d = 0; d < 2; ++d) {
      PROVISO_REQUIRE(self.sym_size(d).sym_eq(sizes[d]),
                      "addr_: self must be of the result's shape ",
                      to_text(sizes), ", but got ", to_text(self.sym_sizes()));
    }
    return return_self(call);
  }
  call.returns(fresh(sizes, promotion.result(), a.device()));
  return true;
}

bool trace(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() == 2,
              "trace: expected a matrix, but got tensor with "
              "dim ",
              self.dim());
  const ScalarType dtype = c10::isIntegralType(self.scalar_type(), true)
                               ? at::kLong
                               : self.scalar_type();
  call.returns(fresh({}, dtype, self.device()));
  return true;
}

// One block after another, along rows and columns.
bool block_diag(RuleCall& call) {
  const std::vector<Tensor> blocks = to_tensors(call.args[0]);
  if (blocks.empty()) return false;
  SymInt rows = 0, columns = 0;
  Promotion promotion;
  for (const Tensor& t : blocks) {
    TORCH_CHECK(t.dim() <= 2,
                "torch.block_diag: Input tensors must have 2 or "
                "fewer dimensions. Input has ",
                t.dim(), " dimensions");
    rows = rows + (t.dim() < 2 ? SymInt(1) : t.sym_size(0));
    columns = columns + (t.dim() == 0 ? SymInt(1) : t.sym_size(-1));
    promotion.add(t);
  }
  call.returns(fresh({rows, columns}, promotion.result(), blocks[0].device()));
  return true;
}

const RuleEntry kFactorisationRules[] = {
    {"aten::addr", addr, "linear algebra"},
    {"aten::addr_", addr, "linear algebra"},
    {"aten::block_diag", block_diag, "linear algebra"},
    {"aten::cholesky", square_by_columns, "linear algebra"},
    {"aten::cholesky_inverse", square_by_columns, "linear algebra"},
    {"aten::cholesky_solve", cholesky_solve, "linear algebra"},
    {"aten::_linalg_det", determinant, "linear algebra"},
    {"aten::_linalg_eigh", eigh, "linear algebra"},
    {"aten::_linalg_eigvals", eig, "linear algebra"},
    {"aten::_linalg_slogdet", determinant, "linear algebra"},
    {"aten::_linalg_solve_ex", solve_ex, "linear algebra"},
    {"aten::_linalg_svd", svd, "linear algebra"},
    {"aten::_linalg_check_errors", return_nothing, "linear algebra"},
    {"aten::linalg_cholesky_ex", square_and_info, "linear algebra"},
    {"aten::linalg_cross", cross, "linear algebra"},
    {"aten::linalg_eig", eig, "linear algebra"},
    {"aten::linalg_householder_product", householder_product, "linear algebra"},
    {"aten::linalg_inv_ex", square_and_info, "linear algebra"},
    {"aten::linalg_lstsq", lstsq, "linear algebra"},
    {"aten::linalg_ldl_factor_ex", ldl_factor, "linear algebra"},
    {"aten::linalg_ldl_solve", ldl_solve, "linear algebra"},
    {"aten::linalg_lu", lu, "linear algebra"},
    {"aten::linalg_lu_factor_ex", lu_factor, "linear algebra"},
    {"aten::linalg_lu_solve", lu_solve, "linear algebra"},
    {"aten::linalg_matrix_exp", matrix_exp, "linear algebra"},
    {"aten::linalg_matrix_rank", matrix_rank, "linear algebra"},
    {"aten::linalg_multi_dot", multi_dot, "linear algebra"},
    {"aten::linalg_pinv.atol_rtol_tensor", pinv, "linear algebra"},
    {"aten::geqrf", geqrf, "linear algebra"},
    {"aten::linalg_qr", qr, "linear algebra"},
    {"aten::linalg_solve_triangular", solve_triangular, "linear algebra"},
    {"aten::lu_unpack", lu_unpack, "linear algebra"},
    {"aten::ormqr", ormqr, "linear algebra"},
    {"aten::trace", trace, "linear algebra"},
    {"aten::triangular_solve", triangular_solve, "linear algebra"},
};

}  // namespace

void register_factorisation_rules() { register_rules(kFactorisationRules); }

}  // namespace proviso::inline v0_2
