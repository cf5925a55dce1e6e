#include "tracer_adapter/trace/open_control_flow.h"

#include "tracer_adapter/shape_functions/common.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

using Values = OpenResult;

ShapeEnv& env() { return Tracer::current()->env(); }

c10::SymInt new_int() { return to_sym_int(env(), env().create_unbacked_int()); }

c10::SymInt new_size(int64_t least) {
  const Expr u = env().create_unbacked_int(Interval::at_least(least));
  env().mark_size_like(u);
  return to_sym_int(env(), u);
}

at::Tensor contiguous_like(const at::Tensor& t, c10::SymIntArrayRef sizes) {
  return make_contiguous(sizes, t.scalar_type(), t.device());
}

std::vector<c10::SymInt> with_rows(c10::SymInt rows, c10::SymIntArrayRef rest) {
  std::vector<c10::SymInt> sizes{std::move(rows)};
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return sizes;
}

Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// --- branches

bool is_integer(const c10::IValue& value) {
  return value.isInt() || value.isSymInt();
}

c10::IValue either(const c10::IValue& a, const c10::IValue& b) {
  if (is_integer(a) && is_integer(b))
    return a.isInt() && b.isInt() && a.toInt() == b.toInt() ? a : new_int();
  if (!a.isTensor() || !b.isTensor()) return a;
  const at::Tensor &x = a.toTensor(), &y = b.toTensor();
  TORCH_CHECK_VALUE(x.dim() == y.dim() && x.scalar_type() == y.scalar_type(),
                    "cond: the true branch gives ", x.dtype(), x.sym_sizes(),
                    ", the false one ", y.dtype(), y.sym_sizes());
  std::vector<c10::SymInt> sizes;
  for (int64_t d = 0; d < x.dim(); ++d)
    sizes.push_back(shapes::known_equal(x.sym_size(d), y.sym_size(d))
                        ? x.sym_size(d)
                        : new_size(0));
  if (shapes::same_dims(x.sym_sizes(), y.sym_sizes()) &&
      shapes::same_dims(x.sym_strides(), y.sym_strides()))
    return make_fake(sizes, x.sym_strides(), x.scalar_type(), x.device());
  return contiguous_like(x, sizes);
}

// --- loops

c10::IValue any_turn(const c10::IValue& carried) {
  if (carried.isTensor()) return fake_like(carried.toTensor());
  return is_integer(carried) ? c10::IValue(new_int()) : carried;
}

Values any_turn_of(const Values& carried) {
  Values result;
  for (const c10::IValue& value : carried) result.push_back(any_turn(value));
  return result;
}

void require_carried(const char* name, const Values& before,
                     const Values& after) {
  TORCH_CHECK_VALUE(after.size() >= before.size(), name, ": the body gives ",
                    after.size(), " values and carries ", before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before[i].isTensor()) continue;
    const at::Tensor &x = before[i].toTensor(), &y = after[i].toTensor();
    TORCH_CHECK_VALUE(x.scalar_type() == y.scalar_type() &&
                          shapes::same_dims(x.sym_sizes(), y.sym_sizes()),
                      name, ": what is carried is ", x.dtype(), x.sym_sizes(),
                      ", the body makes ", y.dtype(), y.sym_sizes(), " of it");
  }
}

// There is a row, and all have as many.
c10::SymInt steps_of(const Values& xs, const char* name) {
  c10::SymInt steps = xs.at(0).toTensor().sym_size(0);
  for (const c10::IValue& x : xs) {
    const c10::SymInt rows = x.toTensor().sym_size(0);
    TORCH_CHECK_VALUE(rows.sym_ne(0).expect_true(__FILE__, __LINE__), name,
                      ": leading dimensions of xs cannot be 0");
    TORCH_CHECK_VALUE(rows.sym_eq(steps).expect_true(__FILE__, __LINE__), name,
                      ": leading dimensions of xs must be consistent, got ",
                      steps, " and ", rows);
  }
  return steps;
}

Values any_row(const Values& xs) {
  Values result;
  for (const c10::IValue& x : xs) result.emplace_back(fake_row(x.toTensor()));
  return result;
}

Values stacked(Values::const_iterator from, Values::const_iterator to,
               const c10::SymInt& steps) {
  Values result;
  for (; from != to; ++from) {
    const at::Tensor& t = from->toTensor();
    result.emplace_back(contiguous_like(t, with_rows(steps, t.sym_sizes())));
  }
  return result;
}

}  // namespace

bool runs_on_fakes() {
  const Tracer* tracer = Tracer::current();
  return tracer != nullptr && !tracer->recording();
}

// What each branch needs is needed: either may be taken.
OpenResult open_cond(const ControlFlowCall& call) {
  const Values yes = call.graphs.at(0).run(call.lists.at(0));
  const Values no = call.graphs.at(1).run(call.lists.at(0));
  TORCH_CHECK_VALUE(yes.size() == no.size(), "cond: the true branch gives ",
                    yes.size(), " values, the false one ", no.size());
  Values result;
  for (size_t i = 0; i < yes.size(); ++i)
    result.push_back(either(yes[i], no[i]));
  return result;
}

OpenResult open_while_loop(const ControlFlowCall& call) {
  const Values& carried = call.lists.at(0);
  const Values& others = call.lists.at(1);
  call.graphs.at(0).run(joined(any_turn_of(carried), others));
  require_carried("while_loop", carried,
                  call.graphs.at(1).run(joined(any_turn_of(carried), others)));
  return any_turn_of(carried);
}

OpenResult open_map(const ControlFlowCall& call) {
  const c10::SymInt steps = steps_of(call.lists.at(0), "map");
  const Values out = call.graphs.at(0).run(
      joined(any_row(call.lists.at(0)), call.lists.at(1)));
  return stacked(out.begin(), out.end(), steps);
}

OpenResult open_scan(const ControlFlowCall& call) {
  const Values& carried = call.lists.at(0);
  const c10::SymInt steps = steps_of(call.lists.at(1), "scan");
  const Values out = call.graphs.at(0).run(
      joined(joined(any_turn_of(carried), any_row(call.lists.at(1))),
             call.lists.at(2)));
  require_carried("scan", carried, out);
  const auto rows = out.begin() + static_cast<std::ptrdiff_t>(carried.size());
  return joined(any_turn_of(carried), stacked(rows, out.end(), steps));
}

// The combining graph takes batches of neighbours, of any number.
OpenResult open_associative_scan(const ControlFlowCall& call) {
  const Values& xs = call.lists.at(0);
  steps_of(xs, "associative_scan");
  Values batches, result;
  for (int side = 0; side < 2; ++side) {
    const c10::SymInt batch = new_size(1);
    for (const c10::IValue& value : xs) {
      const at::Tensor& x = value.toTensor();
      batches.emplace_back(
          contiguous_like(x, with_rows(batch, x.sym_sizes().slice(1))));
    }
  }
  call.graphs.at(0).run(joined(batches, call.lists.at(1)));
  for (const c10::IValue& value : xs) {
    const at::Tensor& x = value.toTensor();
    result.emplace_back(contiguous_like(x, x.sym_sizes()));
  }
  return result;
}

}  // namespace proviso::inline v0_2
