// The thread list, and the four ways (8, 9, 10, 11) to a thread's allocation context.
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

HeapShape shape_of(Format format, Net net, bool published = true) {
  return {.format = format, .net = net, .published = published && net != Net::net8};
}

template <class Visit> void for_each_way(Visit visit) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10, Net::net11})
      for (bool published : {true, false})
        if (published || net != Net::net11) {
          SCOPED_TRACE(name_of(shape_of(format, net, published)));
          visit(shape_of(format, net, published));
        }
}

TEST(Thread1, ListAndContexts) {
  for_each_way([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    for (u64 id = 4003; id < 4010; ++id)
      heap.threads.push_back({.os_id = id});
    heap.threads[4].has_locals = false;
    heap.threads[5].os_id = 0;         // has not started
    heap.threads[6].in_target = false; // has ended
    SegmentWriter &young = heap.segment(G::gen0);
    for (u64 i : {0, 1, 3, 8}) {
      heap.threads[i].context = young.context(8 * i);
      young.object(heap.object_type);
    }
    Opened opened(heap);
    Notes problems;
    std::vector<ThreadData> threads = opened.runtime.thread().get_threads(problems);
    EXPECT_TRUE(problems.empty());
    ASSERT_EQ(threads.size(), heap.threads.size());
    for (u64 i = 0; i < threads.size(); ++i) {
      EXPECT_EQ(threads[i].address, heap.threads[i].address);
      EXPECT_EQ(threads[i].os_id, heap.threads[i].os_id);
      EXPECT_EQ(threads[i].allocation_context.pointer, heap.threads[i].context.pointer) << i;
      EXPECT_EQ(threads[i].allocation_context.limit, heap.threads[i].context.limit) << i;
    }
    EXPECT_EQ(opened.heap.context_count(), 4u);
  });
}

// Threads that have ended are listed until their objects are collected: as many as there may be, wherever they are.
enum class Dead { first, last, between };

void add_dead_threads(HeapBuilder &heap, u64 count, Dead where) {
  const ThreadWriter dead{.has_locals = false, .in_target = false};
  std::vector<ThreadWriter> living = std::move(heap.threads);
  heap.threads.clear();
  for (u64 i = 0; i < living.size(); ++i) {
    const u64 before = where == Dead::first ? (i == 0 ? count : 0) : where == Dead::between ? count / living.size() : 0;
    heap.threads.insert(heap.threads.end(), before, dead);
    heap.threads.push_back(living[i]);
  }
  heap.threads.resize(living.size() + count, dead);
}

void expect_all_threads(HeapBuilder &heap, u64 contexts) {
  Opened opened(heap);
  const auto &missing = opened.runtime.descriptor().missing;
  if (auto context = missing.find("Thread.AllocContext"); context != missing.end())
    ADD_FAILURE() << context->second;
  Notes problems;
  std::vector<ThreadData> threads = opened.runtime.thread().get_threads(problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(threads.size(), heap.threads.size());
  for (u64 i = 0; i < threads.size(); ++i) {
    ASSERT_EQ(threads[i].address, heap.threads[i].address) << i;
    ASSERT_EQ(threads[i].os_id, heap.threads[i].os_id) << i;
    ASSERT_EQ(threads[i].allocation_context.pointer, heap.threads[i].context.pointer) << i;
  }
  EXPECT_EQ(opened.heap.context_count(), contexts);
  EXPECT_TRUE(opened.heap.notes().empty());
}

TEST(Thread1, DeadThreads) {
  for_each_way([](const HeapShape &shape) {
    for (u64 count : {1, 5, 20, 300})
      for (Dead where : {Dead::first, Dead::last, Dead::between}) {
        SCOPED_TRACE(std::to_string(count) + " dead threads, way " + std::to_string(static_cast<int>(where)));
        HeapBuilder heap(shape);
        heap.thread_size = 128 * heap.p;
        heap.threads.push_back({.os_id = 4003});
        heap.threads.push_back({.os_id = 4004, .in_target = false}); // is ending
        SegmentWriter &young = heap.segment(G::gen0);
        heap.threads[0].context = young.context(80);
        heap.threads[2].context = young.context(8);
        young.object(heap.object_type);
        add_dead_threads(heap, count, where);
        expect_all_threads(heap, 2);
      }
  });
}

TEST(Thread1, TenThousandDeadThreads) {
  for (Net net : {Net::net8, Net::net9, Net::net10, Net::net11}) {
    SCOPED_TRACE(name_of(shape_of({}, net)));
    HeapBuilder heap(shape_of({}, net, net == Net::net11));
    heap.thread_size = 128 * heap.p;
    for (u64 id = 4003; id < 4013; ++id)
      heap.threads.push_back({.os_id = id});
    SegmentWriter &young = heap.segment(G::gen0);
    heap.threads[5].context = young.context(80);
    young.object(heap.object_type);
    add_dead_threads(heap, 10000, Dead::between);
    expect_all_threads(heap, 1);
  }
}

// A process in a container numbers its threads otherwise than whoever dumped it. What it publishes it need not prove.
TEST(Thread1, IdsOfAnotherNamespace) {
  for (Format format : all_formats)
    for (Net net : {Net::net9, Net::net10, Net::net11}) {
      SCOPED_TRACE(name_of(shape_of(format, net)));
      HeapBuilder heap(shape_of(format, net));
      SegmentWriter &young = heap.segment(G::gen0);
      heap.threads[0].context = young.context(80);
      young.object(heap.object_type);
      std::unique_ptr<Target> target = heap.target();
      for (Thread &thread : target->threads)
        thread.id += 100000;
      CoreClr runtime = open_core_clr(*target, target->modules.at(0), tables_for_all_formats());
      Notes problems;
      EXPECT_EQ(runtime.thread().get_threads(problems).size(), 2u);
      EXPECT_EQ(Heap(runtime).context_count(), 1u);
    }
}

// A thread's last exception lies behind a handle, and the next handle may be of the same object: {object, object} is no
// context, though it lies in gen0 and nothing can be handed out between the two. Nor is a pair elsewhere.
TEST(Thread1, PairsThatAreNoContexts) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10})
      for (bool handles : {true, false})
        for (bool in_use : {true, false}) {
          SCOPED_TRACE(name_of(shape_of(format, net, false)) + (handles ? ", handles" : ", no handles") +
                       (in_use ? ", of an object" : ", of free memory"));
          HeapBuilder heap(shape_of(format, net, false));
          SegmentWriter &young = heap.segment(G::gen0);
          Address exception = young.object(heap.type("Shop.Failure", 3));
          if (!in_use)
            exception = young.zeros(0x40);
          heap.threads[0].context = young.context(80);
          young.object(heap.object_type);
          Address pair = heap.native.words({exception, exception, 0x100, 0x100});
          heap.gc.handles = {{.type = HandleType::strong, .object = exception},
                             {.type = HandleType::strong, .object = exception}};
          heap.target();
          for (u64 word : {20, 21}) // the exception last thrown, and another one: nobody else has thrown any
            heap.poke(heap.threads[0].address + word * heap.p, handles ? heap.gc.handles[0].address : pair, heap.p);
          Opened opened(heap);
          Notes problems;
          std::vector<ThreadData> threads = opened.runtime.thread().get_threads(problems);
          ASSERT_EQ(threads.size(), 2u);
          EXPECT_EQ(threads[0].allocation_context.pointer, heap.threads[0].context.pointer);
          EXPECT_EQ(threads[0].allocation_context.limit, heap.threads[0].context.limit);
          EXPECT_EQ(opened.heap.context_count(), 1u);
        }
}

// The same without any context: then none is found, and no object is taken for one.
TEST(Thread1, AnExceptionIsNoContext) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10}) {
      SCOPED_TRACE(name_of(shape_of(format, net, false)));
      HeapBuilder heap(shape_of(format, net, false));
      SegmentWriter &young = heap.segment(G::gen0);
      Address exception = young.object(heap.type("Shop.Failure", 3));
      heap.gc.handles = {{.type = HandleType::strong, .object = exception},
                         {.type = HandleType::strong, .object = exception}};
      heap.target();
      for (const ThreadWriter &thread : heap.threads)
        for (u64 word : {20, 21})
          heap.poke(thread.address + word * heap.p, heap.gc.handles[0].address, heap.p);
      for (u64 word : {22, 23})
        heap.poke(heap.threads[0].address + word * heap.p, exception, heap.p);
      Opened opened(heap);
      EXPECT_EQ(opened.heap.context_count(), 0u);
    }
}

// Behind a Thread lies what the allocator put there.
TEST(Thread1, ContextsLieInsideThreads) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(shape_of(format, Net::net8)));
    HeapBuilder heap(shape_of(format, Net::net8));
    heap.thread_size = 100 * heap.p;
    heap.thread_gap = 80 * heap.p;
    heap.has_block_sizes = true;
    SegmentWriter &young = heap.segment(G::gen0);
    heap.threads[0].context = young.context(80);
    young.object(heap.object_type);
    Address other = young.zeros(0x40);
    heap.target();
    for (const ThreadWriter &thread : heap.threads) {
      const Address behind = thread.address + heap.thread_size + 10 * heap.p;
      heap.poke(behind, other, heap.p);
      heap.poke(behind + heap.p, other + 0x20, heap.p);
      heap.poke(behind + 2 * heap.p, 0x100, 8);
    }
    Opened opened(heap);
    EXPECT_EQ(opened.heap.context_count(), 1u);
    EXPECT_EQ(opened.runtime.descriptor().try_offset("Thread", "AllocContext"),
              static_cast<i64>(heap.layout.context * heap.p));
  }
}

// A dump amid allocations: one thread's context is being replaced, another's memory was not cleared.
TEST(Thread1, ContextsThatAreBeingChanged) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10})
      for (bool half : {true, false}) {
        SCOPED_TRACE(name_of(shape_of(format, net, false)) + (half ? ", half" : ", not cleared"));
        HeapBuilder heap(shape_of(format, net, false));
        for (u64 id = 4003; id < 4009; ++id)
          heap.threads.push_back({.os_id = id});
        SegmentWriter &young = heap.segment(G::gen0);
        for (u64 i = 0; i < 6; ++i) {
          heap.threads[i].context = young.context(80);
          young.object(heap.object_type);
        }
        if (half)
          std::swap(heap.threads[2].context.pointer, heap.threads[2].context.limit);
        else
          heap.poke(heap.threads[2].context.pointer, 0x1234567, heap.p);
        Opened opened(heap);
        Notes problems;
        std::vector<ThreadData> threads = opened.runtime.thread().get_threads(problems);
        ASSERT_EQ(threads.size(), 8u);
        for (u64 i = 0; i < 8; ++i)
          EXPECT_EQ(threads[i].allocation_context.pointer, heap.threads[i].context.pointer) << i;
      }
}

// While the threads stand still for a background collection, what is left of each context holds one Free object, and
// the thread keeps the context (gc.cpp, fix_allocation_context with for_gc_p = FALSE). A Free object of another size is
// none.
TEST(Thread1, ContextsFilledForTheWalk) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10})
      for (u64 off : {0, 8}) {
        SCOPED_TRACE(name_of(shape_of(format, net, false)) + " " + std::to_string(off));
        HeapBuilder heap(shape_of(format, net, false));
        SegmentWriter &young = heap.segment(G::gen0);
        for (ThreadWriter &thread : heap.threads) {
          thread.context = young.context(80);
          young.object(heap.object_type);
          const AllocationContext context = thread.context;
          heap.poke(context.pointer, heap.free_type, heap.p);
          heap.poke(context.pointer + heap.p, context.limit - context.pointer + off, 4);
        }
        Opened opened(heap);
        EXPECT_EQ(opened.heap.context_count(), off ? 0u : heap.threads.size());
        EXPECT_EQ(opened.runtime.descriptor().missing.count("Thread.AllocContext"), off ? 1u : 0u);
      }
}

// After a collection: there is nothing to find, and nothing to skip.
TEST(Thread1, NoContexts) {
  for_each_way([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    heap.segment(G::gen0).object(heap.object_type);
    Opened opened(heap);
    Notes problems;
    std::vector<ThreadData> threads = opened.runtime.thread().get_threads(problems);
    EXPECT_EQ(threads.size(), 2u);
    EXPECT_EQ(threads[0].allocation_context.pointer, 0u);
    EXPECT_EQ(opened.heap.context_count(), 0u);
    EXPECT_TRUE(opened.heap.notes().empty());
  });
}

TEST(Thread1, ListInACircleOrBrokenOff) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    heap.threads.push_back({.os_id = 4003});
    heap.segment(G::gen0).object(heap.object_type);
    std::unique_ptr<Target> target = heap.target();
    CoreClr runtime = open_core_clr(*target, target->modules[0]);
    auto link = [&](u64 i) { return heap.threads[i].address + heap.layout.link * heap.p; };
    const Address second = heap.threads[1].address; // links lead to Threads in .NET 11
    for (auto [to, text] : {std::pair{second, "runs in a circle at 0x"}, {Address{0x1234}, "breaks off"}}) {
      heap.poke(link(2), to, heap.p);
      std::unique_ptr<Target> broken = heap.target();
      Thread1 thread(broken->memory, runtime.descriptor());
      Notes problems;
      std::vector<ThreadData> found = thread.get_threads(problems);
      EXPECT_EQ(found.size(), 3u);
      ASSERT_EQ(problems.size(), 1u);
      EXPECT_NE(problems[0].text.find(text), std::string::npos) << problems[0].text;
    }
  }
}

// Without its list of threads the heap is walked all the same, and the answer says what is wrong with it.
TEST(Thread1, ListThatCannotBeFound) {
  for (Net net : {Net::net8, Net::net11}) {
    HeapBuilder heap(shape_of({}, net));
    SegmentWriter &young = heap.segment(G::gen0);
    young.object(heap.object_type);
    heap.threads[0].context = young.context(80);
    young.object(heap.object_type);
    heap.poke(heap.variables.at("ThreadStore"), 0x123456000, 8);
    Opened opened(heap);
    EXPECT_EQ(opened.heap.context_count(), 0u);
    ASSERT_EQ(opened.heap.notes().size(), 1u);
    EXPECT_NE(opened.heap.notes().texts()[0].find("the thread list"), std::string::npos)
        << opened.heap.notes().texts()[0];
  }
}

// A variable that happens to point shortly before a Thread, and one that points shortly before the ThreadStore.
TEST(Thread1, OtherVariablesPointShortlyBeforeThem) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9, Net::net10})
      for (bool frames : {true, false}) {
        SCOPED_TRACE(name_of(shape_of(format, net)) + (frames ? "" : ", threads without Frames"));
        HeapBuilder heap(shape_of(format, net, false));
        heap.threads.push_back({.os_id = 4003});
        heap.threads.push_back({.os_id = 4004, .in_target = false});
        SegmentWriter &young = heap.segment(G::gen0);
        heap.threads[0].context = young.context(80);
        young.object(heap.object_type);
        const u64 p = heap.p;
        const Address stacks = heap.native.reserve(0x1000);
        Address store = *heap.target()->memory.try_pointer(heap.variables.at("ThreadStore"));
        heap.poke(heap.variables.at("Suspension"), heap.threads[2].address - 6 * p, p);
        heap.poke(heap.variables.at("ThreadStore"), store - 5 * p, p);
        heap.poke(heap.variables.at("AppDomain"), store, p);
        for (u64 i = 0; frames && i < 3; ++i)
          heap.poke(heap.threads[i].address + 2 * p, i == 1 ? ~u64{0} : stacks + 0x20 + 8 * i, p);
        std::unique_ptr<Target> target = heap.target();
        for (Thread &thread : target->threads)
          thread.stack_pointer = stacks + 0x10;
        CoreClr runtime = open_core_clr(*target, target->modules.at(0), tables_for_all_formats());
        const ContractDescriptor &found = runtime.descriptor();
        EXPECT_EQ(found.number("ThreadStore"), heap.variables.at("AppDomain"));
        EXPECT_EQ(found.offset("ThreadStore", "FirstThreadLink"), static_cast<i64>(heap.layout.store_first * p));
        std::optional<i64> link = found.try_offset("Thread", "LinkNext");
        if (frames) {
          EXPECT_EQ(link, static_cast<i64>(heap.layout.link * p));
          EXPECT_EQ(Heap(runtime).context_count(), 1u);
        } else {
          EXPECT_FALSE(link) << "nothing is guessed";
        }
      }
}

// Two words of every Thread that could be a context, but lie where the GC has not come to yet.
TEST(Thread1, ContextsLieWhereTheWalkGoes) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap(shape_of(format, Net::net10, false));
    SegmentWriter &young = heap.segment(G::gen0);
    heap.threads[0].context = young.context(80);
    young.object(heap.object_type);
    heap.target();
    Address behind = heap.threads[0].address + 100 * heap.p;
    heap.poke(behind, young.end() + 0x40, heap.p);
    heap.poke(behind + heap.p, young.end() + 0x80, heap.p);
    Opened opened(heap);
    EXPECT_EQ(opened.heap.context_count(), 1u);
    EXPECT_TRUE(opened.heap.notes().empty());
  }
}

// Memory in which every word leads to the next one: whatever is taken for the list's head is the head of a long list.
TEST(Thread1, ListsWithoutEnd) {
  HeapBuilder heap(shape_of({}, Net::net8));
  for (u64 i = 0; i < 2000; ++i)
    heap.threads.push_back({.os_id = 5000 + i});
  heap.segment(G::gen0).object(heap.object_type);
  Address maze = heap.native.reserve(1 << 20);
  for (u64 i = 0; i + 8 < 1 << 20; i += 8)
    heap.native.pointer(maze + i, maze + i + 8);
  for (const char *name : {"Suspension", "HeapType", "AppDomain", "SystemDomain"})
    heap.poke(heap.variables.at(name), maze, 8);
  heap.poke(heap.variables.at("ThreadStore"), maze, 8);
  Opened opened(heap);
  ASSERT_EQ(opened.heap.notes().size(), 1u);
  EXPECT_NE(opened.heap.notes().texts()[0].find("the thread list"), std::string::npos)
      << opened.heap.notes().texts()[0];
}

} // namespace
} // namespace dnheap::test
