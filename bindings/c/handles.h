// bindings/c/handles.h - the numbers that C programs hold, and what they stand
// for.
//
// A handle says what kind it is and a number that is never used twice, so that
// one that was freed, made up, or of another kind is noticed.  An expression's
// is its pool's number and its place among the expressions that the pool gave
// out.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/c/include/proviso/proviso.h"
#include "solver/solver.h"

namespace proviso::c {

// What a call ends with that is not well.
struct Failure {
  proviso_status status;
  std::string text;
};

struct Pool {
  ExprPool pool;
  std::mutex lock;  // held by every call that concerns the pool
  uint64_t id = 0;  // its handle
  std::vector<Expr> given;
  std::unordered_map<Expr, uint32_t, ExprHash> places;  // in `given`
};

struct ContextOfPool {
  std::shared_ptr<Pool> pool;  // lives as long as the context needs it
  Context context;
};

using PlainPoint = std::vector<std::pair<std::string, std::string>>;
struct PlainAnswer {
  Answer answer;         // without its points, which refer to the pool
  PlainPoint points[2];  // as text: by proviso_point
};

// --- the table.  Each find throws Failure, naming the call and the argument.
uint64_t add(std::shared_ptr<Pool> pool);
uint64_t add(std::shared_ptr<ContextOfPool> context);
uint64_t add(std::shared_ptr<PlainAnswer> answer);
std::shared_ptr<Pool> find(proviso_pool pool, const char* call);
std::shared_ptr<ContextOfPool> find(proviso_context context, const char* call);
std::shared_ptr<PlainAnswer> find(proviso_answer answer, const char* call);
// The pool that an expression is of.
std::shared_ptr<Pool> pool_of(proviso_expr expr, const char* call);
// With a pool go its contexts.
void remove(proviso_pool pool, const char* call);
void remove(proviso_context context, const char* call);
void remove(proviso_answer answer, const char* call);

// --- expressions, under the pool's lock
Expr expr_in(const Pool& pool, proviso_expr handle, const char* call);
proviso_expr give(Pool& pool, Expr e);

}  // namespace proviso::c
