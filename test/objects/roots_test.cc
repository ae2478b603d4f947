// Every root is found, with its kind, name and thread; nothing that is weak is one; and damage is told in words.
#include "base/text.h"
#include "heap/tally.h"
#include "objects/object_finder.h"
#include "objects/roots.h"
#include "support/opened.h"
#include "support/statics_heap.h"

#include <ctime>
#include <gtest/gtest.h>
#include <set>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

template <class Visit> void for_each_shape(Visit visit) {
  for (const HeapShape &shape : all_shapes())
    if (!shape.server && shape.regions) {
      SCOPED_TRACE(name_of(shape));
      visit(shape);
    }
}

ObjectIndex index_of(const Heap &heap, const Runtime &runtime) {
  HeapBits starts(std::make_shared<HeapPlaces>(heap, runtime.memory().format()));
  tally_heap(heap, runtime, 1, {}, {}, &starts);
  return ObjectIndex(std::move(starts));
}

// What find_roots says, without what was said of the heap already.
struct Found : Opened {
  explicit Found(HeapBuilder &heap, const RootOptions &options = {})
      : Opened(heap), index(index_of(this->heap, runtime)), finder(index, this->heap, runtime),
        set(find_roots(
            runtime, [this](Address a) { return finder.find(a); }, options)) {}

  std::vector<Root> of(RootKind kind) const {
    std::vector<Root> out;
    for (const Root &root : set.roots)
      if (root.kind == kind)
        out.push_back(root);
    return out;
  }
  const Root *find(Address slot) const {
    for (const Root &root : set.roots)
      if (root.slot == slot)
        return &root;
    return nullptr;
  }

  ObjectIndex index;
  ObjectFinder finder;
  RootSet set;
};

TEST(Roots, Handles) {
  for_each_shape([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    SegmentWriter &old = heap.segment(G::gen2);
    Address a = old.object(heap.object_type), b = old.object(heap.object_type), c = old.object(heap.object_type);
    heap.gc.handles = {{.type = HandleType::strong, .object = a},
                       {.type = HandleType::pinned, .object = b},
                       {.type = HandleType::weak_short, .object = a},
                       {.type = HandleType::weak_long, .object = c},
                       {.type = HandleType::dependent, .object = a, .secondary = c},
                       {.type = HandleType::dependent, .object = b},
                       {.type = HandleType::weak_interior_pointer, .object = c, .secondary = 0x7000}};
    Found found(heap);
    std::vector<Root> roots = found.of(RootKind::handle);
    ASSERT_EQ(roots.size(), 2u);
    EXPECT_EQ(kind_text(roots[0]), "handle:strong");
    EXPECT_EQ(roots[0].object, a);
    EXPECT_EQ(roots[0].slot, heap.gc.handles[0].address);
    EXPECT_FALSE(roots[0].pinned);
    EXPECT_EQ(kind_text(roots[1]), "handle:pinned");
    EXPECT_EQ(roots[1].object, b);
    EXPECT_TRUE(roots[1].pinned);
    ASSERT_EQ(found.set.dependent.size(), 1u);
    EXPECT_EQ(found.set.dependent[0].key, a);
    EXPECT_EQ(found.set.dependent[0].value, c);
  });
}

// What is due for finalization is a root, what is merely registered is not.
TEST(Roots, FinalizerQueue) {
  for_each_shape([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    heap.segment(G::gen2).object(heap.object_type);
    heap.gc.heaps[0].finalize_counts = {0, 0, 3, 0, 1, 1, 2};
    Found found(heap);
    std::vector<Root> roots = found.of(RootKind::finalizer);
    std::vector<GCFinalizeQueuePart> parts = finalize_queue_parts(found.runtime.gc().get_heap_data(0));
    ASSERT_FALSE(parts.empty());
    EXPECT_EQ(parts.back().end - parts[parts.size() - 2].start, 3 * heap.p);
    for (const Root &root : roots) {
      EXPECT_GE(root.slot, parts[parts.size() - 2].start);
      EXPECT_LT(root.slot, parts.back().end);
    }
  });
}

TEST(Roots, StaticsByName) {
  for_each_shape([](const HeapShape &shape) {
    StaticsHeap heap(shape);
    Found found(heap);
    for (const std::string &problem : found.set.notes.texts())
      EXPECT_EQ(problem.find("static"), std::string::npos) << problem;
    auto expect = [&](Address slot, Address object, RootKind kind, const std::string &name) {
      const Root *root = found.find(slot);
      ASSERT_TRUE(root) << name;
      EXPECT_EQ(root->object, object);
      EXPECT_EQ(kind_text(*root), kind == RootKind::static_field ? "static" : "thread_static");
      EXPECT_EQ(found.set.name(*root), name);
    };
    expect(heap.slot(heap.holder, 2), heap.objects_of_test[0], RootKind::static_field, "Shop.Cache._items");
    expect(heap.slot(heap.holder, 3), heap.objects_of_test[1], RootKind::static_field, "Shop.Cache._boxed");
    expect(heap.slot(heap.holder, 6), heap.objects_of_test[2], RootKind::static_field, "<runtime>");
    EXPECT_FALSE(found.find(heap.slot(heap.holder, 4))) << "it is null";
    Address mine = heap.slot(heap.thread_holder, 1);
    expect(mine, heap.objects_of_test[3], RootKind::thread_static, "Shop.Cache._mine");
    ASSERT_TRUE(found.find(mine) && found.set.thread(*found.find(mine)));
    EXPECT_EQ(found.set.thread(*found.find(mine))->os_id, heap.threads[1].os_id);
    std::set<Address> holders(found.set.holders.begin(), found.set.holders.end());
    EXPECT_EQ(holders, (std::set<Address>{heap.holder, heap.thread_holder}));
    if (shape.net != Net::net8) {
      std::vector<Root> roots = found.of(RootKind::thread_static);
      EXPECT_TRUE(std::any_of(roots.begin(), roots.end(), [&](const Root &r) { return r.object == heap.thread_array; }))
          << "the array of a thread is held by nothing else";
    }
    // Everything that the holders hold is a root.
    for (u64 i = 0; i < 8; ++i)
      if (u64 held = found.target->memory.try_pointer(heap.slot(heap.holder, i)).value_or(0)) {
        ASSERT_TRUE(found.find(heap.slot(heap.holder, i))) << i;
        EXPECT_EQ(found.find(heap.slot(heap.holder, i))->object, held);
      }
    const NamedSlot *named = found.set.find_slot(heap.slot(heap.holder, 2));
    ASSERT_TRUE(named);
    EXPECT_EQ(found.set.names[named->name], "Shop.Cache._items");
  });
}

// An array of the program's below a handle is no place of statics, whatever it holds: only NativeAOT has such arrays.
TEST(Roots, AnArrayBelowAHandleIsOne) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    StaticsHeap heap(shape);
    SegmentWriter &old = heap.segment(G::gen2);
    const Address array = old.object(heap.object_array_type, 3), own = old.object(heap.object_type);
    old.store(heap.slot(array, 0), heap.objects_of_test[0], heap.p); // which static fields hold, too
    old.store(heap.slot(array, 1), heap.objects_of_test[1], heap.p);
    old.store(heap.slot(array, 2), own, heap.p);
    heap.gc.handles.push_back({.type = HandleType::strong, .object = array});
    Found found(heap);
    EXPECT_EQ(std::count(found.set.holders.begin(), found.set.holders.end(), array), 0);
    EXPECT_FALSE(found.find(heap.slot(array, 2)));
    EXPECT_TRUE(std::any_of(found.set.roots.begin(), found.set.roots.end(),
                            [&](const Root &root) { return root.object == array && root.kind == RootKind::handle; }));
  }
}

// Of a collectible type the LoaderAllocator keeps the statics: names, but no roots.
TEST(Roots, StaticsOfCollectibleTypesAreNoRoots) {
  for_each_shape([](const HeapShape &shape) {
    if (shape.net == Net::net8)
      return; // there those lie elsewhere
    StaticsHeap heap(shape);
    heap.native.word(heap.cache, 0x00200000);
    Found found(heap);
    EXPECT_FALSE(found.find(heap.slot(heap.holder, 2)));
    EXPECT_TRUE(found.set.find_slot(heap.slot(heap.holder, 2)));
    EXPECT_TRUE(found.set.holders.empty());
  });
}

TEST(Roots, StacksAndRegisters) {
  for_each_shape([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    SegmentWriter &old = heap.segment(G::gen2);
    Address a = old.object(heap.object_type), b = old.object(heap.object_type), c = old.object(heap.object_type);
    old.free(64);
    Address stack = align_up(heap.native.reserve(0x6000), 0x1000);
    for (u64 i = 0; i < 2; ++i) {
      ThreadWriter &thread = heap.threads[i];
      thread.stack_limit = stack + i * 0x2000;
      thread.stack_base = thread.stack_limit + 0x2000;
      thread.stack_pointer = thread.stack_limit + 0x1000;
    }
    const ThreadWriter &first = heap.threads[0];
    heap.threads[1].registers = {7, c, c, c + 4};
    heap.native.pointer(first.stack_pointer - 128, a);         // the red zone
    heap.native.pointer(first.stack_pointer - 136, b);         // below it
    heap.native.pointer(first.stack_base - heap.p, b);         // the outermost word
    heap.native.pointer(first.stack_pointer + 16, a + heap.p); // inside an object
    Found found(heap);
    std::vector<Root> roots = found.of(RootKind::stack_conservative);
    ASSERT_EQ(roots.size(), 5u);
    EXPECT_EQ(roots[0].slot, first.stack_pointer - 128);
    EXPECT_EQ(roots[0].object, a);
    EXPECT_FALSE(roots[0].interior);
    EXPECT_EQ(roots[1].slot, first.stack_pointer + 16);
    EXPECT_EQ(roots[1].object, a);
    EXPECT_TRUE(roots[1].interior);
    EXPECT_EQ(roots[2].slot, first.stack_base - heap.p);
    EXPECT_EQ(roots[2].object, b);
    EXPECT_EQ(found.set.thread(roots[2])->os_id, first.os_id);
    for (u64 i : {3, 4}) {
      EXPECT_EQ(roots[i].slot, 0u);
      EXPECT_EQ(roots[i].object, c);
      EXPECT_EQ(roots[i].interior, i == 4);
      EXPECT_EQ(found.set.thread(roots[i])->os_id, heap.threads[1].os_id);
      EXPECT_TRUE(roots[i].is_conservative());
    }
  });
}

// Wherever in an object a word points, it holds that object: a Span, or a ref to an element. Not behind it, not into
// Free memory, and not into what is no object.
TEST(Roots, PointersIntoObjects) {
  for_each_shape([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    Address bytes_type = heap.array(heap.object_type, 1);
    SegmentWriter &old = heap.segment(G::gen2);
    Address small = old.object(heap.object_type);
    Address hole = old.free(0x200);
    Address text = old.string("seven");
    SegmentWriter &large = heap.segment(G::loh);
    const u64 length = 3 << 20; // more than a granule of HeapPlaces
    Address array = large.object(bytes_type, length);
    Address last = large.object(bytes_type, 5);
    const u64 size = heap.size_of(bytes_type, length), last_size = heap.size_of(bytes_type, 5);
    const std::vector<std::pair<u64, Address>> words = {{array, array},
                                                        {array + 1, array},
                                                        {array + 2 * heap.p, array},
                                                        {array + (2 << 20) + 13, array},
                                                        {array + size - 1, array},
                                                        {last, last},
                                                        {last + last_size - 1, last},
                                                        {last + 0x1000, 0},
                                                        {small + 2 * heap.p + 3, small},
                                                        {hole, 0},
                                                        {hole + 0x101, 0},
                                                        {text + heap.p + 4 + 2, text},
                                                        {array - 0x100, 0},
                                                        {1, 0},
                                                        {~u64{0}, 0}};
    ThreadWriter &thread = heap.threads[0];
    thread.stack_limit = align_up(heap.native.reserve(0x4000), 0x1000);
    thread.stack_base = thread.stack_limit + 0x2000;
    thread.stack_pointer = thread.stack_limit + 0x1000;
    for (u64 i = 0; i < words.size(); ++i)
      heap.native.pointer(thread.stack_pointer + i * heap.p, words[i].first);
    Found found(heap);
    for (u64 i = 0; i < words.size(); ++i) {
      SCOPED_TRACE(i);
      const Root *root = found.find(thread.stack_pointer + i * heap.p);
      ASSERT_EQ(root != nullptr, words[i].second != 0);
      if (root) {
        EXPECT_EQ(root->object, words[i].second);
        EXPECT_EQ(root->interior, words[i].first != words[i].second);
      }
    }
  });
}

// A thread that handles a signal on a stack of its own, as on a fault or when its stack has overflowed: what it was
// doing lies in the frame that the kernel left there. `third`: the handler has gone on to yet another stack.
struct SignalledHeap : HeapBuilder {
  SignalledHeap(const HeapShape &shape, bool third) : HeapBuilder(shape) {
    SegmentWriter &old = segment(G::gen2);
    for (u64 i = 0; i < 4; ++i)
      objects_of_test.push_back(old.object(object_type));
    const Address stacks = align_up(native.reserve(0x20000), 0x1000);
    for (u64 i = 0; i < 2; ++i) {
      threads[i].stack_limit = stacks + i * 0x2000;
      threads[i].stack_base = threads[i].stack_limit + 0x2000;
      threads[i].stack_pointer = threads[i].stack_limit + 0x1000;
    }
    ThreadWriter &thread = threads[0];
    interrupted = thread.stack_limit + 0x400;
    native.pointer(interrupted + 0x20, objects_of_test[0]);
    native.pointer(interrupted - 0x200, objects_of_test[1]); // left over
    const Address signals = stacks + 0x8000;
    frame = signals + 0x1800;
    native.pointer(frame + 2 * p, signals);
    native.pointer(frame + 4 * p, 0x4000);
    native.pointer(frame + (p == 8 ? 160 : 48), interrupted);
    native.pointer(frame + (p == 8 ? 40 : 36), objects_of_test[2]); // a register
    thread.stack_pointer = signals + 0x1000;
    if (third) {
      thread.stack_pointer = stacks + 0x10000;
      native.pointer(thread.stack_pointer + 0x300, frame);
    }
  }
  Address interrupted = 0, frame = 0;
  std::vector<Address> objects_of_test;
};

TEST(Roots, ThreadsInHandlersOfSignals) {
  for_each_shape([](const HeapShape &shape) {
    for (bool third : {false, true}) {
      SCOPED_TRACE(third);
      SignalledHeap heap(shape, third);
      Found found(heap);
      EXPECT_EQ(found.runtime.descriptor().offset("Thread", "CachedStackBase"), 60 * static_cast<i64>(heap.p))
          << "the other thread's stack pointer tells";
      std::vector<Root> roots = found.of(RootKind::stack_conservative);
      ASSERT_EQ(roots.size(), 2u);
      EXPECT_EQ(roots[0].slot, 0u);
      EXPECT_EQ(roots[0].object, heap.objects_of_test[2]);
      EXPECT_EQ(roots[1].slot, heap.interrupted + 0x20);
      EXPECT_EQ(roots[1].object, heap.objects_of_test[0]);
      for (const std::string &problem : found.set.notes.texts())
        EXPECT_EQ(problem.find("stack"), std::string::npos) << problem;
    }
  });
}

// Without that frame all of the stack is looked at, and the answer says so.
TEST(Roots, ThreadsInHandlersWithoutTheFrame) {
  for_each_shape([](const HeapShape &shape) {
    SignalledHeap heap(shape, false);
    heap.poke(heap.frame + 4 * heap.p, 0x10, heap.p); // no such stack
    Found found(heap);
    std::vector<Root> roots = found.of(RootKind::stack_conservative);
    ASSERT_EQ(roots.size(), 2u);
    EXPECT_EQ(roots[0].object, heap.objects_of_test[1]);
    EXPECT_EQ(roots[1].object, heap.objects_of_test[0]);
    EXPECT_TRUE(std::any_of(found.set.notes.begin(), found.set.notes.end(), [](const Note &problem) {
      return problem.text.find("thread 4001 is on another stack") == 0;
    }));
  });
}

TEST(Roots, MissingStackIsAProblem) {
  HeapBuilder heap({});
  Address a = heap.segment(G::gen2).object(heap.object_type);
  ThreadWriter &thread = heap.threads[0];
  thread.stack_limit = align_up(heap.native.reserve(0x4000), 0x1000);
  thread.stack_base = thread.stack_limit + 0x2000;
  thread.stack_pointer = thread.stack_limit + 0x800;
  heap.threads[1].in_target = false;
  heap.native.pointer(thread.stack_base - 8, a);
  heap.hole(thread.stack_limit + 0x1000, thread.stack_limit + 0x1800);
  Found found(heap);
  ASSERT_EQ(found.of(RootKind::stack_conservative).size(), 1u);
  EXPECT_TRUE(std::any_of(found.set.notes.begin(), found.set.notes.end(), [](const Note &problem) {
    return problem.text.find("2.0 KiB of the stack of thread 4001") == 0;
  }));
}

// Holes end anywhere; what is behind one is looked at, what straddles its ends is missing.
TEST(Roots, HolesInAStack) {
  for_each_shape([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    const u64 p = heap.p;
    Address a = heap.segment(G::gen2).object(heap.object_type);
    ThreadWriter &thread = heap.threads[0];
    thread.stack_limit = align_up(heap.native.reserve(0x4000), 0x1000);
    thread.stack_base = thread.stack_limit + 0x3000;
    thread.stack_pointer = thread.stack_limit + 0x800;
    heap.threads[1].in_target = false;
    const Address first = thread.stack_limit + 0x1000, second = thread.stack_limit + 0x2000;
    for (Address at :
         {first - p, first, first + 0x100 - p, first + 0x100, second - p, second, second + p, second + 2 * p})
      heap.native.pointer(at, a);
    heap.hole(first, first + 0x100);
    heap.hole(second + p / 2, second + 3 * p / 2); // half a word each
    Found found(heap);
    std::vector<Address> slots;
    for (const Root &root : found.of(RootKind::stack_conservative))
      slots.push_back(root.slot);
    EXPECT_EQ(slots, (std::vector<Address>{first - p, first + 0x100, second - p, second + 2 * p}));
    const std::string missing = bytes_text(0x100 + 2 * p) + " of the stack of thread 4001";
    EXPECT_TRUE(std::any_of(found.set.notes.begin(), found.set.notes.end(),
                            [&](const Note &note) { return note.text.starts_with(missing); }));
  });
}

// Stacks that a dump lacks are passed over, not asked for word by word: here that were billions of words.
TEST(Roots, LargeHolesInManyStacks) {
  HeapBuilder heap({});
  heap.segment(G::gen2).object(heap.object_type);
  heap.threads.resize(1000);
  const Address stacks = 0x700000000000;
  for (u64 i = 0; i < heap.threads.size(); ++i) {
    ThreadWriter &thread = heap.threads[i];
    thread.os_id = 4001 + i;
    thread.stack_limit = stacks + i * (u64{64} << 20);
    thread.stack_base = thread.stack_limit + (u64{64} << 20);
    thread.stack_pointer = thread.stack_limit + 128;
  }
  const std::clock_t before = std::clock();
  Found found(heap);
  EXPECT_LT(std::clock() - before, 20 * CLOCKS_PER_SEC);
  EXPECT_TRUE(found.of(RootKind::stack_conservative).empty());
  u64 told = 0;
  for (const std::string &problem : found.set.notes.texts())
    told += problem.starts_with("64.0 MiB of the stack of thread ");
  EXPECT_EQ(told, heap.threads.size());
}

TEST(Roots, Owners) {
  StaticsHeap heap({});
  Address text = heap.segments.front().string("pinned");
  heap.gc.handles.push_back({.type = HandleType::pinned, .object = text});
  heap.gc.handles.push_back({.type = HandleType::pinned, .object = text});
  Found found(heap);
  auto type_of = [&](Address object) { return found.target->memory.try_pointer(object).value_or(0); };
  RootOwners owners = group_roots(found.set, type_of, [&](u64 type) { return found.runtime.types().name(type); });
  ASSERT_EQ(owners.owner_of.size(), found.set.roots.size());
  std::map<std::string, u64> counts;
  for (u32 owner : owners.owner_of)
    ++counts[owners.owners.at(owner).name];
  EXPECT_EQ(counts["handle:pinned System.String"], 2u);
  EXPECT_EQ(counts["static Shop.Cache._items"], 1u);
  EXPECT_EQ(counts["thread_static Shop.Cache._mine of thread 4002"], 1u);
  for (const RootOwners::Owner &owner : owners.owners) // what threads are called differs from run to run
    EXPECT_EQ(owner.source, owner.name.substr(0, owner.name.rfind(" of thread ")));
  for (u64 i = 1; i < owners.owners.size(); ++i)
    EXPECT_LE(owners.owners[i - 1].conservative, owners.owners[i].conservative);
}

// A list that runs in a circle, or whose length lies, ends.
TEST(Roots, DamagedAssemblyList) {
  for_each_shape([](const HeapShape &shape) {
    for (u64 what : {u64{0}, u64{1}, u64{2}}) {
      StaticsHeap heap(shape);
      for (int i = 0; i < 10; ++i)
        heap.module("more" + std::to_string(i) + ".dll");
      heap.target();
      Address domain =
          load_pointer(heap.data.bytes().data() + (heap.variables.at("AppDomain") - heap.data.address()), shape.format);
      Address list = domain + 40 * heap.p;
      if (what == 0)
        heap.poke(list, 60000, 4);
      else if (what == 1)
        heap.poke(list + heap.p, list + heap.p, heap.p); // the first block is its own next one
      else
        heap.poke(list + 2 * heap.p, 0x7fffffff, 4); // the first block's size
      Found found(heap);
      EXPECT_FALSE(found.set.roots.empty());
    }
  });
}

TEST(Roots, TenThousandStaticFieldsOfOneType) {
  constexpr u32 count = 10000;
  HeapBuilder heap({});
  Address cache = heap.type("Shop.Cache", 1);
  std::vector<FieldShape> list;
  for (u32 i = 0; i < count; ++i)
    list.push_back({heap.app().metadata.field("f" + std::to_string(i), field_signature(element(ElementType::Object))),
                    ElementType::Class, static_cast<u32>(i * heap.p), true});
  heap.fields(cache, list);
  SegmentWriter &old = heap.segment(G::gen2);
  Address holder = old.object(heap.object_array_type, count);
  heap.statics(cache, holder + 2 * heap.p);
  for (u32 i = 0; i < count; ++i)
    old.store(holder + (2 + i) * heap.p, old.object(heap.object_type), heap.p);
  heap.gc.handles = {{.type = HandleType::strong, .object = holder}};
  Found found(heap);
  std::vector<Root> roots = found.of(RootKind::static_field);
  ASSERT_EQ(roots.size(), count);
  for (u32 i = 0; i < count; ++i) // by slot
    ASSERT_EQ(found.set.name(roots[i]), "Shop.Cache.f" + std::to_string(i));
}

} // namespace
} // namespace dnheap::test
