// How an object is held where the runtime's timers lie between: by whom the timer is held, or by the timers themselves.
#include "analysis/owners/first_owners.h"
#include "analysis/owners/ranked_paths.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "objects/roots.h"
#include "support/heap_builder.h"
#include "support/held_by_static.h"
#include "support/random_heap.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// "static Shop.Program.s_all: 3", and so many objects on the way.
std::string text(Snapshot &snapshot, const std::optional<OwnedPath> &path) {
  return path ? way_owner(snapshot, path->owner).name + ": " + std::to_string(path->objects.size()) : "";
}

// A static field of the program holds a timer, the framework's a queue of timers, which refer to each other; each timer
// holds an object.
class Timers {
public:
  explicit Timers(const Format &format, bool framework_holds = true)
      : heap({.format = format, .signed_app = true}), p(static_cast<u32>(heap.p)) {
    const Address program = one_static("Shop", "Program"), framework = one_static("System.Threading", "Timers"),
                  timer_type = links("System.Threading", "TimerQueueTimer"),
                  queue_type = links("System.Threading", "TimerQueue"), item = links("Shop", "Item");
    SegmentWriter &old = heap.segment(G::gen2);
    const Address own = old.object(heap.object_array_type, 1), theirs = old.object(heap.object_array_type, 1);
    queue = old.object(queue_type);
    for (u64 i = 0; i < 3; ++i) {
      timers[i] = old.object(timer_type);
      items[i] = old.object(item);
      old.store(timers[i] + 2 * p, items[i], p);
    }
    old.store(own + 2 * p, timers[1], p);
    old.store(theirs + 2 * p, queue, p);
    old.store(queue + p, timers[0], p);
    for (u64 i = 0; i + 1 < 3; ++i)
      old.store(timers[i] + p, timers[i + 1], p);
    old.store(timers[1] + 3 * p, queue, p); // each refers to its queue; here the one that the program holds
    heap.statics(program, own + 2 * p);
    heap.gc.handles = {{.type = HandleType::strong, .object = own}};
    if (framework_holds) {
      heap.statics(framework, theirs + 2 * p);
      heap.gc.handles.push_back({.type = HandleType::strong, .object = theirs});
    }
    snapshot = std::make_unique<Snapshot>(heap.target(), SnapshotOptions{});
  }

  ObjectId id(Address object) { return snapshot->index().find(object); }
  std::string way(Address object, bool alone) {
    const RankedPaths paths(*snapshot, alone ? id(object) : no_object);
    return text(*snapshot, paths.find(id(object)));
  }

  HeapBuilder heap;
  u32 p;
  Address queue = 0, timers[3], items[3];
  std::unique_ptr<Snapshot> snapshot;

private:
  Address one_static(const std::string &space, const std::string &name) {
    const Address type = heap.type(space + "." + name, 1);
    const u32 field = heap.app().metadata.field("s_all", field_signature(element(ElementType::Object)));
    heap.fields(type, {{field, ElementType::Class, 0, true}});
    return type;
  }
  Address links(const std::string &space, const std::string &name) {
    return heap.method_table(
        {.base_size = 5 * p, .rid = heap.app().metadata.type(space, name), .series = {{p, 3 * p}}});
  }
};

TEST(RankedPaths, WhatOnlyTheTimersHoldIsTheirs) {
  for (const Format format : all_formats) {
    Timers t(format);
    for (bool alone : {true, false}) {
      EXPECT_EQ(t.way(t.items[0], alone), "the runtime's timers: 3");
      EXPECT_EQ(t.way(t.items[1], alone), "static Shop.Program.s_all: 2");
      // Behind a timer that the program holds, but by no means the program's.
      EXPECT_EQ(t.way(t.items[2], alone), "the runtime's timers: 5");
      EXPECT_EQ(t.way(t.queue, alone), "the runtime's timers: 1");
    }
  }
}

TEST(RankedPaths, WhereNothingElseHoldsTheQueueWhatWaitsInItIsItsAllTheSame) {
  for (const Format format : all_formats) {
    Timers t(format, false);
    for (bool alone : {true, false}) {
      EXPECT_EQ(t.way(t.items[0], alone), "the runtime's timers: 3");
      EXPECT_EQ(t.way(t.items[1], alone), "static Shop.Program.s_all: 2");
      EXPECT_EQ(t.way(t.items[2], alone), "the runtime's timers: 5");
      EXPECT_EQ(t.way(t.queue, alone), "the runtime's timers: 1");
    }
  }
}

// What the container of services holds is its own, though a static field of the framework's, from which the container
// is reached, holds it directly, too; but not what the program's own field holds. The container is its own owner.
TEST(RankedPaths, WhatTheContainerOfServicesHoldsIsItsOwn) {
  for (const Format format : all_formats)
    for (bool is_alive : {true, false}) {
      HeapBuilder heap({.format = format, .signed_app = true});
      const u32 p = static_cast<u32>(heap.p);
      auto type = [&](const std::string &space, const std::string &name) {
        return heap.method_table(
            {.base_size = 5 * p, .rid = heap.app().metadata.type(space, name), .series = {{p, 3 * p}}});
      };
      const Address provider = type("Microsoft.Extensions.DependencyInjection", "ServiceProvider"),
                    item = type("Shop", "Item");
      SegmentWriter &old = heap.segment(G::gen2);
      const Address own = old.object(heap.object_array_type, 1), theirs = old.object(heap.object_array_type, 1),
                    shell = old.object(item), container = old.object(provider), service = old.object(item),
                    inside = old.object(item), shared = old.object(item);
      old.store(own + 2 * p, shared, p);
      old.store(theirs + 2 * p, shell, p);
      if (is_alive)
        old.store(shell + p, container, p);
      old.store(shell + 2 * p, inside, p);
      old.store(container + p, service, p);
      old.store(service + p, inside, p);
      old.store(service + 2 * p, shared, p);
      hold_by_static(heap, "Shop.Program", own);
      hold_by_static(heap, "System.Host", theirs);
      Snapshot snapshot(heap.target(), SnapshotOptions{});
      auto expect = [&](Address object, const std::string &way) {
        const ObjectId id = snapshot.index().find(object);
        EXPECT_EQ(text(snapshot, RankedPaths(snapshot, id).find(id)), way);
        EXPECT_EQ(text(snapshot, find_ranked_path(snapshot, id).path), way);
        EXPECT_EQ(text(snapshot, ranked_paths(snapshot)->find(id)), way);
      };
      expect(service, is_alive ? "the container of services: 2" : "");
      expect(inside, is_alive ? "the container of services: 3" : "static System.Host.s_all: 2");
      expect(shared, "static Shop.Program.s_all: 1");
      expect(container, is_alive ? "the container of services: 1" : "");
    }
}

} // namespace
// Asked in any order, of all objects, it is the owner of each one's own way.
TEST(FirstOwners, AsEachWayByItself) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 8; ++round) {
    HeapBuilder heap({.format = all_formats[static_cast<u64>(round) % std::size(all_formats)]});
    add_random_heap(heap, 1 << 14, random);
    for (u64 i = random() % 9; i < heap.objects.size(); i += 1 + random() % 99)
      if (heap.objects[i].method_table != heap.free_type)
        heap.gc.handles.push_back({.type = HandleType::strong, .object = heap.objects[i].address});
    Snapshot snapshot(heap.target(), SnapshotOptions{});
    FirstOwners first(snapshot);
    std::vector<u32> order(snapshot.graph().objects());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    u64 held = 0;
    for (u32 object : order) {
      const std::optional<OwnedPath> way = ranked_paths(snapshot)->find(ObjectId{object});
      const RankedOwners::Owner *owner = first.of(ObjectId{object});
      ASSERT_EQ(owner != nullptr, way.has_value());
      if (!owner)
        continue;
      ++held;
      EXPECT_EQ(owner->name, way_owner(snapshot, way->owner).name);
      EXPECT_EQ(owner->source, way_owner(snapshot, way->owner).source);
    }
    EXPECT_GT(held, 0u);
  }
}

} // namespace dnheap::test
