#include "tracer_adapter/trace/program_inputs.h"

#include <utility>

#include "tracer_adapter/fake/fake_tensor.h"
#include "tracer_adapter/trace/plain_tensor.h"

namespace proviso::inline v0_2 {
namespace {

constexpr InputKind kOwned[] = {InputKind::kParameter, InputKind::kBuffer,
                                InputKind::kConstantTensor};

const char* prefix_of(InputKind kind) {
  return kind == InputKind::kParameter ? "p_"
         : kind == InputKind::kBuffer  ? "b_"
                                       : "c_";
}

std::string identifier(std::string text) {
  for (char& c : text)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

// Where the first element lies: the same for tensors on the same memory.
const void* place_of(const at::Tensor& t) {
  return static_cast<const char*>(t.storage().data()) +
         static_cast<size_t>(t.storage_offset()) * t.itemsize();
}

}  // namespace

void check_owned(InputKind kind, const std::string& name, const at::Tensor& t) {
  const char* word = kind == InputKind::kParameter ? "parameter '"
                     : kind == InputKind::kBuffer  ? "buffer '"
                                                   : "constant '";
  const std::string what = word + name + "'";
  TORCH_CHECK_VALUE(t.defined(), "Proviso: ", what, " is an undefined tensor");
  TORCH_CHECK_VALUE(!is_fake(t), "Proviso: ", what,
                    " is a traced tensor, of a "
                    "trace that has ended; give a real one");
  require_plain(what, t);
  require_memory(what, t);
}

void ProgramInputs::claim_target(const std::string& target) {
  TORCH_CHECK_VALUE(targets_.insert(target).second,
                    "Proviso: there is a parameter or buffer '", target,
                    "' already; give each a name of its own");
}

void ProgramInputs::own(InputKind kind, const std::string& target,
                        const at::Tensor& tensor,
                        std::optional<bool> persistent, ValueId id) {
  InputSpec spec;
  spec.kind = kind;
  spec.arg = {ValueRef{id}};
  spec.name = prefix_of(kind) + identifier(target);
  spec.target = target;
  spec.persistent = persistent;
  if (tensor.has_storage()) places_.emplace(place_of(tensor), owned_.size());
  owned_.push_back({std::move(spec), tensor});
}

// `.data` and Parameter(x) are new tensors on the memory of a known one.
const at::Tensor* ProgramInputs::alias_of(const at::Tensor& t) const {
  if (!t.has_storage() || t.numel() == 0) return nullptr;
  const auto [first, last] = places_.equal_range(place_of(t));
  for (auto at = first; at != last; ++at) {
    const at::Tensor& o = owned_[at->second].tensor;
    if (o.is_alias_of(t) && o.dtype() == t.dtype() && o.sizes() == t.sizes() &&
        o.strides() == t.strides() && o.storage_offset() == t.storage_offset())
      return &o;
  }
  return nullptr;
}

void ProgramInputs::name_constant(const std::string& name,
                                  const at::Tensor& t) {
  TORCH_CHECK_VALUE(t.defined(), "Proviso: constant '", name,
                    "' is an undefined tensor");
  constant_names_.try_emplace(t.unsafeGetTensorImpl(), name);
}

std::string ProgramInputs::constant_name(const at::Tensor& t) {
  const auto named = constant_names_.find(t.unsafeGetTensorImpl());
  return named != constant_names_.end()
             ? named->second
             : "lifted_tensor_" + std::to_string(lifted_++);
}

InputSpec ProgramInputs::user_input(const std::string& name,
                                    const std::string& source) {
  InputSpec spec;
  spec.name = name;
  spec.source = source.empty() ? "L['" + name + "']" : source;
  TORCH_CHECK_VALUE(sources_.insert(spec.source).second, "Proviso: input '",
                    name, "': there is an input ", spec.source,
                    " already, and guards could not tell them apart; give "
                    "each input a name of its own");
  return spec;
}

void ProgramInputs::add(InputSpec spec) {
  user_inputs_.push_back(std::move(spec));
}

std::vector<const ProgramInputs::Owned*> ProgramInputs::owned_in_order() const {
  std::vector<const Owned*> result;
  for (InputKind kind : kOwned)
    for (const Owned& o : owned_)
      if (o.spec.kind == kind) result.push_back(&o);
  return result;
}

std::vector<InputSpec> ProgramInputs::specs() const {
  std::vector<InputSpec> result;
  for (const Owned* o : owned_in_order()) result.push_back(o->spec);
  result.insert(result.end(), user_inputs_.begin(), user_inputs_.end());
  return result;
}

void ProgramInputs::give_tensors(ExportedProgram& program) const {
  for (const Owned* o : owned_in_order()) {
    const bool is_state = o->spec.kind != InputKind::kConstantTensor &&
                          o->spec.persistent.value_or(true);
    (is_state ? program.state_dict : program.constants)
        .emplace_back(o->spec.target, o->tensor);
  }
}

}  // namespace proviso::inline v0_2
