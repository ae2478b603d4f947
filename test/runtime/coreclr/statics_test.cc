// Static fields and thread statics of CoreCLR: by name from a whole process, and, way by way, where one type has its
// own: beside its MethodTable (.NET 9 on), in its module (.NET 8).
#include "runtime/coreclr/statics/auxiliary_statics.h"
#include "runtime/coreclr/statics/core_clr_statics.h"
#include "runtime/coreclr/statics/module_statics.h"
#include "support/opened.h"
#include "support/statics_heap.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

template <class Visit> void for_each_layout(bool of_modules, Visit visit) {
  for (const HeapShape &shape : type_layouts())
    if ((shape.net == Net::net8) == of_modules) {
      SCOPED_TRACE(name_of(shape));
      visit(shape);
    }
}

TEST(CoreClrStatics, AllThatHoldAnObjectByName) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    StaticsHeap heap(shape);
    Opened opened(heap);
    Notes problems;
    std::vector<StaticRoot> roots = opened.runtime.static_roots(problems);
    EXPECT_TRUE(problems.empty()) << problems[0].text;
    auto is = [&](const std::string &name, Address slot, Address object, Address thread, Address holder) {
      auto root = std::find_if(roots.begin(), roots.end(), [&](const StaticRoot &r) { return r.name == name; });
      ASSERT_NE(root, roots.end()) << name;
      EXPECT_EQ(root->slot, slot) << name;
      EXPECT_EQ(root->object, object) << name;
      EXPECT_EQ(root->thread, thread) << name;
      EXPECT_EQ(root->holder, holder) << name;
      EXPECT_TRUE(root->is_root) << name;
    };
    const Address thread = heap.threads[1].address;
    is("Shop.Cache._items", heap.slot(heap.holder, 2), heap.objects_of_test[0], 0, heap.holder);
    is("Shop.Cache._boxed", heap.slot(heap.holder, 3), heap.objects_of_test[1], 0, heap.holder);
    is("Shop.Cache._mine", heap.slot(heap.thread_holder, 1), heap.objects_of_test[3], thread, heap.thread_holder);
    const bool has_array = shape.net != Net::net8;
    EXPECT_EQ(roots.size(), has_array ? 4u : 3u); // not _null, not the instance field, no number
    EXPECT_EQ(std::count_if(roots.begin(), roots.end(),
                            [&](const StaticRoot &r) {
                              return r.name == "<array of thread statics>" && r.object == heap.thread_array &&
                                     r.thread == thread;
                            }),
              has_array ? 1 : 0);
    EXPECT_TRUE(std::is_sorted(roots.begin(), roots.end(),
                               [](const StaticRoot &a, const StaticRoot &b) { return a.slot < b.slot; }));
  }
}

// Without the list of modules there are no types to ask; without a way to statics nothing is asked.
TEST(CoreClrStatics, WhatIsMissingIsSaid) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    StaticsHeap heap(shape);
    Opened opened(heap);
    ContractDescriptor less = opened.runtime.descriptor();
    auto ask = [&] {
      Notes problems;
      EXPECT_TRUE(CoreClrStatics(opened.target->memory, less, opened.runtime.types(), opened.runtime.field_descs(),
                                 opened.runtime.gc())
                      .static_roots({}, problems)
                      .empty());
      return problems.empty() ? "" : problems[0].text;
    };
    less.globals.erase("AppDomain");
    EXPECT_NE(ask().find("static fields are not named: "), std::string::npos);
    less.types["MethodTable"].fields.erase("AuxiliaryData");
    less.types["Module"].fields.erase("DomainLocalModule");
    EXPECT_NE(ask().find("static fields are not named: these values were not found: "), std::string::npos);
  }
}

// What a StaticsHeap says after a change: `change` gets the heap after it was written.
template <class Storage> struct Asked {
  template <class Change>
  Asked(const HeapShape &shape, Change change) : heap(shape), spare(heap.native.words(std::vector<u64>(16))) {
    {
      Opened sound(heap);
      descriptor = sound.runtime.descriptor();
      Notes problems;
      threads = sound.runtime.threads(problems);
      memory = &sound.target->memory;
      change(*this);
      memory = nullptr;
    }
    opened.emplace(heap);
    if constexpr (std::is_same_v<Storage, ModuleStatics>) {
      descriptor.set_field("EEClass", "ModuleDynamicID", static_cast<i64>(dynamic_id()), Origin::discovered);
      storage.emplace(opened->target->memory, descriptor, opened->runtime.types(), opened->runtime.field_descs());
    } else {
      storage.emplace(opened->target->memory, descriptor, opened->runtime.types());
    }
  }
  u64 word(Address at) const { return memory->pointer(at, "a word"); }
  void poke(Address at, u64 value) { heap.poke(at, value, heap.p); }
  // Of the EEClass: a word that nothing else uses.
  u64 dynamic_id() const { return 7 * heap.p; }
  std::optional<StaticPlace> statics() const { return storage->statics(heap.cache); }
  std::optional<StaticPlace> of_thread(u64 i) const { return storage->thread_statics(heap.cache, threads.at(i)); }

  StaticsHeap heap;
  Address spare;                  // sixteen words
  const Memory *memory = nullptr; // while it is changed
  std::optional<Opened> opened;
  ContractDescriptor descriptor;
  std::optional<Storage> storage;
  std::vector<ThreadData> threads;
};

using Beside = Asked<AuxiliaryStatics>;

// In front of the auxiliary data: the thread statics' index, the base, the MethodTable.
Address auxiliary(const Beside &a) { return a.word(a.heap.cache + 16 + 2 * a.heap.p); }
Address thread_data(const Beside &a) { return a.word(a.heap.threads[1].address + 66 * a.heap.p); }

TEST(AuxiliaryStatics, BaseAndThreadsObject) {
  for_each_layout(false, [](const HeapShape &shape) {
    Beside a(shape, [](Beside &) {});
    EXPECT_TRUE(a.storage->has_statics(a.heap.cache));
    EXPECT_FALSE(a.storage->has_statics(a.heap.object_type));
    ASSERT_TRUE(a.statics());
    EXPECT_EQ(a.statics()->base, a.heap.slot(a.heap.holder, 1));
    EXPECT_TRUE(a.statics()->is_root);
    EXPECT_FALSE(a.of_thread(0)); // it has none
    ASSERT_TRUE(a.of_thread(1));
    EXPECT_EQ(a.of_thread(1)->base, a.heap.thread_holder);
    EXPECT_EQ(a.of_thread(1)->holder, a.heap.thread_holder);
    EXPECT_TRUE(a.of_thread(1)->is_root);
    EXPECT_EQ(a.storage->thread_array(a.threads[1]), a.heap.thread_array);
    EXPECT_EQ(a.storage->thread_array(a.threads[0]), 0u);
    EXPECT_EQ(a.storage->why_missing(), "");
  });
}

// The lowest bit is set until the type has been initialized.
TEST(AuxiliaryStatics, ATypeThatIsNotInitializedHasThemAlready) {
  for_each_layout(false, [](const HeapShape &shape) {
    Beside a(shape, [](Beside &x) { x.poke(auxiliary(x) - 3 * x.heap.p, x.heap.slot(x.heap.holder, 1) | 1); });
    ASSERT_TRUE(a.statics());
    EXPECT_EQ(a.statics()->base, a.heap.slot(a.heap.holder, 1));
  });
}

TEST(AuxiliaryStatics, WhatDoesNotNameTheTypeIsNotIts) {
  for_each_layout(false, [](const HeapShape &shape) {
    Beside a(shape, [](Beside &x) { x.poke(auxiliary(x) - x.heap.p, x.heap.object_type); });
    EXPECT_FALSE(a.statics());
    EXPECT_FALSE(a.of_thread(1));
  });
}

TEST(AuxiliaryStatics, AnIndexBehindTheEndIsNone) {
  for_each_layout(false, [](const HeapShape &shape) {
    Beside a(shape, [](Beside &x) { x.heap.poke(thread_data(x), 3, 4); });
    EXPECT_TRUE(a.statics());
    EXPECT_FALSE(a.of_thread(1));
    Beside none(shape, [](Beside &x) { x.heap.poke(auxiliary(x) - 4 * x.heap.p - 4, 0xffffffff, 4); });
    EXPECT_FALSE(none.of_thread(1));
  });
}

// Until they are asked for the first time they stand in a list: {next, index, handle}. It may run in a circle.
TEST(AuxiliaryStatics, ThoseInFlight) {
  for_each_layout(false, [](const HeapShape &shape) {
    auto in_flight = [&](u32 index) {
      return Beside(shape, [&](Beside &x) {
        const u64 p = x.heap.p;
        x.heap.poke(thread_data(x), 3, 4);
        x.poke(thread_data(x) + 8 + 3 * p, x.spare);
        x.poke(x.spare, x.spare + 3 * p);
        x.heap.poke(x.spare + p, 77, 4);
        x.poke(x.spare + 3 * p, x.spare);
        x.heap.poke(x.spare + 4 * p, index, 4);
        x.poke(x.spare + 5 * p, x.spare + 6 * p);
        x.poke(x.spare + 6 * p, x.heap.thread_holder);
      });
    };
    Beside there = in_flight(3), not_there = in_flight(4);
    ASSERT_TRUE(there.of_thread(1));
    EXPECT_EQ(there.of_thread(1)->base, there.heap.thread_holder);
    EXPECT_FALSE(not_there.of_thread(1));
  });
}

// The index' highest byte says in what array: of collectible types over handles; or in the thread's data themselves.
TEST(AuxiliaryStatics, OfCollectibleTypesAndInTheThreadsOwnData) {
  for_each_layout(false, [](const HeapShape &shape) {
    Beside collectible(shape, [](Beside &x) {
      const u64 p = x.heap.p;
      x.heap.poke(auxiliary(x) - 4 * p - 4, 1 << 24 | 1, 4);
      x.heap.poke(thread_data(x) + 4, 2, 4);
      x.poke(thread_data(x) + 8 + p, x.spare);
      x.poke(x.spare + p, x.spare + 4 * p);
      x.poke(x.spare + 4 * p, x.heap.thread_holder);
    });
    ASSERT_TRUE(collectible.of_thread(1));
    EXPECT_EQ(collectible.of_thread(1)->base, collectible.heap.thread_holder);
    EXPECT_FALSE(collectible.of_thread(1)->is_root);
    Address data = 0;
    Beside direct(shape, [&](Beside &x) {
      data = thread_data(x);
      x.heap.poke(auxiliary(x) - 4 * x.heap.p - 4, 2 << 24 | 0x20, 4);
    });
    ASSERT_TRUE(direct.of_thread(1));
    EXPECT_EQ(direct.of_thread(1)->base, data + 0x20);
    EXPECT_FALSE(direct.of_thread(1)->is_root);
  });
}

using InModule = Asked<ModuleStatics>;

// {assembly, dynamic classes, their number, 0, base, number of the module}
Address local_module(InModule &a) { return a.word(a.heap.app().module + 70 * a.heap.p); }
TEST(ModuleStatics, BaseAndThreadsArray) {
  for_each_layout(true, [](const HeapShape &shape) {
    InModule a(shape, [](InModule &) {});
    EXPECT_EQ(a.storage->why_missing(), "");
    ASSERT_TRUE(a.statics());
    EXPECT_EQ(a.statics()->base, a.heap.slot(a.heap.holder, 1));
    EXPECT_FALSE(a.of_thread(0));
    ASSERT_TRUE(a.of_thread(1));
    EXPECT_EQ(a.of_thread(1)->base, a.heap.slot(a.heap.thread_holder, 0));
    EXPECT_EQ(a.of_thread(1)->holder, a.heap.thread_holder);
  });
}

TEST(ModuleStatics, AModuleOrAThreadWithoutThemHasNone) {
  for_each_layout(true, [](const HeapShape &shape) {
    InModule no_base(shape, [](InModule &x) { x.poke(local_module(x) + 4 * x.heap.p, 0); });
    EXPECT_FALSE(no_base.statics());
    EXPECT_TRUE(no_base.of_thread(1));
    InModule short_table(shape, [](InModule &x) { x.poke(x.heap.threads[1].address + 67 * x.heap.p, 1); });
    EXPECT_TRUE(short_table.statics());
    EXPECT_FALSE(short_table.of_thread(1));
    InModule large_number(shape, [](InModule &x) { x.poke(local_module(x) + 5 * x.heap.p, 70000); });
    EXPECT_FALSE(large_number.of_thread(1));
  });
}

// Instantiations, and all types of collectible modules, have an entry {base, flags} of their own.
TEST(ModuleStatics, DynamicClassesHaveEntries) {
  for_each_layout(true, [](const HeapShape &shape) {
    constexpr u32 dynamic_statics = 2, collectible = 8;
    // The third entry leads to `content`; as many entries as `count`.
    auto ask = [&](u32 flags, u64 count, auto content) {
      return InModule(shape, [&](InModule &x) {
        const u64 p = x.heap.p;
        const Address mt = x.heap.cache, own = x.word(mt + 16 + 3 * p);
        const u32 before =
            load<u32>(x.heap.native.bytes().data() + (mt - x.heap.native.address()), shape.format.byte_order);
        x.heap.poke(mt, before | dynamic_statics, 4);
        x.heap.poke(own + x.dynamic_id(), 2, 4);
        x.poke(local_module(x) + p, x.spare);
        x.poke(local_module(x) + 2 * p, count);
        x.poke(x.spare + 4 * p, x.spare + 8 * p);
        x.heap.poke(x.spare + 5 * p, flags, 4);
        x.poke(x.spare + 8 * p, content(x));
      });
    };
    auto holder = [](InModule &x) { return x.heap.slot(x.heap.holder, 1); };
    InModule found = ask(0, 3, holder), behind = ask(0, 2, holder);
    ASSERT_TRUE(found.statics());
    EXPECT_EQ(found.statics()->base, found.heap.slot(found.heap.holder, 1));
    EXPECT_FALSE(behind.statics());
    // A loader's handle: an odd one is the address of what holds the array.
    InModule loaders = ask(collectible, 3, [](InModule &x) {
      x.poke(x.spare + 10 * x.heap.p, x.heap.holder);
      return (x.spare + 10 * x.heap.p) | 1;
    });
    ASSERT_TRUE(loaders.statics());
    EXPECT_EQ(loaders.statics()->base, loaders.heap.slot(loaders.heap.holder, 0));
    EXPECT_EQ(loaders.statics()->holder, loaders.heap.holder);
    EXPECT_FALSE(loaders.statics()->is_root);
  });
}

TEST(ModuleStatics, MembersThatAreNotKnownAreNamed) {
  for_each_layout(true, [](const HeapShape &shape) {
    InModule a(shape, [](InModule &) {});
    ContractDescriptor less = a.descriptor;
    less.types["Module"].fields.erase("DomainLocalModule");
    less.types["EEClass"].fields.erase("ModuleDynamicID");
    EXPECT_EQ(ModuleStatics(a.opened->target->memory, less, a.opened->runtime.types(), a.opened->runtime.field_descs())
                  .why_missing(),
              "Module.DomainLocalModule, EEClass.ModuleDynamicID");
  });
}

} // namespace
} // namespace dnheap::test
