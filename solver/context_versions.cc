// Contexts come and go: versions of the facts, scopes, clones, and the number
// that each has in a trace (engine/versions.h, trace.h).
#include <algorithm>

#include "solver/context_call.h"

namespace proviso::inline v0_2 {
using namespace internal;

// --- versions

Context::Context(ExprPool& pool, SolverOptions options)
    : engine_(std::make_shared<Engine>(pool, options)),
      at_(std::make_shared<Version>()) {
  engine_->start_at(at_);
  engine_->trace = Trace::of_environment();
}

Context::~Context() { end_trace(); }
Context::Context(Context&& other) noexcept { *this = std::move(other); }
Context& Context::operator=(Context&& other) noexcept {
  if (this == &other) return *this;
  end_trace();
  engine_ = std::move(other.engine_);
  at_ = std::move(other.at_);
  numbered_by_ = std::move(other.numbered_by_);
  number_ = other.number_;
  return *this;
}
Context::Context(std::shared_ptr<Engine> engine, std::shared_ptr<Version> at)
    : engine_(std::move(engine)), at_(std::move(at)) {}

std::shared_ptr<Version> Context::own_version() {
  usable(engine_);
  if (at_->is_frozen) {
    at_ = std::make_shared<Version>(Version{.parent = at_});
  }
  return at_;
}

Context Context::clone() {
  usable(engine_);
  for (Version* v = at_.get(); v != nullptr && !v->is_frozen;
       v = v->parent.get()) {
    v->is_frozen = true;
  }
  Context result(engine_, at_);
  if (Trace* trace = this->trace()) {
    result.number_ = trace->clone(number_);
    result.numbered_by_ = engine_->trace;
  }
  return result;
}

void Context::push() {
  usable(engine_);
  log([&](Trace& t) { t.line(number_, "push"); });
  at_ = std::make_shared<Version>(Version{.parent = at_, .is_scope = true});
  const Call call(*this);
}

const Version* Context::innermost_scope() const {
  const Version* scope = at_.get();
  while (scope != nullptr && !scope->is_scope) scope = scope->parent.get();
  return scope;
}

void Context::pop() {
  usable(engine_);
  const Version* scope = innermost_scope();
  if (scope == nullptr) {
    throw Error("Context::pop: no push() is open; call push() first");
  }
  if (std::count(of_scopes_.begin(), of_scopes_.end(), scope) != 0) {
    throw Error(
        "Context::pop: the innermost push() is a Scope's; end the Scope "
        "instead");
  }
  log([&](Trace& t) { t.line(number_, "pop"); });
  at_ = scope->parent;
  const Call call(*this);
}

Scope::Scope(Context& context)
    : context_(context), version_((context.push(), context.at_)) {
  context_.of_scopes_.push_back(version_.get());
}

// Nothing here throws: the engine goes back when it is next asked.
Scope::~Scope() {
  std::erase(context_.of_scopes_, version_.get());
  const Version* v = context_.at_.get();
  size_t pushed = 0;
  for (; v != nullptr && v != version_.get(); v = v->parent.get()) {
    pushed += v->is_scope;
  }
  if (v == nullptr) return;
  try {
    context_.log([&](Trace& t) {
      for (size_t i = 0; i <= pushed; ++i) t.line(context_.number_, "pop");
    });
  } catch (...) {  // the sink's
  }
  context_.at_ = version_->parent;
}

size_t Context::depth() const {
  size_t n = 0;
  for (const Version* v = at_.get(); v != nullptr; v = v->parent.get()) {
    n += v->is_scope;
  }
  return n;
}

// --- the trace of the calls

// A context gets its number in a trace with its first line there.
Trace* Context::trace() const {
  const std::shared_ptr<Trace>& here = engine_->trace;
  if (here == nullptr || Trace::is_in_sink()) return nullptr;
  if (numbered_by_ == here) return here.get();
  numbered_by_ = here;
  number_ = here->begin(engine_->pool(), engine_->options());
  uint32_t depth = 0;
  const auto push_to = [&](size_t wanted) {
    for (; depth < wanted; ++depth) here->line(number_, "push");
  };
  for (const Fact& fact : facts()) {
    push_to(fact.depth);
    here->line(number_, "assume", fact.condition);
  }
  push_to(this->depth());
  return here.get();
}

void Context::end_trace() noexcept {
  if (numbered_by_ == nullptr || Trace::is_in_sink()) return;
  try {
    numbered_by_->line(number_, "end");
  } catch (...) {  // the sink's
  }
  numbered_by_.reset();
}

void Context::set_log(LogSink sink) {
  usable(engine_).trace =
      sink ? std::make_shared<Trace>(std::move(sink)) : nullptr;
}

}  // namespace proviso::inline v0_2
