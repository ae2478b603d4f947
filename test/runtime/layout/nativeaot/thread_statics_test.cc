// Where a NativeAOT thread keeps its thread statics: by the bounds of its stack, which stand beside them.
#include "runtime/layout/derivation.h"
#include "runtime/layout/nativeaot/thread_statics.h"
#include "runtime/nativeaot/native_aot.h"
#include "support/aot_shop.h"

namespace dnheap::test {
namespace {

const char *const names[] = {"ThreadLocalStatics", "InlinedThreadLocalStatics", "CachedStackLimit", "CachedStackBase"};
constexpr i64 statics_word = 18; // of a thread
constexpr u64 thread_words = 24;

// What is found after a change, when nothing of it was known.
struct Asked {
  template <class Change>
  Asked(const AotShape &shape, Change change, u64 words = thread_words) : shop(shape), p(shop.heap.p) {
    shop.heap.target();
    change(*this);
    opened.emplace(shop.heap.target());
    descriptor = opened->runtime->descriptor();
    derive(words);
  }
  void derive(u64 words = thread_words) {
    for (const char *name : names)
      descriptor.types["Thread"].fields.erase(name);
    descriptor.missing.clear();
    Notes problems;
    Derivation d(*opened->target, opened->runtime->module(), descriptor, {});
    derive_thread_statics(d, opened->runtime->threads(problems), words * p);
  }
  void poke(u64 thread, u64 word, u64 value) { shop.heap.poke(thread_address(thread) + word * p, value, p); }
  Address thread_address(u64 thread) const { return shop.heap.variables.at("thread " + std::to_string(thread)); }
  std::optional<i64> offset(const char *name) const { return descriptor.try_offset("Thread", name); }

  Shop shop;
  const u64 p;
  std::optional<OpenedAot> opened;
  ContractDescriptor descriptor;
};

template <class Visit> void for_each_shape(Visit visit) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    visit(shape);
  }
}

TEST(LayoutThreadStatics, AreFoundByTheBoundsOfTheStack) {
  for_each_shape([](const AotShape &shape) {
    Asked asked(shape, [](Asked &) {});
    const i64 p = static_cast<i64>(asked.p);
    EXPECT_EQ(asked.offset("ThreadLocalStatics"), statics_word * p);
    EXPECT_EQ(asked.offset("InlinedThreadLocalStatics"), (statics_word + 1) * p);
    EXPECT_EQ(asked.offset("CachedStackLimit"), (statics_word + 3) * p);
    EXPECT_EQ(asked.offset("CachedStackBase"), (statics_word + 4) * p);
  });
}

TEST(LayoutThreadStatics, AreFoundWhereStacksEndInAPage) {
  for_each_shape([](const AotShape &shape) {
    Asked asked(shape, [](Asked &of) {
      const u64 at = of.thread_address(0) + (statics_word + 4) * of.p;
      of.poke(0, statics_word + 4, of.shop.heap.target()->memory.try_pointer(at).value() - 0x760);
    });
    EXPECT_EQ(asked.offset("ThreadLocalStatics"), statics_word * static_cast<i64>(asked.p));
  });
}

// Behind a thread others keep bounds of its stack.
TEST(LayoutThreadStatics, TwoPairsOfBoundsAreNone) {
  for_each_shape([](const AotShape &shape) {
    Asked asked(
        shape, [](Asked &) {}, thread_words + 6);
    for (const char *name : names)
      EXPECT_EQ(asked.offset(name), std::nullopt) << name;
    EXPECT_NE(asked.descriptor.missing["Thread.ThreadLocalStatics"].find("bounds of each thread's stack"),
              std::string::npos);
  });
}

TEST(LayoutThreadStatics, BoundsThatAThreadIsNotInAreNone) {
  for_each_shape([](const AotShape &shape) {
    Asked asked(shape, [](Asked &a) { a.poke(0, statics_word + 3, a.shop.heap.stack(0) + 0xf000); });
    EXPECT_EQ(asked.offset("ThreadLocalStatics"), std::nullopt);
    EXPECT_TRUE(asked.descriptor.missing.contains("Thread.ThreadLocalStatics"));
  });
}

// The first thread's may have grown since the runtime asked how long it is: on musl that is what was mapped then.
TEST(LayoutThreadStatics, TheFirstThreadMayStandDeeperThanItsBoundsSay) {
  for_each_shape([](const AotShape &shape) {
    constexpr u64 at_random = 25;
    Asked asked(shape, [](Asked &a) { a.poke(0, statics_word + 3, a.shop.heap.stack(0) + 0xf000); });
    ASSERT_EQ(asked.offset("ThreadLocalStatics"), std::nullopt);
    const Address low = asked.shop.heap.stack(0), high = low + 0x10000;
    Target &target = *asked.opened->target;
    target.mappings = {{.start = low, .end = high}};
    target.auxv[at_random] = high - 0x100;
    asked.derive();
    EXPECT_EQ(asked.offset("ThreadLocalStatics"), statics_word * static_cast<i64>(asked.p));
  });
}

TEST(LayoutThreadStatics, WhatIsTooShortToBeAThreadIsNotSearchedFurther) {
  for_each_shape([](const AotShape &shape) {
    Asked asked(shape, [](Asked &) {});
    asked.derive(statics_word);
    EXPECT_EQ(asked.offset("ThreadLocalStatics"), std::nullopt);
  });
}

} // namespace
} // namespace dnheap::test
