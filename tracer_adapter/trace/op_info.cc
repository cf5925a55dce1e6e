// What the tracer knows of an operator: its shape rule, how it decomposes,
// which arguments it writes to.  Found once for each, from the table of rules
// and its schema.
#include "tracer_adapter/trace/op_info.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tracer_adapter/export.h"
#include "tracer_adapter/run/known_operators.h"
#include "tracer_adapter/trace/out_overloads.h"
#include "tracer_adapter/trace/rule.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

std::map<std::string, RuleEntry>& rule_table() {
  static std::map<std::string, RuleEntry> table;
  return table;
}

Rule find_rule(const c10::FunctionSchema& schema) {
  static std::once_flag once;
  std::call_once(once, register_all_rules);
  const auto& table = rule_table();
  std::string name = schema.name();
  // "aten::add." names the overload without a name.
  auto found = table.find(name + "." + schema.overload_name());
  // A row for all overloads does not speak for those that write to `out`.
  const bool writes_out =
      std::any_of(schema.arguments().begin(), schema.arguments().end(),
                  [](const c10::Argument& a) { return a.is_out(); });
  if (found == table.end() && !writes_out) found = table.find(name);
  return found == table.end() ? nullptr : found->second.rule;
}

// Their answers are symbolic numbers, which finish() turns into nodes where
// they are used; or they speak to the ShapeEnv alone.
bool is_query(const std::string& name) {
  static const char* const kQueries[] = {"aten::sym_size",
                                         "aten::sym_stride",
                                         "aten::sym_numel",
                                         "aten::sym_storage_offset",
                                         "aten::sym_is_contiguous",
                                         "aten::size",
                                         "aten::stride",
                                         "aten::numel",
                                         "aten::dim",
                                         "aten::sym_constrain_range",
                                         "aten::_assert_scalar",
                                         "aten::sym_constrain_range_for_size"};
  for (const char* query : kQueries)
    if (name == query) return true;
  return false;
}

bool draws_from(const c10::Type& type) {
  const c10::Type& t = type.kind() == c10::TypeKind::OptionalType
                           ? *type.containedTypes()[0]
                           : type;
  return t.kind() == c10::TypeKind::GeneratorType;
}

}  // namespace

void register_rules(std::span<const RuleEntry> rules) {
  for (const RuleEntry& rule : rules)
    rule_table().insert_or_assign(rule.op, rule);
}

std::vector<RuleEntry> registered_rules() {
  std::vector<RuleEntry> result;
  for (const auto& [name, entry] : rule_table()) result.push_back(entry);
  return result;
}

IntMeaning meaning_of(const c10::Type& type) {
  const c10::Type* t = &type;
  while (t->kind() == c10::TypeKind::OptionalType ||
         t->kind() == c10::TypeKind::ListType)
    t = t->containedTypes()[0].get();
  switch (t->kind()) {
    case c10::TypeKind::ScalarTypeType: return IntMeaning::kDtype;
    case c10::TypeKind::LayoutType: return IntMeaning::kLayout;
    case c10::TypeKind::MemoryFormatType: return IntMeaning::kMemoryFormat;
    default: return IntMeaning::kNumber;
  }
}

bool has_rule(const c10::OperatorHandle& op) {
  return find_rule(op.schema()) != nullptr;
}

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(
      c10::DispatchKey::CompositeImplicitAutograd);
}

// _foreach_add is add of one tensor after the other.
std::optional<c10::DispatchKey> composite_key(const c10::OperatorHandle& op) {
  if (is_composite(op)) return c10::DispatchKey::CompositeImplicitAutograd;
  constexpr auto kExplicit = c10::DispatchKey::CompositeExplicitAutograd;
  if (op.operator_name().name.starts_with("aten::_foreach_") &&
      op.hasKernelForDispatchKey(kExplicit))
    return kExplicit;
  return std::nullopt;
}

bool is_known(const c10::OperatorHandle& op) {
  return has_rule(op) || is_composite(op);
}

bool has_meta_function(const c10::OperatorHandle& op) {
  return tracer_hooks().custom_op &&
         op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
}

Tracer::OpInfo Tracer::make_info(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OpInfo info(op);
  info.name = toString(op.operator_name());
  info.lifts =
      info.name == "aten::lift_fresh" || info.name == "aten::lift_fresh_copy";
  if (info.lifts)
    info.recorded = c10::Dispatcher::singleton().findSchemaOrThrow(
        "aten::lift_fresh_copy", "");
  info.target = target_name(info.recorded);
  info.rule = find_rule(schema);
  info.composite = composite_key(op);
  info.autocast = op.hasKernelForDispatchKey(c10::DispatchKey::AutocastCPU);
  info.profiles = info.name.starts_with("profiler::");
  info.aten = info.name.starts_with("aten::");
  if (info.aten && !info.rule && !info.composite)
    info.functional = functional_of(op);
  info.recorded_at_all = !is_query(schema.name());
  info.random = op.hasTag(at::Tag::nondeterministic_seeded);
  info.detaches =
      schema.name() == "aten::detach" || schema.name() == "aten::detach_";
  info.argument_count = schema.arguments().size();
  info.return_count = schema.returns().size();
  for (size_t i = 0; i < info.argument_count; ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    info.meanings.push_back(meaning_of(*argument.real_type()));
    if (argument.alias_info() && argument.alias_info()->isWrite())
      info.written.push_back(i);
    if (argument.real_type()->kind() == c10::TypeKind::TensorType)
      info.tensors.push_back(i);
    if (draws_from(*argument.real_type())) info.generators.push_back(i);
  }
  info.mutates = !info.written.empty();
  return info;
}

const Tracer::OpInfo& Tracer::info(const c10::OperatorHandle& op) {
  // One a thread: no lock on the hot path.
  thread_local std::unordered_map<c10::OperatorHandle, OpInfo> infos;
  auto found = infos.find(op);
  if (found == infos.end()) found = infos.emplace(op, make_info(op)).first;
  return found->second;
}

}  // namespace proviso::inline v0_2
