// solver/stable_vector.h - a vector whose elements never move.
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
#include <memory>
#include <new>
#include <utility>

namespace proviso {

template <typename T, size_t FirstChunk = 8>
class StableVector {
  static_assert(std::has_single_bit(FirstChunk));

 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() {
    while (size_ > 0) pop_back();
    for (size_t c = 0; c < kMaxChunks && chunks_[c] != nullptr; ++c) {
      std::allocator<T>().deallocate(chunks_[c], length(c));
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
    const size_t c = chunk_of(size_);
    if (chunks_[c] == nullptr) {
      chunks_[c] = std::allocator<T>().allocate(length(c));
    }
    T* made = new (at(size_)) T{std::forward<Args>(args)...};
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
  static size_t chunk_of(size_t i) {
    return static_cast<size_t>(std::bit_width(i >> kFirstBits));
  }
  static size_t first(size_t c) { return c == 0 ? 0 : FirstChunk << (c - 1); }
  static size_t length(size_t c) { return c == 0 ? FirstChunk : first(c); }
  T* at(size_t i) const {
    const size_t c = chunk_of(i);
    return chunks_[c] + (i - first(c));
  }

  T* chunks_[kMaxChunks] = {};
  size_t size_ = 0;
};

}  // namespace proviso
