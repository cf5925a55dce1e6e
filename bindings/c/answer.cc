// Answers, the library's version and the text of errors.
#include "bindings/c/calls.h"
#include "sym/print.h"

using namespace proviso;
using namespace proviso::c;

namespace {

// Of this thread's last call.
std::string& error_text() {
  thread_local std::string text;
  return text;
}

template <typename Read>
proviso_status look(const char* call, proviso_answer handle, Read read) {
  return guarded(call, [&] { read(*find(handle, call)); });
}

const PlainPoint& point_of(const PlainAnswer& answer, proviso_point point,
                           const char* call) {
  if (point == PROVISO_COUNTEREXAMPLE || point == PROVISO_WITNESS)
    return answer.points[point];
  fail(PROVISO_ERROR_ARGUMENT, call,
       "point is " + std::to_string(static_cast<int>(point)) +
           "; give PROVISO_COUNTEREXAMPLE or PROVISO_WITNESS");
}

const std::pair<std::string, std::string>& entry_of(const PlainAnswer& answer,
                                                    proviso_point point,
                                                    size_t index,
                                                    const char* call) {
  const PlainPoint& all = point_of(answer, point, call);
  if (index < all.size()) return all[index];
  fail(PROVISO_ERROR_RANGE, call,
       "index " + std::to_string(index) + " of " + std::to_string(all.size()) +
           " values");
}

}  // namespace

namespace proviso::c {
void set_error(std::string text) noexcept { error_text() = std::move(text); }
}  // namespace proviso::c

extern "C" {

const char* proviso_version(void) { return PROVISO_VERSION; }
uint32_t proviso_abi_version(void) { return PROVISO_ABI_VERSION; }
int proviso_has_z3(void) {
#ifdef PROVISO_WITH_Z3
  return 1;
#else
  return 0;
#endif
}

const char* proviso_status_name(proviso_status status) {
  switch (status) {
    case PROVISO_OK: return "PROVISO_OK";
    case PROVISO_ERROR_NULL: return "PROVISO_ERROR_NULL";
    case PROVISO_ERROR_HANDLE: return "PROVISO_ERROR_HANDLE";
    case PROVISO_ERROR_POOL: return "PROVISO_ERROR_POOL";
    case PROVISO_ERROR_PARSE: return "PROVISO_ERROR_PARSE";
    case PROVISO_ERROR_TYPE: return "PROVISO_ERROR_TYPE";
    case PROVISO_ERROR_ARGUMENT: return "PROVISO_ERROR_ARGUMENT";
    case PROVISO_ERROR_RANGE: return "PROVISO_ERROR_RANGE";
    case PROVISO_ERROR_STATE: return "PROVISO_ERROR_STATE";
    case PROVISO_ERROR_SPACE: return "PROVISO_ERROR_SPACE";
    case PROVISO_ERROR_UNDEFINED: return "PROVISO_ERROR_UNDEFINED";
    case PROVISO_ERROR_MEMORY: return "PROVISO_ERROR_MEMORY";
    case PROVISO_ERROR_INTERNAL: return "PROVISO_ERROR_INTERNAL";
  }
  return "unknown status";
}

const char* proviso_error_text(void) { return error_text().c_str(); }

proviso_status proviso_answer_free(proviso_answer answer) {
  return guarded("proviso_answer_free",
                 [&] { remove(answer, "proviso_answer_free"); });
}

proviso_status proviso_answer_verdict(proviso_answer answer,
                                      proviso_verdict* verdict) {
  constexpr const char* kCall = "proviso_answer_verdict";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    required(verdict, kCall, "verdict") =
        a.answer.verdict == Verdict::kYes  ? PROVISO_YES
        : a.answer.verdict == Verdict::kNo ? PROVISO_NO
                                           : PROVISO_UNKNOWN;
  });
}

proviso_status proviso_answer_tier(proviso_answer answer, const char** tier) {
  constexpr const char* kCall = "proviso_answer_tier";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    required(tier, kCall, "tier") = name_of(a.answer.tier).data();  // a literal
  });
}

proviso_status proviso_answer_strategy(proviso_answer answer,
                                       const char** strategy) {
  constexpr const char* kCall = "proviso_answer_strategy";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    required(strategy, kCall, "strategy") =
        name_of(a.answer.strategy).data();  // a literal
  });
}

proviso_status proviso_answer_reason(proviso_answer answer, char* buffer,
                                     size_t size, size_t* length) {
  constexpr const char* kCall = "proviso_answer_reason";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    write_text(a.answer.reason, buffer, size, length, kCall);
  });
}

proviso_status proviso_answer_is_contradiction(proviso_answer answer,
                                               int* contradict) {
  constexpr const char* kCall = "proviso_answer_is_contradiction";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    required(contradict, kCall, "contradict") = a.answer.is_contradiction;
  });
}

proviso_status proviso_answer_facts(proviso_answer answer, uint32_t* ids,
                                    size_t capacity, size_t* count) {
  constexpr const char* kCall = "proviso_answer_facts";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    write_array(a.answer.facts, ids, capacity, count, kCall,
                [](FactId id) { return id; });
  });
}

proviso_status proviso_point_size(proviso_answer answer, proviso_point point,
                                  size_t* count) {
  constexpr const char* kCall = "proviso_point_size";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    required(count, kCall, "count") = point_of(a, point, kCall).size();
  });
}

proviso_status proviso_point_name(proviso_answer answer, proviso_point point,
                                  size_t index, char* buffer, size_t size,
                                  size_t* length) {
  constexpr const char* kCall = "proviso_point_name";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    write_text(entry_of(a, point, index, kCall).first, buffer, size, length,
               kCall);
  });
}

proviso_status proviso_point_value(proviso_answer answer, proviso_point point,
                                   size_t index, char* buffer, size_t size,
                                   size_t* length) {
  constexpr const char* kCall = "proviso_point_value";
  return look(kCall, answer, [&](const PlainAnswer& a) {
    write_text(entry_of(a, point, index, kCall).second, buffer, size, length,
               kCall);
  });
}

}  // extern "C"
