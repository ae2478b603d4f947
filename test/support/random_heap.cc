#include "support/random_heap.h"

namespace dnheap::test {

RandomTypes::RandomTypes(HeapBuilder &heap) {
  for (u64 fields = 1; fields <= 8; ++fields)
    fixed.push_back(heap.type("Random.Type" + std::to_string(fields), fields));
  bytes = heap.array(fixed[0], 1);
  numbers = heap.array(fixed[1], 4, 2); // two dimensions
  references = heap.array(fixed[2], static_cast<u32>(heap.p));
}

void add_random_objects(HeapBuilder &heap, SegmentWriter &segment, const RandomTypes &types, u64 size,
                        std::mt19937_64 &random, bool traps) {
  auto below = [&](u64 n) { return random() % n; };
  for (Address end = segment.end() + size; segment.end() < end;) {
    switch (below(10)) {
    case 0: segment.string(std::string(below(40), 'x')); break;
    case 1: segment.free(heap.p * (3 + below(20))); break;
    case 2: segment.object(types.numbers, below(50)); break;
    case 3: segment.object(types.references, below(30)); break;
    case 4: {
      u64 length = below(20) ? below(200) : below(3000);
      Address at = segment.object(types.bytes, length);
      // Objects that are none, at every second chance shifted off the alignment of true ones.
      u64 first = 3 * heap.p + (below(2) ? 4 : 0), step = 3 * heap.p;
      bool chain = below(2) && traps;
      for (u64 offset = first; offset + step <= length; offset += step)
        segment.store(at + offset, chain ? types.fixed[0] : random(), heap.p);
      break;
    }
    default: segment.object(types.fixed[below(types.fixed.size())]); break;
    }
  }
}

void add_random_heap(HeapBuilder &heap, u64 size, std::mt19937_64 &random, bool traps) {
  using G = GCSegmentGeneration;
  RandomTypes types(heap);
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    auto fill = [&](SegmentWriter &segment, u64 of) { add_random_objects(heap, segment, types, of, random, traps); };
    for (G g : {G::frozen, G::gen2, G::gen2, G::loh, G::poh})
      fill(heap.segment(g, h), g == G::gen2 ? size : size / 8);
    for (G g : {G::gen1, G::gen0})
      if (heap.shape.regions)
        fill(heap.segment(g, h), size / 2);
    SegmentWriter &young = heap.shape.regions ? heap.segment(G::gen0, h) : heap.ephemeral(h);
    if (!heap.shape.regions) {
      fill(young, size / 2);
      young.begin_gen1();
      fill(young, size / 2);
      young.begin_gen0();
    }
    for (u64 t = h; t < heap.threads.size(); t += heap.shape.heaps) {
      heap.threads[t].context = young.context(heap.p * (random() % 100));
      fill(young, size / 4);
    }
  }
}

} // namespace dnheap::test
