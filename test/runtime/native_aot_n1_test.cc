// NativeAOT processes that publish a contract descriptor (n1), beside a debug header or without one.
#include "runtime/describe/native_aot_descriptor.h"
#include "runtime/describe/open_native_aot.h"
#include "runtime/nativeaot/managed_code.h"
#include "runtime/nativeaot/native_aot.h"
#include "support/aot_shop.h"

#include <algorithm>

namespace dnheap::test {
namespace {

TEST(NativeAotN1, EveryShapeIsWalkedAndNamed) {
  for (const AotShape &shape : all_n1_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    OpenedAot opened(shop.heap.target());
    EXPECT_STREQ(opened.runtime->kind(), "nativeaot");
    EXPECT_EQ(opened.runtime->version(), shape.released ? "11.0.0" : ""); // else nobody says
    EXPECT_EQ(opened.runtime->gc().is_server(), shape.server);
    EXPECT_TRUE(opened.runtime->gc().has_regions());
    EXPECT_TRUE(opened.runtime->gc().get_gc_structures_valid());
    EXPECT_EQ(opened.heap->notes().size(), 0u);
    EXPECT_EQ(opened.heap->context_count(), 1u);
    EXPECT_EQ(opened.walk(), shop.heap.objects);
    for (const auto &[type, name] : shop.names)
      EXPECT_EQ(opened.runtime->types().name(type), name);
    EXPECT_EQ(opened.runtime->types().name(shop.heap.free_type), "Free");
    const ContractDescriptor &d = opened.runtime->descriptor();
    EXPECT_NE(d.found_by.find(shape.exported ? "export of shop" : "scan of shop for its magic"), std::string::npos)
        << d.found_by;
    for (const char *contract : {"GC", "Thread", "RuntimeTypeSystem"})
      EXPECT_EQ(d.contract_origin.at(contract), Origin::published);
    EXPECT_EQ(d.contracts.at("RuntimeTypeSystem"), "n1");
    EXPECT_EQ(d.contracts.at("GC"), "c1");
    EXPECT_EQ(d.try_offset("System.Threading.Thread", "_managedThreadId"), 24);
    EXPECT_EQ(d.sources.size(), 3u);
    EXPECT_EQ(opened.runtime->gc().get_gc_bounds(), (std::pair{shop.heap.segments.front().block.address(),
                                                               shop.heap.segments.back().block.address() + (1 << 20)}));
  }
}

// The types that the compiler makes up for suspended calls: known by their parent, which is known by its hash alone.
TEST(NativeAotN1, Continuations) {
  for (AotShape shape : all_n1_shapes())
    for (bool metadata : {true, false}) {
      shape.metadata = metadata;
      SCOPED_TRACE(name_of(shape));
      Shop shop(shape);
      const Address plain = shop.heap.continuation(2, 0), mixed = shop.heap.continuation(1, 3),
                    other = shop.heap.continuation(1, 1), inner = shop.heap.continuation(1, 1),
                    small = shop.heap.continuation(0, 0);
      shop.heap.poke(other + 8, shop.node, shop.heap.p); // a parent, but not that one
      shop.heap.poke(inner + 8, mixed, shop.heap.p);
      shop.heap.poke(small + 4, 3 * shop.heap.p, 4); // smaller than its parent
      shop.heap.object(shop.heap.segments[0], plain);
      shop.heap.object(shop.heap.segments[0], mixed);
      OpenedAot opened(shop.heap.target());
      RuntimeTypeSystemN1 &types = dynamic_cast<NativeAot &>(*opened.runtime).types();
      std::vector<AotObject> wanted = shop.heap.objects;
      std::sort(wanted.begin(), wanted.end(), [](auto &a, auto &b) { return a.address < b.address; });
      EXPECT_EQ(opened.walk(), wanted);
      const u64 p = shop.heap.p;
      EXPECT_EQ(types.object_layout(mixed)->base_size, 8 * p + 8);
      EXPECT_TRUE(types.is_continuation(mixed));
      EXPECT_FALSE(types.is_continuation(shop.made_up));
      EXPECT_FALSE(types.is_continuation(shop.heap.continuation_type()));
      EXPECT_EQ(types.name(plain), "Continuation_" + std::to_string(2 * p));
      EXPECT_EQ(types.name(mixed), "Continuation_" + std::to_string(4 * p) + "_" + std::to_string(p) + "_3");
      for (Address wrong : {other, inner, small})
        EXPECT_FALSE(types.object_layout(wrong));
    }
}

// Where it is published it is taken, wherever the runtime keeps it.
TEST(NativeAotN1, ManagedCode) {
  for (const AotShape &shape : all_n1_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    OpenedAot opened(shop.heap.target());
    const std::optional<CodeRange> range =
        find_managed_code(*opened.target, opened.target->modules[0], opened.runtime->descriptor());
    EXPECT_EQ(range.has_value(), shape.released);
    if (range) {
      EXPECT_EQ(range->start, shop.heap.base());
      EXPECT_EQ(range->end, shop.heap.base() + 0x400);
    }
  }
}

TEST(NativeAotN1, Threads) {
  for (const AotShape &shape : all_n1_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    OpenedAot opened(shop.heap.target());
    Notes problems;
    std::vector<ThreadData> threads = opened.runtime->threads(problems);
    EXPECT_TRUE(problems.empty());
    ASSERT_EQ(threads.size(), 3u);
    for (u64 i = 0; i < 3; ++i) {
      EXPECT_EQ(threads[i].os_id, 5001 + i); // 64 bits wide, whatever pointers are
      EXPECT_EQ(threads[i].allocation_context.pointer, shop.heap.threads[i].context.pointer);
      EXPECT_EQ(threads[i].allocation_context.limit, shop.heap.threads[i].context.limit);
    }
  }
}

TEST(NativeAotN1, Handles) {
  for (bool text_only : {false, true})
    for (const AotShape &shape : all_n1_shapes()) {
      SCOPED_TRACE(name_of(shape));
      Shop shop(shape);
      shop.heap.gc_text_only = text_only;
      Address strong = shop.heap.objects[0].address, weak = shop.heap.objects[1].address;
      shop.heap.handles = {{HandleType::strong, strong}, {HandleType::weak_short, weak}, {HandleType::strong, weak}};
      OpenedAot opened(shop.heap.target());
      Notes problems;
      const Gc &gc = opened.runtime->gc();
      std::vector<std::pair<HandleType, Address>> found;
      for (const HandleData &handle : gc.get_handles(gc.get_supported_handle_types(), problems))
        found.emplace_back(handle.type, handle.object);
      EXPECT_TRUE(problems.empty());
      std::sort(found.begin(), found.end());
      std::sort(shop.heap.handles.begin(), shop.heap.handles.end());
      EXPECT_EQ(found, shop.heap.handles);
    }
}

// What the GC would say of itself is not there yet, or not in the dump: then its table for debuggers does.
TEST(NativeAotN1, WithoutGcDescriptor) {
  for (const AotShape &shape : all_n1_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (u64 value : {u64{0}, u64{0x1000}}) {
      Shop shop(shape);
      shop.heap.poke(shop.heap.variables.at("gc_descriptor"), value, shop.heap.p);
      OpenedAot opened(shop.heap.target());
      EXPECT_EQ(opened.walk(), shop.heap.objects);
      EXPECT_EQ(opened.runtime->descriptor().contract_origin.at("GC"), Origin::discovered);
    }
  }
}

// Either of the two is enough.
TEST(NativeAotN1, ADamagedHeaderOrDescriptor) {
  const AotShape shape{.descriptor = true};
  Shop unknown(shape);
  unknown.heap.poke(unknown.heap.header + 4, 9, 2); // of a version that nobody knows
  OpenedAot by_descriptor(unknown.heap.target());
  EXPECT_EQ(by_descriptor.walk(), unknown.heap.objects);
  EXPECT_NE(by_descriptor.runtime->descriptor().missing.at("DotNetRuntimeDebugHeader").find("version 9.0"),
            std::string::npos);

  Shop text(shape);
  std::unique_ptr<Target> target = text.heap.target();
  std::vector<FoundNativeAot> found = find_native_aot(*target, false);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_TRUE(found[0].descriptor && found[0].header);
  Address json = *target->memory.try_pointer(found[0].descriptor->address + 16);
  text.heap.poke(json + 3, '}', 1);
  OpenedAot by_header(text.heap.target());
  EXPECT_EQ(by_header.walk(), text.heap.objects);
  EXPECT_NE(by_header.runtime->descriptor().found_by.find("debug header 5.0"), std::string::npos);
  EXPECT_TRUE(by_header.runtime->descriptor().missing.contains("DotNetRuntimeContractDescriptor"));
}

// A descriptor of CoreCLR, as a program has it that carries that runtime in its own file, is none of these.
TEST(NativeAotN1, OfAnotherKind) {
  ContractDescriptor d;
  EXPECT_FALSE(is_native_aot(d));
  for (auto [version, is] : {std::pair{"c1", false}, {"n1", true}, {"c1001", true}, {"n2", true}, {"c9", true}}) {
    d.contracts["RuntimeTypeSystem"] = version;
    EXPECT_EQ(is_native_aot(d), is) << version;
  }
}

TEST(NativeAotN1, PublishedFlagsCount) {
  for (bool early : {true, false}) {
    Shop shop({.header = false, .descriptor = true, .early = early});
    OpenedAot opened(shop.heap.target());
    const ContractDescriptor &d = opened.runtime->descriptor();
    EXPECT_EQ(d.find_global("MethodTableHasPointersFlag")->origin, early ? Origin::published : Origin::discovered);
    EXPECT_EQ(d.number("MethodTableHasPointersFlag"), 0x1000000u);
  }
}

} // namespace
} // namespace dnheap::test
