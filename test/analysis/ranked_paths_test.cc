// How an object is held where the runtime's timers lie between: by whom the timer is held, or by the timers themselves.
#include "analysis/ranked_paths.h"
#include "objects/object_index.h"
#include "objects/roots.h"
#include "support/heap_builder.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

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
  // "static Shop.Program.s_all: 3", and so many objects on the way.
  std::string way(Address object, bool alone) {
    const RankedPaths paths(*snapshot, alone ? id(object) : no_object);
    const std::optional<OwnedPath> path = paths.find(id(object));
    return path ? snapshot->owners().owners[static_cast<u32>(path->owner)].name + ": " +
                      std::to_string(path->objects.size())
                : "";
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
      EXPECT_EQ(t.way(t.items[0], alone), "static System.Threading.Timers.s_all: 3");
      EXPECT_EQ(t.way(t.items[1], alone), "static Shop.Program.s_all: 2");
      // Behind a timer that the program holds, but by no means the program's.
      EXPECT_EQ(t.way(t.items[2], alone), "static System.Threading.Timers.s_all: 5");
      EXPECT_EQ(t.way(t.queue, alone), "static System.Threading.Timers.s_all: 1");
    }
  }
}

TEST(RankedPaths, WhereNothingElseHoldsTheTimersTheProgramDoes) {
  for (const Format format : all_formats) {
    Timers t(format, false);
    for (bool alone : {true, false}) {
      EXPECT_EQ(t.way(t.items[0], alone), "static Shop.Program.s_all: 4"); // by timers[1], the queue, timers[0]
      EXPECT_EQ(t.way(t.items[1], alone), "static Shop.Program.s_all: 2");
      EXPECT_EQ(t.way(t.items[2], alone), "static Shop.Program.s_all: 3");
      EXPECT_EQ(t.way(t.queue, alone), "static Shop.Program.s_all: 2");
    }
  }
}

} // namespace
} // namespace dnheap::test
