// LargeArray: a column of up to billions of numbers, zero at first. Its pages come directly from the operating system,
// as huge pages if available (random access to gigabytes of small pages costs a page walk each), and are returned by
// the destructor. A page takes memory once it is written. Throws std::bad_alloc. Threads that share one must write
// different elements, or use std::atomic_ref.
#pragma once
#include "base/integers.h"

#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace dnheap {

void *take_pages(u64 bytes); // null if bytes = 0
void give_back_pages(void *pages, u64 bytes);

template <class T> class LargeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  LargeArray() = default;
  explicit LargeArray(u64 size) : data_(static_cast<T *>(take_pages(bytes(size)))), size_(size) {}
  LargeArray(LargeArray &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LargeArray &operator=(LargeArray &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LargeArray() { give_back_pages(data_, size_ * sizeof(T)); }

  T *data() { return data_; }
  const T *data() const { return data_; }
  u64 size() const { return size_; }
  T &operator[](u64 i) { return data_[i]; }
  const T &operator[](u64 i) const { return data_[i]; }
  T *begin() { return data_; }
  T *end() { return data_ + size_; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }
  operator std::span<const T>() const { return {data_, size_}; }

private:
  static u64 bytes(u64 size) {
    if (size > ~u64{0} / 2 / sizeof(T))
      throw std::bad_alloc();
    return size * sizeof(T);
  }
  T *data_ = nullptr;
  u64 size_ = 0;
};

} // namespace dnheap
