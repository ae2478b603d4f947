// The walk over a heap whose objects have been patched, or what the GC says of its segments: whatever lies there,
// objects, gaps and allocation contexts add up to the segments; one thread, two threads and the cursor see the same
// objects; and these are the ones in the index of where objects begin.
#include "fuzz/check.h"
#include "fuzz/patches.h"
#include "heap/object_cursor.h"
#include "heap/tally.h"
#include "support/random_heap.h"

using namespace dnheap;
using namespace dnheap::test;

namespace {

struct Process {
  HeapBuilder heap{HeapShape{}};
  std::vector<std::pair<Address, Address>> segments;
  std::vector<Address> objects;
  std::unique_ptr<Target> target;

  Process() {
    std::mt19937_64 random(1);
    add_random_heap(heap, 6000, random);
    target = heap.target();
    for (const SegmentWriter &s : heap.segments) {
      segments.emplace_back(s.block.address(), s.end());
      objects.push_back(s.structure);
    }
    segments.emplace_back(heap.native.address(), heap.native.end());
    for (const WrittenObject &o : heap.objects)
      objects.push_back(o.address);
  }
};

// How many objects, and which.
class Counter {
public:
  Counter(const TypeSystem &types, const Heap &heap) : types_(types, heap) {}
  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &) {}
  void operator()(const Object &object) { add(object, types_.method_table(object.type)); }
  void end_chunk(const ChunkResult &) {}
  void add(const Object &object, Address method_table) {
    ++count;
    bytes += object.aligned_size;
    sum += (object.address * 31 + method_table) * 0x9e3779b97f4a7c15 ^ object.size;
  }
  u64 count = 0, bytes = 0, sum = 0;

private:
  TypeTable types_;
};

struct Walked {
  u64 count = 0, bytes = 0, sum = 0, bad = 0;
  std::vector<std::pair<Address, Address>> gaps;
  bool operator==(const Walked &) const = default;
};

Walked walk(const Runtime &runtime, const Heap &heap, unsigned threads) {
  std::vector<std::unique_ptr<Counter>> counters;
  HeapWalk heap_walk(heap, runtime.memory(), threads, {}, 1024);
  WalkResult result = heap_walk.run(counters, [&] { return std::make_unique<Counter>(runtime.types(), heap); });
  Walked out;
  for (const auto &counter : counters) {
    out.count += counter->count;
    out.bytes += counter->bytes;
    out.sum += counter->sum;
  }
  out.bad = result.bad_objects;
  for (const Gap &gap : result.gaps.listed())
    out.gaps.emplace_back(gap.start, gap.end);
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  static Process process;
  std::unique_ptr<Target> target =
      patched_target(*process.target, process.segments, process.objects, std::as_bytes(std::span(data, size)));
  try {
    CoreClr runtime = open_core_clr(*target, target->modules.at(0), tables_for_all_formats());
    Heap heap(runtime);
    Walked alone = walk(runtime, heap, 1);
    u64 gaps = 0;
    for (auto [start, end] : alone.gaps)
      gaps += end - start;
    for (const Gap &gap : heap.gaps())
      gaps += gap.end - gap.start;
    check(alone.bytes + heap.context_bytes() + gaps == heap.segment_bytes());
    check(walk(runtime, heap, 2) == alone);
    HeapBits starts(std::make_shared<HeapPlaces>(heap, runtime.memory().format()));
    tally_heap(heap, runtime, 2, {}, {}, &starts);
    const Address free = runtime.types().free_object_method_table();
    Counter seen(runtime.types(), heap);
    ObjectCursor cursor(heap, runtime);
    while (const Object *object = cursor.next()) {
      seen.add(*object, cursor.method_table());
      check(starts.test(object->address) == (cursor.method_table() != free));
    }
    check(seen.count == alone.count && seen.bytes == alone.bytes && seen.sum == alone.sum);
  } catch (const Error &) {
  }
  return 0;
}
