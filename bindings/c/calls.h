// bindings/c/calls.h - what each call of the C API is made of.
#pragma once

#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "bindings/c/handles.h"

namespace proviso::c {

void set_error(std::string text) noexcept;

[[noreturn]] inline void fail(proviso_status status, const char* call,
                              const std::string& text) {
  throw Failure{status, std::string(call) + ": " + text};
}

// work(), with whatever it throws as a status and a text.  Where memory is out,
// the text may be missing.
template <typename Work>
proviso_status guarded(const char* call, Work work) noexcept {
  try {
    try {
      work();
      set_error({});
      return PROVISO_OK;
    } catch (const Failure& f) {
      set_error(f.text);
      return f.status;
    } catch (const Error& e) {
      set_error(std::string(call) + ": " + e.what());
      return PROVISO_ERROR_ARGUMENT;
    } catch (const std::bad_alloc&) {
      set_error(std::string(call) + ": out of memory");
      return PROVISO_ERROR_MEMORY;
    } catch (const std::exception& e) {
      set_error(std::string(call) + ": a defect of Proviso: " + e.what());
      return PROVISO_ERROR_INTERNAL;
    }
  } catch (...) {
    return PROVISO_ERROR_MEMORY;
  }
}

template <typename T>
T& required(T* pointer, const char* call, const char* name) {
  if (pointer != nullptr) return *pointer;
  fail(PROVISO_ERROR_NULL, call, std::string(name) + " is NULL");
}

inline void require_array(const void* array, size_t count, const char* call,
                          const char* name) {
  if (array == nullptr && count > 0)
    fail(PROVISO_ERROR_NULL, call,
         std::string(name) + " is NULL, and its count is " +
             std::to_string(count));
}

// Copies text into the caller's buffer, whole or as much as fits.
inline void write_text(std::string_view text, char* buffer, size_t size,
                       size_t* length, const char* call) {
  require_array(buffer, size, call, "buffer");
  if (length != nullptr) *length = text.size();
  const size_t fits = size == 0 ? 0 : std::min(text.size(), size - 1);
  if (size > 0) {
    std::memcpy(buffer, text.data(), fits);
    buffer[fits] = '\0';
  }
  if (fits < text.size() || size == 0)
    fail(PROVISO_ERROR_SPACE, call,
         "the text takes " + std::to_string(text.size() + 1) +
             " bytes with its zero, and the buffer has " +
             std::to_string(size));
}

// as many of `all` as fit; *count is how many there are.
template <typename From, typename To, typename Convert>
void write_array(const From& all, To* array, size_t capacity, size_t* count,
                 const char* call, Convert convert) {
  required(count, call, "count") = all.size();
  require_array(array, capacity, call, "the array");
  size_t i = 0;
  for (const auto& item : all) {
    if (i == capacity) break;
    array[i++] = convert(item);
  }
}

inline std::string quoted(const char* text) {
  return "'" + std::string(text).substr(0, 60) + "'";
}

}  // namespace proviso::c
