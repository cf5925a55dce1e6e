#include "tracer_adapter/run/constants.h"

#include <ATen/core/enum_tag.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <numeric>

#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

// Values that may share memory, as far as is known: union-find.
class Aliases {
 public:
  explicit Aliases(size_t count) : parent_(count), escapes_(count, false) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  void join(ValueId a, ValueId b) {
    const ValueId x = find(a), y = find(b);
    parent_[y] = x;
    escapes_[x] = escapes_[x] || escapes_[y];
  }
  // Somebody may write to it or keep it.
  void let_escape(ValueId id) { escapes_[find(id)] = true; }
  bool escapes(ValueId id) { return escapes_[find(id)]; }

 private:
  ValueId find(ValueId id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  std::vector<ValueId> parent_;
  std::vector<bool> escapes_;
};

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(
      c10::DispatchKey::CompositeImplicitAutograd);
}

bool names_aliases(const c10::FunctionSchema& schema) {
  const auto is_alias = [](const c10::Argument& a) {
    return a.alias_info() != nullptr;
  };
  return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                     is_alias) ||
         std::any_of(schema.returns().begin(), schema.returns().end(),
                     is_alias);
}

bool is_random(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::nondeterministic_seeded) ||
         op.hasTag(at::Tag::nondeterministic_bitwise);
}

// Its results are memory of their own, whatever it is given.
bool gives_new_memory(const c10::OperatorHandle& op) {
  return !is_composite(op) && !is_random(op) && !names_aliases(op.schema()) &&
         !op.hasTag(at::Tag::maybe_aliasing_or_mutating) &&
         (op.hasTag(at::Tag::core) || op.hasTag(at::Tag::pointwise));
}

bool is_uninitialised(const std::string& name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty");
}

// At least a result, all of them small tensors of known size.  Bytes, or none.
std::optional<int64_t> bytes_of_results(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  bool any = false, known = true;
  for_each_output(node, [&](ValueId id) {
    any = true;
    if (!graph.value(id).is_tensor()) {
      known = false;
      return;
    }
    const TensorMeta& meta = graph.value(id).tensor();
    int64_t size = static_cast<int64_t>(c10::elementSize(meta.dtype));
    for (Expr e : meta.sizes) {
      const std::optional<int64_t> n = e.maybe_int64();
      known &= n && !__builtin_mul_overflow(size, *n, &size);
    }
    known &= meta.device.is_cpu() && size <= kLargestConstant;
    if (known) bytes += size;
  });
  return any && known ? std::optional(bytes) : std::nullopt;
}

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), aliases_(graph.values.size()) {}

  std::vector<bool> run();

 private:
  void follow(const Node& node);
  bool is_constant(const Node& node);
  bool is_fixed(const Argument& a) const;

  const Graph& graph_;
  Aliases aliases_;
  std::vector<bool> constant_;  // by value
};

void Finder::follow(const Node& node) {
  if (node.kind == Node::Kind::kSymbolic) return;
  const bool opaque = node.kind != Node::Kind::kOperator ||
                      !node.op->schema().name().starts_with("aten::");
  if (!opaque && gives_new_memory(*node.op)) return;
  std::vector<ValueId> touched;
  for (size_t i = 0; i < node.args.size(); ++i)
    for_each_reference(node.args[i], [&](ValueId id) {
      if (!graph_.value(id).is_tensor()) return;
      touched.push_back(id);
      const c10::AliasInfo* alias =
          opaque ? nullptr : node.op->schema().arguments()[i].alias_info();
      if (opaque || (alias && alias->isWrite())) aliases_.let_escape(id);
    });
  for_each_output(node, [&](ValueId id) {
    if (graph_.value(id).is_tensor()) touched.push_back(id);
  });
  for (ValueId id : touched) aliases_.join(touched[0], id);
}

bool Finder::is_fixed(const Argument& a) const {
  if (a.get<GraphArgument>() || a.get<ExprArgument>()) return false;
  bool fixed = true;
  for_each_reference(a, [&](ValueId id) { fixed &= constant_[id]; });
  return fixed;
}

bool Finder::is_constant(const Node& node) {
  if (node.kind != Node::Kind::kOperator) return false;
  const c10::FunctionSchema& schema = node.op->schema();
  if (!schema.name().starts_with("aten::") || is_composite(*node.op) ||
      is_random(*node.op) || schema.is_mutable() ||
      is_uninitialised(schema.name()))
    return false;
  bool fixed = true;
  for (const Argument& a : node.args) fixed &= is_fixed(a);
  for_each_output(node, [&](ValueId id) { fixed &= !aliases_.escapes(id); });
  return fixed;
}

std::vector<bool> Finder::run() {
  for (const Node& node : graph_.nodes) follow(node);
  for (const OutputSpec& output : graph_.outputs)
    for_each_reference(output.arg,
                       [&](ValueId id) { aliases_.let_escape(id); });
  constant_.assign(graph_.values.size(), false);
  std::vector<bool> nodes;
  int64_t total = 0;
  for (const Node& node : graph_.nodes) {
    const std::optional<int64_t> bytes = bytes_of_results(graph_, node);
    nodes.push_back(bytes && total + *bytes <= kAllConstants &&
                    is_constant(node));
    if (!nodes.back()) continue;
    total += *bytes;
    for_each_output(node, [&](ValueId id) { constant_[id] = true; });
  }
  return nodes;
}

}  // namespace

std::vector<bool> constant_nodes(const Graph& graph) {
  return Finder(graph).run();
}

bool runs_plainly() {
  const auto keys = c10::impl::tls_local_dispatch_key_set();
  return Tracer::current() == nullptr &&
         (keys.included_ - c10::default_included_set).empty() &&
         (c10::default_excluded_set - keys.excluded_).empty();
}

}  // namespace proviso::inline v0_2
