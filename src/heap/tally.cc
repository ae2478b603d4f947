#include "heap/tally.h"

#include "base/text.h"

#include <algorithm>
#include <bit>
#include <map>

namespace dnheap {

namespace {

// One thread's counts. Free always has type id 0, so a chunk's Free objects are row 0 after it minus row 0 before it.
template <bool Filtered, bool Collecting> class Counter {
public:
  Counter(const TypeSystem &types, const Heap &heap, const ObjectFilter &filter, HeapBits *starts)
      : types_(types, heap), filter_(filter), segments_(heap.segments().size()) {
    if constexpr (Collecting)
      starts_.emplace(*starts);
    if (types.free_object_method_table() == 0)
      types_.skip_first_id();
    else if (!types_.find(types.free_object_method_table()))
      throw Error("the MethodTable of free objects, " + hex(types.free_object_method_table()) + ", lies in the heap");
  }

  TypeTable &types() { return types_; }

  void begin_chunk(const ObjectRange &range) {
    rows_ = &generations_[static_cast<u8>(range.generation)];
    rows_->resize(std::max<u64>(rows_->size(), types_.size()));
    free_before_ = (*rows_)[0];
    all_ = {};
  }

  void operator()(const Object &object) {
    if constexpr (Collecting)
      if (object.type != 0)
        starts_->add(object.address);
    if constexpr (Filtered)
      if (!filter_.passes(object))
        return;
    if (object.type >= rows_->size())
      rows_->resize(types_.size());
    Tally &row = (*rows_)[object.type];
    ++row.count;
    row.bytes += object.size;
    row.aligned_bytes += object.aligned_size;
    if constexpr (Filtered)
      all_.add({1, object.size, object.aligned_size});
  }

  void end_chunk(const ChunkResult &result) {
    if constexpr (Collecting)
      starts_->flush();
    SegmentTally &segment = segments_[result.range->segment];
    const Tally &now = (*rows_)[0];
    Tally free{now.count - free_before_.count, now.bytes - free_before_.bytes,
               now.aligned_bytes - free_before_.aligned_bytes};
    if constexpr (!Filtered)
      all_ = {result.objects, 0, result.bytes};
    segment.free.add(free);
    segment.objects.add({all_.count - free.count, 0, all_.aligned_bytes - free.aligned_bytes});
  }

  void add_to(std::map<Address, TypeTally> &types, std::vector<SegmentTally> &segments) const {
    for (u64 g = 0; g < generation_count; ++g)
      for (u32 id = 0; id < generations_[g].size(); ++id)
        if (generations_[g][id].count) {
          TypeTally &to = types[types_.method_table(id)];
          to.method_table = types_.method_table(id);
          to.generations[g].add(generations_[g][id]);
        }
    for (u64 i = 0; i < segments.size(); ++i) {
      segments[i].objects.add(segments_[i].objects);
      segments[i].free.add(segments_[i].free);
    }
  }

private:
  TypeTable types_;
  const ObjectFilter &filter_;
  std::array<std::vector<Tally>, generation_count> generations_; // by type id
  std::vector<SegmentTally> segments_;
  std::optional<HeapBits::Writer> starts_;
  std::vector<Tally> *rows_ = nullptr; // the rows of the current chunk's generation
  Tally free_before_, all_;
};

template <class Counters> void add_up(const Counters &counters, HeapTally &out, const Heap &heap) {
  std::map<Address, TypeTally> types;
  out.segments.resize(heap.segments().size());
  for (const auto &counter : counters)
    counter->add_to(types, out.segments);
  for (const auto &[method_table, tally] : types)
    out.types.push_back(tally);
}

template <bool Filtered, bool Collecting>
HeapTally count(const Heap &heap, const Runtime &runtime, unsigned threads, const Watch &watch,
                const ObjectFilter &filter, HeapBits *starts) {
  using Visitor = Counter<Filtered, Collecting>;
  HeapTally out;
  std::vector<std::unique_ptr<Visitor>> counters;
  HeapWalk walk(heap, runtime.memory(), threads, watch);
  unsigned made = 0;
  out.walk = walk.run(counters, [&] {
    if (Collecting && made++ == std::max(threads, 1u))
      starts->clear(); // a guess was wrong: the walk begins again
    return std::make_unique<Visitor>(runtime.types(), heap, filter, starts);
  });
  add_up(counters, out, heap);
  return out;
}

// Counts the objects in one block of places; objects of one range are consecutive.
void count_block(const Heap &heap, const ObjectBytes &bytes, const HeapBits &objects, u64 block, const Format &format,
                 Counter<true, false> &counter) {
  const HeapPlaces &places = objects.places();
  const u64 first = block * (places.block_size() / 64), last = first + places.block_size() / 64;
  const ObjectRange *range = nullptr;
  Address begin = 0; // address of the range's first object in this block
  const std::byte *data = nullptr;
  for (u64 w = first; w < last; ++w)
    for (u64 bits = objects.words()[w]; bits; bits &= bits - 1) {
      const Address address = places.address(w * 64 + static_cast<u64>(std::countr_zero(bits)));
      if (!range || address >= range->end()) {
        if (range)
          counter.end_chunk({.range = range});
        range = &*std::prev(std::upper_bound(heap.ranges().begin(), heap.ranges().end(), address,
                                             [](Address at, const ObjectRange &one) { return at < one.address; }));
        begin = address;
        data = bytes.from(address).data();
        counter.begin_chunk(*range);
      }
      const std::byte *object = data + (address - begin);
      const TypeRow *type = counter.types().find(method_table_in(load_pointer(object, format), format));
      if (!type)
        continue; // the walk had seen an object, so memory is being lost; callers find that out
      const u64 size = object_size(type->base_size, type->component_size,
                                   load<u32>(object + format.pointer_size, format.byte_order), format);
      counter(Object{address, type->id, size, align_up(size, range->alignment), object});
    }
  if (range)
    counter.end_chunk({.range = range});
}

} // namespace

Tally TypeTally::total() const {
  Tally out;
  for (const Tally &t : generations)
    out.add(t);
  return out;
}

HeapTally tally_heap(const Heap &heap, const Runtime &runtime, unsigned threads, const Watch &watch,
                     const ObjectFilter &filter, HeapBits *starts) {
  if (starts)
    return filter.everything() ? count<false, true>(heap, runtime, threads, watch, filter, starts)
                               : count<true, true>(heap, runtime, threads, watch, filter, starts);
  return filter.everything() ? count<false, false>(heap, runtime, threads, watch, filter, nullptr)
                             : count<true, false>(heap, runtime, threads, watch, filter, nullptr);
}

HeapTally tally_objects(const Heap &heap, const Runtime &runtime, const ObjectBytes &bytes, const HeapBits &objects,
                        const ObjectFilter &filter, unsigned threads, const Watch &watch) {
  constexpr u64 part = 8;     // blocks per part: some MiB of the heap
  Timer timer(watch, "walk"); // named like a walk, as users need not know the difference
  std::vector<std::unique_ptr<Counter<true, false>>> counters;
  for (unsigned i = 0; i < std::max(threads, 1u); ++i)
    counters.push_back(std::make_unique<Counter<true, false>>(runtime.types(), heap, filter, nullptr));
  const Format format = runtime.memory().format();
  parallel_for_parts(objects.places().blocks(), part, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    for (u64 block = begin; block < end; ++block)
      count_block(heap, bytes, objects, block, format, *counters[worker]);
  });
  HeapTally out;
  add_up(counters, out, heap);
  return out;
}

HeapTally without(const HeapTally &all, const HeapTally &some, Address free_object_method_table) {
  HeapTally out;
  auto taken = some.types.begin(); // both are sorted
  for (const TypeTally &type : all.types) {
    if (type.method_table == free_object_method_table)
      continue;
    TypeTally left = type;
    if (taken != some.types.end() && taken->method_table == type.method_table) {
      for (u64 g = 0; g < generation_count; ++g)
        left.generations[g].subtract(taken->generations[g]);
      ++taken;
    }
    if (left.total().count)
      out.types.push_back(left);
  }
  for (u64 i = 0; i < all.segments.size(); ++i) {
    out.segments.push_back({all.segments[i].objects, {}});
    out.segments.back().objects.subtract(some.segments[i].objects);
  }
  return out;
}

} // namespace dnheap
