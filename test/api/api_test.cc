// The public interface against what was written, in all formats, and against brute force: what it hands out is what the
// heap holds, one object at a time, in blocks, and as a graph.
#include "api/state.h"
#include "dnheap/dnheap.h"
#include "support/random_graph.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

v0::Snapshot snapshot_of(HeapBuilder &heap, unsigned threads = 3) {
  SnapshotOptions options;
  options.threads = threads;
  return v0::State::snapshot(std::make_unique<Snapshot>(heap.target(), options));
}

// As the builder wrote it.
struct Seen {
  u64 address, method_table, size;
  int generation;
  auto operator<=>(const Seen &) const = default;
};

Seen seen(const v0::HeapObject &object) {
  return {object.address.value(), object.method_table.value(), object.size, static_cast<int>(object.generation)};
}

std::vector<Seen> written(const HeapBuilder &heap, bool free) {
  std::vector<Seen> out;
  for (const WrittenObject &object : heap.objects)
    if (free || object.method_table != heap.free_type)
      out.push_back({object.address, object.method_table, object.size, static_cast<int>(object.generation)});
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Api, BlocksHoldEveryObjectOnce) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    std::mt19937_64 random(7);
    HeapBuilder heap({.format = format});
    add_random_heap(heap, 3 << 20, random);
    v0::Snapshot snapshot = snapshot_of(heap);
    std::vector<Seen> one_by_one;
    snapshot.heap().for_each_block([&](std::span<const v0::HeapObject> block) {
      for (const v0::HeapObject &object : block) {
        one_by_one.push_back(seen(object));
        EXPECT_EQ(object.is_free, object.method_table.value() == heap.free_type);
        EXPECT_EQ(object.has_type, !object.is_free);
        if (object.has_type) {
          EXPECT_EQ(snapshot.type(object.type).method_table(), object.method_table);
        }
      }
      return true;
    });
    EXPECT_EQ(one_by_one, written(heap, true));
    std::vector<Seen> pulled;
    v0::HeapBlocks blocks = snapshot.heap().blocks();
    for (std::span<const v0::HeapObject> block = blocks.next(); !block.empty(); block = blocks.next())
      for (const v0::HeapObject &object : block)
        pulled.push_back(seen(object));
    EXPECT_EQ(pulled, one_by_one);
    EXPECT_TRUE(blocks.next().empty());

    std::vector<std::vector<Seen>> parts(snapshot.heap().workers());
    ASSERT_EQ(parts.size(), 3u);
    const v0::Graph graph = snapshot.graph();
    std::atomic<u64> wrong{0};
    snapshot.heap().for_each_block_parallel(
        [&](std::span<const v0::HeapObject> block, ObjectId first, unsigned worker) {
          u32 id = v0::number_of(first);
          for (const v0::HeapObject &object : block) {
            wrong += graph.types()[id] != object.type || graph.find(object.address) != ObjectId(id);
            ++id;
            parts[worker].push_back(seen(object));
          }
        });
    EXPECT_EQ(wrong, 0u);
    std::vector<Seen> all;
    for (const std::vector<Seen> &part : parts)
      all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, written(heap, false));
    EXPECT_EQ(graph.objects(), all.size());
  }
}

TEST(Api, ABlockThatSaysFalseIsTheLast) {
  std::mt19937_64 random(8);
  HeapBuilder heap({});
  add_random_heap(heap, 3 << 20, random);
  v0::Snapshot snapshot = snapshot_of(heap);
  u64 blocks = 0;
  auto count = [&](bool more) {
    blocks = 0;
    snapshot.heap().for_each_block([&](std::span<const v0::HeapObject>) {
      ++blocks;
      return more;
    });
    return blocks;
  };
  EXPECT_GT(count(true), 1u);
  EXPECT_EQ(count(false), 1u);
  EXPECT_THROW(snapshot.heap().for_each_block_parallel(
                   [](std::span<const v0::HeapObject>, ObjectId, unsigned) { throw UsageError("mine"); }),
               UsageError);
}

TEST(Api, TypesSumUpToTheHeap) {
  std::mt19937_64 random(9);
  HeapBuilder heap({});
  add_random_heap(heap, 1 << 20, random);
  v0::Snapshot snapshot = snapshot_of(heap);
  std::map<u64, u64> expected;
  for (const WrittenObject &object : heap.objects)
    ++expected[object.method_table];
  u64 types = 0;
  for (const v0::TypeTally &type : snapshot.heap().types()) {
    EXPECT_EQ(type.total.count, expected.at(type.type.method_table().value()));
    u64 sum = 0;
    for (const v0::Tally &of : type.generations)
      sum += of.count;
    EXPECT_EQ(sum, type.total.count);
    EXPECT_EQ(type.type.is_free(), type.type.method_table().value() == heap.free_type);
    EXPECT_EQ(type.type.id().has_value(), !type.type.is_free());
    ++types;
  }
  EXPECT_EQ(types, expected.size());
  EXPECT_EQ(snapshot.type_count(), expected.size() - expected.count(heap.free_type));
  EXPECT_THROW(snapshot.type(TypeId(snapshot.type_count())), UsageError);
  const v0::Completeness completeness = snapshot.heap().completeness();
  EXPECT_TRUE(completeness.complete);
  EXPECT_EQ(completeness.objects, heap.objects.size());
  EXPECT_EQ(snapshot.heap().segments().size(), heap.segments.size());
}

TEST(Api, ObjectsLeadWhereTheirSlotsLead) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    std::mt19937_64 random(10);
    RandomGraph made({.format = format}, random);
    v0::Snapshot snapshot = snapshot_of(made.heap);
    const v0::Graph graph = snapshot.graph();
    u64 followed = 0, inside = 0;
    for (const auto &[address, written] : made.objects()) {
      const v0::Object object = snapshot.object(v0::Address(address));
      ASSERT_EQ(object.address().value(), address);
      EXPECT_EQ(object.type().method_table().value(), written.method_table);
      EXPECT_EQ(object.size(), written.size);
      EXPECT_EQ(object.aligned_size(), written.aligned_size);
      EXPECT_EQ(static_cast<int>(object.generation()), static_cast<int>(written.generation));
      EXPECT_EQ(snapshot.object(v0::Address(address + written.size - 1)), object);
      EXPECT_EQ(snapshot.find_object(v0::Address(address + written.size - 1)), object);
      EXPECT_EQ(snapshot.find_object(v0::Address(address)), object);
      ++inside;
      std::vector<Address> targets, sound;
      std::map<std::string, v0::Address> first; // where names are told by offset, elements share one
      for (const v0::Reference &reference : object.references()) {
        targets.push_back(reference.target.value());
        first.try_emplace(reference.field, reference.target);
        if (graph.find(reference.target))
          sound.push_back(targets.back());
      }
      if (first.size() < 10)
        for (const auto &[field, target] : first) {
          const std::optional<v0::Object> to = object.follow(field);
          ASSERT_EQ(to.has_value(), graph.find(target).has_value());
          if (to) {
            EXPECT_EQ(to->address(), target) << field;
            ++followed;
          }
        }
      EXPECT_EQ(targets, made.targets[address]);
      std::vector<Address> edges;
      for (ObjectId to : graph.references().of(object.id()))
        edges.push_back(graph.address(to).value());
      EXPECT_EQ(edges, sound);
    }
    EXPECT_GT(followed, 500u);
    EXPECT_GT(inside, 1000u);
    ASSERT_FALSE(made.free.empty());
    for (Address hole : made.free) {
      EXPECT_EQ(snapshot.find_object(v0::Address(hole)), std::nullopt);
      EXPECT_THROW(snapshot.object(v0::Address(hole)), NotFound);
    }
    EXPECT_EQ(snapshot.find_object(v0::Address(8)), std::nullopt);
  }
}

// A heap with handles to some objects, and words in registers that name others.
struct Held {
  std::mt19937_64 random{11};
  RandomGraph made{{}, random, 0, 60, 60};
  std::vector<Address> precise, by_chance;

  Held() {
    for (int i = 0; i < 4; ++i) {
      precise.push_back(made.random_object());
      made.heap.gc.handles.push_back({.type = HandleType::strong, .object = precise.back()});
      by_chance.push_back(made.random_object());
      made.heap.threads[0].registers.push_back(by_chance.back());
    }
  }
  // What these reach, without going through one.
  std::set<Address> reach(const std::vector<Address> &from, Address without = 0) {
    std::set<Address> out;
    std::vector<Address> next = from;
    while (!next.empty()) {
      const Address at = next.back();
      next.pop_back();
      if (at == without || !out.insert(at).second)
        continue;
      next.insert(next.end(), made.targets[at].begin(), made.targets[at].end());
    }
    return out;
  }
};

TEST(Api, WhoHoldsWhatAsByBruteForce) {
  Held held;
  v0::Snapshot snapshot = snapshot_of(held.made.heap);
  const v0::Graph graph = snapshot.graph();
  const std::set<Address> precisely = held.reach(held.precise);
  std::vector<Address> roots = held.precise;
  roots.insert(roots.end(), held.by_chance.begin(), held.by_chance.end());
  const std::set<Address> all = held.reach(roots);
  const v0::Liveness live = snapshot.liveness();
  u64 dominated = 0, unreachable = 0;
  for (u32 i = 0; i < graph.objects(); ++i) {
    const ObjectId id{i};
    const Address address = graph.address(id).value();
    const bool reached = all.contains(address), certain = precisely.contains(address);
    EXPECT_EQ(live.is_live(v0::Address(address)), reached);
    const std::optional<v0::Path> path = graph.shortest_path(id);
    ASSERT_EQ(path.has_value(), reached);
    ASSERT_EQ(graph.retained(id).has_value(), reached);
    EXPECT_EQ(graph.closure(std::span(&id, 1)).objects, held.reach({address}).size());
    if (!reached) {
      EXPECT_EQ(graph.dominator(id), std::nullopt);
      ++unreachable;
      continue;
    }
    const std::vector<Address> &from = certain ? held.precise : held.by_chance;
    EXPECT_NE(std::find(from.begin(), from.end(), graph.address(path->objects.front()).value()), from.end());
    EXPECT_EQ(path->objects.back(), id);
    for (u64 step = 1; step < path->objects.size(); ++step) {
      const auto to = graph.references().of(path->objects[step - 1]);
      EXPECT_NE(std::find(to.begin(), to.end(), path->objects[step]), to.end());
      const auto back = graph.referrers().of(path->objects[step]);
      EXPECT_NE(std::find(back.begin(), back.end(), path->objects[step - 1]), back.end());
    }
    if (certain) {
      const std::set<Address> without = held.reach(held.precise, address);
      u64 lost = 0;
      for (Address object : precisely)
        lost += !without.contains(object);
      // What is held by chance only, and through it, counts too where nothing precise would hold it.
      EXPECT_GE(graph.retained(id)->objects, lost);
      if (const std::optional<ObjectId> by = graph.dominator(id)) {
        EXPECT_FALSE(held.reach(held.precise, graph.address(*by).value()).contains(address));
        ++dominated;
      }
    }
    const std::vector<v0::Path> ways = graph.paths_from_owners(id, 1);
    ASSERT_EQ(ways.size(), 1u);
    EXPECT_EQ(ways[0].objects.size(), path->objects.size());
  }
  EXPECT_GT(dominated, 0u);
  EXPECT_GT(unreachable, 0u);
  EXPECT_EQ(graph.unreachable().objects, unreachable);
  const v0::Retained everything = graph.retained_by([](ObjectId) { return true; });
  EXPECT_EQ(everything.objects + unreachable, graph.objects());
  u64 owned = graph.shared().objects;
  for (const v0::Owner &owner : graph.owners()) {
    EXPECT_FALSE(owner.name.empty());
    owned += owner.retained.objects;
  }
  EXPECT_EQ(owned + unreachable, graph.objects());
}

TEST(Api, RootsAreThoseThatWereWritten) {
  Held held;
  v0::Snapshot snapshot = snapshot_of(held.made.heap);
  const v0::Roots roots = snapshot.roots();
  std::multiset<Address> handles, chance;
  for (u64 i = 0; i < roots.count(); ++i)
    (roots[i].conservative ? chance : handles).insert(roots[i].object.value());
  EXPECT_EQ(handles, std::multiset<Address>(held.precise.begin(), held.precise.end()));
  for (Address object : held.by_chance)
    EXPECT_TRUE(chance.contains(object));
  EXPECT_EQ(roots[0].kind, v0::RootKind::handle);
  EXPECT_EQ(roots[0].kind_text, "handle:strong");
  EXPECT_THROW(roots[roots.count()], UsageError);
}

TEST(Api, StringsTypesAndMemory) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    const Address array = young.object(heap.object_array_type, 3);
    const Address text = young.string("Hello");
    young.store(array + 2 * heap.p + heap.p, text, heap.p);
    v0::Snapshot snapshot = snapshot_of(heap);
    const v0::Object object = snapshot.object(v0::Address(array));
    EXPECT_TRUE(object.type().is_array());
    EXPECT_EQ(object.length(), 3u);
    EXPECT_EQ(object.string(), std::nullopt);
    const std::optional<v0::Object> element = object.follow("[1]");
    ASSERT_TRUE(element);
    EXPECT_EQ(element->type().name(), "System.String");
    EXPECT_EQ(element->string(), "Hello");
    EXPECT_EQ(element->length(), 5u);
    ASSERT_EQ(element->referrers().size(), 1u);
    EXPECT_EQ(element->referrers()[0], object);
    EXPECT_EQ(object.elements().size(), 3u);
    ASSERT_EQ(snapshot.types_called("string").size(), 1u);
    EXPECT_EQ(snapshot.types_called("string")[0], element->type());
    EXPECT_THROW(snapshot.types_called("No.Such"), NotFound);

    std::vector<std::byte> bytes(heap.p);
    ASSERT_EQ(snapshot.read(v0::Address(text), bytes), bytes.size());
    EXPECT_EQ(load_pointer(bytes.data(), format), heap.string_type);
    EXPECT_EQ(snapshot.read(v0::Address(1), bytes), 0u);
    EXPECT_EQ(snapshot.info().pointer_size, heap.p);
    EXPECT_EQ(snapshot.info().runtime, "coreclr");
  }
}

TEST(Api, AddressesAreReadAsTheyAreWritten) {
  EXPECT_EQ(v0::Address(0x7f00c0de).text(), "0x7f00c0de");
  EXPECT_EQ(v0::Address::parse("0x7f00c0de"), v0::Address(0x7f00c0de));
  EXPECT_EQ(v0::Address::parse("00007f1b`70030b58"), v0::Address(0x7f1b70030b58));
  EXPECT_EQ(v0::Address::parse("Shop.Order"), std::nullopt);
  EXPECT_TRUE(v0::Address().is_null());
  EXPECT_EQ(v0::Address(8) - v0::Address(3), 5u);
  EXPECT_EQ(v0::Address(8) + 3, v0::Address(11));
}

TEST(Api, CancelledPassesAreInterrupted) {
  std::mt19937_64 random(12);
  HeapBuilder heap({});
  add_random_heap(heap, 1 << 20, random);
  v0::Progress progress;
  SnapshotOptions options;
  options.watch = v0::State::watch(&progress);
  v0::Snapshot snapshot = v0::State::snapshot(std::make_unique<Snapshot>(heap.target(), options));
  snapshot.heap().types();
  EXPECT_FALSE(progress.times().empty());
  EXPECT_EQ(progress.now().pass, nullptr);
  progress.cancel();
  EXPECT_THROW(snapshot.graph(), Interrupted);
}

TEST(Api, AFileThatIsNotThere) {
  EXPECT_THROW(v0::Snapshot::open("/no/such/core"), Error);
  EXPECT_STREQ(library_version(), DNHEAP_PROJECT_VERSION);
}

} // namespace
} // namespace dnheap::test
