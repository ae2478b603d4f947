// Chunks: a list that grows without copying its elements and without temporarily taking twice the memory: for millions
// of things that are collected one by one, then read in order. Not safe for several threads.
#pragma once
#include "base/integers.h"

#include <vector>

namespace dnheap {

template <class T> class Chunks {
public:
  void push_back(const T &one) {
    if (chunks_.empty() || chunks_.back().size() == chunk_size) {
      chunks_.emplace_back();
      chunks_.back().reserve(chunk_size);
    }
    chunks_.back().push_back(one);
  }
  u64 size() const { return chunks_.empty() ? 0 : (chunks_.size() - 1) * chunk_size + chunks_.back().size(); }
  // Calls visit(const T &) for each element, in order of insertion.
  template <class Visit> void for_each(Visit &&visit) const {
    for (const std::vector<T> &chunk : chunks_)
      for (const T &one : chunk)
        visit(one);
  }
  void clear() { chunks_ = {}; }

private:
  static constexpr u64 chunk_size = 512;

  std::vector<std::vector<T>> chunks_;
};

} // namespace dnheap
