// Pools and expressions.
#include <cmath>

#include "bindings/c/calls.h"
#include "sym/canonical.h"
#include "sym/excerpt.h"
#include "sym/op.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "sym/simplify.h"
#include "sym/symbol_kinds.h"
#include "sym/translate.h"

using namespace proviso;
using namespace proviso::c;
using proviso::internal::excerpt;

namespace {

using Lock = std::lock_guard<std::mutex>;

// make(pool) becomes *out, with the pool to itself.
template <typename Make>
proviso_status build(const char* call, proviso_pool handle, proviso_expr* out,
                     Make make) {
  return guarded(call, [&] {
    required(out, call, "the result");
    const auto pool = find(handle, call);
    const Lock alone(pool->lock);
    *out = give(*pool, make(*pool));
  });
}

// The same of an expression: make(pool, e).
template <typename Make>
proviso_status rebuild(const char* call, proviso_expr handle, proviso_expr* out,
                       Make make) {
  return guarded(call, [&] {
    required(out, call, "the result");
    const auto pool = pool_of(handle, call);
    const Lock alone(pool->lock);
    *out = give(*pool, make(*pool, expr_in(*pool, handle, call)));
  });
}

// read(e) looks at an expression.
template <typename Read>
proviso_status look(const char* call, proviso_expr handle, Read read) {
  return guarded(call, [&] {
    const auto pool = pool_of(handle, call);
    const Lock alone(pool->lock);
    read(*pool, expr_in(*pool, handle, call));
  });
}

SymbolKind kind_of(const char* name, const char* call) {
  if (const auto kind = find_symbol_kind(name)) return *kind;
  fail(PROVISO_ERROR_ARGUMENT, call,
       "kind " + quoted(name) + " is none of " + symbol_kind_names());
}

Expr parsed(ExprPool& pool, const char* text, proviso_names names,
            const char* call) {
  ParseOptions options;
  if (names == PROVISO_KNOWN_NAMES)
    options.make_symbol = [](ExprPool&, std::string_view) { return Expr(); };
  else if (names != PROVISO_NEW_NAMES)
    fail(PROVISO_ERROR_ARGUMENT, call,
         "names is " + std::to_string(static_cast<int>(names)) +
             "; give PROVISO_KNOWN_NAMES or PROVISO_NEW_NAMES");
  try {
    return parse(pool, text, options);
  } catch (const Error& e) {
    fail(PROVISO_ERROR_PARSE, call, e.what());
  }
}

Expr made(Pool& pool, const char* op, const proviso_expr* args, size_t count,
          const char* call) {
  const OpInfo* row = op_named(op);
  if (row == nullptr || is_leaf(row->op))
    fail(PROVISO_ERROR_ARGUMENT, call,
         "op " + quoted(op) + " is no operator, such as Add or FloorDiv");
  std::vector<Expr> all;
  for (size_t i = 0; i < count; ++i)
    all.push_back(expr_in(pool, args[i], call));
  try {
    return pool.pool.make(row->op, all);
  } catch (const Error& e) {
    fail(PROVISO_ERROR_TYPE, call, e.what());
  }
}

Expr symbol_in(const Pool& pool, proviso_expr handle, const char* call) {
  const Expr e = expr_in(pool, handle, call);
  if (e.is_symbol()) return e;
  fail(PROVISO_ERROR_TYPE, call, "expected a symbol, got " + excerpt(e));
}

int64_t as_int64(const Value& value, const char* call) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth;
  const Int* number = std::get_if<Int>(&value);
  if (number == nullptr) fail(PROVISO_ERROR_TYPE, call, "the value is a float");
  if (const auto small = number->to_int64()) return *small;
  fail(PROVISO_ERROR_RANGE, call, "the value has more than 64 bits");
}

std::string printed(Expr e, proviso_form form, const char* call) {
  switch (form) {
    case PROVISO_TEXT: return to_string(e);
    case PROVISO_PYTHON: return to_python(e);
    case PROVISO_SMTLIB: return to_smtlib(e);
    case PROVISO_SREPR: return to_srepr(e);
  }
  fail(PROVISO_ERROR_ARGUMENT, call,
       "form is " + std::to_string(static_cast<int>(form)) +
           "; give one of proviso_form");
}

}  // namespace

extern "C" {

proviso_status proviso_pool_new(proviso_pool* pool) {
  return guarded("proviso_pool_new", [&] {
    required(pool, "proviso_pool_new",
             "pool") = {add(std::make_shared<Pool>())};
  });
}

proviso_status proviso_pool_free(proviso_pool pool) {
  return guarded("proviso_pool_free",
                 [&] { remove(pool, "proviso_pool_free"); });
}

proviso_status proviso_symbol(proviso_pool pool, const char* name,
                              const char* kind, const char* source,
                              proviso_expr* symbol) {
  constexpr const char* kCall = "proviso_symbol";
  return build(kCall, pool, symbol, [&](Pool& p) {
    required(name, kCall, "name");
    required(kind, kCall, "kind");
    return p.pool.symbol(name, kind_of(kind, kCall),
                         source == nullptr ? "" : source);
  });
}

proviso_status proviso_symbol_count(proviso_pool pool, size_t* count) {
  constexpr const char* kCall = "proviso_symbol_count";
  return guarded(kCall, [&] {
    required(count, kCall, "count");
    const auto p = find(pool, kCall);
    const Lock alone(p->lock);
    *count = p->pool.symbols().size();
  });
}

proviso_status proviso_symbol_at(proviso_pool pool, size_t index,
                                 proviso_expr* symbol) {
  constexpr const char* kCall = "proviso_symbol_at";
  return build(kCall, pool, symbol, [&](Pool& p) {
    const auto all = p.pool.symbols();
    if (index < all.size()) return all[index];
    fail(PROVISO_ERROR_RANGE, kCall,
         "index " + std::to_string(index) + " of " +
             std::to_string(all.size()) + " symbols");
  });
}

proviso_status proviso_integer(proviso_pool pool, int64_t value,
                               proviso_expr* constant) {
  return build("proviso_integer", pool, constant,
               [&](Pool& p) { return p.pool.integer(value); });
}

proviso_status proviso_integer_text(proviso_pool pool, const char* digits,
                                    proviso_expr* constant) {
  constexpr const char* kCall = "proviso_integer_text";
  return build(kCall, pool, constant, [&](Pool& p) {
    required(digits, kCall, "digits");
    if (std::strlen(digits) > kMaxTextLength)
      fail(PROVISO_ERROR_RANGE, kCall, "more than 2**20 digits");
    if (const auto value = Int::parse(digits)) return p.pool.integer(*value);
    fail(PROVISO_ERROR_PARSE, kCall, quoted(digits) + " is no integer");
  });
}

proviso_status proviso_boolean(proviso_pool pool, int value,
                               proviso_expr* constant) {
  constexpr const char* kCall = "proviso_boolean";
  return build(kCall, pool, constant, [&](Pool& p) {
    if (value == 0 || value == 1) return p.pool.boolean(value == 1);
    fail(PROVISO_ERROR_ARGUMENT, kCall,
         "value is " + std::to_string(value) + "; give 0 or 1");
  });
}

proviso_status proviso_float(proviso_pool pool, double value,
                             proviso_expr* constant) {
  constexpr const char* kCall = "proviso_float";
  return build(kCall, pool, constant, [&](Pool& p) {
    if (const auto exact = Rational::from_double(value))
      return p.pool.rational(*exact);
    fail(PROVISO_ERROR_ARGUMENT, kCall, "the value is not finite");
  });
}

proviso_status proviso_parse(proviso_pool pool, const char* text,
                             proviso_names names, proviso_expr* expr) {
  constexpr const char* kCall = "proviso_parse";
  return build(kCall, pool, expr, [&](Pool& p) {
    required(text, kCall, "text");
    return parsed(p.pool, text, names, kCall);
  });
}

proviso_status proviso_make(proviso_pool pool, const char* op,
                            const proviso_expr* args, size_t count,
                            proviso_expr* expr) {
  constexpr const char* kCall = "proviso_make";
  return build(kCall, pool, expr, [&](Pool& p) {
    required(op, kCall, "op");
    require_array(args, count, kCall, "args");
    return made(p, op, args, count, kCall);
  });
}

proviso_status proviso_expr_type(proviso_expr expr, proviso_type* type) {
  constexpr const char* kCall = "proviso_expr_type";
  return look(kCall, expr, [&](Pool&, Expr e) {
    required(type, kCall, "type") = e.is_int()     ? PROVISO_INTEGER
                                    : e.is_float() ? PROVISO_FLOAT
                                                   : PROVISO_BOOLEAN;
  });
}

proviso_status proviso_expr_op(proviso_expr expr, const char** op) {
  constexpr const char* kCall = "proviso_expr_op";
  return look(kCall, expr, [&](Pool&, Expr e) {
    required(op, kCall, "op") = info(e.op()).name.data();  // a literal
  });
}

proviso_status proviso_expr_arity(proviso_expr expr, size_t* arity) {
  constexpr const char* kCall = "proviso_expr_arity";
  return look(kCall, expr, [&](Pool&, Expr e) {
    required(arity, kCall, "arity") = e.arity();
  });
}

proviso_status proviso_expr_arg(proviso_expr expr, size_t index,
                                proviso_expr* arg) {
  constexpr const char* kCall = "proviso_expr_arg";
  return rebuild(kCall, expr, arg, [&](Pool&, Expr e) {
    if (index < e.arity()) return e.arg(index);
    fail(PROVISO_ERROR_RANGE, kCall,
         "index " + std::to_string(index) + " of " + std::to_string(e.arity()) +
             " arguments");
  });
}

proviso_status proviso_expr_int64(proviso_expr expr, int64_t* value) {
  constexpr const char* kCall = "proviso_expr_int64";
  return look(kCall, expr, [&](Pool&, Expr e) {
    required(value, kCall, "value");
    if (!e.is(Op::kInteger))
      fail(PROVISO_ERROR_TYPE, kCall, excerpt(e) + " is no integer constant");
    *value = as_int64(e.integer(), kCall);
  });
}

proviso_status proviso_expr_truth(proviso_expr expr, int* value) {
  constexpr const char* kCall = "proviso_expr_truth";
  return look(kCall, expr, [&](Pool&, Expr e) {
    required(value, kCall, "value");
    if (!e.is(Op::kBoolean))
      fail(PROVISO_ERROR_TYPE, kCall,
           excerpt(e) + " is neither True nor False");
    *value = e.is_true();
  });
}

proviso_status proviso_symbol_name(proviso_expr symbol, char* buffer,
                                   size_t size, size_t* length) {
  constexpr const char* kCall = "proviso_symbol_name";
  return look(kCall, symbol, [&](Pool& p, Expr) {
    write_text(symbol_in(p, symbol, kCall).symbol().name, buffer, size, length,
               kCall);
  });
}

proviso_status proviso_symbol_kind(proviso_expr symbol, const char** kind) {
  constexpr const char* kCall = "proviso_symbol_kind";
  return look(kCall, symbol, [&](Pool& p, Expr) {
    const SymbolKind known = symbol_in(p, symbol, kCall).symbol().kind;
    required(kind, kCall, "kind") = name_of(known).data();  // a literal
  });
}

proviso_status proviso_free_symbols(proviso_expr expr, proviso_expr* symbols,
                                    size_t capacity, size_t* count) {
  constexpr const char* kCall = "proviso_free_symbols";
  return look(kCall, expr, [&](Pool& p, Expr e) {
    write_array(free_symbols(e), symbols, capacity, count, kCall,
                [&](Expr symbol) { return give(p, symbol); });
  });
}

proviso_status proviso_substitute(proviso_expr expr, const proviso_expr* from,
                                  const proviso_expr* to, size_t count,
                                  proviso_expr* result) {
  constexpr const char* kCall = "proviso_substitute";
  return rebuild(kCall, expr, result, [&](Pool& p, Expr e) {
    require_array(from, count, kCall, "from");
    require_array(to, count, kCall, "to");
    std::unordered_map<Expr, Expr, ExprHash> map;
    for (size_t i = 0; i < count; ++i) {
      const Expr a = expr_in(p, from[i], kCall), b = expr_in(p, to[i], kCall);
      if (a.type() != b.type())
        fail(PROVISO_ERROR_TYPE, kCall,
             excerpt(a) + " is " + std::string(name_of(a.type())) + ", and " +
                 excerpt(b) + " is " + std::string(name_of(b.type())));
      map.insert_or_assign(a, b);
    }
    return substitute(e, map);
  });
}

proviso_status proviso_evaluate(proviso_expr expr, const proviso_expr* symbols,
                                const int64_t* values, size_t count,
                                int64_t* value) {
  constexpr const char* kCall = "proviso_evaluate";
  return look(kCall, expr, [&](Pool& p, Expr e) {
    required(value, kCall, "value");
    require_array(symbols, count, kCall, "symbols");
    require_array(values, count, kCall, "values");
    Assignment point;
    for (size_t i = 0; i < count; ++i) {
      const Expr symbol = symbol_in(p, symbols[i], kCall);
      if (symbol.is_float())
        point.set(symbol, Rational(Int(values[i])));
      else
        point.set(symbol, Int(values[i]));
    }
    const Evaluation result = evaluate(e, point);
    if (!result.defined()) fail(PROVISO_ERROR_UNDEFINED, kCall, result.why);
    *value = as_int64(*result.value, kCall);
  });
}

proviso_status proviso_expr_canonical(proviso_expr expr, proviso_expr* result) {
  return rebuild("proviso_expr_canonical", expr, result,
                 [&](Pool&, Expr e) { return canonical(e); });
}

proviso_status proviso_expr_simplify(proviso_expr expr, proviso_expr* result) {
  return rebuild("proviso_expr_simplify", expr, result,
                 [&](Pool&, Expr e) { return simplify(e); });
}

proviso_status proviso_translate(proviso_expr expr, proviso_pool pool,
                                 proviso_expr* result) {
  constexpr const char* kCall = "proviso_translate";
  return guarded(kCall, [&] {
    required(result, kCall, "result");
    const auto from = pool_of(expr, kCall), to = find(pool, kCall);
    Expr e;
    {
      const Lock alone(from->lock);
      e = expr_in(*from, expr, kCall);
    }
    // Nodes never change: reading e needs no lock.
    const Lock alone(to->lock);
    *result = give(*to, translate(e, to->pool));
  });
}

proviso_status proviso_print(proviso_expr expr, proviso_form form, char* buffer,
                             size_t size, size_t* length) {
  constexpr const char* kCall = "proviso_print";
  return look(kCall, expr, [&](Pool&, Expr e) {
    write_text(printed(e, form, kCall), buffer, size, length, kCall);
  });
}

}  // extern "C"
