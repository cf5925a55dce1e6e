#include "tracer_adapter/tracer.h"

#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "tracer_adapter/trace/entry.h"
#include "tracer_adapter/trace/op_info.h"
#include "tracer_adapter/trace/plain_tensor.h"
#include "tracer_adapter/trace/program_stack.h"
#include "tracer_adapter/trace/sources.h"
#include "tracer_adapter/trace/sub_graph.h"
#include "tracer_adapter/trace/torch_state.h"

namespace proviso::inline v0_2 {
namespace {

thread_local Tracer* current_tracer = nullptr;

std::string identifier(std::string text) {
  for (char& c : text)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

// Strides of an example, told through its symbolic sizes where they fit: the
// stride of a dim is a product of an inner dim's size and stride.
std::vector<c10::SymInt> symbolic_strides(
    const at::Tensor& example, const std::vector<c10::SymInt>& sizes) {
  if (example.is_contiguous()) return contiguous_strides(sizes);
  const size_t rank = sizes.size();
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);  // inner dims first
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return example.stride(a) < example.stride(b);
  });
  std::vector<c10::SymInt> strides(rank);
  // Products met so far, by their value in the example.
  std::vector<std::pair<int64_t, c10::SymInt>> products{{1, 1}};
  for (size_t d : order) {
    const int64_t stride = example.stride(d);
    strides[d] = stride;
    for (const auto& [value, product] : products)
      if (value == stride) strides[d] = product;
    products.emplace_back(stride * example.size(d), strides[d] * sizes[d]);
  }
  return strides;
}

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

void check_example(const std::string& name, const at::Tensor& example,
                   const TensorDims& dims) {
  TORCH_CHECK_VALUE(example.defined(), "Proviso: example input ", name,
                    " is an undefined tensor; give a tensor of the right rank "
                    "and dtype");
  TORCH_CHECK_VALUE(!is_fake(example), "Proviso: example input ", name,
                    " is a traced tensor; examples are real tensors");
  require_plain("example input " + name, example);
  require_memory("example input " + name, example);
  TORCH_CHECK_VALUE(
      dims.empty() || static_cast<int64_t>(dims.size()) == example.dim(),
      "Expected dynamic shape spec of ", name,
      " to have the same length as the actual tensor shape ", example.sizes(),
      " (expected ", example.dim(), ", but got ", dims.size(), " instead)");
}

// Where the first element lies: the same for tensors on the same memory.
const void* place_of(const at::Tensor& t) {
  return static_cast<const char*>(t.storage().data()) +
         static_cast<size_t>(t.storage_offset()) * t.itemsize();
}

}  // namespace

uint64_t next_trace() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

TracerHooks& tracer_hooks() {
  static TracerHooks hooks;
  return hooks;
}

Tracer* Tracer::current() { return current_tracer; }

Tracer::Tracer(ShapeEnvOptions options)
    : env_(std::make_shared<ShapeEnv>(std::move(options))),
      id_(next_trace()),
      outer_(std::exchange(current_tracer, this)) {
  install_fallback();
  modes_.push_back(current_mode(autocast_depth_));
  outer_location_ = set_location_hook([this] { return location(); });
  c10::impl::tls_set_dispatch_key_included(kTraceKey, true);
}

// Tracers of a thread may end in any order: one inside this one goes on, with
// what was around this one around it.
Tracer::~Tracer() {
  if (current_tracer == this) {
    current_tracer = outer_;
    set_location_hook(std::move(outer_location_));
    c10::impl::tls_set_dispatch_key_included(kTraceKey, outer_ != nullptr);
    return;
  }
  Tracer* inner = current_tracer;
  while (inner && inner->outer_ != this) inner = inner->outer_;
  if (!inner) return;  // of another thread
  inner->outer_ = outer_;
  inner->outer_location_ = std::move(outer_location_);
}

void Tracer::require_open(const char* call) const {
  TORCH_CHECK(!is_finished_, "Proviso: ", call,
              ": the trace has ended with finish(); destroy this Tracer, and "
              "make a new one for another trace");
}

// --- inputs

// Guards and the state call inputs by these names.
InputSpec Tracer::user_input(const std::string& name,
                             const std::string& source) {
  require_open("an input");
  InputSpec spec;
  spec.name = name;
  spec.source = source.empty() ? "L['" + name + "']" : source;
  TORCH_CHECK_VALUE(sources_.insert(spec.source).second, "Proviso: input '",
                    name, "': there is an input ", spec.source,
                    " already, and guards could not tell them apart; give "
                    "each input a name of its own");
  return spec;
}

void Tracer::claim_target(const std::string& target) {
  TORCH_CHECK_VALUE(targets_.insert(target).second,
                    "Proviso: there is a parameter or buffer '", target,
                    "' already; give each a name of its own");
}

void Tracer::own(InputKind kind, const char* prefix, const std::string& target,
                 const at::Tensor& tensor, std::optional<bool> persistent) {
  require_open("an input");
  check_owned(kind, target, tensor);
  // Of a tensor with several names (tied weights) the program reads the last.
  const ValueId id = graph_.add_value(meta_of(tensor));
  real_values_[tensor.unsafeGetTensorImpl()] = id;
  InputSpec spec;
  spec.kind = kind;
  spec.arg = {ValueRef{id}};
  spec.name = prefix + identifier(target);
  spec.target = target;
  spec.persistent = persistent;
  if (tensor.has_storage())
    owned_places_.emplace(place_of(tensor), owned_inputs_.size());
  owned_inputs_.push_back({std::move(spec), tensor});
}

void Tracer::add_parameter(const std::string& name, const at::Tensor& tensor) {
  claim_target(name);
  own(InputKind::kParameter, "p_", name, tensor, std::nullopt);
}

void Tracer::add_buffer(const std::string& name, const at::Tensor& tensor,
                        bool persistent) {
  claim_target(name);
  own(InputKind::kBuffer, "b_", name, tensor, persistent);
}

void Tracer::add_constant(const std::string& name, const at::Tensor& tensor) {
  own(InputKind::kConstantTensor, "c_", name, tensor, std::nullopt);
}

void Tracer::name_constant(const std::string& name, const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), "Proviso: constant '", name,
                    "' is an undefined tensor");
  constant_names_.try_emplace(tensor.unsafeGetTensorImpl(), name);
}

at::Tensor Tracer::add_input(const std::string& name, const at::Tensor& example,
                             const TensorDims& dims,
                             const std::string& source) {
  check_example(name, example, dims);
  InputSpec spec = user_input(name, source);
  std::vector<c10::SymInt> sizes;
  for (int64_t d = 0; d < example.dim(); ++d) {
    const std::string size = size_source(spec.source, d);
    sizes.push_back(to_sym_int(
        *env_, env_->create_size(example.size(d), size,
                                 dims.empty() ? DimConstraint{} : dims[d])));
  }
  at::Tensor fake = make_fake(sizes, symbolic_strides(example, sizes),
                              example.scalar_type(), example.device());
  if (example.requires_grad())
    fake.unsafeGetTensorImpl()->set_requires_grad(true);
  spec.arg = {ValueRef{fresh(fake)}};
  user_inputs_.push_back(std::move(spec));
  return fake;
}

c10::SymInt Tracer::add_int_input(const std::string& name, int64_t example,
                                  const std::string& source,
                                  const DimConstraint& constraint) {
  InputSpec spec = user_input(name, source);
  const Expr e = env_->create_backed_int(example, spec.source, constraint);
  spec.arg = {ValueRef{graph_.add_value(e)}};
  user_inputs_.push_back(std::move(spec));
  return to_sym_int(*env_, e);
}

c10::SymFloat Tracer::add_float_input(const std::string& name, double example,
                                      const std::string& source) {
  InputSpec spec = user_input(name, source);
  const Expr e = env_->create_backed_float(example, spec.source);
  spec.arg = {ValueRef{graph_.add_value(e)}};
  user_inputs_.push_back(std::move(spec));
  return to_sym_float(*env_, e);
}

void Tracer::add_constant_input(const std::string& name, Argument value) {
  require_open("an input");
  InputSpec spec;
  spec.name = name;
  spec.source = "L['" + name + "']";
  spec.arg = std::move(value);
  user_inputs_.push_back(std::move(spec));
}

// --- values

TensorMeta Tracer::meta_of(const at::Tensor& t) {
  TensorMeta meta;
  meta.dtype = t.scalar_type();
  meta.sizes = to_exprs(*env_, t.sym_sizes());
  meta.strides = to_exprs(*env_, t.sym_strides());
  meta.offset = to_expr(*env_, t.sym_storage_offset());
  meta.device = t.device();
  meta.requires_grad = t.requires_grad();
  return meta;
}

ValueId Tracer::fresh(const at::Tensor& t) {
  require_open("a new value");
  TORCH_CHECK_VALUE(t.defined(), "Proviso: an undefined tensor has no value");
  const ValueId id = graph_.add_value(meta_of(t));
  if (FakeTensorImpl* impl = fake_impl(t)) {
    impl->value = id;
    impl->trace = id_;
    impl->without_grad = !records_grad();
  } else {
    real_values_[t.unsafeGetTensorImpl()] = id;
  }
  return id;
}

namespace {

// Traced tensors have no grad_fn but what an autograd::Function gave them,
// whose forward runs with gradients off: as recorded it would have none.
void check_keeps_grad(const at::Tensor& t, const FakeTensorImpl& impl) {
  if (!impl.without_grad || !t.grad_fn()) return;
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Proviso: the gradient of ", t.grad_fn()->name(),
      " would be lost: the forward of a torch::autograd::Function runs without "
      "gradients, and its backward is no operator. Export under "
      "at::NoGradGuard for a program without gradients, or call the Function "
      "with a proviso::HeldMode alive: what its forward does is then "
      "differentiated as any operators are");
}

}  // namespace

ValueId Tracer::value_of(const at::Tensor& t) {
  if (!t.defined()) return kNoValue;
  if (FakeTensorImpl* impl = fake_impl(t)) {
    check_keeps_grad(t, *impl);
    if (impl->trace == id_ && impl->value != kNoValue) return impl->value;
    for (const SubGraphScope* s = scope_.get(); s; s = s->outer.get())
      if (s->id == impl->trace) return capture(t);
    TORCH_CHECK(false, "Proviso: a traced tensor of ",
                impl->trace == 0 ? "no recorded operator"
                                 : "another trace or of a sub-graph",
                " reached this one; it has no data that could be kept. Return "
                "it from where it was made");
  }
  auto found = real_values_.find(t.unsafeGetTensorImpl());
  if (found != real_values_.end()) return found->second;
  return scope_ ? capture(t) : lift(t);
}

// `.data` and Parameter(x) are new tensors on the memory of a known one.
ValueId Tracer::known_alias(const at::Tensor& t) const {
  if (!t.has_storage() || t.numel() == 0) return kNoValue;
  const auto [first, last] = owned_places_.equal_range(place_of(t));
  for (auto at = first; at != last; ++at) {
    const at::Tensor& o = owned_inputs_[at->second].tensor;
    if (o.is_alias_of(t) && o.dtype() == t.dtype() && o.sizes() == t.sizes() &&
        o.strides() == t.strides() && o.storage_offset() == t.storage_offset())
      return real_values_.at(o.unsafeGetTensorImpl());
  }
  return kNoValue;
}

ValueId Tracer::lift(const at::Tensor& t) {
  const ValueId alias = known_alias(t);
  if (alias != kNoValue) return alias;
  auto named = constant_names_.find(t.unsafeGetTensorImpl());
  add_constant(named != constant_names_.end()
                   ? named->second
                   : "lifted_tensor_" + std::to_string(lifted_++),
               t);
  return real_values_.at(t.unsafeGetTensorImpl());
}

bool Tracer::written(const at::Tensor& t) const {
  return t.has_storage() &&
         written_.contains(t.storage().unsafeGetStorageImpl());
}

// --- recording

namespace {

Argument integer_argument(int64_t value, IntMeaning meaning) {
  switch (meaning) {
    case IntMeaning::kNumber: break;
    case IntMeaning::kDtype: return {static_cast<c10::ScalarType>(value)};
    case IntMeaning::kLayout: {
      const auto layout = static_cast<c10::Layout>(value);
      TORCH_CHECK_NOT_IMPLEMENTED(
          layout == c10::kStrided, "Proviso: a tensor of layout ", layout,
          " cannot be traced; leave layout= out, or give torch.strided");
      return {layout};
    }
    case IntMeaning::kMemoryFormat:
      return {static_cast<c10::MemoryFormat>(value)};
  }
  return {value};
}

template <typename T>
Argument list_argument(const T& values) {
  ListArgument list;
  list.items.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) list.items.push_back({values[i]});
  return {std::move(list)};
}

}  // namespace

// A Python number in a tensor argument: `x * 2` comes as a 0-dim tensor, which
// must not become a constant of the program.
std::optional<Argument> Tracer::wrapped_number(const at::Tensor& t) {
  if (!t.unsafeGetTensorImpl()->is_wrapped_number() || is_fake(t))
    return std::nullopt;
  if (tracer_hooks().wrapped_number)
    if (c10::SymNode node = tracer_hooks().wrapped_number(t))
      if (SymNode* ours = as_sym_node(node.get()))
        return Argument{ExprArgument{ours->expr()}};
  if (!has_memory(t)) return std::nullopt;
  const void* data = t.storage().data();
  switch (t.scalar_type()) {
    case at::kDouble: return Argument{*static_cast<const double*>(data)};
    case at::kLong: return Argument{*static_cast<const int64_t*>(data)};
    case at::kBool: return Argument{*static_cast<const bool*>(data)};
    case at::kComplexDouble:
      return Argument{*static_cast<const c10::complex<double>*>(data)};
    default: return std::nullopt;
  }
}

Argument Tracer::to_argument(const c10::IValue& value, IntMeaning meaning) {
  if (value.isTensor()) {
    const at::Tensor& t = value.toTensor();
    if (!t.defined()) return {NoneArgument{}};
    if (std::optional<Argument> number = wrapped_number(t)) return *number;
    return {ValueRef{value_of(t)}};
  }
  if (value.isNone()) return {NoneArgument{}};
  if (value.isInt()) return integer_argument(value.toInt(), meaning);
  if (value.isBool()) return {value.toBool()};
  if (value.isDouble()) return {value.toDouble()};
  if (value.isSymInt()) return {ExprArgument{to_expr(*env_, value.toSymInt())}};
  if (value.isSymFloat())
    return {ExprArgument{to_expr(*env_, value.toSymFloat())}};
  if (value.isSymBool())
    return {ExprArgument{to_expr(*env_, value.toSymBool())}};
  if (value.isString()) return {std::string(value.toStringView())};
  if (value.isDevice()) return {value.toDevice()};
  if (value.isComplexDouble()) return {value.toComplexDouble()};
  if (value.isIntList()) return list_argument(value.toIntVector());
  if (value.isDoubleList()) return list_argument(value.toDoubleVector());
  if (value.isGenerator()) return {NoneArgument{}};
  if (value.isList()) {
    ListArgument list;
    for (const c10::IValue& item : value.toListRef())
      list.items.push_back(to_argument(item, meaning));
    return {std::move(list)};
  }
  TORCH_CHECK(false, "Proviso: an argument of type ", value.tagKind(),
              " cannot be recorded");
}

Argument Tracer::to_argument(const c10::IValue& value, const c10::Type* type) {
  return to_argument(value, type ? meaning_of(*type) : IntMeaning::kNumber);
}

Node::Output Tracer::output_of(const c10::IValue& value) {
  const auto id_of = [&](const at::Tensor& t) {
    return t.defined() ? fresh(t) : kNoOutput;
  };
  Node::Output output;
  if (value.isTensor()) {
    output.values.push_back(id_of(value.toTensor()));
  } else if (value.isTensorList()) {
    output.is_list = true;
    for (const at::Tensor& t : value.toTensorList())
      output.values.push_back(id_of(t));
  } else if (value.isSymInt()) {
    const Expr e = to_expr(*env_, value.toSymInt());
    if (!e.is_constant()) output.values.push_back(graph_.add_value(e));
  } else if (value.isSymFloat()) {
    const Expr e = to_expr(*env_, value.toSymFloat());
    if (!e.is_constant()) output.values.push_back(graph_.add_value(e));
  } else if (value.isSymBool()) {
    const Expr e = to_expr(*env_, value.toSymBool());
    if (!e.is_constant()) output.values.push_back(graph_.add_value(e));
  }
  return output;
}

void Tracer::record(const c10::OperatorHandle& op, std::vector<Argument> args,
                    const std::vector<c10::IValue>& outputs) {
  Node node;
  node.op = op;
  node.target = target_name(op);
  node.args = std::move(args);
  append(std::move(node), outputs);
}

Node& Tracer::append(Node node, const std::vector<c10::IValue>& outputs) {
  for (const c10::IValue& value : outputs)
    node.outputs.push_back(output_of(value));
  return append(std::move(node));
}

Node& Tracer::append(Node node) {
  require_open("an operator");
  if (node.location == 0) node.location = current_stack();
  node.modules = modules_.back();
  node.mode = mode_now();
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back();
}

void Tracer::add_check(RuntimeAssert check) {
  if (env_->statically_known_true(check.condition)) return;
  if (checked_.insert(check.condition).second)
    checks_.push_back(std::move(check));
}

// --- what is around the operators

void Tracer::enter_module(const std::string& name, const std::string& type) {
  std::vector<ModuleFrame> stack = module_stacks_[modules_.back()];
  stack.push_back({name, type, module_calls_[name]++});
  set_modules(std::move(stack));
}

namespace {
void check_balance(bool is_open, const char* exit, const char* enter) {
  TORCH_CHECK(is_open, "Proviso: ", exit, ": nothing is open; call ", enter,
              " first");
}
}  // namespace

void Tracer::exit_module() {
  check_balance(modules_.size() > 1, "exit_module", "enter_module");
  modules_.pop_back();
}

void Tracer::enter_autocast_block() { ++autocast_depth_; }

void Tracer::exit_autocast_block() {
  check_balance(autocast_depth_ > 0, "exit_autocast_block",
                "enter_autocast_block");
  --autocast_depth_;
}

void Tracer::hold_mode() { held_modes_.push_back(mode_now()); }

void Tracer::release_mode() {
  check_balance(!held_modes_.empty(), "release_mode", "hold_mode");
  held_modes_.pop_back();
}

Nesting Tracer::nesting() const {
  return {modules_.size(), autocast_depth_, held_modes_.size()};
}

void Tracer::check_nesting(const Nesting& begun, const std::string& end) const {
  const Nesting now = nesting();
  const auto check = [&](auto here, auto before, const char* enter,
                         const char* exit) {
    TORCH_CHECK(here == before, "Proviso: ", end, ": ", enter, " and ", exit,
                " do not balance; call each as often as the other");
  };
  check(now.modules, begun.modules, "enter_module", "exit_module");
  check(now.autocast, begun.autocast, "enter_autocast_block",
        "exit_autocast_block");
  check(now.held, begun.held, "hold_mode", "release_mode");
}

void Tracer::set_modules(std::vector<ModuleFrame> stack) {
  if (module_stacks_.back() != stack)
    module_stacks_.push_back(std::move(stack));
  modules_.push_back(static_cast<uint32_t>(module_stacks_.size() - 1));
}

int Tracer::calls_of(const std::string& module) const {
  auto found = module_calls_.find(module);
  return found == module_calls_.end() ? 0 : found->second;
}

void Tracer::note_module_call(const std::string& call, bool outputs,
                              const std::vector<c10::IValue>& values) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !scope_ && modes_[mode_now()] == modes_[0],
      "export: preserve_module_call_signature: '", call, "' is called inside ",
      scope_ ? scope_->what : "a no_grad or autocast block",
      ", whose values the program does not have; call it outside, or leave "
      "it out of preserve_module_call_signature");
  Node marker;
  marker.kind = Node::Kind::kModuleCall;
  marker.name = call;
  marker.target = outputs ? "outputs" : "inputs";
  for (const c10::IValue& value : values)
    marker.args.push_back(to_argument(value, IntMeaning::kNumber));
  append(std::move(marker));
}

HeldMode::HeldMode() : tracer_(Tracer::current()) {
  if (!tracer_) return;
  depth_ = tracer_->held_modes_.size();
  tracer_->hold_mode();
}

HeldMode::~HeldMode() {
  if (tracer_ && tracer_->held_modes_.size() > depth_)
    tracer_->held_modes_.resize(depth_);
}

bool Tracer::records_grad() const {
  return held_modes_.empty() ? at::GradMode::is_enabled()
                             : modes_[held_modes_.back()].grad;
}

uint32_t Tracer::mode_now() {
  if (!held_modes_.empty()) return held_modes_.back();
  const Mode mode = current_mode(autocast_depth_);
  auto known = std::find(modes_.begin(), modes_.end(), mode);
  if (known == modes_.end()) known = modes_.insert(known, mode);
  return static_cast<uint32_t>(known - modes_.begin());
}

TraceModes Tracer::trace_modes() {
  return {modes_, env_->runtime_asserts(), module_stacks_};
}

// --- sources

uint32_t Tracer::intern_stack(std::vector<Frame> frames) {
  std::string key;
  for (const Frame& frame : frames)
    key += frame.file + ":" + std::to_string(frame.line) + ":" +
           frame.function + ":" + frame.code + "\n";
  const auto [place, is_new] =
      interned_.emplace(std::move(key), stacks_.size());
  if (is_new) stacks_.push_back(std::move(frames));
  return place->second;
}

uint32_t Tracer::current_stack() {
  if (tracer_hooks().stack) return tracer_hooks().stack(*this);
  if (line_stack_ != 0) return line_stack_;
  std::vector<Frame> frames = internal::program_stack();
  return frames.empty() ? 0 : intern_stack(std::move(frames));
}

void Tracer::set_line(const char* file, int line, const char* function,
                      const char* code) {
  line_stack_ = intern_stack({{file, line, function, code}});
}

SourceLocation Tracer::location() {
  const std::vector<Frame>& frames = stacks_[current_stack()];
  if (!frames.empty())
    return {frames.back().file, frames.back().line, frames.back().code};
  return {"", 0, running_ ? "torch.ops." + running_->target : ""};
}

void mark_line(const char* file, int line, const char* function,
               const char* code) {
  if (Tracer* tracer = Tracer::current())
    tracer->set_line(file, line, function, code);
}

// --- the C++ entry

ExportedProgram export_program(const Program& program,
                               std::vector<at::Tensor> examples,
                               const ExportOptions& options) {
  return export_program(program, {}, {}, std::move(examples), options);
}

std::string input_name(const ExportOptions& options, size_t i, size_t count) {
  if (i < options.input_names.size()) return options.input_names[i];
  return count == 1 ? "x" : "x" + std::to_string(i);
}

void check_entry(const char* who, const Program& program,
                 const std::vector<at::Tensor>& examples,
                 const ExportOptions& options) {
  TORCH_CHECK_VALUE(program, "Proviso: ", who,
                    ": there is no program; give a function");
  TORCH_CHECK_VALUE(options.dynamic_shapes.size() <= examples.size(),
                    "Proviso: ", who, ": dynamic_shapes has ",
                    options.dynamic_shapes.size(), " entries for ",
                    examples.size(), " example inputs; give one a tensor");
  TORCH_CHECK_VALUE(options.input_names.size() <= examples.size(),
                    "Proviso: ", who, ": input_names has ",
                    options.input_names.size(), " entries for ",
                    examples.size(), " example inputs; give one a tensor");
}

std::vector<at::Tensor> add_inputs(Tracer& tracer,
                                   const std::vector<OwnedTensor>& parameters,
                                   const std::vector<OwnedTensor>& buffers,
                                   const std::vector<at::Tensor>& examples,
                                   const ExportOptions& options) {
  for (const OwnedTensor& p : parameters)
    tracer.add_parameter(p.name, p.tensor);
  for (const OwnedTensor& b : buffers) tracer.add_buffer(b.name, b.tensor);
  std::vector<at::Tensor> fakes;
  for (size_t i = 0; i < examples.size(); ++i)
    fakes.push_back(tracer.add_input(
        input_name(options, i, examples.size()), examples[i],
        i < options.dynamic_shapes.size() ? options.dynamic_shapes[i]
                                          : TensorDims{}));
  return fakes;
}

ExportedProgram export_program(const Program& program,
                               const std::vector<OwnedTensor>& parameters,
                               const std::vector<OwnedTensor>& buffers,
                               std::vector<at::Tensor> examples,
                               const ExportOptions& options) {
  check_entry("export_program", program, examples, options);
  const TorchState state;
  Tracer tracer(options.shape_env);
  std::vector<at::Tensor> fakes =
      add_inputs(tracer, parameters, buffers, examples, options);
  std::vector<c10::IValue> outputs;
  for (at::Tensor& t : program(std::move(fakes))) outputs.emplace_back(t);
  return tracer.finish(outputs);
}

}  // namespace proviso::inline v0_2
