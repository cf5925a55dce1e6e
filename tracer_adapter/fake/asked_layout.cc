#include "tracer_adapter/fake/asked_layout.h"

#include <c10/core/SymNodeImpl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracer_adapter/fake/fake_tensor.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

thread_local bool program_runs = false;

// Contiguity that a program asked for.  Whatever it does with it but go on
// without a guard is a look at the layout.
class AskedContiguity final : public c10::SymNodeImpl {
 public:
  AskedContiguity(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                  at::MemoryFormat format)
      : sizes_(sizes.begin(), sizes.end()),
        strides_(strides.begin(), strides.end()),
        format_(format),
        env_(Tracer::current()->shared_env()),
        known_(known_contiguous(sizes, strides, format)) {}

  bool is_bool() override { return true; }
  bool is_int() override { return false; }
  bool is_float() override { return false; }
  bool is_nested_int() const override { return false; }
  bool is_symbolic() override { return true; }
  bool is_constant() override { return false; }
  c10::SymNode clone() override {
    return c10::make_intrusive<AskedContiguity>(sizes_, strides_, format_);
  }
  std::string str() override { return "is_contiguous()"; }
  std::string _graph_repr() override { return str(); }

  bool guard_or_false(const char*, int64_t) override { return known_; }
  bool guard_size_oblivious(const char*, int64_t) override { return known_; }
  bool statically_known_true(const char*, int64_t) override { return known_; }

  bool guard_bool(const char* file, int64_t line) override {
    return seen().guard_bool(file, line);
  }
  bool bool_() override { return guard_bool("", 0); }
  bool guard_or_true(const char* file, int64_t line) override {
    return seen().guard_or_true(file, line);
  }
  bool expect_true(const char* file, int64_t line) override {
    return seen().expect_true(file, line);
  }
  bool has_hint() override { return node()->has_hint(); }
  c10::SymNode sym_not() override { return node()->sym_not(); }
  c10::SymNode sym_and(const c10::SymNode& other) override {
    return node()->sym_and(other);
  }
  c10::SymNode sym_or(const c10::SymNode& other) override {
    return node()->sym_or(other);
  }
  c10::SymNode eq(const c10::SymNode& other) override {
    return node()->eq(other);
  }
  c10::SymNode ne(const c10::SymNode& other) override {
    return node()->ne(other);
  }
  c10::SymNode sym_ite(const c10::SymNode& then_value,
                       const c10::SymNode& else_value) override {
    return node()->sym_ite(then_value, else_value);
  }
  c10::SymNode wrap_bool(bool value) override {
    return node()->wrap_bool(value);
  }

 private:
  c10::SymBool seen() const {
    keep_asked_layouts();
    return contiguity(sizes_, strides_, format_);
  }
  // Also where it is known.
  c10::SymNode node() const {
    return make_sym_node(*env_, to_expr(*env_, seen()));
  }

  std::vector<c10::SymInt> sizes_, strides_;
  at::MemoryFormat format_;
  std::shared_ptr<ShapeEnv> env_;
  bool known_;
};

}  // namespace

ProgramCode::ProgramCode(bool runs)
    : runs_(program_runs), before_(std::exchange(runs_, runs)) {}
ProgramCode::~ProgramCode() { runs_ = before_; }
bool ProgramCode::runs() { return program_runs; }

void keep_asked_layouts() {
  if (!program_runs) return;
  if (Tracer* tracer = Tracer::current())
    tracer->env().keep_layout_answers(tracer->location());
}

c10::SymBool asked_contiguity(c10::SymIntArrayRef sizes,
                              c10::SymIntArrayRef strides,
                              at::MemoryFormat format) {
  return c10::SymNode(
      c10::make_intrusive<AskedContiguity>(sizes, strides, format));
}

}  // namespace proviso::inline v0_2
