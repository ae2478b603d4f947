// NativeAOT processes: found, walked, named; and what is said when they cannot be.
#include "runtime/layout/nativeaot/debug_header.h"
#include "runtime/nativeaot/native_aot.h"
#include "support/aot_shop.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::string error_of(const std::function<void()> &what) {
  try {
    what();
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

std::string error_of(Shop &shop) {
  return error_of([&] { OpenedAot(shop.heap.target()); });
}

TEST(NativeAot, EveryShapeIsWalked) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    OpenedAot opened(shop.heap.target());
    EXPECT_STREQ(opened.runtime->kind(), "nativeaot");
    EXPECT_EQ(opened.runtime->version(), std::to_string(shape.major + 5) + ".0");
    EXPECT_EQ(opened.runtime->gc().is_server(), shape.server);
    EXPECT_TRUE(opened.runtime->gc().has_regions());
    EXPECT_TRUE(opened.runtime->gc().get_gc_structures_valid());
    EXPECT_EQ(opened.heap->notes().size(), 0u);
    EXPECT_EQ(opened.heap->context_count(), 1u);
    EXPECT_EQ(opened.heap->context_bytes(), 200 + 3 * shop.heap.p);
    EXPECT_EQ(opened.walk(), shop.heap.objects);
    const std::string &how = opened.runtime->descriptor().found_by;
    EXPECT_NE(how.find(shape.exported ? "export of shop" : "scan of shop for its cookie"), std::string::npos) << how;
    u64 frozen = 0;
    for (const HeapSegment &s : opened.heap->segments())
      frozen += s.generation == GCSegmentGeneration::frozen;
    EXPECT_EQ(frozen, 1u);
  }
}

TEST(NativeAot, EveryTypeIsNamed) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    OpenedAot opened(shop.heap.target());
    for (const auto &[type, name] : shop.names)
      EXPECT_EQ(opened.runtime->types().name(type), name);
    EXPECT_EQ(opened.runtime->types().name(shop.heap.free_type), "Free");
    EXPECT_TRUE(opened.runtime->types().notes().empty());
    char place[64];
    std::snprintf(place, sizeof place, "shop!0x%llx", static_cast<unsigned long long>(shop.made_up - shop.heap.base()));
    EXPECT_EQ(opened.runtime->types().name(shop.made_up), place);
    ASSERT_EQ(opened.runtime->types().notes().size(), 1u);
    EXPECT_NE(opened.runtime->types().notes().texts()[0].find("static fields"), std::string::npos);
  }
}

// A name that has not the type's hash is somebody else's.
TEST(NativeAot, AWrongHashIsNoName) {
  for (u16 major : {u16{3}, u16{5}}) {
    Shop shop({.major = major});
    for (const auto &[type, name] : shop.names)
      shop.heap.poke(type + 12 + shop.heap.p, shop.heap.hashes.at(type) ^ 1, 4);
    OpenedAot opened(shop.heap.target());
    for (const auto &[type, name] : shop.names)
      EXPECT_TRUE(opened.runtime->types().name(type).starts_with("shop!0x")) << name;
    EXPECT_EQ(opened.runtime->types().notes().size(), 3u); // plain ones, arrays, instances
    EXPECT_EQ(opened.walk(), shop.heap.objects);
  }
}

TEST(NativeAot, WhatIsNoTypeIsNotTakenForOne) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    const u64 p = shop.heap.p, module = 16 + p + 5 * p;
    Address other = shop.heap.type("", "Other", 1), far = shop.heap.type("", "Far", 1),
            large = shop.heap.type("", "Large", 1), small = shop.heap.type("", "Small", 1),
            kind = shop.heap.definition("", "Kind`1", 1), fake = shop.heap.statics(2), series = shop.heap.statics(2),
            flags = shop.heap.statics(2);
    shop.heap.poke(far + module, 0x1000, 4);
    shop.heap.poke(large + 4, 0x50000000, 4);
    shop.heap.poke(small + 4, p, 4);
    shop.heap.poke(fake + 8, shop.node, p);   // no child of System.Object
    shop.heap.poke(series - 2 * p, 4 * p, p); // its references lie outside
    shop.heap.poke(flags, 0x10000000 | (shape.major <= 3 ? 0x200000u : 0x1000000u), 4);
    OpenedAot opened(shop.heap.target());
    const TypeSystem &types = opened.runtime->types();
    EXPECT_EQ(types.object_layout(other)->base_size, 3 * p);
    for (Address wrong : {far, large, small, kind, fake, series, flags, other + 4, other + p, Address{0},
                          shop.heap.header, shop.heap.native.address()})
      EXPECT_FALSE(types.object_layout(wrong)) << wrong - shop.heap.base();
    EXPECT_EQ(types.object_layout(shop.made_up)->base_size, 5 * p);
    EXPECT_EQ(types.object_layout(shop.heap.string_type)->component_size, 2u);
    EXPECT_EQ(types.object_layout(shop.heap.free_type)->component_size, 1u);
  }
}

TEST(NativeAot, Versions) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Shop newer({.format = format});
    newer.heap.poke(newer.heap.header + 6, 7, 2); // a minor one
    EXPECT_EQ(OpenedAot(newer.heap.target()).walk(), newer.heap.objects);
    Shop unknown({.format = format});
    unknown.heap.poke(unknown.heap.header + 4, 6, 2);
    std::string error = error_of(unknown);
    EXPECT_NE(error.find("/srv/shop describes itself in version 6.0 of its debug header"), std::string::npos) << error;
    Shop unstarted({.format = format});
    unstarted.heap.poke(unstarted.heap.header, 0, 4);
    error = error_of(unstarted);
    EXPECT_NE(error.find("had not started"), std::string::npos) << error;
  }
}

TEST(NativeAot, AHeaderThatLiesIsNone) {
  for (bool exported : {true, false}) {
    const AotShape shape{.exported = exported};
    struct {
      u64 offset, value, size;
    } lies[] = {{8, 0, 4}, {8, 3, 4}, {12, 1, 4}, {16, 0, 8}, {16, 0x1234, 8}, {24, 0x561111111110, 8}, {4, 0, 2}};
    for (auto [offset, value, size] : lies) {
      Shop shop(shape);
      shop.heap.poke(shop.heap.header + offset, value, size);
      std::unique_ptr<Target> target = shop.heap.target();
      EXPECT_TRUE(find_debug_headers(*target).empty()) << offset << " " << value;
      // Its tables are still there, and tell as much.
      EXPECT_EQ(OpenedAot(std::move(target)).walk(), shop.heap.objects);
    }
  }
  // Of two, nobody knows which.
  Shop shop({.exported = false});
  std::unique_ptr<Target> target = shop.heap.target();
  for (u64 i = 0; i < 32; ++i)
    shop.heap.poke(shop.heap.variables.at("generation_table") + 8 + i,
                   *target->memory.try_load<u8>(shop.heap.header + i), 1);
  EXPECT_EQ(find_debug_headers(*target).size(), 1u);
  EXPECT_TRUE(find_debug_headers(*shop.heap.target()).empty());
}

TEST(NativeAot, TablesThatLie) {
  const u64 row = 24;
  Shop other({}); // as of another program
  for (u64 at = other.heap.types; at < other.heap.types + 100 * row; at += row) {
    other.heap.poke(at, other.heap.constants.address(), 8);
    other.heap.poke(at + 8, other.heap.constants.address(), 8);
  }
  std::string error = error_of(other);
  EXPECT_NE(error.find("MethodTable.VTable"), std::string::npos) << error;
  Shop nowhere({});
  nowhere.heap.poke(nowhere.heap.types + 8, 0x1000, 8);
  error = error_of(nowhere);
  EXPECT_NE(error.find("names in the debug header of /srv/shop"), std::string::npos) << error;
  EXPECT_NE(error.find("--modules"), std::string::npos) << error;
  Shop empty({});
  empty.heap.poke(empty.heap.types, 0, 8);
  error = error_of(empty);
  EXPECT_GT(error.size(), 20u);
  Shop no_vars({});
  no_vars.heap.poke(no_vars.heap.variables.at("GcDacVars"), 0, 8);
  error = error_of(no_vars);
  EXPECT_NE(error.find("GcDacVars"), std::string::npos) << error;
  Shop no_free({});
  no_free.heap.poke(no_free.heap.free_type, 0, 4);
  error = error_of(no_free);
  EXPECT_NE(error.find("free objects"), std::string::npos) << error;
}

// A library that was compiled ahead of time, beside a program that was: both are there, each with its module.
TEST(NativeAot, SeveralInOneProcess) {
  Shop shop({.exported = false});
  std::unique_ptr<Target> target = shop.heap.target();
  target->modules.insert(target->modules.begin(), {"/dotnet/libcoreclr.so", 0x1000, {{0x1000, 0x2000, 0}}});
  std::vector<FoundRuntime> found = find_runtimes(*target);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].module->path, "/dotnet/libcoreclr.so");
  EXPECT_THROW(found[0].open(), Error);
  EXPECT_EQ(found[1].module->path, "/srv/shop");
  EXPECT_EQ(found[1].version, "10.0");
  EXPECT_STREQ(found[1].open()->kind(), "nativeaot");
}

TEST(NativeAot, Threads) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    const u64 next = 11 * (shape.format.pointer_size);
    auto threads_of = [&](Shop &shop, Notes &problems) {
      OpenedAot opened(shop.heap.target());
      return dynamic_cast<NativeAot &>(*opened.runtime).thread().get_threads(problems);
    };
    Notes problems;
    Shop sound(shape);
    std::vector<ThreadData> threads = threads_of(sound, problems);
    ASSERT_EQ(threads.size(), 3u);
    EXPECT_EQ(threads[2].os_id, 5003u);
    EXPECT_EQ(threads[0].allocation_context.pointer, sound.heap.threads[0].context.pointer);
    EXPECT_TRUE(problems.empty());
    Shop circle(shape);
    circle.heap.target();
    circle.heap.poke(circle.heap.variables.at("thread 2") + next, circle.heap.variables.at("thread 1"), circle.heap.p);
    EXPECT_EQ(threads_of(circle, problems).size(), 3u);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].text.find("circle"), std::string::npos);
    Shop broken(shape);
    broken.heap.target();
    broken.heap.poke(broken.heap.variables.at("thread 1") + next, 0x10, broken.heap.p);
    EXPECT_EQ(threads_of(broken, problems).size(), 2u);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_NE(problems[1].text.find("breaks off"), std::string::npos);
  }
}

} // namespace
} // namespace dnheap::test
