// HeapBits: a set of objects, one bit for each place of the heap (HeapPlaces): 42 MiB for a heap of 2.6 GiB. Any number
// of threads may test and add objects (different or equal ones) at the same time.
#pragma once
#include "base/host/large_array.h"
#include "heap/heap_places.h"

#include <atomic>
#include <memory>

namespace dnheap {

class HeapBits {
public:
  explicit HeapBits(std::shared_ptr<const HeapPlaces> places)
      : places_(std::move(places)), words_(places_->count() / 64) {}

  bool test(Address address) const {
    u64 place = places_->find(address);
    return place != HeapPlaces::nowhere && words_[place / 64] >> (place % 64) & 1;
  }
  void clear() { words_ = LargeArray<u64>(words_.size()); }

  const HeapPlaces &places() const { return *places_; }
  const std::shared_ptr<const HeapPlaces> &shared_places() const { return places_; }
  // 64 places per word; the first place has the lowest bit.
  LargeArray<u64> &words() { return words_; }
  const LargeArray<u64> &words() const { return words_; }

  // Adds objects that mostly come in address order: a word is written when the next one begins. Each thread has its own
  // Writer; others may write to the same HeapBits.
  class Writer {
  public:
    explicit Writer(HeapBits &bits) : bits_(bits) {}
    // Ignores addresses that are not a place of the heap.
    void add(Address address) {
      u64 place = bits_.places_->find(address);
      if (place == HeapPlaces::nowhere)
        return;
      if (place / 64 != word_) {
        flush();
        word_ = place / 64;
      }
      pending_ |= u64{1} << (place % 64);
    }
    void flush() {
      if (pending_)
        std::atomic_ref<u64>(bits_.words_[word_]).fetch_or(pending_, std::memory_order_relaxed);
      pending_ = 0;
    }

  private:
    HeapBits &bits_;
    u64 word_ = 0, pending_ = 0;
  };

private:
  std::shared_ptr<const HeapPlaces> places_;
  LargeArray<u64> words_;
};

} // namespace dnheap
