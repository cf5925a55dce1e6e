// tracer_adapter/shape_functions/views.cc - the same memory seen with other
// sizes and strides.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/split_with_sizes.h>

#include <algorithm>

#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/shape_functions/view_layout.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace shapes {

// --- reshape

namespace {

std::string invalid_shape(const Dims& wanted, const SymInt& numel) {
  std::ostringstream text;
  text << "shape '" << to_text(wanted) << "' is invalid for input of size "
       << numel;
  return text.str();
}

// That a view is possible costs a guard, where it is only at the example sizes;
// that it is not costs one when the program looks at the layout (see
// ShapeEnv::keep_layout_answers).  Data-dependent sizes that are not known
// equal count as different.
using Equal = bool (*)(const SymInt&, const SymInt&);
bool differ_at_example(const SymInt& a, const SymInt& b) {
  auto x = hint_of(a), y = hint_of(b);
  return x && y && *x != *y;
}
bool equal_or_guarded(const SymInt& a, const SymInt& b) {
  if (differ_at_example(a, b)) {
    add_layout_condition(a.sym_ne(b));
    return false;
  }
  return known_equal(a, b) || branches_on(a.sym_eq(b));
}
// A guard only where they are equal at the example sizes.
bool equal_at_example(const SymInt& a, const SymInt& b) {
  if (differ_at_example(a, b)) return false;
  return known_equal(a, b) ||
         (hint_of(a) && hint_of(b) && branches_on(a.sym_eq(b)));
}

// Whether new dimensions so far fill the run: at the example sizes, where there
// are such; cut_runs() then asks for equality once.
bool fills(const SymInt& covered, const SymInt& run) {
  auto a = hint_of(covered), b = hint_of(run);
  if (!a || !b) return known_equal(covered, run);
  if (*a < *b) add_layout_condition(covered.sym_lt(run));
  return *a >= *b;
}

// Walks both shapes from the inside: each run of dimensions of t that lies
// evenly in memory must be cut into whole new dimensions.
std::optional<Dims> cut_runs(const Tensor& t, const Dims& sizes, Equal equal) {
  auto old_sizes = t.sym_sizes(), old_strides = t.sym_strides();
  Dims strides(sizes.size());
  size_t next = sizes.size();
  SymInt base = old_strides.back(), run(1);
  for (size_t d = old_sizes.size(); d-- > 0;) {
    run = times(run, old_sizes[d]);
    bool run_goes_on = d > 0 && (equal(old_sizes[d - 1], 1) ||
                                 equal(old_strides[d - 1], times(run, base)));
    if (run_goes_on) continue;
    SymInt covered(1);
    while (next > 0 && (!fills(covered, run) || known_one(sizes[next - 1]))) {
      --next;
      strides[next] = times(covered, base);
      covered = times(covered, sizes[next]);
    }
    if (!equal(covered, run)) return std::nullopt;
    if (d > 0) base = old_strides[d - 1];
    run = 1;
  }
  if (next != 0) return std::nullopt;
  return strides;
}

}  // namespace

std::optional<Dims> view_strides(const Tensor& t, const Dims& sizes) {
  const LayoutScope layout;
  if (t.dim() == 0) return Dims(sizes.size(), SymInt(1));
  const auto old_sizes = t.sym_sizes();
  if (std::any_of(old_sizes.begin(), old_sizes.end(),
                  [](auto& size) { return constant(size) == 0; })) {
    bool same =
        sizes.size() == static_cast<size_t>(t.dim()) &&
        std::equal(sizes.begin(), sizes.end(), old_sizes.begin(), known_equal);
    return same ? strides_of(t) : contiguous_strides(sizes);
  }
  // As many elements in row-major order: no question is to be asked.
  if (is_contiguous(t)) return contiguous_strides(sizes);
  // A view without what differs is a view with it too; only that there is none
  // needs what differs.
  if (auto strides = cut_runs(t, sizes, equal_at_example)) return strides;
  return cut_runs(t, sizes, equal_or_guarded);
}

Dims infer_size(const Dims& wanted, const SymInt& numel) {
  SizeProduct others;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto value = constant(wanted[i]);
    if (value != -1) {
      TORCH_CHECK(!value || *value >= 0, "invalid shape dimension ", *value);
      others *= wanted[i];
      continue;
    }
    TORCH_CHECK(!unknown, "only one dimension can be inferred");
    unknown = i;
  }
  const SymInt rest = others.value();
  if (!unknown) {
    if (!known_equal(numel, rest)) {
      PROVISO_REQUIRE(numel.sym_eq(rest), invalid_shape(wanted, numel));
    }
    return wanted;
  }
  TORCH_CHECK(!known_zero(rest),
              "cannot reshape tensor of 0 elements into "
              "shape ",
              to_text(wanted),
              " because the unspecified dimension "
              "size -1 can be any value and is ambiguous");
  PROVISO_REQUIRE(rest.sym_gt(0), invalid_shape(wanted, numel));
  if (!known_one(rest)) {
    PROVISO_REQUIRE((numel % rest).sym_eq(0), invalid_shape(wanted, numel));
  }
  Dims sizes = wanted;
  sizes[*unknown] = floor_div(numel, rest);
  return sizes;
}

Tensor reshape_to(const Tensor& t, const Dims& sizes) {
  if (auto strides = view_strides(t, sizes)) return view_of(t, sizes, *strides);
  return fresh(sizes, t.scalar_type(), t.device());
}

bool branches_on(const c10::SymBool& condition) {
  if (auto value = condition.maybe_as_bool()) return *value;
  return condition.has_hint() ? condition.guard_bool(__FILE__, __LINE__)
                              : condition.guard_or_false(__FILE__, __LINE__);
}

// --- expand

Tensor expand_to(const Tensor& t, const Dims& wanted) {
  auto old_sizes = t.sym_sizes(), old_strides = t.sym_strides();
  TORCH_CHECK(wanted.size() >= old_sizes.size(), "expand(", t.toString(),
              to_text(t.sym_sizes()), ", size=", to_text(wanted),
              "): the number of sizes provided (", wanted.size(),
              ") must be greater or equal to the number of "
              "dimensions in the tensor (",
              old_sizes.size(), ")");
  size_t gap = wanted.size() - old_sizes.size();
  Dims sizes = wanted, strides(wanted.size());
  for (size_t i = wanted.size(); i-- > 0;) {
    bool added = i < gap;
    bool keeps = constant(wanted[i]) == -1;
    TORCH_CHECK(!(added && keeps),
                "The expanded size of the tensor (-1) isn't "
                "allowed in a leading, non-existing dimension ",
                i);
    if (added) {
      // A new outer dimension steps over nothing... but as eager has it, a new
      // dimension of size 1 has the stride that a real one would have.
      bool one = known_one(wanted[i]);
      strides[i] = !one                    ? SymInt(0)
                   : i + 1 < wanted.size() ? sizes[i + 1] * strides[i + 1]
                                           : SymInt(1);
      continue;
    }
    const SymInt& old = old_sizes[i - gap];
    if (keeps || known_equal(old, wanted[i])) {
      if (keeps || constant(old)) sizes[i] = old;
      strides[i] = old_strides[i - gap];
    } else if (constant(old) == 1 || known_one_or(old, wanted[i]) ||
               (!constant(old) &&
                old.sym_eq(1).guard_or_false(__FILE__, __LINE__))) {
      add_layout_condition(wanted[i].sym_ne(1));
      strides[i] = 0;
    } else {
      PROVISO_REQUIRE(old.sym_eq(wanted[i]),
                      "The expanded size of the tensor (", wanted[i],
                      ") must match the existing size (", old,
                      ") at non-singleton dimension ", i,
                      ".  Target sizes: ", to_text(wanted),
                      ".  Tensor sizes: ", to_text(t.sym_sizes()));
      if (constant(old)) sizes[i] = old;
      strides[i] = old_strides[i - gap];
    }
  }
  return view_of(t, sizes, strides);
}

}  // namespace shapes

namespace {

using namespace shapes;

bool reshape(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims sizes = infer_size(call.sym_ints(1), product(self.sym_sizes()));
  call.returns(reshape_to(self, sizes));
  return true;
}

Tensor view_as_sizes(const Tensor& self, const Dims& wanted) {
  Dims sizes = infer_size(wanted, product(self.sym_sizes()));
  auto strides = view_strides(self, sizes);
  TORCH_CHECK(strides,
              "view size is not compatible with input tensor's size "
              "and stride (at least one dimension spans across two contiguous "
              "subspaces). Use .reshape(...) instead.");
  return view_of(self, sizes, *strides);
}

bool view(RuleCall& call) {
  call.returns(view_as_sizes(call.tensor(0), call.sym_ints(1)));
  return true;
}

bool view_as(RuleCall& call) {
  call.returns(view_as_sizes(call.tensor(0), sizes_of(call.tensor(1))));
  return true;
}

bool reshape_as(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims sizes = infer_size(sizes_of(call.tensor(1)), product(self.sym_sizes()));
  call.returns(reshape_to(self, sizes));
  return true;
}

// _unsafe_view is a view without the alias.
bool unsafe_view(RuleCall& call) { return view(call); }

// view.dtype: the last dimension shrinks or grows by the element sizes.
bool view_dtype(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  ScalarType dtype = call.args[1].toScalarType();
  int64_t from = c10::elementSize(self.scalar_type());
  int64_t to = c10::elementSize(dtype);
  Dims sizes = sizes_of(self), strides = strides_of(self);
  SymInt offset = self.sym_storage_offset();
  auto rescale = [&](auto change) {
    TORCH_CHECK(!sizes.empty(), "self.dim() cannot be 0 to view ",
                self.scalar_type(), " as ", dtype,
                " (different element sizes)");
    sizes.back() = change(sizes.back());
    for (size_t i = 0; i + 1 < strides.size(); ++i) {
      strides[i] = change(strides[i]);
    }
    offset = change(offset);
  };
  if (from > to) rescale([&](const SymInt& v) { return v * (from / to); });
  if (from < to) {
    int64_t ratio = to / from;
    PROVISO_REQUIRE((self.sym_size(-1) % ratio).sym_eq(0),
                    "self.size(-1) must be divisible by ", ratio, " to view ",
                    self.scalar_type(), " as ", dtype,
                    " (different element sizes), but got ", self.sym_size(-1));
    rescale([&](const SymInt& v) { return floor_div(v, ratio); });
  }
  call.returns(
      make_fake(sizes, strides, dtype, self.device(), self.storage(), offset));
  return true;
}

Tensor permuted(const Tensor& self, const std::vector<int64_t>& order) {
  TORCH_CHECK(order.size() == static_cast<size_t>(self.dim()),
              "permute(sparse_coo): number of dimensions in the tensor input "
              "does not match the length of the desired ordering of dimensions "
              "i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", order.size());
  Dims sizes, strides;
  std::vector<bool> seen(order.size());
  for (int64_t d : order) {
    d = wrap_dim(d, self.dim());
    TORCH_CHECK(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = true;
    sizes.push_back(self.sym_size(d));
    strides.push_back(self.sym_stride(d));
  }
  return view_of(self, sizes, strides);
}

bool permute(RuleCall& call) {
  call.returns(permuted(call.tensor(0), to_ints(call.args[1])));
  return true;
}

Tensor transposed(const Tensor& self, int64_t a, int64_t b) {
  Dims sizes = sizes_of(self), strides = strides_of(self);
  a = wrap_dim(a, self.dim());
  b = wrap_dim(b, self.dim());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return view_of(self, sizes, strides);
}

bool transpose(RuleCall& call) {
  call.returns(
      transposed(call.tensor(0), call.args[1].toInt(), call.args[2].toInt()));
  return true;
}

bool t(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() <= 2,
              "t() expects a tensor with <= 2 dimensions, but "
              "self is ",
              self.dim(), "D");
  call.returns(transposed(self, 0, self.dim() < 2 ? 0 : 1));
  return true;
}

bool reverse_dims(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  std::vector<int64_t> order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  call.returns(permuted(self, order));
  return true;
}

bool matrix_transpose(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() >= 2,
              "tensor.mT is only supported on matrices or "
              "batches of matrices. Got ",
              self.dim(), "-D tensor.");
  call.returns(transposed(self, -2, -1));
  return true;
}

bool transpose_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  bool plain_t = op_name(call) == "t_";
  Tensor after =
      plain_t ? transposed(self, 0, self.dim() < 2 ? 0 : 1)
              : transposed(self, call.args[1].toInt(), call.args[2].toInt());
  set_layout(self, after.sym_sizes(), after.sym_strides(),
             after.sym_storage_offset());
  return return_self(call);
}

bool expand(RuleCall& call) {
  call.returns(expand_to(call.tensor(0), call.sym_ints(1)));
  return true;
}

bool expand_as(RuleCall& call) {
  call.returns(expand_to(call.tensor(0), sizes_of(call.tensor(1))));
  return true;
}

bool broadcast_tensors(RuleCall& call) {
  auto tensors = to_tensors(call.args[0]);
  Dims shape;
  for (const Tensor& x : tensors) shape = broadcast(shape, sizes_of(x));
  std::vector<Tensor> expanded;
  for (const Tensor& x : tensors) expanded.push_back(expand_to(x, shape));
  call.returns(expanded);
  return true;
}

Tensor unsqueezed(const Tensor& self, int64_t dim) {
  Dims sizes = sizes_of(self), strides = strides_of(self);
  dim = wrap_dim(dim, self.dim() + 1);
  SymInt stride = dim < self.dim() ? sizes[dim] * strides[dim] : SymInt(1);
  sizes.insert(sizes.begin() + dim, SymInt(1));
  strides.insert(strides.begin() + dim, stride);
  return view_of(self, sizes, strides);
}

bool unsqueeze(RuleCall& call) {
  call.returns(unsqueezed(call.tensor(0), call.args[1].toInt()));
  return true;
}

// Undecided dimensions stay: a size of 1 is known, or guarded when backed.
Tensor squeezed(const Tensor& self, const std::vector<bool>& chosen) {
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (chosen[d] && branches_on(self.sym_size(d).sym_eq(1))) continue;
    sizes.push_back(self.sym_size(d));
    strides.push_back(self.sym_stride(d));
  }
  return view_of(self, sizes, strides);
}

std::vector<bool> chosen_dims(const RuleCall& call) {
  int64_t rank = call.tensor(0).dim();
  if (call.args.size() < 2) return std::vector<bool>(rank, true);
  std::vector<bool> chosen(rank, false);
  for (int64_t d : to_ints(call.args[1])) {
    d = wrap_dim(d, rank);
    if (rank > 0) chosen[d] = true;
  }
  return chosen;
}

bool squeeze(RuleCall& call) {
  call.returns(squeezed(call.tensor(0), chosen_dims(call)));
  return true;
}

bool change_rank_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Tensor after = op_name(call) == "unsqueeze_"
                     ? unsqueezed(self, call.args[1].toInt())
                     : squeezed(self, chosen_dims(call));
  set_layout(self, after.sym_sizes(), after.sym_strides(),
             after.sym_storage_offset());
  return return_self(call);
}

bool select(RuleCall& call) {
  call.returns(
      select_at(call.tensor(0), call.args[1].toInt(), call.sym_int(2)));
  return true;
}

std::optional<SymInt> optional_sym(const IValue& value) {
  if (value.isNone()) return std::nullopt;
  return to_sym(value);
}

bool slice(RuleCall& call) {
  call.returns(slice_of(call.tensor(0), call.args[1].toInt(),
                        optional_sym(call.args[2]), optional_sym(call.args[3]),
                        call.sym_int(4)));
  return true;
}

// narrow(self, dim, start, length): no clamping, errors instead.
bool narrow(RuleCall& call) {
  if (call.args[2].isTensor()) return false;
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  SymInt start = call.sym_int(2), length = call.sym_int(3);
  SymInt size = self.sym_size(dim);
  PROVISO_REQUIRE(length.sym_ge(0), "narrow(): length must be non-negative.");
  if (less(start, 0) == true) start = start + size;
  PROVISO_REQUIRE(plus(start, length).sym_le(size), "start (", start,
                  ") + length (", length, ") exceeds dimension size (", size,
                  ").");
  Dims sizes = sizes_of(self);
  sizes[dim] = length;
  SymInt offset =
      plus(self.sym_storage_offset(), times(start, self.sym_stride(dim)));
  call.returns(view_of(self, sizes, strides_of(self), offset));
  return true;
}

// --- many views at once

std::vector<Tensor> pieces(const Tensor& self, int64_t dim,
                           const Dims& lengths) {
  std::vector<Tensor> result;
  SymInt start(0);
  for (const SymInt& length : lengths) {
    Dims sizes = sizes_of(self);
    sizes[dim] = length;
    SymInt offset =
        plus(self.sym_storage_offset(), times(start, self.sym_stride(dim)));
    result.push_back(view_of(self, sizes, strides_of(self), offset));
    start = start + length;
  }
  return result;
}

// Each result of an operator is a value of the program.
void check_pieces(int64_t count) {
  constexpr int64_t kMost = 1'000'000;
  TORCH_CHECK(count <= kMost, "a split into ", count, " pieces is not traced; ",
              kMost, " is the most");
}

// By the example: the quotient of the sizes would not be defined for pieces of
// nothing.
int64_t pieces_of(const SymInt& size, const SymInt& each) {
  const auto n = hint_of(size), k = hint_of(each);
  const int64_t count =
      std::max<int64_t>(1, n && k && *k > 0 ? (*n - 1) / *k + 1
                                            : specialize(ceil_div(size, each)));
  check_pieces(count);
  return count;
}

Dims lengths_of(int64_t count, const SymInt& size, const SymInt& each) {
  Dims lengths(count, each);
  lengths.back() = size - each * (count - 1);
  return lengths;
}

// How many pieces a split has is part of the program.
Dims even_lengths(const SymInt& size, const SymInt& each) {
  if (known_zero(size)) return {SymInt(0)};
  const int64_t count = pieces_of(size, each);
  expect(size.sym_le(each * count));
  if (count > 1) expect(size.sym_gt(each * (count - 1)));
  return lengths_of(count, size, each);
}

bool split(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  SymInt each = call.sym_int(1), size = self.sym_size(dim);
  PROVISO_REQUIRE(each.sym_ge(0),
                  "split expects split_size be non-negative, "
                  "but got split_size=",
                  each);
  if (known_zero(each)) {
    PROVISO_REQUIRE(size.sym_eq(0),
                    "split_size can only be 0 if dimension size "
                    "is 0, but got dimension size of ",
                    size);
    call.returns(pieces(self, dim, {size}));
    return true;
  }
  call.returns(pieces(self, dim, even_lengths(size, each)));
  return true;
}

bool split_with_sizes(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  Dims lengths = call.sym_ints(1);
  SymInt total(0);
  for (const SymInt& length : lengths) {
    PROVISO_REQUIRE(length.sym_ge(0),
                    "split_with_sizes expects split_sizes have "
                    "only non-negative entries, but got split_sizes=",
                    to_text(lengths));
    total = plus(total, length);
  }
  PROVISO_REQUIRE(total.sym_eq(self.sym_size(dim)),
                  "split_with_sizes expects split_sizes to sum exactly to ",
                  self.sym_size(dim), " (input tensor's size at dimension ",
                  dim, "), but got split_sizes=", to_text(lengths));
  call.returns(pieces(self, dim, lengths));
  return true;
}

// chunk(self, n): pieces of ceil(size / n), perhaps fewer than n of them; and n
// empty ones of nothing.
bool chunk(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t count = call.args[1].toInt();
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(count > 0,
              "chunk expects `chunks` to be greater than 0, got: ", count);
  int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  SymInt size = self.sym_size(dim);
  SymInt each = ceil_div(size, count);
  if (constant(size) == 0) {
    check_pieces(count);
    call.returns(pieces(self, dim, Dims(count, SymInt(0))));
    return true;
  }
  const int64_t found = pieces_of(size, each);
  const c10::SymBool no_fewer = size.sym_gt(each * (found - 1));
  if (found < count) {
    expect(size.sym_le(each * found));
    expect(no_fewer);
  } else if (count == 2) {
    expect(size.sym_ne(1));
  } else if (count > 2) {
    expect(no_fewer.sym_or(size.sym_eq(0)));
  }
  call.returns(pieces(self, dim, lengths_of(found, size, each)));
  return true;
}

bool tensor_split_sections(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  int64_t count = specialize(call.sym_int(1));
  TORCH_CHECK(count > 0, "number of sections must be larger than 0, got ",
              count);
  check_pieces(count);
  SymInt size = self.sym_size(dim);
  // The first `size mod count` pieces are one longer: i < size mod count just
  // where size + count - 1 - i reaches the next multiple of count.
  Dims lengths;
  for (int64_t i = 0; i < count; ++i) {
    lengths.push_back(floor_div(size + (count - 1 - i), count));
  }
  // torch's decomposition takes the pieces to be as long as those of the
  // example, and nothing of it checks that.
  if (!constant(size) && call.tracer.recording()) {
    call.in_parts = true;
    call.returns(at::split_with_sizes_symint(self, lengths, dim));
  } else {
    call.returns(pieces(self, dim, lengths));
  }
  return true;
}

bool unbind(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  TORCH_CHECK_INDEX(self.dim() > 0,
                    "Dimension specified as 0 but tensor has no dimensions");
  int64_t count = specialize(self.sym_size(dim));
  check_pieces(count);
  std::vector<Tensor> result;
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(select_at(self, dim, i));
  }
  call.returns(result);
  return true;
}

// --- merge and cut dimensions

bool flatten(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t first = wrap_dim(call.args[1].toInt(), self.dim());
  int64_t last = wrap_dim(call.args[2].toInt(), self.dim());
  TORCH_CHECK(
      first <= last,
      "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) {
    call.returns(reshape_to(self, {SymInt(1)}));
    return true;
  }
  if (first == last) return return_self(call);
  Dims old = sizes_of(self);
  Dims sizes(old.begin(), old.begin() + first);
  sizes.push_back(product(self.sym_sizes().slice(first, last - first + 1)));
  sizes.insert(sizes.end(), old.begin() + last + 1, old.end());
  call.returns(reshape_to(self, sizes));
  return true;
}

bool ravel(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  if (!is_contiguous(self)) {
    call.returns(fresh({self.sym_numel()}, self.scalar_type(), self.device()));
    return true;
  }
  call.returns(reshape_to(self, {self.sym_numel()}));
  return true;
}

bool unflatten(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  Dims wanted = call.sym_ints(2);
  TORCH_CHECK(!wanted.empty(), "unflatten: sizes must be non-empty");
  Dims parts = infer_size(wanted, self.sym_size(dim));
  Dims sizes = sizes_of(self);
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, parts.begin(), parts.end());
  call.returns(view_as_sizes(self, sizes));
  return true;
}

// --- strides given

bool as_strided(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  keep_layout_answers();  // the result shows how self lies in memory
  SymInt offset = call.is_none(3) ? self.sym_storage_offset() : call.sym_int(3);
  call.returns(view_of(self, call.sym_ints(1), call.sym_ints(2), offset));
  return true;
}

bool as_strided_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  keep_layout_answers();
  set_layout(self, call.sym_ints(1), call.sym_ints(2),
             call.is_none(3) ? self.sym_storage_offset() : call.sym_int(3));
  return return_self(call);
}

bool diagonal(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t offset = diagonal_offset(call.args[1]);
  int64_t a = wrap_dim(call.args[2].toInt(), self.dim());
  int64_t b = wrap_dim(call.args[3].toInt(), self.dim());
  TORCH_CHECK(a != b, "diagonal dimensions cannot be identical ",
              call.args[2].toInt(), ", ", call.args[3].toInt());
  Dims sizes = sizes_of(self), strides = strides_of(self);
  SymInt rows = offset >= 0 ? sizes[a] : sizes[a] + offset;
  SymInt columns = offset >= 0 ? sizes[b] - offset : sizes[b];
  SymInt length = known_less_equal(rows, columns)   ? rows
                  : known_less_equal(columns, rows) ? columns
                                                    : rows.min(columns);
  if (!known_less_equal(0, length)) length = length.max(0);
  SymInt start = self.sym_storage_offset();
  if (!known_zero(length)) {
    start = plus(start, offset >= 0 ? times(strides[b], offset)
                                    : times(strides[a], -offset));
  }
  SymInt stride = strides[a] + strides[b];
  for (int64_t d : {std::max(a, b), std::min(a, b)}) {
    sizes.erase(sizes.begin() + d);
    strides.erase(strides.begin() + d);
  }
  sizes.push_back(length);
  strides.push_back(stride);
  call.returns(view_of(self, sizes, strides, start));
  return true;
}

// unfold(self, dim, size, step): windows as a new last dimension.
bool unfold(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  int64_t size = call.args[2].toInt(), step = call.args[3].toInt();
  Dims sizes = sizes_of(self), strides = strides_of(self);
  if (sizes.empty()) {
    sizes = {SymInt(1)};
    strides = {SymInt(1)};
  }
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");
  PROVISO_REQUIRE(sizes[dim].sym_ge(size),
                  "maximum size for tensor at "
                  "dimension ",
                  dim, " is ", sizes[dim], " but size is ", size);
  SymInt stride = self.dim() == 0 ? SymInt(1) : strides[dim];
  if (self.dim() == 0) {
    sizes = {SymInt(size)};
    strides = {SymInt(1)};
  } else {
    sizes[dim] = floor_div(sizes[dim] - size, step) + 1;
    strides[dim] = stride_of_steps(stride, step);
    sizes.push_back(size);
    strides.push_back(stride);
  }
  call.returns(view_of(self, sizes, strides));
  return true;
}

bool movedim(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  auto from = to_ints(call.args[1]), to = to_ints(call.args[2]);
  TORCH_CHECK(from.size() == to.size(),
              "movedim: Invalid source or destination "
              "dims: source (",
              from,
              " dims) should contain the same number of "
              "dims as destination (",
              to, " dims)");
  int64_t rank = self.dim();
  if (rank == 0) {
    call.returns(view_of(self, {}, {}));
    return true;
  }
  std::vector<int64_t> order(rank, -1);
  std::vector<bool> moved(rank);
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t source = wrap_dim(from[i], rank);
    int64_t& place = order[wrap_dim(to[i], rank)];
    TORCH_CHECK(place < 0 && !moved[source], "movedim: repeated dim in ",
                place < 0 ? "source (" : "destination (", place < 0 ? from : to,
                ")");
    place = source;
    moved[source] = true;
  }
  int64_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (moved[next]) ++next;
    place = next++;
  }
  call.returns(permuted(self, order));
  return true;
}

bool alias(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  call.returns(view_of(self, sizes_of(self), strides_of(self)));
  return true;
}

bool view_as_real(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims sizes = sizes_of(self), strides;
  for (const SymInt& s : self.sym_strides()) strides.push_back(s * 2);
  sizes.push_back(2);
  strides.push_back(1);
  call.returns(
      make_fake(sizes, strides, c10::toRealValueType(self.scalar_type()),
                self.device(), self.storage(), self.sym_storage_offset() * 2));
  return true;
}

bool view_as_complex(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  PROVISO_REQUIRE(self.sym_size(-1).sym_eq(2),
                  "Tensor must have a last dimension of size 2");
  Dims sizes = sizes_of(self), strides;
  sizes.pop_back();
  for (const SymInt& s : self.sym_strides()) strides.push_back(floor_div(s, 2));
  strides.pop_back();
  call.returns(make_fake(sizes, strides, c10::toComplexType(self.scalar_type()),
                         self.device(), self.storage(),
                         floor_div(self.sym_storage_offset(), 2)));
  return true;
}

// x_copy(..): what x(..) gives, in memory of its own and contiguous.
bool copy_of_view(RuleCall& call) {
  const c10::OperatorName& name = call.op.operator_name();
  std::string of = name.name.substr(0, name.name.size() - 5);
  // Copies need not lie evenly in what they are copies of.
  if (of == "aten::view" && name.overload_name.empty()) of = "aten::reshape";
  const auto op =
      c10::Dispatcher::singleton().findSchema({of, name.overload_name});
  if (!op || op->schema().arguments().size() != call.args.size()) return false;
  c10::Stack stack(call.args.begin(), call.args.end());
  {
    const RecordingOff off(call.tracer);
    op->callBoxed(stack);
  }
  const auto copied = [](const Tensor& t) {
    return fresh(sizes_of(t), t.scalar_type(), t.device());
  };
  if (stack[0].isTensor()) {
    call.returns(copied(stack[0].toTensor()));
    return true;
  }
  std::vector<Tensor> parts;
  for (const Tensor& t : to_tensors(stack[0])) parts.push_back(copied(t));
  call.returns(parts);
  return true;
}

// resize_ of a fake: contiguous, as the storage has no size.
bool resize_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims sizes = call.sym_ints(1);
  set_layout(self, sizes, contiguous_strides(sizes), self.sym_storage_offset());
  return return_self(call);
}

// resize_as_(self, other): the same sizes leave the tensor as it is, other ones
// make it contiguous.
bool resize_as_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const Dims sizes = sizes_of(call.tensor(1));
  if (!call.is_none(2)) return false;
  const bool stays =
      !is_contiguous(self) && sizes.size() == static_cast<size_t>(self.dim()) &&
      std::equal(sizes.begin(), sizes.end(), self.sym_sizes().begin(),
                 [](const SymInt& a, const SymInt& b) {
                   return known_equal(a, b) || branches_on(a.sym_eq(b));
                 });
  set_layout(self, sizes, stays ? strides_of(self) : contiguous_strides(sizes),
             self.sym_storage_offset());
  return return_self(call);
}

// What Tensor::set_data asks before it changes the tensor, of which no operator
// would tell the program.
bool set_data(RuleCall& call) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      call.tensor(0).is_same(call.tensor(1)),
      "Proviso: set_data() cannot be exported: it changes the tensor and "
      "leaves no operator in the program; write into it with copy_()");
  return false;
}

const RuleEntry kViewRules[] = {
    {"aten::_has_compatible_shallow_copy_type", set_data, "view in place"},
    {"aten::_conj", alias, "view"},
    {"aten::_neg_view", alias, "view"},
    {"aten::alias", alias, "view"},
    {"aten::as_strided", as_strided, "view"},
    {"aten::broadcast_tensors", broadcast_tensors, "view"},
    {"aten::broadcast_to", expand, "view"},
    {"aten::chunk", chunk, "view"},
    {"aten::detach", alias, "view"},
    {"aten::diagonal", diagonal, "view"},
    {"aten::expand", expand, "view"},
    {"aten::expand_as", expand_as, "view"},
    {"aten::flatten.using_ints", flatten, "view"},
    {"aten::mT", matrix_transpose, "view"},
    {"aten::movedim", movedim, "view"},
    {"aten::moveaxis", movedim, "view"},
    {"aten::narrow", narrow, "view"},
    {"aten::numpy_T", reverse_dims, "view"},
    {"aten::permute", permute, "view"},
    {"aten::ravel", ravel, "view"},
    {"aten::reshape", reshape, "view"},
    {"aten::reshape_as", reshape_as, "view"},
    {"aten::select.int", select, "view"},
    {"aten::slice.Tensor", slice, "view"},
    {"aten::split.Tensor", split, "view"},
    {"aten::split.sizes", split_with_sizes, "view"},
    {"aten::split_with_sizes", split_with_sizes, "view"},
    {"aten::squeeze", squeeze, "view"},
    {"aten::swapaxes", transpose, "view"},
    {"aten::swapdims", transpose, "view"},
    {"aten::t", t, "view"},
    {"aten::tensor_split.sections", tensor_split_sections, "view"},
    {"aten::transpose.int", transpose, "view"},
    {"aten::unbind.int", unbind, "view"},
    {"aten::unflatten.int", unflatten, "view"},
    {"aten::unfold", unfold, "view"},
    {"aten::unsafe_chunk", chunk, "view"},
    {"aten::unsafe_split.Tensor", split, "view"},
    {"aten::unsafe_split_with_sizes", split_with_sizes, "view"},
    {"aten::unsqueeze", unsqueeze, "view"},
    {"aten::_unsafe_view", unsafe_view, "view"},
    {"aten::view", view, "view"},
    {"aten::view.dtype", view_dtype, "view"},
    {"aten::view_as", view_as, "view"},
    {"aten::view_as_complex", view_as_complex, "view"},
    {"aten::view_as_real", view_as_real, "view"},
    {"aten::alias_copy", copy_of_view, "copy"},
    {"aten::as_strided_copy", copy_of_view, "copy"},
    {"aten::detach_copy", copy_of_view, "copy"},
    {"aten::diagonal_copy", copy_of_view, "copy"},
    {"aten::expand_copy", copy_of_view, "copy"},
    {"aten::narrow_copy", copy_of_view, "copy"},
    {"aten::permute_copy", copy_of_view, "copy"},
    {"aten::select_copy.int", copy_of_view, "copy"},
    {"aten::slice_copy.Tensor", copy_of_view, "copy"},
    {"aten::split_copy.Tensor", copy_of_view, "copy"},
    {"aten::split_with_sizes_copy", copy_of_view, "copy"},
    {"aten::squeeze_copy", copy_of_view, "copy"},
    {"aten::t_copy", copy_of_view, "copy"},
    {"aten::transpose_copy.int", copy_of_view, "copy"},
    {"aten::unbind_copy.int", copy_of_view, "copy"},
    {"aten::unfold_copy", copy_of_view, "copy"},
    {"aten::unsqueeze_copy", copy_of_view, "copy"},
    {"aten::view_copy", copy_of_view, "copy"},
    // in place
    {"aten::detach_", return_self, "view in place"},
    {"aten::as_strided_", as_strided_in_place, "view in place"},
    {"aten::resize_", resize_in_place, "view in place"},
    {"aten::resize_as_", resize_as_in_place, "view in place"},
    {"aten::squeeze_", change_rank_in_place, "view in place"},
    {"aten::t_", transpose_in_place, "view in place"},
    {"aten::transpose_", transpose_in_place, "view in place"},
    {"aten::swapaxes_", transpose_in_place, "view in place"},
    {"aten::unsqueeze_", change_rank_in_place, "view in place"},
};

}  // namespace

void register_view_rules() { register_rules(kViewRules); }

}  // namespace proviso::inline v0_2
