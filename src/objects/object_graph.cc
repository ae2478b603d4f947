#include "objects/object_graph.h"

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "objects/alignments.h"

#include <array>

namespace dnheap {

namespace {

// Reads one thread's part. References go through a short queue: on entry the index entry of the target is prefetched;
// on exit the target's id is read from it.
class EdgeReader {
public:
  EdgeReader(const ObjectIndex &index, const References &references, LargeArray<u32> &degrees)
      : index_(index), degrees_(degrees), references_(references), reader_(references) {}

  bool open(Address address, OpenedObject &object) { return reader_.open(address, object); }
  void read(ObjectId id, const OpenedObject &object) {
    // Reserves room once per object, so that single references need not check.
    const u64 hidden = object.type->has_hidden ? 1 + references_.dependents().of(object.address).size() : 0;
    if (const u64 most = count_ + waiting + object.size / references_.format().pointer_size + hidden;
        most > targets_.size())
      targets_.resize(most + most / 2);
    u64 count = 0;
    reader_.for_each(object, [&](Address target) {
      const u64 place = index_.places().find(target);
      if (place == HeapPlaces::nowhere) {
        ++bad;
        return;
      }
      index_.prefetch(place);
      if (end_ - begin_ == waiting)
        take_oldest();
      places_[end_ % waiting] = place;
      sources_[end_++ % waiting] = id;
      ++count;
    });
    if (count >> 32)
      throw Error("the object at " + hex(object.address) + " refers to more than 4 billion others");
    degrees_[static_cast<u32>(id)] += static_cast<u32>(count);
  }
  // Returns the targets read since the last call. Valid as long as this reader.
  std::span<const ObjectId> take_targets() {
    while (begin_ != end_)
      take_oldest();
    if (slabs_.empty() || slabs_.back().size() - used_ < count_) {
      slabs_.emplace_back(std::max(count_, slab_size));
      used_ = 0;
    }
    ObjectId *out = slabs_.back().data() + used_;
    std::copy_n(targets_.begin(), count_, out);
    used_ += count_;
    return {out, std::exchange(count_, 0)};
  }

  u64 bad = 0;

private:
  static constexpr u64 waiting = 64;
  static constexpr u64 slab_size = u64{1} << 20; // large enough to be a mapping, which returns to the system when freed

  [[gnu::always_inline]] void take_oldest() {
    const u64 at = begin_++ % waiting;
    const ObjectId target = index_.at_place(places_[at]);
    if (target == no_object) [[unlikely]] {
      ++bad;
      --degrees_[static_cast<u32>(sources_[at])]; // undoes the count of this reference, which may be added only later
      return;
    }
    targets_[count_++] = target;
  }

  const ObjectIndex &index_;
  LargeArray<u32> &degrees_;
  const References &references_;
  ReferenceReader reader_;
  std::vector<ObjectId> targets_; // the first count_ are used; the others are room
  std::vector<LargeArray<ObjectId>> slabs_;
  u64 used_ = 0; // elements used of the last slab
  u64 count_ = 0, begin_ = 0, end_ = 0;
  std::array<u64, waiting> places_;
  std::array<ObjectId, waiting> sources_;
};

} // namespace

ObjectGraph::ObjectGraph(const ObjectIndex &index, const References &references, const Heap &heap, unsigned threads,
                         const Watch &watch, std::span<const Address> holders, ObjectSizeColumn *sizes)
    : types_(index.count()), short_first_(index.count() + 1) {
  Timer timer(watch, "edges", heap.segment_bytes());
  threads = std::max(threads, 1u);
  const u64 blocks = index.places().blocks();
  std::vector<std::unique_ptr<EdgeReader>> readers;
  for (unsigned i = 0; i < threads; ++i)
    readers.push_back(std::make_unique<EdgeReader>(index, references, short_first_));
  // Computes each object's degree and each block's targets.
  std::vector<std::span<const ObjectId>> targets(blocks);
  parallel_for(blocks, threads, [&](u64 block, unsigned worker) {
    watch.check();
    EdgeReader &reader = *readers[worker];
    Alignments alignments(heap, index.places().block_address(block));
    auto holder = std::lower_bound(holders.begin(), holders.end(), index.places().block_address(block));
    index.for_each(block, [&](ObjectId id, Address address) {
      OpenedObject object;
      types_[static_cast<u32>(id)] = TypeId(references.types().size());
      if (!reader.open(address, object))
        return;
      types_[static_cast<u32>(id)] = object.id;
      if (sizes)
        sizes->put(id, align_up(object.size, alignments.of(address)));
      while (holder != holders.end() && *holder < address)
        ++holder;
      if (holder == holders.end() || *holder != address)
        reader.read(id, object);
    });
    targets[block] = reader.take_targets();
    if (Progress *progress = watch.progress)
      progress->done += index.places().block_size() << index.places().unit_shift();
  });
  for (const auto &reader : readers)
    bad_ += reader->bad;
  std::vector<u64> before(blocks + 1);
  for (u64 block = 0; block < blocks; ++block)
    before[block + 1] = before[block] + targets[block].size();
  const u64 all = before[blocks];
  const bool is_long = all >> 32;
  if (is_long)
    first_ = LargeArray<u64>(short_first_.size());
  targets_ = LargeArray<ObjectId>(all);
  parallel_for(blocks, threads, [&](u64 block, unsigned) {
    watch.check();
    u64 sum = before[block];
    for (u64 id = index.first_of(block), end = index.first_of(block + 1); id < end; ++id) {
      const u32 degree = short_first_[id];
      if (is_long)
        first_[id] = sum;
      else
        short_first_[id] = static_cast<u32>(sum);
      sum += degree;
    }
    std::copy(targets[block].begin(), targets[block].end(), targets_.begin() + before[block]);
  });
  if (is_long) {
    first_[index.count()] = all;
    short_first_ = {};
  } else {
    short_first_[index.count()] = static_cast<u32>(all);
  }
}

} // namespace dnheap
