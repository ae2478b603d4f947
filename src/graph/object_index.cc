#include "graph/object_index.h"

#include "base/text.h"
#include "heap/walk.h"

namespace dnheap {

namespace {

constexpr u64 most_granules = 1 << 20;

} // namespace

// One thread's part of the walk. Objects come in the order of their addresses, so a word is complete when the next one
// begins; at the edges of chunks two threads may share one.
class ObjectIndex::Builder {
public:
  Builder(ObjectIndex &index, const TypeSystem &types, const Heap &heap) : index_(index), types_(types, heap) {
    types_.find(types.free_object_method_table()); // type 0, if it is one
    has_free_ = types_.size() != 0;
  }
  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &) {}
  void operator()(const Object &object) {
    if (object.type == 0 && has_free_)
      return;
    u64 *word = const_cast<u64 *>(index_.word_of(object.address));
    if (word != word_) {
      flush();
      word_ = word;
    }
    bits_ |= u64{1} << (object.address >> index_.unit_shift_ & 63);
  }
  void end_chunk(const ChunkResult &) { flush(); }

private:
  void flush() {
    if (bits_)
      std::atomic_ref<u64>(*word_).fetch_or(bits_, std::memory_order_relaxed);
    bits_ = 0;
  }

  ObjectIndex &index_;
  TypeTable types_;
  bool has_free_ = false;
  u64 *word_ = nullptr;
  u64 bits_ = 0;
};

ObjectIndex::ObjectIndex(const Heap &heap, const Runtime &runtime, unsigned threads, const Watch &watch) {
  unit_shift_ = runtime.memory().format().pointer_size == 8 ? 3 : 2;
  word_shift_ = unit_shift_ + 6;
  unit_mask_ = (u64{1} << unit_shift_) - 1;
  lay_out(heap);
  std::vector<std::unique_ptr<Builder>> builders;
  HeapWalk walk(heap, runtime.memory(), threads, watch);
  walk.run(builders, [&] {
    std::fill(words_.begin(), words_.end(), 0); // a wrong guess makes the walk begin again
    return std::make_unique<Builder>(*this, runtime.types(), heap);
  });
  for (u64 word : words_)
    count_ += static_cast<u64>(std::popcount(word));
}

void ObjectIndex::lay_out(const Heap &heap) {
  std::span<const ObjectRange> ranges = heap.ranges(); // by address
  if (ranges.empty())
    return;
  Address end = ranges.back().end();
  u64 bytes = 0;
  for (const ObjectRange &range : ranges)
    bytes += range.size;
  while ((end - ranges.front().address) >> granule_shift_ >= most_granules)
    ++granule_shift_;
  granule_mask_ = (u64{1} << granule_shift_) - 1;
  lowest_ = ranges.front().address & ~granule_mask_;
  words_per_block_ = u64{1} << (granule_shift_ - word_shift_);
  blocks_.assign(((end - lowest_) >> granule_shift_) + 1, no_block);
  u32 used = 0;
  for (const ObjectRange &range : ranges)
    for (u64 g = (range.address - lowest_) >> granule_shift_; g <= (range.end() - 1 - lowest_) >> granule_shift_; ++g)
      if (blocks_[g] == no_block)
        blocks_[g] = used++;
  // A real heap fills its granules: bits for 64 times its size are beyond any.
  u64 size = used * words_per_block_ * 8;
  if (size > bytes + (u64{256} << 20))
    throw Error("the heap's " + bytes_text(bytes) + " lie scattered over " + bytes_text(end - lowest_) +
                ": an index of its objects would take " + bytes_text(size));
  words_.assign(used * words_per_block_, 0);
}

} // namespace dnheap
