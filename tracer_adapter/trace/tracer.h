// tracer_adapter/trace/tracer.h - records what a program does to fake tensors.
//
//   Tracer tracer(options);
//   at::Tensor x = tracer.add_input("x", example);
//   ExportedProgram ep = tracer.finish({at::relu(x)});
//
// While a Tracer lives it is its thread's current one: every operator on any
// tensor of that thread is recorded, not executed.  Other threads go on as
// before.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "guards/shape_env.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/fake/fake_tensor.h"
#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/trace/mode_blocks.h"
#include "tracer_adapter/trace/mode_stack.h"
#include "tracer_adapter/trace/module_stacks.h"
#include "tracer_adapter/trace/nesting.h"
#include "tracer_adapter/trace/program_inputs.h"
#include "tracer_adapter/trace/rule.h"
#include "tracer_adapter/trace/source_stacks.h"
#include "tracer_adapter/trace/trace_asserts.h"

namespace proviso::inline v0_2 {

// Custom operators: the outputs for these arguments, or nullopt when unknown.
using CustomOpHook = std::function<std::optional<std::vector<c10::IValue>>(
    const c10::OperatorHandle&, const std::vector<c10::IValue>&)>;
// Python's wrapped numbers: the symbolic number behind a 0-dim tensor.
using WrappedNumberHook = std::function<c10::SymNode(const at::Tensor&)>;
// The call stack now, as an index into the graph's stacks (see
// Tracer::intern_stack); 0 for unknown.
using StackHook = std::function<uint32_t(Tracer&)>;

struct TracerHooks {
  CustomOpHook custom_op;
  WrappedNumberHook wrapped_number;
  StackHook stack;
};
TracerHooks& tracer_hooks();  // of this process; set before tracing

// How an integer in an IValue is meant.
enum class IntMeaning : uint8_t { kNumber, kDtype, kLayout, kMemoryFormat };

struct SubGraph;
struct SubGraphScope;

// A graph that is being recorded: the program's, or a sub-graph's.
struct GraphRecording {
  Graph graph;
  // Traces and their sub-graphs are numbered, so that a tensor of one is known
  // in another.
  uint64_t trace = 0;
  std::unordered_map<const c10::TensorImpl*, ValueId> real_values;
};

class Tracer {
 public:
  explicit Tracer(ShapeEnvOptions options = {});
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Of this thread; null outside tracing.
  static Tracer* current();

  ShapeEnv& env() { return *env_; }
  const std::shared_ptr<ShapeEnv>& shared_env() const { return env_; }
  Graph& graph() { return now_.graph; }

  // --- inputs, before the program runs.  Two tensors or numbers of one source,
  // or two parameters or buffers of one name, are an error.
  // Real tensors that the program reads; recorded by name.
  void add_parameter(const std::string& name, const at::Tensor& tensor);
  void add_buffer(const std::string& name, const at::Tensor& tensor,
                  bool persistent = true);
  void add_constant(const std::string& name, const at::Tensor& tensor);
  // A real tensor that becomes a constant of this name if the program reads it;
  // it must outlive the trace.
  void name_constant(const std::string& name, const at::Tensor& tensor);
  // A user input: the fake to call the program with.  `source` is how guards
  // call it (L['x']); default from `name`.
  at::Tensor add_input(const std::string& name, const at::Tensor& example,
                       const TensorDims& dims = {},
                       const std::string& source = "");
  c10::SymInt add_int_input(const std::string& name, int64_t example,
                            const std::string& source = "",
                            const DimConstraint& constraint = {});
  c10::SymFloat add_float_input(const std::string& name, double example,
                                const std::string& source = "");
  // A constant input (a string, None, a static int): checked when run.
  void add_constant_input(const std::string& name, Argument value);

  // --- recording
  // The value that t is now (a real tensor unknown so far becomes a lifted
  // constant).  kNoValue for undefined tensors.
  ValueId value_of(const at::Tensor& t);
  // A new value with t's metadata; t is that value from now on.
  ValueId fresh(const at::Tensor& t);
  void record(const c10::OperatorHandle& op, std::vector<Argument> args,
              const std::vector<c10::IValue>& outputs);
  // For higher-order operators and bindings.
  Node& append(Node node);
  Node& append(Node node, const std::vector<c10::IValue>& outputs);
  // `type` tells integers that are dtypes, layouts and memory formats.
  Argument to_argument(const c10::IValue& value, const c10::Type* type);
  Argument to_argument(const c10::IValue& value, IntMeaning meaning);
  bool recording() const { return recording_; }
  void set_recording(bool on) { recording_ = on; }

  // Min(s0, 3) is the length of a slice, x[:3]: where it is compared with other
  // sizes, one arm will do (settled_lengths of fake/sym_node.h).
  void note_length(Expr length) { lengths_.insert(length); }
  bool is_length(Expr e) const { return lengths_.contains(e); }

  // Whether an in-place operator wrote to t's storage in this trace.
  bool written(const at::Tensor& t) const;

  // A condition on the inputs that the program checks when it runs and that
  // says nothing to the ShapeEnv.
  void add_check(RuntimeAssert check) { asserts_.add_check(std::move(check)); }
  const std::vector<RuntimeAssert>& checks() const { return asserts_.checks(); }

  // An error of the tracer's own, which eager would not raise, is on its way to
  // the program: finish() throws where the program catches it and goes on.
  void note_refusal(const std::string& error) { refusal_ = error; }
  void forget_refusal() { refusal_.clear(); }

  // --- what is around the operators
  // From here to exit_module() operators are of this module of the program.
  void enter_module(const std::string& name, const std::string& type) {
    modules_.enter(name, type);
  }
  void exit_module() { modules_.exit(); }
  // The modules that the next operators are of, at once; outermost first.
  void set_modules(std::vector<ModuleFrame> stack) {
    modules_.set(std::move(stack));
  }
  // The number of a module's calls so far: that of the next one.
  int calls_of(const std::string& module) const {
    return modules_.calls_of(module);
  }
  // What a call of a module gets or gives, for ModuleCallEntry.  Throws inside
  // sub-graphs and mode blocks, whose values the program does not have.
  void note_module_call(const std::string& call, bool outputs,
                        const std::vector<c10::IValue>& values);
  // `with torch.autocast("cpu", ..)`, also where it changes nothing.
  void enter_autocast_block() { modes_.enter_autocast(); }
  void exit_autocast_block() { modes_.exit_autocast(); }

  // Until release_mode() operators are of the mode that is on now, whatever
  // their kernels set: those of an autograd.Function run without gradients.
  void hold_mode() { modes_.hold(); }
  void release_mode() { modes_.release(); }

  // --- sub-graphs of higher-order operators (see sub_graph.h)
  // From here to end_sub_graph() operators are recorded into a graph of their
  // own.  Outer tensors that they read become its inputs; writing to one is an
  // error that names `what` ("the true branch of cond").
  void begin_sub_graph(const std::string& what);
  // An input of the sub-graph with the metadata of `like` and this name.
  at::Tensor add_operand(const std::string& name, const at::Tensor& like);
  c10::SymInt add_int_operand(const std::string& name);
  SubGraph end_sub_graph(const std::vector<c10::IValue>& outputs);
  void abandon_sub_graph();

  // --- sources
  uint32_t intern_stack(std::vector<Frame> frames) {
    return stacks_.number_of(std::move(frames));
  }
  uint32_t current_stack();
  // The line that later operators come from, where no hook tells.
  void set_line(const char* file, int line, const char* function,
                const char* code);
  SourceLocation location();

  // --- the end
  // Outputs are tensors, symbolic or plain numbers, strings or None.  Checks
  // the dims' constraints (throws ConstraintViolationError), finishes the
  // graph.  The tracer is spent afterwards: operators of this thread, inputs
  // and sub-graphs are errors until it is destroyed.
  ExportedProgram finish(const std::vector<c10::IValue>& outputs);

  // The operators being decomposed, outermost first, for messages.
  std::string decomposing() const;

  // One operator call; the boxed fallback of kTraceKey.
  void dispatch(const c10::OperatorHandle& op, c10::Stack* stack);

 private:
  struct OpInfo;
  friend class HeldMode;
  void require_open(const char* call) const;
  InputSpec user_input(const std::string& name, const std::string& source);
  void own(InputKind kind, const std::string& target, const at::Tensor& tensor,
           std::optional<bool> persistent);
  ValueId lift(const at::Tensor& t);
  TensorMeta meta_of(const at::Tensor& t);
  Node::Output output_of(const c10::IValue& value);
  std::optional<Argument> wrapped_number(const at::Tensor& t);
  Nesting nesting() const;
  TraceModes trace_modes();
  // --- one operator call (trace/dispatch.cc)
  static const OpInfo& info(const c10::OperatorHandle& op);
  static OpInfo make_info(const c10::OperatorHandle& op);
  bool run_rule(const OpInfo& info, c10::Stack* stack);
  bool run_custom(const OpInfo& info, c10::Stack* stack);
  void run_autocast(const OpInfo& info, c10::Stack* stack);
  void decompose(const OpInfo& info, c10::Stack* stack);
  [[noreturn]] void no_rule(const OpInfo& info, const c10::Stack& stack) const;
  void finish_call(const OpInfo& info, std::span<const c10::IValue> args,
                   const std::vector<c10::IValue>& out);
  void record_call(const OpInfo& info, std::span<const c10::IValue> args,
                   const std::vector<c10::IValue>& out);
  void note_writes(const OpInfo& info, std::span<const c10::IValue> args);
  // An operator raises an error as eager does at the example sizes: those at
  // which it may not are excluded, as the program may catch the error.
  void exclude_small_sizes(std::span<const c10::IValue> args);
  // --- sub-graphs (trace/sub_graph.cc)
  ValueId capture(const at::Tensor& t);
  bool is_foreign(const at::Tensor& t) const;
  void refuse_write(const OpInfo& info, const at::Tensor& t) const;
  void check_learnt(const SubGraph& sub) const;

  std::shared_ptr<ShapeEnv> env_;
  Tracer* outer_;  // of this thread, around this one
  LocationHook outer_location_;
  std::string refusal_;
  bool recording_ = true;
  bool is_finished_ = false;
  GraphRecording now_;
  std::unique_ptr<SubGraphScope> scope_;  // null outside sub-graphs
  ProgramInputs inputs_;
  TraceAsserts asserts_;
  std::unordered_set<const c10::StorageImpl*> written_;
  std::unordered_set<Expr, ExprHash> lengths_;  // of slices
  ModeStack modes_;
  ModuleStacks modules_;
  SourceStacks stacks_;
  uint32_t line_stack_ = 0;  // of set_line()
  std::vector<const OpInfo*> decomposing_;
  const OpInfo* running_ = nullptr;  // whose rule is running
};

}  // namespace proviso::inline v0_2
