#include "bindings/c/handles.h"

#include <shared_mutex>

namespace proviso::c {
namespace {

// The upper four bits of a handle say what it is.
enum Kind : uint64_t { kPool = 1, kExpr = 2, kContext = 3, kAnswer = 4 };
constexpr int kKindShift = 60;
constexpr int kPoolShift = 32;  // of the pool's number, in pools and exprs
constexpr uint64_t kMaxPools = uint64_t{1} << (kKindShift - kPoolShift);

uint64_t tagged(Kind kind, uint64_t rest) {
  return (static_cast<uint64_t>(kind) << kKindShift) | rest;
}

// A number is never used twice: what was freed stays freed.
struct Table {
  std::shared_mutex lock;
  uint64_t pools_made = 0, others_made = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Pool>> pools;
  std::unordered_map<uint64_t, std::shared_ptr<ContextOfPool>> contexts;
  std::unordered_map<uint64_t, std::shared_ptr<PlainAnswer>> answers;
};

// Made when it is first needed and never destroyed: threads may outlive main().
Table& table() {
  static auto* table = new Table;
  return *table;
}

[[noreturn]] void fail_handle(const char* call, const char* wanted,
                              uint64_t id) {
  const std::string start =
      std::string(call) + ": expected " + wanted + ", got ";
  if (id == 0)
    throw Failure{PROVISO_ERROR_HANDLE,
                  start + "the null handle; make one first"};
  throw Failure{PROVISO_ERROR_HANDLE,
                start + "handle " + std::to_string(id) +
                    ", which is none: it was freed (or its pool was), or never "
                    "made"};
}

template <typename Map>
auto look_up(const Map& map, uint64_t id, const char* call,
             const char* wanted) {
  const std::shared_lock reading(table().lock);
  const auto found = map.find(id);
  if (found == map.end()) fail_handle(call, wanted, id);
  return found->second;
}

// What the handle held: the caller destroys it, when nothing is locked.
template <typename Map>
auto take(Map& map, uint64_t id, const char* call, const char* wanted) {
  const std::unique_lock alone(table().lock);
  const auto found = map.find(id);
  if (found == map.end()) fail_handle(call, wanted, id);
  auto held = std::move(found->second);
  map.erase(found);
  return held;
}

uint64_t pool_part(uint64_t expr) {
  const uint64_t number = (expr >> kPoolShift) & (kMaxPools - 1);
  return tagged(kPool, number << kPoolShift);
}

}  // namespace

uint64_t add(std::shared_ptr<Pool> pool) {
  Table& all = table();
  const std::unique_lock alone(all.lock);
  if (all.pools_made + 1 == kMaxPools)
    throw Failure{PROVISO_ERROR_MEMORY,
                  "proviso_pool_new: no numbers are left for pools"};
  pool->id = tagged(kPool, ++all.pools_made << kPoolShift);
  all.pools.emplace(pool->id, pool);
  return pool->id;
}

uint64_t add(std::shared_ptr<ContextOfPool> context) {
  Table& all = table();
  const std::unique_lock alone(all.lock);
  const uint64_t id = tagged(kContext, ++all.others_made);
  all.contexts.emplace(id, std::move(context));
  return id;
}

uint64_t add(std::shared_ptr<PlainAnswer> answer) {
  Table& all = table();
  const std::unique_lock alone(all.lock);
  const uint64_t id = tagged(kAnswer, ++all.others_made);
  all.answers.emplace(id, std::move(answer));
  return id;
}

std::shared_ptr<Pool> find(proviso_pool pool, const char* call) {
  return look_up(table().pools, pool.id, call, "a pool");
}
std::shared_ptr<ContextOfPool> find(proviso_context context, const char* call) {
  return look_up(table().contexts, context.id, call, "a context");
}
std::shared_ptr<PlainAnswer> find(proviso_answer answer, const char* call) {
  return look_up(table().answers, answer.id, call, "an answer");
}

std::shared_ptr<Pool> pool_of(proviso_expr expr, const char* call) {
  if (expr.id >> kKindShift != kExpr)
    fail_handle(call, "an expression", expr.id);
  const std::shared_lock reading(table().lock);
  const auto found = table().pools.find(pool_part(expr.id));
  if (found == table().pools.end()) fail_handle(call, "an expression", expr.id);
  return found->second;
}

void remove(proviso_pool pool, const char* call) {
  const std::shared_ptr<Pool> gone =
      take(table().pools, pool.id, call, "a pool");
  std::vector<std::shared_ptr<ContextOfPool>> contexts;
  {
    const std::unique_lock alone(table().lock);
    std::erase_if(table().contexts, [&](const auto& entry) {
      if (entry.second->pool != gone) return false;
      contexts.push_back(entry.second);
      return true;
    });
  }
  const std::lock_guard alone(gone->lock);
  contexts.clear();
}

void remove(proviso_context context, const char* call) {
  std::shared_ptr<ContextOfPool> gone =
      take(table().contexts, context.id, call, "a context");
  const std::shared_ptr<Pool> pool = gone->pool;
  const std::lock_guard alone(pool->lock);
  gone.reset();
}

void remove(proviso_answer answer, const char* call) {
  take(table().answers, answer.id, call, "an answer");
}

Expr expr_in(const Pool& pool, proviso_expr handle, const char* call) {
  const uint64_t kind = handle.id >> kKindShift;
  const uint32_t place = static_cast<uint32_t>(handle.id);
  if (kind != kExpr || pool_part(handle.id) != pool.id) {
    pool_of(handle, call);  // throws where it is none at all
    throw Failure{PROVISO_ERROR_POOL,
                  std::string(call) +
                      ": the expression is of another pool; "
                      "proviso_translate() brings it over"};
  }
  if (place >= pool.given.size()) fail_handle(call, "an expression", handle.id);
  return pool.given[place];
}

proviso_expr give(Pool& pool, Expr e) {
  const uint64_t number = pool.id & ~(uint64_t{0xF} << kKindShift);
  const auto [known, is_new] =
      pool.places.emplace(e, static_cast<uint32_t>(pool.given.size()));
  if (is_new) pool.given.push_back(e);
  return {tagged(kExpr, number | known->second)};
}

}  // namespace proviso::c
