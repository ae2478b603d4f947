#include "support/random_graph.h"

namespace dnheap::test {

using G = GCSegmentGeneration;

RandomGraph::RandomGraph(const HeapShape &shape, std::mt19937_64 &random, u64 bad, u64 objects, u64 null)
    : heap(shape), p(heap.p), random_(random), bad_percent_(bad), null_percent_(null) {
  for (int i = 0; i < 12; ++i)
    add_type();
  add_array({0}, p, true);
  add_array({0, p, 2 * p}, 3 * p, true); // structs of nothing but references
  add_array({p}, 2 * p, false);
  add_array({0, p, 3 * p}, 5 * p, false);
  for (G g : {G::gen2, G::gen0, G::loh})
    fill(heap.segment(g), objects);
  for (const Placed &placed : placed_)
    addresses_.insert(placed.address);
  for (const Placed &placed : placed_)
    link(placed);
}

std::map<Address, WrittenObject> RandomGraph::objects() const {
  std::map<Address, WrittenObject> out;
  for (const WrittenObject &object : heap.objects)
    if (object.method_table != heap.free_type)
      out[object.address] = object;
  return out;
}

void RandomGraph::add_type() {
  Described out;
  u64 fields = 1 + below(9);
  TypeShape shape{.base_size = static_cast<u32>((2 + fields) * p)};
  for (u64 i = 0; i < fields; ++i)
    if (below(2)) {
      out.fixed.push_back((1 + i) * p);
      if (!shape.series.empty() && shape.series.back().first + shape.series.back().second == (1 + i) * p)
        shape.series.back().second += p;
      else
        shape.series.push_back({(1 + i) * p, p});
    }
  shape.rid = heap.app().metadata.type("Graph", "T" + std::to_string(types_.size()));
  out.method_table = heap.method_table(shape);
  types_.push_back(out);
}

// `whole`: nothing but references, so one series that grows with the array.
void RandomGraph::add_array(const std::vector<u64> &offsets, u64 component_size, bool whole) {
  Described out{.component_size = component_size, .fixed = {}, .in_element = offsets};
  TypeShape shape{.base_size = static_cast<u32>(3 * p),
                  .component_size = static_cast<u32>(component_size),
                  .flags = 0x000a0000,
                  .element = heap.object_type};
  if (whole) {
    shape.series = {{2 * p, 0}};
  } else {
    shape.pattern_start = 2 * p + offsets[0];
    for (u64 i = 0; i < offsets.size();) {
      u64 run = 1;
      while (i + run < offsets.size() && offsets[i + run] == offsets[i] + run * p)
        ++run;
      u64 next = i + run < offsets.size() ? offsets[i + run] : component_size + offsets[0];
      shape.pattern.push_back({run, next - offsets[i] - run * p});
      i += run;
    }
  }
  out.method_table = heap.method_table(shape);
  types_.push_back(out);
}

void RandomGraph::fill(SegmentWriter &segment, u64 count) {
  for (u64 i = 0; i < count; ++i) {
    if (i == 0 || below(10) == 0)
      free.push_back(segment.free(p * (3 + below(9))));
    const Described &type = types_[below(types_.size())];
    u64 components = type.component_size ? below(12) : 0;
    if (type.component_size && below(100) == 0)
      components = 20000 + below(10000); // more than a slice
    placed_.push_back({segment.object(type.method_table, components), &type, components});
  }
  segments_.push_back(&segment);
}

void RandomGraph::link(const Placed &placed) {
  for (u64 offset : placed.type->fixed)
    store(placed.address, placed.address + offset);
  for (u64 c = 0; c < placed.components; ++c)
    for (u64 offset : placed.type->in_element)
      if (c < 12 || below(20) == 0)
        store(placed.address, placed.address + 2 * p + c * placed.type->component_size + offset);
}

void RandomGraph::store(Address object, Address slot) {
  Address target = 0;
  if (below(100) < bad_percent_) {
    switch (below(4)) {
    case 0: target = free[below(free.size())]; break;
    case 1: target = random_object() + p; break; // inside
    case 2: target = heap.object_type; break;    // outside the heap
    case 3: target = random_object() + 1; break;
    }
  } else if (below(100) >= null_percent_) {
    target = random_object();
  }
  if (!target)
    return;
  for (SegmentWriter *segment : segments_)
    if (slot >= segment->block.address() && slot < segment->end())
      segment->store(slot, target, p);
  targets[object].push_back(target);
  if (!addresses_.contains(target))
    bad[slot] = target;
}

Indexed::Indexed(HeapBuilder &builder, std::vector<Dependent> dependents, unsigned threads) : opened(builder) {
  HeapBits starts(std::make_shared<HeapPlaces>(opened.heap, opened.runtime.memory().format()));
  tally = tally_heap(opened.heap, opened.runtime, threads, {}, {}, &starts);
  index = std::make_unique<ObjectIndex>(std::move(starts));
  std::vector<Address> method_tables;
  for (const TypeTally &type : tally.types)
    if (type.method_table != builder.free_type)
      method_tables.push_back(type.method_table);
  references = std::make_unique<References>(opened.heap, opened.runtime, method_tables, std::move(dependents));
}

} // namespace dnheap::test
