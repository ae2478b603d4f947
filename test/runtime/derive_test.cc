// How values are chosen: what is published is checked against memory, not replaced; candidates that agree are one; what
// belongs to a structure is not looked for behind its end. In the shapes that real programs have.
#include "contract/find.h"
#include "runtime/describe/core_clr_descriptor.h"
#include "runtime/object_header.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

struct Derived {
  explicit Derived(HeapBuilder &heap) : target(heap.target()) {
    if (std::optional<FoundDescriptor> found = find_descriptor(*target, module()))
      published = parse_descriptor(target->memory, found->address);
  }
  const Module &module() const { return *find_core_clr_modules(*target).at(0); }
  ContractDescriptor descriptor() const { return derive_descriptor(*target, module(), published, {}); }

  std::unique_ptr<Target> target;
  ContractDescriptor published;
};

// The same of a version that publishes the offset elsewhere.
ContractDescriptor publishing(HeapBuilder &heap, const char *type, const char *field, i64 offset) {
  Derived derived(heap);
  derived.published.set_field(type, field, offset, Origin::published);
  return derived.descriptor();
}

void expect_published(const ContractDescriptor &descriptor, const char *type, const char *field, i64 offset) {
  ASSERT_TRUE(descriptor.find_field(type, field)) << type << "." << field;
  EXPECT_EQ(descriptor.offset(type, field), offset) << type << "." << field;
  EXPECT_EQ(descriptor.find_field(type, field)->origin, Origin::published) << type << "." << field;
}

template <class Visit> void for_each_layout(const std::vector<Net> &versions, Visit visit) {
  for (Format format : all_formats)
    for (Net net : versions) {
      HeapShape shape{.format = format, .net = net, .published = net != Net::net8};
      SCOPED_TRACE(name_of(shape));
      visit(shape);
    }
}

// A later version may have moved it. If it is wrong, what is read by it fails, and says so.
TEST(Derive, PublishedHeadOfMethodTableIsNotReplaced) {
  for_each_layout({Net::net9, Net::net10}, [](const HeapShape &shape) {
    for (auto [field, offset] : {std::pair{"BaseSize", 12}, {"MTFlags", 8}}) {
      HeapBuilder heap(shape);
      ContractDescriptor descriptor = publishing(heap, "MethodTable", field, offset);
      expect_published(descriptor, "MethodTable", field, offset);
      EXPECT_TRUE(descriptor.doubted.contains("StringMethodTable")) << field;
    }
  });
}

// Members that lie beyond where this program would look for them.
TEST(Derive, PublishedOffsetsBeyondTheSearchStay) {
  for_each_layout({Net::net9, Net::net10}, [](const HeapShape &shape) {
    HeapBuilder plain(shape);
    const u64 p = plain.p;
    struct Moved {
      const char *type, *field;
      u64 to;
      // From where it was in the structure of that MethodTable's.
      std::function<void(HeapBuilder &, Address mt, u64 to)> move;
    };
    auto word = [](HeapBuilder &heap, Address at) {
      return load_pointer(heap.native.bytes().data() + (at - heap.native.address()), heap.shape.format);
    };
    auto move = [&](HeapBuilder &heap, Address from, Address to) {
      heap.native.pointer(to, word(heap, from));
      heap.native.pointer(from, 0);
    };
    const Moved all[] = {
        {"MethodTable", "ParentMethodTable", 16 + 9 * p,
         [&](HeapBuilder &heap, Address mt, u64 to) { move(heap, mt + 16, mt + to); }},
        {"MethodTable", "NumInterfaces", 16 + 9 * p,
         [&](HeapBuilder &heap, Address mt, u64 to) {
           heap.native.half(mt + to, mt == heap.string_type ? 4 : 0);
           heap.native.half(mt + 14, 0);
         }},
        {"EEClass", "MethodTable", 12 * p,
         [&](HeapBuilder &heap, Address mt, u64 to) {
           Address own = word(heap, mt + 16 + 3 * p);
           move(heap, own + 2 * p, own + to);
         }},
        {"MethodTableAuxiliaryData", "LoaderModule", 3 * p,
         [&](HeapBuilder &heap, Address mt, u64 to) {
           Address auxiliary = word(heap, mt + 16 + 2 * p);
           move(heap, auxiliary + p, auxiliary + to);
         }},
    };
    for (const Moved &moved : all) {
      HeapBuilder heap(shape);
      for (Address mt : {heap.object_type, heap.string_type})
        moved.move(heap, mt, moved.to);
      ContractDescriptor descriptor = publishing(heap, moved.type, moved.field, static_cast<i64>(moved.to));
      expect_published(descriptor, moved.type, moved.field, static_cast<i64>(moved.to));
      for (const char *other : {"ParentMethodTable", "EEClassOrCanonMT", "AuxiliaryData"}) {
        ASSERT_TRUE(descriptor.find_field("MethodTable", other)) << moved.field << ": " << other;
        EXPECT_EQ(descriptor.find_field("MethodTable", other)->origin, Origin::published)
            << moved.field << ": " << other;
      }
    }
  });
}

// A part of the way to the context is published, the rest is found from there on.
TEST(Derive, PublishedPartOfTheWayToTheContextStays) {
  HeapShape shape{.net = Net::net10};
  HeapBuilder heap(shape);
  const i64 p = static_cast<i64>(heap.p);
  SegmentWriter &young = heap.segment(G::gen0);
  young.object(heap.object_type);
  heap.threads[0].context = young.context(64);
  Derived derived(heap);
  derived.published.types["Thread"].fields.erase("RuntimeThreadLocals");
  derived.published.types["EEAllocContext"].fields.erase("GCAllocationContext");
  derived.published.set_field("RuntimeThreadLocals", "AllocContext", p, Origin::published);
  ContractDescriptor descriptor = derived.descriptor();
  expect_published(descriptor, "RuntimeThreadLocals", "AllocContext", p);
  EXPECT_EQ(descriptor.try_offset("EEAllocContext", "GCAllocationContext"), i64{0});
}

// What the memory does not bear out stays, and is doubted.
TEST(Derive, PublishedOffsetThatMemoryRefutesStays) {
  for_each_layout({Net::net9, Net::net10}, [](const HeapShape &shape) {
    HeapBuilder heap(shape);
    const i64 wrong = static_cast<i64>((heap.layout.os_id + 3) * heap.p);
    ContractDescriptor descriptor = publishing(heap, "Thread", "OSId", wrong);
    expect_published(descriptor, "Thread", "OSId", wrong);
    EXPECT_TRUE(descriptor.doubted.contains("Thread.OSId"));
  });
}

// Of a sync table only what was in use is written; the rest is what the allocator's memory held before.
TEST(Derive, SyncTableWithUnusedEntriesOfAnything) {
  for_each_layout({Net::net8, Net::net9, Net::net10}, [](const HeapShape &shape) {
    for (bool published : {true, false})
      for (u32 freed : {0, 100}) { // before the only one that is in use
        HeapShape one = shape;
        one.published = published && shape.published;
        HeapBuilder heap(one);
        for (u32 i = 0; i < freed; ++i)
          heap.sync_block(0);
        heap.sync_block(heap.segment(G::gen2).object(heap.object_type));
        heap.unused_sync_entries = 0x726f4355;
        ContractDescriptor descriptor = Derived(heap).descriptor();
        EXPECT_EQ(descriptor.try_number("SyncTableEntries"), heap.variables.at("SyncTable"));
        EXPECT_EQ(descriptor.try_offset("SyncTableEntry", "Object"), static_cast<i64>(heap.p)) << freed;
        EXPECT_EQ(descriptor.try_number("SyncBlockCache"), heap.variables.at("SyncBlockCache"));
      }
  });
}

// 8.0: the numbers of modules that were unloaded are given away again, in any order; one may be half gone.
TEST(Derive, NumbersOfModulesInAnyOrder) {
  for_each_layout({Net::net8}, [](const HeapShape &shape) {
    const i64 right = 70 * static_cast<i64>(HeapBuilder(shape).p);
    auto found = [&](std::vector<std::optional<u64>> numbers) {
      HeapBuilder heap(shape);
      for (std::optional<u64> number : numbers) {
        ModuleWriter &module = heap.module("plugin.dll");
        module.metadata.assembly("plugin", {});
        module.number = number;
        module.half_gone = !number;
      }
      return Derived(heap).descriptor().try_offset("Module", "DomainLocalModule");
    };
    EXPECT_EQ(found({2, 3}), right);
    EXPECT_EQ(found({7, 4, 2}), right);
    EXPECT_EQ(found({5, std::nullopt, 3}), right);
    EXPECT_EQ(found({5, 5}), std::nullopt); // no two have the same
    EXPECT_EQ(found({std::nullopt, std::nullopt, std::nullopt}), std::nullopt);
  });
}

// A process whose only collectible module has a managed LoaderAllocator, and words that lead there, too.
struct WithAllocator {
  explicit WithAllocator(const HeapShape &shape) : heap(shape), p(heap.p) {
    u32 rid = heap.core().metadata.type("System.Reflection", "LoaderAllocator");
    type = heap.method_table({.base_size = static_cast<u32>(4 * p), .rid = rid, .module = heap.core().module});
    add_module();
  }
  // Returns the module's number.
  u64 add_module() {
    ModuleWriter &plugin = heap.module("plugin.dll");
    plugin.metadata.assembly("plugin", {});
    u32 flags = heap.shape.net == Net::net8 ? 0x10000000 : 0x00200000;
    heap.method_table({.flags = flags, .rid = plugin.metadata.type("Plug", "In"), .module = plugin.module});
    modules.push_back(plugin.module);
    return modules.size() - 1;
  }
  Address managed() { return (heap.segments.empty() ? heap.segment(G::gen2) : heap.segments[0]).object(type); }
  // Structures of so many words, odd numbers, as glibc's allocator lays them out: in front of each its size.
  std::vector<Address> pieces(const std::vector<u64> &words) {
    std::vector<Address> out;
    for (u64 size : words) {
      heap.native.words({(size + 1) * p | 1});
      out.push_back(heap.native.reserve(size * p, p));
    }
    heap.native.words({64 * p | 1}); // what is left
    return out;
  }
  // A structure whose word 5 is a handle of the object.
  Address allocator(Address object) {
    Address at = heap.native.reserve(31 * p);
    hold(at, object);
    return at;
  }
  void hold(Address allocator, Address object) { heap.native.pointer(allocator + 5 * p, heap.native.words({object})); }
  void lead(u64 module, u64 word, Address to) { heap.native.pointer(modules[module] + word * p, to); }
  std::optional<std::pair<i64, i64>> found() {
    ContractDescriptor d = Derived(heap).descriptor();
    std::optional<i64> x = d.try_offset("Module", "LoaderAllocator"),
                       y = d.try_offset("LoaderAllocator", "ObjectHandle");
    EXPECT_EQ(x.has_value(), !d.missing.contains("Module.LoaderAllocator"));
    if (!x || !y)
      return std::nullopt;
    return std::pair{*x / static_cast<i64>(p), *y / static_cast<i64>(p)};
  }

  HeapBuilder heap;
  const u64 p;
  Address type = 0;
  std::vector<Address> modules;
};

template <class Visit> void with_allocators(Visit visit) {
  for (Format format : all_formats)
    for (Net net : {Net::net8, Net::net9}) {
      HeapShape shape{.format = format, .net = net, .published = false};
      SCOPED_TRACE(name_of(shape));
      WithAllocator of(shape);
      visit(of);
    }
}

using Words = std::pair<i64, i64>;

TEST(Derive, CandidatesThatAgreeAreOne) {
  with_allocators([](WithAllocator &of) {
    Address allocator = of.allocator(of.managed());
    of.lead(0, 40, allocator);
    of.lead(0, 43, allocator);
    EXPECT_EQ(of.found(), Words(40, 5));
  });
}

TEST(Derive, CandidatesThatDisagreeAreNoAnswer) {
  with_allocators([](WithAllocator &of) {
    of.lead(0, 40, of.allocator(of.managed()));
    of.lead(0, 43, of.allocator(of.managed()));
    EXPECT_EQ(of.found(), std::nullopt);
  });
}

// They agree for one module, but not for the other.
TEST(Derive, CandidatesAreAskedAboutEveryModule) {
  with_allocators([](WithAllocator &of) {
    Address first = of.allocator(of.managed());
    of.add_module();
    of.lead(0, 40, first);
    of.lead(0, 43, first);
    of.lead(1, 40, of.allocator(of.managed()));
    of.lead(1, 43, of.allocator(of.managed()));
    EXPECT_EQ(of.found(), std::nullopt);
  });
}

// Behind the end of a small structure lies another one: what it says is not the small one's.
TEST(Derive, NothingIsLookedForBehindTheEndOfAStructure) {
  with_allocators([](WithAllocator &of) {
    std::vector<Address> pieces = of.pieces({5, 31});
    of.hold(pieces[1], of.managed());
    of.lead(0, 38, pieces[0]);
    of.lead(0, 40, pieces[1]);
    EXPECT_EQ(of.found(), Words(40, 5));
  });
}

// Its LoaderAllocator's handle is a weak one, and the object has been collected; or nothing is right any more.
TEST(Derive, ModulesThatAreHalfGoneSayNothing) {
  with_allocators([](WithAllocator &of) {
    of.add_module();
    of.add_module();
    of.add_module();
    of.lead(0, 40, of.allocator(of.managed()));
    of.lead(1, 40, of.allocator(0));
    of.lead(2, 40, of.allocator(of.managed()));
    of.lead(3, 40, 0x1230);
    EXPECT_EQ(of.found(), Words(40, 5));
  });
}

} // namespace
} // namespace dnheap::test
