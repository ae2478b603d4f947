// What is derived of threads: the list, where a Thread keeps its id, its context, its stack, its statics, its number;
// how large it can be; what a context counts. Each is found where it is, and is no answer where two places look right
// or none does.
#include "runtime/layout/coreclr/alloc_bytes.h"
#include "runtime/layout/coreclr/thread.h"
#include "runtime/layout/coreclr/thread_id.h"
#include "runtime/layout/coreclr/thread_parts.h"
#include "runtime/layout/coreclr/thread_size.h"
#include "runtime/layout/coreclr/thread_state.h"
#include "support/refound.h"
#include "support/statics_heap.h"

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Threads on stacks of their own, one of them with a context.
struct Threads {
  explicit Threads(const HeapShape &shape, u64 count = 2) : heap(shape), p(heap.p) {
    SegmentWriter &young = heap.segment(G::gen0);
    young.object(heap.object_type);
    heap.threads[0].context = young.context(64);
    heap.threads.resize(count);
    for (u64 i = 0; i < count; ++i) {
      ThreadWriter &thread = heap.threads[i];
      thread.os_id = 4001 + i;
      thread.stack_limit = 0x50000000 + i * 0x100000;
      thread.stack_base = thread.stack_limit + 0x10000;
      thread.stack_pointer = thread.stack_limit + 0x8000;
    }
    of.emplace(heap);
  }
  void derive_list(const std::vector<std::string> &names) {
    of->ask(names, [&](Derivation &d) { derive_thread(d, *make_gc(d.memory, d.descriptor, {}), of->gc_variable()); });
  }
  // The same words at another place, in each Thread.
  void copy_words(u64 from, u64 to, u64 count) {
    for (const ThreadWriter &thread : heap.threads)
      for (u64 i = 0; i < count; ++i)
        heap.poke(thread.address + (to + i) * p, of->word(thread.address + (from + i) * p), p);
  }

  HeapBuilder heap;
  const u64 p;
  std::optional<Refound> of;
};

const std::vector<std::string> list_names = {"ThreadStore", "ThreadStore.FirstThreadLink", "ThreadStore.ThreadCount",
                                             "Thread.LinkNext", "Thread.OSId"};

TEST(LayoutThread, ListAndIdAreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    t.derive_list(list_names);
    t.of->expect("ThreadStore", t.heap.variables.at("ThreadStore"));
    t.of->expect("ThreadStore.FirstThreadLink", t.heap.layout.store_first * t.p);
    t.of->expect("ThreadStore.ThreadCount", (t.heap.layout.store_first + 3) * t.p);
    t.of->expect("Thread.LinkNext", t.heap.layout.link * t.p);
    t.of->expect("Thread.OSId", t.heap.layout.os_id * t.p);
  });
}

TEST(LayoutThread, TwoPlacesWithTheIdAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    t.copy_words(t.heap.layout.os_id, t.heap.layout.os_id + 3, 1);
    t.derive_list(list_names);
    t.of->expect("Thread.LinkNext", t.heap.layout.link * t.p);
    t.of->expect_refused("Thread.OSId", "ids of the target's threads");
  });
}

TEST(LayoutThread, AListOfThreadsThatTheTargetDoesNotHaveIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    for (ThreadWriter &thread : t.heap.threads)
      thread.in_target = false;
    t.derive_list(list_names);
    t.of->expect_refused("ThreadStore", "candidates leads to a list of threads");
  });
}

const std::vector<std::string> context_names = {"Thread.AllocContext", "Thread.RuntimeThreadLocals",
                                                "RuntimeThreadLocals.AllocContext",
                                                "EEAllocContext.GCAllocationContext"};

TEST(LayoutThreadContexts, TheWayIsFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    t.derive_list(context_names);
    if (shape.net == Net::net8) {
      t.of->expect("Thread.AllocContext", t.heap.layout.context * t.p);
    } else {
      t.of->expect("Thread.RuntimeThreadLocals", t.heap.layout.locals * t.p);
      t.of->expect("RuntimeThreadLocals.AllocContext", 0);
      t.of->expect("EEAllocContext.GCAllocationContext", t.heap.layout.inner_context * t.p);
    }
  });
}

// Two words that lead to the same contexts are one way; another context is another.
TEST(LayoutThreadContexts, TwoThatDifferAreNone) {
  for_each_unpublished({Net::net8}, [](const HeapShape &shape) {
    Threads t(shape);
    t.copy_words(t.heap.layout.context, 90, 2 + 8 / t.p);
    t.derive_list(context_names);
    t.of->expect_refused("Thread.AllocContext", "discovered 2 candidates");
  });
  for_each_unpublished({Net::net9, Net::net10}, [](const HeapShape &shape) {
    Threads t(shape);
    t.copy_words(t.heap.layout.locals, 90, 1);
    t.derive_list(context_names);
    t.of->expect("Thread.RuntimeThreadLocals", t.heap.layout.locals * t.p);
  });
}

TEST(LayoutThreadContexts, OneOutsideOfTheYoungestGenerationIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    const Address context = Thread1(t.of->sound->memory, t.of->known).find_context(t.heap.threads[0].address);
    t.heap.poke(context, 0x123400, t.p);
    t.heap.poke(context + t.p, 0x123440, t.p);
    t.derive_list(context_names);
    t.of->expect_refused("Thread.AllocContext", "a range in gen0");
  });
}

// As a collection leaves them. Only a table of a build like this one can know their place; what threads have allocated
// lies behind each.
TEST(LayoutThreadContexts, EmptyOnesAreWhereATableSaysAndThreadsHaveAllocated) {
  for_each_unpublished({Net::net8}, [](const HeapShape &shape) {
    Threads t(shape);
    const u64 offset = t.heap.layout.context * t.p;
    auto set_allocated = [&](u64 bytes) {
      for (const ThreadWriter &thread : t.heap.threads)
        t.heap.poke(thread.address + offset + 2 * t.p, bytes, 8);
    };
    auto table = [&](u64 link) {
      return ShippedTable{"8.0",
                          static_cast<unsigned>(t.p),
                          {{"Thread.AllocContext", static_cast<i64>(offset)},
                           {"Thread.LinkNext", static_cast<i64>(link * t.p)},
                           {"Thread.OSId", static_cast<i64>(t.heap.layout.os_id * t.p)}}};
    };
    for (u64 i = 0; i < 2; ++i)
      t.heap.poke(t.heap.threads[0].address + offset + i * t.p, 0, t.p);
    t.derive_list(context_names);
    t.of->expect_refused("Thread.AllocContext", "a range in gen0");
    t.of->tables = {table(t.heap.layout.link)};
    t.derive_list(context_names);
    t.of->expect("Thread.AllocContext", offset);
    for (u64 nonsense : {u64{0}, u64{1} << 63, u64{0x12345}}) {
      set_allocated(nonsense);
      t.derive_list(context_names);
      t.of->expect_refused("Thread.AllocContext", "a range in gen0");
    }
    set_allocated(0x123458);
    t.of->tables = {table(t.heap.layout.link + 1)};
    t.derive_list(context_names);
    t.of->expect_refused("Thread.AllocContext", "a range in gen0");
  });
}

void derive_parts(Threads &t, const std::vector<std::string> &names) {
  t.of->ask(names, [&](Derivation &d) { derive_thread_parts(d, t.of->threads()); });
}
const std::vector<std::string> stack_names = {"Thread.CachedStackBase", "Thread.CachedStackLimit"};

TEST(LayoutThreadParts, StacksAreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    derive_parts(t, stack_names);
    t.of->expect("Thread.CachedStackBase", 60 * t.p);
    t.of->expect("Thread.CachedStackLimit", 61 * t.p);
  });
}

// musl lays what a thread has of its own behind its stack, in the same pages.
TEST(LayoutThreadParts, StacksThatEndInAPageAreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    for (u64 i = 1; i < t.heap.threads.size(); ++i)
      t.heap.poke(t.heap.threads[i].address + 60 * t.p, t.heap.threads[i].stack_base - 0x760, t.p);
    derive_parts(t, stack_names);
    t.of->expect("Thread.CachedStackBase", 60 * t.p);
  });
}

TEST(LayoutThreadParts, TwoPairsOfBoundsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    t.copy_words(60, 80, 2);
    derive_parts(t, stack_names);
    t.of->expect_refused("Thread.CachedStackBase", "followed by a limit");
    EXPECT_EQ(t.of->value("Thread.CachedStackLimit"), std::nullopt);
  });
}

TEST(LayoutThreadParts, StacksThatOverlapAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    t.heap.poke(t.heap.threads[0].address + 60 * t.p, t.heap.threads[1].stack_base, t.p);
    derive_parts(t, stack_names);
    t.of->expect_refused("Thread.CachedStackBase", "overlap");
  });
}

TEST(LayoutThreadParts, ThreadStaticsAreFoundRefusedTwiceAndWrong) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    const std::string name = shape.net == Net::net8 ? "Thread.ThreadLocalModules" : "Thread.ThreadLocalDataPtr";
    enum Change { none, twice, wrong };
    for (Change change : {none, twice, wrong}) {
      StaticsHeap heap(shape);
      Refound of(heap);
      for (const ThreadWriter &thread : heap.threads)
        for (u64 i = 0; i < 2 && change == twice; ++i)
          heap.poke(thread.address + (84 + i) * heap.p, of.word(thread.address + (66 + i) * heap.p), heap.p);
      if (change == wrong)
        heap.poke(heap.threads[1].address + 66 * heap.p, 0x10, heap.p);
      of.ask({name}, [&](Derivation &d) { derive_thread_parts(d, of.threads()); });
      if (change == none)
        of.expect(name, 66 * heap.p);
      else
        of.expect_refused(name, "exactly one must pass");
    }
  });
}

TEST(LayoutThreadId, IsFoundRefusedTwiceAndWrong) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    auto ask = [&](auto change) {
      auto t = std::make_unique<Threads>(shape);
      change(*t);
      t->of->ask({"Thread.Id"}, [&](Derivation &d) { derive_thread_id(d, t->of->threads(), t->of->gc_variable()); });
      return t;
    };
    const u64 p = shape.format.pointer_size;
    ask([](Threads &) {})->of->expect("Thread.Id", 2 * p);
    ask([&](Threads &t) {
      for (u64 i = 0; i < 2; ++i)
        t.heap.poke(t.heap.threads[i].address + 8 * p, i + 1, 4);
    })->of->expect_refused("Thread.Id", "leads back to the Thread");
    ask([&](Threads &t) { // the map names nobody
      const Address map = t.of->word(t.of->word(t.heap.variables.at("Dispenser")) + 3 * p);
      for (u64 i = 1; i <= 2; ++i)
        t.heap.poke(map + i * p, 0, p);
    })
        ->of->expect_refused("Thread.Id", "leads back to the Thread");
  });
  for_each_unpublished({Net::net8}, [](const HeapShape &shape) { // no list
    Threads t(shape);
    t.of->ask({"Thread.Id"}, [&](Derivation &d) { derive_thread_id(d, {}, t.of->gc_variable()); });
    t.of->expect_refused("Thread.Id", "no thread is known");
  });
}

TEST(LayoutThreadSize, IsTheLeastThatAnythingSays) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    const i64 p = shape.format.pointer_size;
    i64 distance = 0; // from one Thread to the next
    auto size = [&](auto change, u32 published = 0) {
      HeapBuilder heap(shape);
      change(heap);
      heap.segment(G::gen0).object(heap.object_type);
      Refound of(heap);
      i64 out = 0;
      of.ask({}, [&](Derivation &d) {
        if (published)
          d.descriptor.types["Thread"].size = published;
        out = largest_thread(d, {heap.threads[0].address, heap.threads[1].address});
      });
      distance = static_cast<i64>(heap.threads[1].address - heap.threads[0].address) / p;
      return out / p;
    };
    auto as_it_is = [](HeapBuilder &) {};
    EXPECT_EQ(size(as_it_is), most_thread_words);
    const i64 near = size([&](HeapBuilder &heap) { heap.thread_size = static_cast<u64>(150 * p); });
    EXPECT_EQ(near, distance);
    EXPECT_LT(near, most_thread_words);
    EXPECT_EQ(size([&](HeapBuilder &heap) { // what malloc says, flags aside, without its own word
                heap.thread_size = static_cast<u64>(200 * p);
                heap.thread_gap = static_cast<u64>(100 * p);
                heap.has_block_sizes = true;
              }),
              199);
    EXPECT_EQ(size(as_it_is, static_cast<u32>(70 * p)), 70);
  });
}

// A managed Thread is made when somebody asks for it: as long as none is there, its place is not missing.
TEST(LayoutThreadState, AThreadWithoutItsObject) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    enum Handles { null, unreadable, of_objects };
    for (Handles handles : {null, unreadable, of_objects}) {
      Threads t(shape);
      const Address memory = t.heap.segments[0].zeros(64 * t.p);
      for (u64 i = 0; i < 2; ++i) {
        const Address thread = t.heap.threads[i].address, handle = memory + i * t.p,
                      object = memory + (4 + 16 * i) * t.p;
        for (u64 word = 0; word < 256 && handles == unreadable; ++word)
          if (word != t.heap.layout.link && word != t.heap.layout.os_id)
            t.heap.poke(thread + word * t.p, 0x10, t.p);
        if (handles != unreadable)
          t.heap.poke(thread + 90 * t.p, handle, t.p);
        if (handles == of_objects) {
          t.heap.poke(handle, object, t.p);
          t.heap.poke(object, t.heap.object_type, t.p);
          t.heap.poke(object + 3 * t.p, thread, t.p);
        }
      }
      t.of->ask({"Thread.ExposedObject"}, [&](Derivation &d) { derive_thread_state(d, t.of->threads()); });
      if (handles == of_objects)
        t.of->expect("Thread.ExposedObject", 90 * t.p);
      else if (handles == unreadable)
        t.of->expect_refused("Thread.ExposedObject", "a handle to null");
      else
        EXPECT_FALSE(t.of->found.missing.contains("Thread.ExposedObject"));
    }
  });
}

// Most threads decide: one that is odd costs no other its name.
TEST(LayoutThreadState, OneOddThread) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    for (u64 odd : {1, 2}) {
      constexpr u64 count = 6;
      Threads t(shape, count);
      const Address memory = t.heap.segments[0].zeros(20 * count * t.p);
      for (u64 i = 0; i < count; ++i) {
        const Address thread = t.heap.threads[i].address, handle = memory + i * t.p,
                      object = memory + (count + 16 * i) * t.p;
        t.heap.poke(thread + 90 * t.p, i < odd ? u64{0x10} : handle, t.p);
        t.heap.poke(handle, object, t.p);
        t.heap.poke(object, t.heap.object_type, t.p);
        t.heap.poke(object + 3 * t.p, thread, t.p);
      }
      t.of->ask({"Thread.ExposedObject"}, [&](Derivation &d) { derive_thread_state(d, t.of->threads()); });
      if (odd == 1)
        t.of->expect("Thread.ExposedObject", 90 * t.p);
      else
        t.of->expect_refused("Thread.ExposedObject", "for most live threads");
    }
  });
}

// A Thread may keep where the registers of its code that was interrupted lie, on its stack, where a pointer to it lies,
// too; other threads have zeros there.
TEST(LayoutThreadState, RegistersAreNoHandle) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    constexpr u64 count = 6;
    Threads t(shape, count);
    const Address memory = t.heap.segments[0].zeros(40 * count * t.p);
    for (u64 i = 0; i < count; ++i) {
      const Address thread = t.heap.threads[i].address, handle = memory + i * t.p,
                    object = memory + (count + 16 * i) * t.p, registers = memory + (20 * count + i) * t.p;
      t.heap.poke(thread + 90 * t.p, handle, t.p);
      t.heap.poke(handle, object, t.p);
      t.heap.poke(object, t.heap.object_type, t.p);
      t.heap.poke(object + 3 * t.p, thread, t.p);
      t.heap.poke(thread + 91 * t.p, registers, t.p);
    }
    const Address stack = memory + 30 * count * t.p;
    t.heap.poke(memory + 20 * count * t.p, stack, t.p);
    t.heap.poke(stack, memory, t.p);
    t.heap.poke(stack + 5 * t.p, t.heap.threads[0].address, t.p);
    t.of->ask({"Thread.ExposedObject"}, [&](Derivation &d) { derive_thread_state(d, t.of->threads()); });
    t.of->expect("Thread.ExposedObject", 90 * t.p);
  });
}

const std::vector<std::string> byte_names = {"GCAllocContext.AllocBytes", "GCAllocContext.AllocBytesLoh"};

void derive_bytes(Threads &t) {
  const Address context = Thread1(t.of->sound->memory, t.of->known).find_context(t.heap.threads[0].address);
  const ContextInUse in_use[] = {{context, 64}};
  t.of->ask(byte_names, [&](Derivation &d) { derive_alloc_bytes(d, in_use); });
}

TEST(LayoutAllocBytes, AreFoundWhereTheyFollow) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    derive_bytes(t);
    t.of->expect(byte_names[0], align_up(2 * t.p, u64{8}));
    t.of->expect(byte_names[1], align_up(2 * t.p, u64{8}) + 8);
  });
}

TEST(LayoutAllocBytes, LessThanWhatIsLeftIsNoCount) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    const Address context = Thread1(t.of->sound->memory, t.of->known).find_context(t.heap.threads[0].address);
    t.heap.poke(context + align_up(2 * t.p, u64{8}), 56, 8);
    derive_bytes(t);
    t.of->expect_refused(byte_names[0], "no less than the unused rest");
    EXPECT_EQ(t.of->value(byte_names[1]), std::nullopt);
  });
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Threads t(shape);
    const Address context = Thread1(t.of->sound->memory, t.of->known).find_context(t.heap.threads[0].address);
    t.heap.poke(context + align_up(2 * t.p, u64{8}) + 8, 13, 8);
    derive_bytes(t);
    t.of->expect(byte_names[0], align_up(2 * t.p, u64{8}));
    t.of->expect_refused(byte_names[1], "a possible count of bytes");
  });
}

TEST(LayoutAllocBytes, WithoutContextsThereIsNothingToFind) {
  Threads t({.net = Net::net9, .published = false});
  t.of->ask(byte_names, [](Derivation &d) { derive_alloc_bytes(d, {}); });
  EXPECT_EQ(t.of->value(byte_names[0]), std::nullopt);
  EXPECT_FALSE(t.of->found.missing.contains(byte_names[0]));
}

} // namespace
} // namespace dnheap::test
