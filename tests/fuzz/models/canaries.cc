// LD_PRELOAD=build/bin/libcanaries.so build/bin/model_mutations ...
//
// An allocator that finds what a kernel of PyTorch writes where it must not, as
// no sanitizer looks into LibTorch: each allocation stands between bytes that
// nobody may change, which free() looks at, and what is freed is kept for a
// while and must stay as it is.
//
//   raw                       user             user + size
//    | canaries .. | header    | what was asked | canaries |
//
// The first byte that was changed ends the process, with a backtrace of the
// free() that found it: as a rule that of the kernel.
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

extern "C" void* __libc_memalign(size_t alignment, size_t size);
extern "C" void __libc_free(void* memory);

namespace {

struct Header {
  uint32_t mark, before;  // kMark; bytes from raw to user
  uint64_t size;
};
static_assert(sizeof(Header) == 16);

constexpr uint32_t kMark = 0xC0FFEE11;
constexpr unsigned char kCanary = 0xE5, kFreed = 0xDD;
constexpr size_t kBehind = 32;
// What is freed is kept until so many bytes or pieces are.
constexpr size_t kKeptBytes = size_t{192} << 20, kKept = size_t{1} << 20;

std::mutex mutex;
unsigned char* kept[kKept];
size_t first = 0, last = 0, kept_bytes = 0;

Header* header_of(unsigned char* user) {
  return reinterpret_cast<Header*>(user - sizeof(Header));
}

[[noreturn]] void end(const char* what, const void* user, uint64_t size) {
  char text[160];
  const int length =
      std::snprintf(text, sizeof text, "canaries: %s %p of %lu bytes\n", what,
                    user, static_cast<unsigned long>(size));
  (void)!write(2, text, static_cast<size_t>(length));
  void* frames[60];
  backtrace_symbols_fd(frames, backtrace(frames, 60), 2);
  std::abort();
}

bool is_all(const unsigned char* at, size_t count, unsigned char value) {
  return std::all_of(at, at + count, [&](auto c) { return c == value; });
}

void check(unsigned char* user) {
  const Header& header = *header_of(user);
  if (header.mark != kMark) end("written before, or freed twice:", user, 0);
  if (!is_all(user - header.before, header.before - sizeof(Header), kCanary))
    end("written before", user, header.size);
  if (!is_all(user + header.size, kBehind, kCanary))
    end("written behind", user, header.size);
}

void let_go_of_oldest() {
  unsigned char* user = kept[first++ % kKept];
  check(user);
  Header& header = *header_of(user);
  if (!is_all(user, header.size, kFreed))
    end("written after free():", user, header.size);
  kept_bytes -= header.size + kBehind;
  header.mark = 0;
  __libc_free(user - header.before);
}

void* allocate(size_t alignment, size_t size) {
  alignment = std::max(alignment, sizeof(Header));
  if (size > size_t{1} << 40) return nullptr;
  auto* raw = static_cast<unsigned char*>(
      __libc_memalign(alignment, alignment + size + kBehind));
  if (raw == nullptr) return nullptr;
  std::memset(raw, kCanary, alignment);
  unsigned char* user = raw + alignment;
  *header_of(user) = {kMark, static_cast<uint32_t>(alignment), size};
  std::memset(user + size, kCanary, kBehind);
  return user;
}

void* allocate_or_say(size_t alignment, size_t size) {
  void* memory = allocate(alignment, size);
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

}  // namespace

extern "C" {

void* malloc(size_t size) noexcept { return allocate_or_say(0, size); }
void* memalign(size_t alignment, size_t size) noexcept {
  return allocate_or_say(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return allocate_or_say(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  void* memory = allocate(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}

void* calloc(size_t count, size_t each) noexcept {
  size_t size = 0;
  void* memory = __builtin_mul_overflow(count, each, &size)
                     ? nullptr
                     : allocate_or_say(0, size);
  return memory == nullptr ? nullptr : std::memset(memory, 0, size);
}

void free(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* user = static_cast<unsigned char*>(memory);
  check(user);
  std::memset(user, kFreed, header_of(user)->size);
  const std::lock_guard lock(mutex);
  kept[last++ % kKept] = user;
  kept_bytes += header_of(user)->size + kBehind;
  while (first < last && (kept_bytes > kKeptBytes || last - first == kKept))
    let_go_of_oldest();
}

size_t malloc_usable_size(void* memory) noexcept {
  return memory == nullptr
             ? 0
             : header_of(static_cast<unsigned char*>(memory))->size;
}

void* realloc(void* memory, size_t size) noexcept {
  if (memory == nullptr) return malloc(size);
  void* moved = malloc(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(size, malloc_usable_size(memory)));
  free(memory);
  return moved;
}

}  // extern "C"
