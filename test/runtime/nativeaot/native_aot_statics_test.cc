// Static and thread-static fields of NativeAOT, and its finalization queue: what a graph starts from.
#include "runtime/nativeaot/native_aot.h"
#include "support/aot_shop.h"

namespace dnheap::test {
namespace {

std::vector<AotShape> shapes() {
  std::vector<AotShape> out = all_aot_shapes();
  for (const AotShape &shape : all_n1_shapes())
    out.push_back(shape);
  return out;
}

// Three types with static fields, of which one is not initialised; two threads with thread statics.
struct Statics {
  explicit Statics(const AotShape &shape) : shop(shape) {
    for (const AotObject &object : shop.heap.objects)
      if (object.method_table == shop.made_up)
        base = object.address;
    node = shop.heap.objects[0].address;
    array = shop.heap.objects[9].address;
    first = shop.heap.static_cell(base);
    unused = shop.heap.static_cell(shop.made_up | 1);
    second = shop.heap.static_cell(node);
    shop.heap.threads[0].statics = array;
    shop.heap.threads[2].statics = node;
    shop.heap.threads[2].inlined_statics = {base, node};
  }
  Shop shop;
  Address base = 0, node = 0, array = 0, first = 0, unused = 0, second = 0;
};

TEST(NativeAotStatics, AllOfThemInEveryShape) {
  for (const AotShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Statics made(shape);
    OpenedAot opened(made.shop.heap.target());
    Notes problems;
    std::vector<StaticRoot> roots = opened.runtime->static_roots(problems);
    EXPECT_TRUE(problems.empty()) << problems[0].text;
    ASSERT_EQ(roots.size(), 6u);
    auto is = [&](const StaticRoot &root, Address slot, Address object, Address thread, const std::string &name) {
      EXPECT_EQ(root.slot, slot);
      EXPECT_EQ(root.object, object);
      EXPECT_EQ(root.thread, thread);
      EXPECT_EQ(root.name, name);
      EXPECT_EQ(opened.runtime->memory().try_pointer(root.slot), root.object);
      EXPECT_TRUE(root.is_root);
    };
    auto place = [&](Address at) {
      char text[32];
      std::snprintf(text, sizeof text, "shop!0x%llx", static_cast<unsigned long long>(at - made.shop.heap.base()));
      return std::string(text);
    };
    const u64 p = made.shop.heap.p;
    const Address zero = made.shop.heap.variables.at("thread 0"), two = made.shop.heap.variables.at("thread 2");
    is(roots[0], made.first, made.base, 0, place(made.first));
    is(roots[1], made.second, made.node, 0, place(made.second));
    is(roots[2], zero + 18 * p, made.array, zero, "thread statics");
    is(roots[3], two + 18 * p, made.node, two, "thread statics");
    is(roots[4], roots[4].slot, made.base, two, "(inlined)");
    is(roots[5], roots[5].slot, made.node, two, "(inlined)");
  }
}

TEST(NativeAotStatics, WhatIsNoObjectIsLeftOut) {
  for (const AotShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Statics made(shape);
    std::unique_ptr<Target> target = made.shop.heap.target();
    const u64 p = made.shop.heap.p;
    made.shop.heap.poke(made.first, made.base + p, p);                                       // inside an object
    made.shop.heap.poke(made.shop.heap.variables.at("thread 2") + 18 * p, made.base + p, p); // likewise
    made.shop.heap.poke(made.unused, 0, p);                                                  // never used
    OpenedAot opened(made.shop.heap.target());
    Notes problems;
    std::vector<StaticRoot> roots = opened.runtime->static_roots(problems);
    EXPECT_EQ(roots.size(), 4u);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_NE(problems[0].text.find("static fields of 1 type are missing"), std::string::npos) << problems[0].text;
    EXPECT_NE(problems[1].text.find("thread-static fields are missing: 1 of"), std::string::npos) << problems[1].text;
  }
}

TEST(NativeAotStatics, CellsThatAreNotInTheDump) {
  Statics made({});
  made.shop.heap.hole(made.second, made.second + made.shop.heap.p);
  OpenedAot opened(made.shop.heap.target());
  Notes problems;
  EXPECT_EQ(opened.runtime->static_roots(problems).size(), 5u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].text.find("static fields of 1 of 3 types are missing"), std::string::npos) << problems[0].text;
}

TEST(NativeAotStatics, AListThatRunsInACircle) {
  Statics made({});
  std::unique_ptr<Target> target = made.shop.heap.target();
  Address node = *target->memory.try_pointer(made.shop.heap.variables.at("thread 2") + 19 * made.shop.heap.p);
  Address second = *target->memory.try_pointer(node + made.shop.heap.p);
  made.shop.heap.poke(second + made.shop.heap.p, node, made.shop.heap.p);
  OpenedAot opened(made.shop.heap.target());
  Notes problems;
  EXPECT_EQ(opened.runtime->static_roots(problems).size(), 6u);
  EXPECT_EQ(problems.size(), 1u);
}

// Where the words of a thread lie is told by its stack alone. If no stack pointer is known, or one lies elsewhere,
// there is no answer, and a reason.
TEST(NativeAotStatics, ThreadsWithoutAStack) {
  for (Address stack_pointer : {Address{0}, Address{0x1000}}) {
    Statics made({});
    std::unique_ptr<Target> target = made.shop.heap.target();
    for (Thread &thread : target->threads)
      thread.stack_pointer = stack_pointer;
    OpenedAot opened(std::move(target));
    Notes problems;
    EXPECT_EQ(opened.runtime->static_roots(problems).size(), 2u);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].text.find("thread-static fields are missing: the offset of Thread.ThreadLocalStatics"),
              std::string::npos)
        << problems[0].text;
    EXPECT_NE(problems[0].text.find("bounds of each thread's stack"), std::string::npos) << problems[0].text;
  }
}

TEST(NativeAotStatics, FinalizationQueue) {
  for (const AotShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    shop.heap.finalizable = {shop.heap.objects[2].address, shop.heap.objects[0].address};
    OpenedAot opened(shop.heap.target());
    const Gc &gc = opened.runtime->gc();
    std::vector<Address> found;
    for (const GCFinalizeQueuePart &part : finalize_queue_parts(gc.get_heap_data(gc.get_gc_heaps()[0])))
      for (Address at = part.start; at < part.end; at += shop.heap.p) {
        EXPECT_STREQ(part.name, "gen2");
        found.push_back(*opened.runtime->memory().try_pointer(at));
      }
    EXPECT_EQ(found, shop.heap.finalizable);
  }
}

} // namespace
} // namespace dnheap::test
