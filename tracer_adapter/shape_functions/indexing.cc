// tracer_adapter/shape_functions/indexing.cc - choosing elements by index, rows
// of a table too, and joining, repeating and moving blocks of them.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "tracer_adapter/shape_functions/found_before.h"
#include "tracer_adapter/shape_functions/view_layout.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// --- x[i, :, mask]

bool is_mask(const Tensor& index) {
  return index.scalar_type() == ScalarType::Bool ||
         index.scalar_type() == ScalarType::Byte;
}

// Each mask becomes one index of as many elements as it has true ones for each
// of its dimensions.
std::vector<Tensor> expand_masks(RuleCall& call, const Tensor& self,
                                 const std::vector<Tensor>& indices) {
  std::vector<Tensor> result;
  for (const Tensor& index : indices) {
    if (!index.defined() || !is_mask(index)) {
      result.push_back(index);
      continue;
    }
    for (int64_t d = 0; d < index.dim(); ++d) {
      int64_t at = static_cast<int64_t>(result.size()) + d;
      TORCH_CHECK_INDEX(at < self.dim(),
                        "too many indices for tensor of "
                        "dimension ",
                        self.dim());
      PROVISO_REQUIRE(index.sym_size(d).sym_eq(self.sym_size(at)),
                      "The shape of the mask ", to_text(index.sym_sizes()),
                      " at index ", d,
                      " does not match the shape of the indexed tensor ",
                      to_text(self.sym_sizes()), " at index ", at);
    }
    SymInt count = count_of_true(call, index, index.sym_numel());
    // The columns of nonzero()'s result.
    for (int64_t d = 0; d < index.dim(); ++d) {
      result.push_back(make_fake(Dims{count}, Dims{SymInt(index.dim())},
                                 ScalarType::Long, index.device()));
    }
  }
  return result;
}

struct Plan {
  Tensor source;                // self, indexed dimensions first when apart
  std::vector<Tensor> indices;  // of its dimensions; undefined where whole
  Dims index_shape;
};

bool are_adjacent(const std::vector<Tensor>& indices) {
  auto defined = [](const Tensor& t) { return t.defined(); };
  auto first = std::find_if(indices.begin(), indices.end(), defined);
  auto after = std::find_if_not(first, indices.end(), defined);
  return std::none_of(after, indices.end(), defined);
}

Plan plan_index(RuleCall& call, const Tensor& self,
                const std::vector<Tensor>& given) {
  Plan plan;
  for (const Tensor& index : given) {
    TORCH_CHECK_INDEX(!index.defined() || is_mask(index) ||
                          index.scalar_type() == ScalarType::Long ||
                          index.scalar_type() == ScalarType::Int,
                      "tensors used as indices must be long, int, byte or bool "
                      "tensors");
  }
  plan.indices = expand_masks(call, self, given);
  TORCH_CHECK_INDEX(plan.indices.size() <= static_cast<size_t>(self.dim()),
                    "too many indices for tensor of dimension ", self.dim(),
                    " (got ", plan.indices.size(), ")");
  plan.indices.resize(self.dim());
  for (const Tensor& index : plan.indices) {
    if (index.defined()) {
      plan.index_shape = broadcast(plan.index_shape, sizes_of(index));
    }
  }
  plan.source = self;
  if (are_adjacent(plan.indices)) return plan;
  Dims sizes, strides;
  std::vector<Tensor> indices;
  for (bool indexed : {true, false}) {
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (plan.indices[d].defined() != indexed) continue;
      sizes.push_back(self.sym_size(d));
      strides.push_back(self.sym_stride(d));
      indices.push_back(plan.indices[d]);
    }
  }
  plan.source = view_of(self, sizes, strides);
  plan.indices = indices;
  return plan;
}

// The iterated operands: self with the indexed dimensions replaced by the index
// shape (stride 0), and the indices in their place.
std::vector<Tensor> iterated(const Plan& plan) {
  Dims sizes, strides;
  size_t before = 0, after = 0;
  bool inserted = false;
  for (int64_t d = 0; d < plan.source.dim(); ++d) {
    if (!plan.indices[d].defined()) {
      sizes.push_back(plan.source.sym_size(d));
      strides.push_back(plan.source.sym_stride(d));
      ++(inserted ? after : before);
    } else if (!inserted) {
      sizes.insert(sizes.end(), plan.index_shape.begin(),
                   plan.index_shape.end());
      strides.resize(sizes.size(), SymInt(0));
      inserted = true;
    }
  }
  std::vector<Tensor> operands{view_of(plan.source, sizes, strides)};
  for (const Tensor& index : plan.indices) {
    if (!index.defined()) continue;
    Tensor expanded = expand_to(index, plan.index_shape);
    Dims shape(before, SymInt(1)), steps(before, SymInt(1));
    for (size_t i = 0; i < plan.index_shape.size(); ++i) {
      shape.push_back(expanded.sym_size(static_cast<int64_t>(i)));
      steps.push_back(expanded.sym_stride(static_cast<int64_t>(i)));
    }
    shape.resize(shape.size() + after, SymInt(1));
    steps.resize(shape.size(), SymInt(1));
    operands.push_back(view_of(index, shape, steps));
  }
  return operands;
}

bool index(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  auto given = to_tensors(call.args[1]);
  Plan plan = plan_index(call, self, given);
  auto operands = iterated(plan);
  Dims shape = sizes_of(operands[0]);
  call.returns(make_fake(shape, elementwise_strides(shape, operands),
                         self.scalar_type(), self.device()));
  return true;
}

// Whether each of t's last sizes is that of `shape` at the example, or 1.
bool fits_at_example(const Tensor& t, const Dims& shape) {
  const size_t rank = static_cast<size_t>(t.dim());
  if (rank > shape.size()) return false;
  for (size_t d = 0; d < rank; ++d) {
    const SymInt& size = t.sym_sizes()[d];
    if (!known_one(size) &&
        hint_of(size) != hint_of(shape[shape.size() - rank + d]))
      return false;
  }
  return true;
}

void require_fits(const Tensor& t, const Dims& shape) {
  for (size_t d = shape.size() - static_cast<size_t>(t.dim()), i = 0;
       d < shape.size(); ++d, ++i) {
    const SymInt& size = t.sym_sizes()[i];
    if (known_one(size)) continue;
    PROVISO_REQUIRE(size.sym_eq(shape[d]), "The size of tensor a (", size,
                    ") must match the size of tensor b (", shape[d],
                    ") at non-singleton dimension ", d);
  }
}

// What _unsafe_masked_index and its kin select, where the mask is no larger:
// their kernels ask whether there is an element, on which only then the sizes
// of the result depend.
std::optional<Dims> selected_by_mask(RuleCall& call) {
  const Tensor& mask = call.tensor(1);
  const auto given = to_tensors(call.args[2]);
  for (const Tensor& t : given)
    if (t.defined() && is_mask(t)) return std::nullopt;
  if (mask.scalar_type() != ScalarType::Bool) return std::nullopt;
  const Plan plan = plan_index(call, call.tensor(0), given);
  Dims shape = sizes_of(iterated(plan)[0]);
  if (!fits_at_example(mask, shape)) return std::nullopt;
  require_fits(mask, shape);
  return shape;
}

// (self, mask, indices, fill): what the mask leaves out is not looked up.
bool masked_index(RuleCall& call) {
  const auto shape = selected_by_mask(call);
  if (!shape) return false;
  const Tensor& self = call.tensor(0);
  call.returns(fresh(*shape, self.scalar_type(), self.device()));
  return true;
}

// (self, mask, indices, values): nor written to.
bool masked_index_put(RuleCall& call) {
  const auto shape = selected_by_mask(call);
  if (!shape || !fits_at_example(call.tensor(3), *shape)) return false;
  require_fits(call.tensor(3), *shape);
  return return_like_self(call);
}

// Values must broadcast to what the index selects.  A mask selects an unknown
// number: that is left to run time.
void require_values_fit(RuleCall& call) {
  const Tensor &self = call.tensor(0), &values = call.tensor(2);
  auto given = to_tensors(call.args[1]);
  for (const Tensor& t : given) {
    if (t.defined() && is_mask(t)) return;
  }
  Plan plan = plan_index(call, self, given);
  Dims shape = sizes_of(iterated(plan)[0]);
  TORCH_CHECK(
      values.dim() <= static_cast<int64_t>(shape.size()),
      "shape mismatch: value tensor of shape ", to_text(values.sym_sizes()),
      " cannot be broadcast to indexing result of shape ", to_text(shape));
  broadcast(shape, sizes_of(values));
}

bool index_put(RuleCall& call) {
  require_values_fit(call);
  call.returns(fresh_like(call.tensor(0)));
  return true;
}

bool index_put_in_place(RuleCall& call) {
  require_values_fit(call);
  return return_self(call);
}

// --- along one dimension

void require_index_fits(const Tensor& self, int64_t dim, const Tensor& index,
                        const char* op) {
  int64_t rank = std::max<int64_t>(self.dim(), 1);
  TORCH_CHECK(rank == std::max<int64_t>(index.dim(), 1),
              "Index tensor must have the same number of dimensions as input "
              "tensor");
  for (int64_t d = 0; d < index.dim() && self.dim() > 0; ++d) {
    if (d == dim) continue;
    PROVISO_REQUIRE(index.sym_size(d).sym_le(self.sym_size(d)),
                    "Size does not match at dimension ", d, " expected index ",
                    to_text(index.sym_sizes()), " to be no larger than self ",
                    to_text(self.sym_sizes()), " apart from dimension ", dim,
                    " in ", op);
  }
}

bool gather(RuleCall& call) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  TORCH_CHECK(index.scalar_type() == ScalarType::Long ||
                  index.scalar_type() == ScalarType::Int,
              "gather(): Expected dtype int32/int64 for index");
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  if (!known_zero(index.sym_numel())) {
    require_index_fits(self, dim, index, "gather");
  }
  call.returns(fresh(sizes_of(index), self.scalar_type(), self.device()));
  return true;
}

void require_scatter_fits(RuleCall& call) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  if (known_zero(index.sym_numel())) return;
  require_index_fits(self, dim, index, "scatter");
  if (!call.args[3].isTensor()) return;
  const Tensor& source = call.tensor(3);
  for (int64_t d = 0; d < index.dim() && source.dim() == index.dim(); ++d) {
    PROVISO_REQUIRE(
        index.sym_size(d).sym_le(source.sym_size(d)), "Expected index ",
        to_text(index.sym_sizes()), " to be no larger than self ",
        to_text(self.sym_sizes()), " apart from dimension ", dim,
        " and to be no larger size than src ", to_text(source.sym_sizes()));
  }
}

bool scatter(RuleCall& call) {
  require_scatter_fits(call);
  const Tensor& self = call.tensor(0);
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device()));
  return true;
}

bool scatter_in_place(RuleCall& call) {
  require_scatter_fits(call);
  return return_self(call);
}

bool index_select(RuleCall& call) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_select(): Index is supposed to be a vector");
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  Dims sizes = sizes_of(self);
  if (!sizes.empty()) sizes[dim] = index.sym_numel();
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

bool take(RuleCall& call) {
  const Tensor& index = call.tensor(1);
  call.returns(
      fresh(sizes_of(index), call.tensor(0).scalar_type(), index.device()));
  return true;
}

bool take_along_dim(RuleCall& call) {
  const Tensor &self = call.tensor(0), &index = call.tensor(1);
  if (call.is_none(2)) {
    call.returns(fresh({index.sym_numel()}, self.scalar_type(), self.device()));
    return true;
  }
  TORCH_CHECK(self.dim() == index.dim(),
              "torch.take_along_dim(): input and "
              "indices should have the same number of dimensions, but got ",
              self.dim(), " dimensions for input, and ", index.dim(),
              " dimensions for indices");
  int64_t dim = dim_of(self, call.args[2].toInt());
  Dims a = sizes_of(self), b = sizes_of(index);
  a[dim] = 1;
  SymInt chosen = b[dim];
  b[dim] = 1;
  Dims sizes = broadcast(a, b);
  sizes[dim] = chosen;
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// --- join

// A 1-D tensor of no elements joins with any rank, for history's sake.
bool is_skipped(const Tensor& t) {
  return t.dim() == 1 && known_zero(t.sym_size(0));
}

at::MemoryFormat common_format(const std::vector<Tensor>& tensors) {
  auto format = suggested_format(tensors.front());
  for (const Tensor& t : tensors) {
    if (suggested_format(t) != format) return at::MemoryFormat::Contiguous;
  }
  return format;
}

Tensor joined(const std::vector<Tensor>& all, int64_t wanted_dim) {
  TORCH_CHECK(!all.empty(),
              "torch.cat(): expected a non-empty list of Tensors");
  Promotion promotion;
  std::vector<Tensor> tensors;
  for (const Tensor& t : all) {
    TORCH_CHECK(t.dim() > 0, "zero-dimensional tensor (at position ",
                &t - all.data(), ") cannot be concatenated");
    promotion.add(t);
    if (!is_skipped(t)) tensors.push_back(t);
  }
  if (tensors.empty()) {
    return fresh({SymInt(0)}, promotion.result(), all[0].device());
  }
  Dims sizes = sizes_of(tensors[0]);
  int64_t dim = wrap_dim(wanted_dim, tensors[0].dim());
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TORCH_CHECK(t.dim() == tensors[0].dim(),
                "Tensors must have same number of "
                "dimensions: got ",
                tensors[0].dim(), " and ", t.dim());
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (d == dim) continue;
      if (!known_equal(sizes[d], t.sym_size(d))) {
        PROVISO_REQUIRE(sizes[d].sym_eq(t.sym_size(d)),
                        "Sizes of tensors must match except in dimension ", dim,
                        ". Expected size ", sizes[d], " but got size ",
                        t.sym_size(d), " for tensor number ", i,
                        " in the list.");
      }
      if (constant(t.sym_size(d))) sizes[d] = t.sym_size(d);
    }
    sizes[dim] = plus(sizes[dim], t.sym_size(dim));
  }
  return fresh(sizes, promotion.result(), common_device(all),
               common_format(all));
}

bool cat(RuleCall& call) {
  if (!call.args[1].isInt()) return false;  // by dimension name
  call.returns(joined(to_tensors(call.args[0]), call.args[1].toInt()));
  return true;
}

// A new last dimension is joined from columns; another is cut from the join
// along the dimension after it.
Tensor stacked(const std::vector<Tensor>& tensors, int64_t dim, Dims sizes) {
  int64_t count = static_cast<int64_t>(tensors.size());
  if (dim == static_cast<int64_t>(sizes.size())) {
    std::vector<Tensor> columns;
    for (const Tensor& t : tensors) {
      Dims wider = sizes, strides = strides_of(t);
      wider.push_back(1);
      strides.push_back(1);
      columns.push_back(view_of(t, wider, strides));
    }
    return joined(columns, dim);
  }
  Tensor join = joined(tensors, dim);
  const LayoutScope layout;
  if (join.dim() != tensors[0].dim() || known_zero(sizes[dim])) {
    sizes.insert(sizes.begin() + dim, SymInt(count));
    return fresh(sizes, join.scalar_type(), join.device());
  }
  Dims strides = strides_of(join);
  strides.insert(strides.begin() + dim, times(strides[dim], sizes[dim]));
  sizes.insert(sizes.begin() + dim, SymInt(count));
  return make_fake(sizes, strides, join.scalar_type(), join.device());
}

// _chunk_cat(tensors, dim, chunks): each is cut into chunks along dim, the last
// ones filled up with zeros, and the rest of its dimensions is one; the first
// chunks of all side by side, then the second ones.
bool chunk_cat(RuleCall& call) {
  const std::vector<Tensor> tensors = to_tensors(call.args[0]);
  const int64_t chunks = call.args[2].toInt();
  TORCH_CHECK(chunks >= 1, "_chunk_cat expects positive num_chunks");
  TORCH_CHECK(!tensors.empty(),
              "_chunk_cat expects a non-empty input tensor list");
  const Tensor& first = tensors[0];
  int64_t dim = call.args[1].toInt();
  if (std::all_of(tensors.begin(), tensors.end(),
                  [&](const Tensor& t) { return t.dim() == first.dim(); }))
    dim = dim_of(first, dim);
  TORCH_CHECK(dim >= 0,
              "_chunk_cat expects non-negative dim when input tensors have "
              "different ndims");
  SymInt width(0);
  for (const Tensor& t : tensors) {
    PROVISO_REQUIRE(t.sym_numel().sym_gt(0),
                    "_chunk_cat expects non-empty tensor");
    TORCH_CHECK(t.scalar_type() == first.scalar_type(),
                "_chunk_cat expects all input tensors with the same dtype");
    TORCH_CHECK(dim < t.dim(),
                "_chunk_cat expects dim < ndim for all input tensors");
    for (int64_t d = 0; d < dim; ++d)
      PROVISO_REQUIRE(t.sym_size(d).sym_eq(first.sym_size(d)),
                      "_chunk_cat expects same sizes of 0,...,dim-1 dimensions "
                      "for all tensors");
    const SymInt rest = product(t.sym_sizes().slice(dim + 1));
    width = plus(width, times(ceil_div(t.sym_size(dim), chunks), rest));
  }
  Dims sizes = sizes_of(first);
  sizes.resize(dim);
  sizes.insert(sizes.end(), {SymInt(chunks), width});
  call.returns(fresh(sizes, first.scalar_type(), first.device()));
  return true;
}

bool stack(RuleCall& call) {
  auto tensors = to_tensors(call.args[0]);
  TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  int64_t dim = wrap_dim(call.args[1].toInt(), tensors[0].dim() + 1);
  Dims sizes = sizes_of(tensors[0]);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    bool same = t.dim() == tensors[0].dim();
    for (int64_t d = 0; same && d < t.dim(); ++d) {
      same = known_equal(sizes[d], t.sym_size(d)) ||
             expect(sizes[d].sym_eq(t.sym_size(d)));
      if (constant(t.sym_size(d))) sizes[d] = t.sym_size(d);
    }
    TORCH_CHECK(same, "stack expects each tensor to be equal size, but got ",
                to_text(tensors[0].sym_sizes()), " at entry 0 and ",
                to_text(t.sym_sizes()), " at entry ", i);
  }
  call.returns(stacked(tensors, dim, sizes));
  return true;
}

// --- repeat and move

bool repeat(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims times = call.sym_ints(1), sizes = sizes_of(self);
  TORCH_CHECK(times.size() >= sizes.size(),
              "Number of dimensions of repeat "
              "dims can not be smaller than number of dimensions of tensor");
  sizes.insert(sizes.begin(), times.size() - sizes.size(), SymInt(1));
  for (size_t i = 0; i < sizes.size(); ++i) {
    PROVISO_REQUIRE(times[i].sym_ge(0),
                    "Trying to create tensor with negative "
                    "dimension ",
                    times[i]);
    sizes[i] = shapes::times(sizes[i], times[i]);
  }
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

bool tile(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims times = call.sym_ints(1), sizes = sizes_of(self);
  size_t rank = std::max(times.size(), sizes.size());
  times.insert(times.begin(), rank - times.size(), SymInt(1));
  sizes.insert(sizes.begin(), rank - sizes.size(), SymInt(1));
  for (size_t i = 0; i < rank; ++i)
    sizes[i] = shapes::times(sizes[i], times[i]);
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// repeat_interleave(self, n, dim?, output_size?): each element n times.
bool repeat_each(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  SymInt times = call.sym_int(1);
  PROVISO_REQUIRE(times.sym_ge(0), "Repeats must be non-negative");
  if (call.is_none(2)) {
    call.returns(fresh({shapes::times(self.sym_numel(), times)},
                       self.scalar_type(), self.device()));
    return true;
  }
  int64_t dim = dim_of(self, call.args[2].toInt());
  Dims sizes = sizes_of(self);
  sizes[dim] = shapes::times(sizes[dim], times);
  // Copied from an expanded view: the inner layout is row-major.
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// The n elements of a list of counts: as many results as they sum up to.
bool repeat_by_counts(RuleCall& call) {
  bool has_self = overload(call) == "self_Tensor";
  const IValue& known_total = arg(call, "output_size");
  SymInt total = known_total.isNone()
                     ? fresh_size(call, std::numeric_limits<int64_t>::max())
                     : to_sym(known_total);
  if (!has_self) {
    call.returns(fresh({total}, ScalarType::Long, call.tensor(0).device()));
    return true;
  }
  const Tensor& self = call.tensor(0);
  Dims sizes{total};
  if (!call.is_none(2)) {
    sizes = sizes_of(self);
    sizes[dim_of(self, call.args[2].toInt())] = total;
  }
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

bool triangle(RuleCall& call) {
  TORCH_CHECK(call.tensor(0).dim() >= 2, op_name(call),
              ": input tensor must "
              "have at least 2 dimensions");
  return return_contiguous(call);
}

bool diag_embed(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t offset = diagonal_offset(call.args[1]), rank = self.dim() + 1;
  int64_t a = wrap_dim(call.args[2].toInt(), rank);
  int64_t b = wrap_dim(call.args[3].toInt(), rank);
  TORCH_CHECK(a != b, "diagonal dimensions cannot be identical ", a, ", ", b);
  SymInt side = plus(self.sym_size(-1), std::abs(offset));
  Dims sizes = sizes_of(self);
  sizes.pop_back();
  sizes.insert(sizes.begin() + std::min(a, b), side);
  sizes.insert(sizes.begin() + std::max(a, b), side);
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// diff(self, n, dim, prepend?, append?)
bool diff(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t times = call.args[1].toInt();
  TORCH_CHECK(self.dim() >= 1,
              "diff expects input to be at least "
              "one-dimensional");
  TORCH_CHECK(times >= 0, "order must be non-negative but got ", times);
  int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  Dims sizes = sizes_of(self);
  for (size_t i : {3, 4}) {
    Tensor more = call.optional_tensor(i);
    if (!more.defined()) continue;
    TORCH_CHECK(more.dim() == self.dim(),
                "diff expects prepend or append to be "
                "the same dimension as input");
    sizes[dim] = plus(sizes[dim], more.sym_size(dim));
  }
  if (times == 0) {
    call.returns(fresh_like(self));
    return true;
  }
  SymInt left = sizes[dim] - times;
  sizes[dim] = known_less_equal(0, left) ? left : left.max(0);
  // A difference of two views of self.
  Tensor part = view_of(self, sizes, strides_of(self));
  bool plain = call.is_none(3) && call.is_none(4) && times == 1;
  std::vector<Tensor> operands{part, part};
  Dims strides =
      plain ? elementwise_strides(sizes, operands) : contiguous_strides(sizes);
  call.returns(make_fake(sizes, strides, self.scalar_type(), self.device()));
  return true;
}

// What a write into a view of self gives, as a value: self's very strides,
// unless elements share memory.
bool written(RuleCall& call) {
  const LayoutScope layout;
  const Tensor& self = call.tensor(0);
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (known_zero(self.sym_stride(d)) && !known_one(self.sym_size(d))) {
      return return_like_self(call);
    }
  }
  call.returns(make_fake(self.sym_sizes(), self.sym_strides(),
                         self.scalar_type(), self.device()));
  return true;
}

bool select_scatter(RuleCall& call) {
  Dims part = sizes_of(call.tensor(0));
  part.erase(part.begin() + dim_of(call.tensor(0), call.args[2].toInt()));
  require_part(call.tensor(1), part);
  return written(call);
}

// How long the slice is, the kernel says; the others are known here.
bool slice_scatter(RuleCall& call) {
  const int64_t dim = dim_of(call.tensor(0), call.args[2].toInt());
  Dims part = sizes_of(call.tensor(0));
  if (call.tensor(1).dim() == call.tensor(0).dim())
    part[dim] = call.tensor(1).sym_size(dim);
  require_part(call.tensor(1), part);
  return written(call);
}

bool as_strided_scatter(RuleCall& call) {
  require_part(call.tensor(1), call.sym_ints(2));
  return written(call);
}

// roll(self, shifts, dims=[]): without dims, of all elements in their order.
bool roll(RuleCall& call) {
  const size_t shifts = call.sym_ints(1).size();
  const std::vector<int64_t> dims = to_ints(call.args[2]);
  TORCH_CHECK(shifts > 0, "`shifts` required");
  TORCH_CHECK(shifts == dims.size() || (shifts == 1 && dims.empty()),
              "shifts and dimensions must align. shifts: ", shifts,
              ", dims:", dims.size());
  for (int64_t d : dims) dim_of(call.tensor(0), d);
  return return_contiguous(call);
}

bool flip(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  std::vector<bool> seen(std::max<int64_t>(self.dim(), 1));
  for (int64_t d : to_ints(call.args[1])) {
    d = wrap_dim(d, self.dim());
    TORCH_CHECK(!seen[d], "dim ", d,
                " appears multiple times in the list of dims");
    seen[d] = true;
  }
  return return_like_self(call);
}

// searchsorted(sorted, values), bucketize(values, boundaries)
template <size_t kValues>
bool buckets(RuleCall& call) {
  ScalarType dtype = flag_or(arg(call, "out_int32"), false) ? ScalarType::Int
                                                            : ScalarType::Long;
  const IValue& values = call.args[kValues];
  const Tensor& other = call.tensor(1 - kValues);
  Dims sizes;
  if (values.isTensor()) sizes = sizes_of(values.toTensor());
  call.returns(fresh(sizes, dtype, other.device()));
  return true;
}

bool isin(RuleCall& call) {
  const IValue& elements = call.args[0];
  Dims sizes;
  if (elements.isTensor()) sizes = sizes_of(elements.toTensor());
  const Tensor any = elements.isTensor() ? elements.toTensor() : call.tensor(1);
  call.returns(fresh(sizes, ScalarType::Bool, any.device()));
  return true;
}

// Self and mask broadcast to each other; the result is contiguous.
bool masked_scatter(RuleCall& call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1);
  call.returns(fresh(broadcast(sizes_of(self), sizes_of(mask)),
                     self.scalar_type(), self.device()));
  return true;
}

// --- rows of a table

bool embedding(RuleCall& call) {
  const Tensor &weight = call.tensor(0), &indices = call.tensor(1);
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  TORCH_CHECK(indices.scalar_type() == ScalarType::Long ||
                  indices.scalar_type() == ScalarType::Int,
              "Expected tensor for argument #1 'indices' to have one of the "
              "following scalar types: Long, Int; but got ",
              indices.toString(), " instead");
  Dims sizes = sizes_of(indices);
  sizes.push_back(weight.sym_size(1));
  call.returns(fresh(sizes, weight.scalar_type(), weight.device()));
  return true;
}

bool one_hot(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.scalar_type() == ScalarType::Long,
              "one_hot is only applicable to index tensor of type LongTensor.");
  Dims sizes = sizes_of(self);
  SymInt classes = call.sym_int(1);
  if (constant(classes) == -1) {  // one more than the largest index
    classes = fresh_size(call, std::numeric_limits<int64_t>::max());
  } else {
    PROVISO_REQUIRE(classes.sym_ge(1), "num_classes should be positive");
  }
  sizes.push_back(classes);
  call.returns(fresh(sizes, ScalarType::Long, self.device()));
  return true;
}

// (output, offset2bag, bag_size, max_indices): the last three serve the
// gradient, and their sizes follow the kernel's mode.
bool embedding_bag(RuleCall& call) {
  const Tensor& weight = call.tensor(0);
  const Tensor& indices = call.tensor(1);
  const Tensor& offsets = call.tensor(2);
  const int64_t mode = call.args[4].toInt();
  const bool last = arg(call, "include_last_offset").toBool();
  const SymInt bags = last ? offsets.sym_size(0) - 1 : offsets.sym_size(0);
  const auto integers = [&](const Dims& sizes) {
    return fresh(sizes, indices.scalar_type(), indices.device());
  };
  call.returns(
      fresh({bags, weight.sym_size(1)}, weight.scalar_type(), weight.device()));
  const bool float_weight = weight.scalar_type() == ScalarType::Float ||
                            weight.scalar_type() == ScalarType::Half ||
                            weight.scalar_type() == ScalarType::BFloat16;
  const bool fast =
      mode == 0 && float_weight && known_one(weight.sym_stride(1));
  call.returns(integers({fast ? SymInt(0) : indices.sym_size(0)}));
  call.returns(integers({bags}));
  if (mode == 2)
    call.returns(integers({bags, weight.sym_size(1)}));
  else
    call.returns(integers({bags}));
  return true;
}

// embedding_renorm_(self, indices, max_norm, norm_type): the rows named are
// made no longer than max_norm.
bool embedding_renorm(RuleCall& call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  TORCH_CHECK(self.dim() == 2, "Expected 2-dimensional tensor, but got ",
              self.dim(),
              "-dimensional tensor for argument #1 'self' (while checking "
              "arguments for embedding_renorm_)");
  TORCH_CHECK(
      indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt,
      "Expected tensor for argument #2 'indices' to have one of the following "
      "scalar types: Long, Int; but got ",
      indices.toString(),
      " instead (while checking arguments for embedding_renorm_)");
  return op_name(call).ends_with('_') ? return_self(call)
                                      : return_like_self(call);
}

bool embedding_dense_backward(RuleCall& call) {
  const Tensor& grad = call.tensor(0);
  call.returns(fresh({call.sym_int(2), grad.sym_size(-1)}, grad.scalar_type(),
                     grad.device()));
  return true;
}

// --- choices

// n (n - 1) .. (n - r + 1) / r!, exact of a constant n.
SymInt choices(const SymInt& n, int64_t r) {
  if (const std::optional<int64_t> known = constant(n)) {
    Int count = 1;
    for (int64_t i = 0; i < r; ++i)
      count = floor_div(count * (Int(*known) - i), Int(i + 1));
    const std::optional<int64_t> fits = count.to_int64();
    TORCH_CHECK(fits, "combinations: ", count.to_string(),
                " rows are more than a tensor can have");
    return *fits;
  }
  SymInt product = 1, factorial = 1;
  for (int64_t i = 0; i < r; ++i) {
    product = times(product, n - i);
    factorial = times(factorial, i + 1);
  }
  return floor_div(product, factorial);
}

// combinations(self, r, with_replacement): a row for each choice.
bool combinations(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const int64_t r = call.args[1].toInt();
  TORCH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ",
              to_text(self.sym_sizes()));
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  TORCH_CHECK(r <= 1000, "combinations of ", r,
              " elements are not traced; 1000 is the most");
  const SymInt n = self.sym_size(0);
  Dims sizes{choices(call.args[2].toBool() ? n + (r - 1) : n, r), SymInt(r)};
  if (r == 0) sizes = {SymInt(0)};
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

const RuleEntry kIndexingRules[] = {
    {"aten::_unsafe_index.Tensor", index, "indexing"},
    {"aten::_unsafe_index_put", index_put, "indexing"},
    {"aten::_unsafe_masked_index", masked_index, "indexing"},
    {"aten::_unsafe_masked_index_put_accumulate", masked_index_put, "indexing"},
    {"aten::gather", gather, "indexing"},
    {"aten::index.Tensor", index, "indexing"},
    {"aten::index_add", return_contiguous, "indexing"},
    {"aten::index_add_", return_self, "indexing"},
    {"aten::index_reduce", return_contiguous, "indexing"},
    {"aten::index_reduce_", return_self, "indexing"},
    {"aten::index_copy", return_contiguous, "indexing"},
    {"aten::index_copy_", return_self, "indexing"},
    {"aten::index_fill", return_like_self, "indexing"},
    {"aten::index_fill_", return_self, "indexing"},
    {"aten::index_put", index_put, "indexing"},
    {"aten::index_put_", index_put_in_place, "indexing"},
    {"aten::index_select", index_select, "indexing"},
    {"aten::masked_scatter", masked_scatter, "indexing"},
    {"aten::masked_scatter_", return_self, "indexing"},
    {"aten::put", return_like_self, "indexing"},
    {"aten::put_", return_self, "indexing"},
    {"aten::scatter", scatter, "indexing"},
    {"aten::scatter_", scatter_in_place, "indexing"},
    {"aten::scatter_add", scatter, "indexing"},
    {"aten::scatter_add_", scatter_in_place, "indexing"},
    {"aten::scatter_reduce.two", scatter, "indexing"},
    {"aten::scatter_reduce_.two", scatter_in_place, "indexing"},
    {"aten::take", take, "indexing"},
    {"aten::take_along_dim", take_along_dim, "indexing"},
    {"aten::as_strided_scatter", as_strided_scatter, "indexing"},
    {"aten::diagonal_scatter", written, "indexing"},
    {"aten::select_scatter", select_scatter, "indexing"},
    {"aten::slice_scatter", slice_scatter, "indexing"},
    // search
    {"aten::bucketize", buckets<0>, "search"},
    {"aten::isin", isin, "search"},
    {"aten::searchsorted", buckets<1>, "search"},
    // join
    {"aten::_chunk_cat", chunk_cat, "join"},
    {"aten::cat", cat, "join"},
    {"aten::concat", cat, "join"},
    {"aten::concatenate", cat, "join"},
    {"aten::stack", stack, "join"},
    // repeat and move
    {"aten::diag_embed", diag_embed, "move"},
    {"aten::diff", diff, "move"},
    {"aten::fill_diagonal_", return_self, "move"},
    {"aten::flip", flip, "move"},
    {"aten::repeat", repeat, "move"},
    {"aten::repeat_interleave.Tensor", repeat_by_counts, "move"},
    {"aten::repeat_interleave.self_Tensor", repeat_by_counts, "move"},
    {"aten::repeat_interleave.self_int", repeat_each, "move"},
    {"aten::roll", roll, "move"},
    {"aten::tile", tile, "move"},
    {"aten::tril", triangle, "move"},
    {"aten::tril_", return_self, "move"},
    {"aten::triu", triangle, "move"},
    {"aten::triu_", return_self, "move"},
    {"aten::embedding", embedding, "embedding"},
    {"aten::one_hot", one_hot, "embedding"},
    {"aten::embedding_dense_backward", embedding_dense_backward, "gradient"},
    {"aten::combinations", combinations, "indexing"},
    {"aten::_embedding_bag", embedding_bag, "embedding"},
    {"aten::_embedding_bag_forward_only", embedding_bag, "embedding"},
    {"aten::embedding_renorm", embedding_renorm, "embedding"},
    {"aten::embedding_renorm_", embedding_renorm, "embedding"},
};

}  // namespace

void register_indexing_rules() { register_rules(kIndexingRules); }

}  // namespace proviso::inline v0_2
