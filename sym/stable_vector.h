// sym/stable_vector.h - a vector whose elements never move.
//
//   StableVector<Atom> atoms;
//   const Atom& a = atoms.emplace_back(...);   // stays valid as others come
//
// Elements lie in chunks, each as large as all before it together: few
// allocations, and an element is found from its index in a few instructions.
// The first chunk is made with the first element.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace proviso::inline v0_2::internal {

template <typename T, size_t FirstChunk = 8>
class StableVector {
  static_assert(std::has_single_bit(FirstChunk) && FirstChunk > 1);

 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() {
    while (size_ > 0) pop_back();
    for (size_t c = 0; c < chunks_; ++c) {
      give_back(at(first(c)), length(c));
    }
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return *at(i); }
  const T& operator[](size_t i) const { return *at(i); }
  T& back() { return *at(size_ - 1); }
  const T& back() const { return *at(size_ - 1); }

  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == first(chunks_)) {
      T* made = take(length(chunks_));
      origins_[chunks_] = reinterpret_cast<uintptr_t>(made) - size_ * sizeof(T);
      ++chunks_;
    }
    T* made = at(size_);
    if constexpr (sizeof...(Args) == 0 && std::is_class_v<T>) {
      new (made) T;  // T{} would clear its bytes first
    } else {
      new (made) T{std::forward<Args>(args)...};
    }
    ++size_;
    return *made;
  }
  void push_back(const T& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(std::move(item)); }
  void pop_back() { std::destroy_at(at(--size_)); }
  void resize(size_t size) {  // to more
    while (size_ < size) emplace_back();
  }

 private:
  static constexpr size_t kFirstBits = std::countr_zero(FirstChunk);
  static constexpr size_t kMaxChunks = 33 - kFirstBits;  // for 32-bit ids

  // Chunk 0 holds [0, F), chunk c > 0 holds [F << (c-1), F << c).
  static size_t first(size_t c) { return c == 0 ? 0 : FirstChunk << (c - 1); }
  static size_t length(size_t c) { return c == 0 ? FirstChunk : first(c); }

  // Elements of whole cache lines lie on lines.  operator new for that is slow:
  // the chunk begins within the first line's length of what it gives, which is
  // kept before it.
  static constexpr size_t kLine = 64;
  static constexpr bool kIsOnLines = sizeof(T) % kLine == 0;
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(std::byte*));

  static T* take(size_t length) {
    if constexpr (!kIsOnLines) return std::allocator<T>().allocate(length);
    auto* all =
        static_cast<std::byte*>(::operator new(length * sizeof(T) + kLine));
    auto* begin = all + kLine - reinterpret_cast<uintptr_t>(all) % kLine;
    new (begin - sizeof(all)) std::byte*(all);
    return reinterpret_cast<T*>(begin);
  }
  static void give_back(T* chunk, size_t length) {
    if constexpr (!kIsOnLines) {
      return std::allocator<T>().deallocate(chunk, length);
    }
    auto* begin = reinterpret_cast<std::byte*>(chunk);
    ::operator delete(
        *std::launder(reinterpret_cast<std::byte**>(begin - sizeof(begin))));
  }

  T* at(size_t i) const {
    // The index of the highest bit, in one instruction: never of 0.
    const int bit = 63 - std::countl_zero(uint64_t{i} | (FirstChunk / 2));
    const size_t c = static_cast<size_t>(bit) - (kFirstBits - 1);
    return reinterpret_cast<T*>(origins_[c] + i * sizeof(T));
  }

  uintptr_t origins_[kMaxChunks];  // where element 0 would be
  size_t chunks_ = 0, size_ = 0;
};

}  // namespace proviso::inline v0_2::internal
