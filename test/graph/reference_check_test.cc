// Every reference is found, in every shape that a GCDesc can have, and every bad one is told; against what the test
// itself wrote into the objects.
#include "graph/reference_check.h"
#include "heap/gcdesc.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

u64 mix(u64 a, u64 b) {
  u64 h = a * 0x9e3779b97f4a7c15 + b;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ h >> 32;
}

// A type together with the test's own idea of where its references lie.
struct Described {
  Address method_table = 0;
  u64 base_size = 0, component_size = 0;
  std::vector<u64> fixed;      // offsets from the MethodTable
  std::vector<u64> in_element; // offsets in each element of an array
};

// A heap in which every slot holds null, an object, or, for one in a hundred, something bad.
class ReferenceHeap {
public:
  ReferenceHeap(const HeapShape &shape, std::mt19937_64 &random) : heap(shape), p(heap.p), random_(random) {
    for (int i = 0; i < 12; ++i)
      add_type();
    add_array({0}, p, true);
    add_array({0, p, 2 * p}, 3 * p, true); // structs of nothing but references
    add_array({p}, 2 * p, false);
    add_array({0, p, 3 * p}, 5 * p, false);
    for (G g : {G::gen2, G::gen0, G::loh})
      fill(heap.segment(g));
    for (const Placed &placed : objects_)
      link(placed);
  }

  HeapBuilder heap;
  const u64 p;
  u64 references = 0, edges = 0;
  std::map<Address, Address> bad; // slot → target

private:
  struct Placed {
    Address address;
    const Described *type;
    u64 components = 0;
  };

  u64 below(u64 n) { return random_() % n; }

  void add_type() {
    Described out;
    u64 fields = 1 + below(9);
    out.base_size = (2 + fields) * p;
    TypeShape shape{.base_size = static_cast<u32>(out.base_size)};
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
    out.base_size = std::max(out.base_size, 3 * p);
    types_.push_back(out);
  }

  // `whole`: nothing but references, so one series that grows with the array.
  void add_array(const std::vector<u64> &offsets, u64 component_size, bool whole) {
    Described out{.base_size = 3 * p, .component_size = component_size, .in_element = offsets};
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

  void fill(SegmentWriter &segment) {
    for (int i = 0; i < 400; ++i) {
      if (below(10) == 0)
        free_.push_back(segment.free(p * (3 + below(9))));
      const Described &type = types_[below(types_.size())];
      u64 components = type.component_size ? below(12) : 0;
      objects_.push_back({segment.object(type.method_table, components), &type, components});
    }
    segments_.push_back(&segment);
  }

  void link(const Placed &placed) {
    const Described &type = *placed.type;
    std::vector<u64> offsets = type.fixed;
    for (u64 c = 0; c < placed.components; ++c)
      for (u64 offset : type.in_element)
        offsets.push_back(2 * p + c * type.component_size + offset);
    for (u64 offset : offsets)
      store(placed.address, placed.address + offset);
  }
  void store(Address object, Address slot) {
    Address target = 0;
    switch (below(100)) {
    case 0: target = free_[below(free_.size())]; break;
    case 1: target = objects_[below(objects_.size())].address + p; break; // inside
    case 2: target = heap.object_type; break;                             // outside the heap
    case 3: target = objects_[below(objects_.size())].address + 1; break;
    default: target = below(4) ? objects_[below(objects_.size())].address : 0;
    }
    for (SegmentWriter *segment : segments_)
      if (slot >= segment->block.address() && slot < segment->end())
        segment->store(slot, target, p);
    if (!target)
      return;
    ++references;
    edges += mix(object, target);
    if (std::none_of(objects_.begin(), objects_.end(), [&](const Placed &o) { return o.address == target; }))
      bad[slot] = target;
  }

  std::mt19937_64 &random_;
  std::deque<Described> types_;
  std::vector<Placed> objects_;
  std::vector<Address> free_;
  std::vector<SegmentWriter *> segments_;
};

TEST(ReferenceCheck, FindsWhatTheTestWrote) {
  std::mt19937_64 random(5);
  for (Format format : all_formats)
    for (int round = 0; round < 5; ++round) {
      SCOPED_TRACE(name_of(format) + " " + std::to_string(round));
      ReferenceHeap made({.format = format}, random);
      Opened opened(made.heap);
      for (unsigned threads : {1u, 3u}) {
        ObjectIndex index(opened.heap, opened.runtime, threads, {});
        ReferenceCheck found = check_references(opened.heap, opened.runtime, index, threads, {}, 100000);
        EXPECT_EQ(found.references, made.references);
        EXPECT_EQ(found.edges, made.edges);
        EXPECT_EQ(found.bad, made.bad.size());
        EXPECT_TRUE(found.undescribed.empty());
        std::map<Address, Address> bad;
        for (const BadReference &b : found.bad_references)
          bad[b.slot] = b.target;
        EXPECT_EQ(bad, made.bad);
      }
    }
}

TEST(ReferenceCheck, ListsTheFirstByAddress) {
  std::mt19937_64 random(6);
  ReferenceHeap made({}, random);
  Opened opened(made.heap);
  ObjectIndex index(opened.heap, opened.runtime, 3, {});
  ReferenceCheck all = check_references(opened.heap, opened.runtime, index, 1, {}, 100000);
  ASSERT_GT(all.bad, 10u);
  ReferenceCheck some = check_references(opened.heap, opened.runtime, index, 3, {}, 7);
  ASSERT_EQ(some.bad_references.size(), 7u);
  EXPECT_EQ(some.bad, all.bad);
  for (u64 i = 0; i < 7; ++i)
    EXPECT_EQ(some.bad_references[i].slot, all.bad_references[i].slot);
}

// Every object that the builder wrote, and no other address, is one; Free is none.
TEST(ObjectIndex, KnowsEveryObject) {
  std::mt19937_64 random(8);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    ReferenceHeap made({.format = format}, random);
    Opened opened(made.heap);
    ObjectIndex index(opened.heap, opened.runtime, 2, {});
    std::set<Address> objects;
    for (const WrittenObject &object : made.heap.objects)
      if (object.method_table != made.heap.free_type)
        objects.insert(object.address);
    EXPECT_EQ(index.count(), objects.size());
    for (const SegmentWriter &segment : made.heap.segments)
      for (Address at = segment.block.address() - 64; at < segment.end() + 64; ++at)
        ASSERT_EQ(index.is_object(at), objects.contains(at)) << at;
    for (Address at : {Address{0}, Address{1} << 40, ~Address{0}, ~Address{7}})
      EXPECT_FALSE(index.is_object(at));
  }
}

// Descriptions that name places outside of an object, or do not fit the array, are none.
TEST(GCDesc, DamagedOnesAreRefused) {
  std::mt19937_64 random(9);
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    Address type = heap.method_table({.base_size = static_cast<u32>(6 * p), .series = {{p, p}, {3 * p, 2 * p}}});
    Address array = heap.method_table({.base_size = static_cast<u32>(3 * p),
                                       .component_size = static_cast<u32>(4 * p),
                                       .flags = 0x000a0000,
                                       .pattern = {{1, p}, {1, p}},
                                       .pattern_start = 2 * p});
    u64 refused = 0, accepted = 0;
    for (auto [mt, base, component] : {std::tuple{type, 6 * p, u64{0}}, {array, 3 * p, 4 * p}}) {
      EXPECT_TRUE(GCDesc::at(heap.target()->memory, mt, static_cast<u32>(base), static_cast<u32>(component)));
      for (int round = 0; round < 300; ++round) {
        std::vector<std::byte> native(heap.native.bytes());
        u64 at = mt - heap.native.address() - 1 - random() % (5 * p);
        native[at] = static_cast<std::byte>(random());
        Memory memory(format, {{heap.native.address(), native}});
        std::optional<GCDesc> desc = GCDesc::at(memory, mt, static_cast<u32>(base), static_cast<u32>(component));
        ++(desc ? accepted : refused);
        // Whatever is accepted stays inside an object of the smallest size with three elements.
        std::vector<std::byte> object(base + 3 * component);
        if (desc)
          desc->for_each_slot(object.data(), object.size(), format, [&](const std::byte *slot) {
            EXPECT_GE(slot, object.data() + p);
            EXPECT_LE(slot + p, object.data() + object.size() - p);
          });
      }
    }
    EXPECT_GT(refused, 100u);
    EXPECT_GT(accepted, 20u);
  }
}

} // namespace
} // namespace dnheap::test
