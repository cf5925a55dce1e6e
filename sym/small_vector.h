// sym/small_vector.h - a vector whose first N elements need no allocation.
//
// The few members that polynomials use, with std::vector's meaning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace proviso::inline v0_2::internal {

template <typename T, size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept : begin_(inline_data()) {}
  SmallVector(std::initializer_list<T> items) : SmallVector() {
    reserve(items.size());
    for (const T& item : items) push_back(item);
  }
  template <typename It>
  SmallVector(It first, It last) : SmallVector() {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector& o) : SmallVector() { append(o); }
  SmallVector(SmallVector&& o) noexcept : SmallVector() { take(o); }
  SmallVector& operator=(const SmallVector& o) {
    if (this == &o) return *this;
    clear();
    append(o);
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this == &o) return *this;
    clear();
    take(o);
    return *this;
  }
  ~SmallVector() {
    clear();
    if (!is_inline()) std::allocator<T>().deallocate(begin_, capacity_);
  }

  T* begin() { return begin_; }
  T* end() { return begin_ + size_; }
  const T* begin() const { return begin_; }
  const T* end() const { return begin_ + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return begin_[i]; }
  const T& operator[](size_t i) const { return begin_[i]; }
  T& back() { return begin_[size_ - 1]; }
  const T& back() const { return begin_[size_ - 1]; }

  operator std::span<const T>() const { return {begin_, size_}; }  // NOLINT

  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max<size_t>(capacity, 2 * capacity_);
    T* moved = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), moved);
    std::destroy(begin(), end());
    if (!is_inline()) std::allocator<T>().deallocate(begin_, capacity_);
    begin_ = moved;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T item(std::forward<Args>(args)...);  // may be one of ours
      reserve(size_ + 1);
      return *new (begin_ + size_++) T(std::move(item));
    }
    return *new (begin_ + size_++) T(std::forward<Args>(args)...);
  }
  void push_back(const T& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(std::move(item)); }
  void append(const SmallVector& o) {
    reserve(size_ + o.size_);
    std::uninitialized_copy(o.begin(), o.end(), end());
    size_ += o.size_;
  }
  // Before `at`.
  void insert(const_iterator at, T item) {
    const std::ptrdiff_t i = at - begin();
    push_back(std::move(item));
    std::rotate(begin() + i, end() - 1, end());
  }
  void erase(const_iterator at) {
    T* hole = begin() + (at - begin());
    std::move(hole + 1, end(), hole);
    pop_back();
  }
  void pop_back() { shrink(size_ - 1); }
  // Drops elements from the end.
  void shrink(size_t size) {
    std::destroy(begin_ + size, end());
    size_ = static_cast<uint32_t>(size);
  }
  void clear() { shrink(0); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(storage_); }
  bool is_inline() const {
    return begin_ == reinterpret_cast<const T*>(storage_);
  }
  // Requires this to be empty.
  void take(SmallVector& o) {
    if (o.is_inline()) {
      reserve(o.size_);
      std::uninitialized_move(o.begin(), o.end(), begin_);
      size_ = o.size_;
      o.clear();
      return;
    }
    if (!is_inline()) std::allocator<T>().deallocate(begin_, capacity_);
    begin_ = std::exchange(o.begin_, o.inline_data());
    size_ = std::exchange(o.size_, 0);
    capacity_ = std::exchange(o.capacity_, static_cast<uint32_t>(N));
  }

  T* begin_;
  uint32_t size_ = 0, capacity_ = N;
  alignas(T) std::byte storage_[N * sizeof(T)];
};

}  // namespace proviso::inline v0_2::internal
