// How an application's assemblies, their generic types and what each module says of itself are found.
#include "runtime/layout/coreclr/assemblies.h"
#include "runtime/layout/coreclr/loaded_modules.h"
#include "support/refound.h"

namespace dnheap::test {
namespace {

const std::vector<std::string> names = {"AppDomain", "AppDomain.AssemblyList", "Assembly.Module",
                                        "Module.AvailableTypeParams", "MethodTable.AuxiliaryData"};

struct Assemblies {
  explicit Assemblies(const HeapShape &shape) : heap(shape), p(heap.p) {
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
    of.emplace(heap);
    domain = of->word(heap.variables.at("AppDomain"));
    type_params = (heap.layout.module_types + 23) * p;
  }
  bool derive() {
    bool out = false;
    of->ask(names, [&](Derivation &d) { out = derive_assemblies(d, of->gc_variable()); });
    return out;
  }

  HeapBuilder heap;
  const u64 p;
  Address domain = 0;
  u64 type_params = 0; // in a Module
  std::optional<Refound> of;
};

TEST(LayoutAssemblies, AreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Assemblies t(shape);
    EXPECT_TRUE(t.derive());
    // Whatever variable leads there.
    ASSERT_TRUE(t.of->value("AppDomain") && t.of->value("AppDomain.AssemblyList"));
    EXPECT_EQ(t.of->word(*t.of->value("AppDomain")) + *t.of->value("AppDomain.AssemblyList"), t.domain + 40 * t.p);
    t.of->expect("Assembly.Module", (shape.net == Net::net8 ? 3 : 2) * t.p);
    t.of->expect("Module.AvailableTypeParams", t.type_params);
    if (shape.net != Net::net8)
      t.of->expect("MethodTable.AuxiliaryData", 16 + 2 * t.p);
  });
}

TEST(LayoutAssemblies, TwoListsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Assemblies t(shape);
    for (u64 i = 0; i < 5; ++i) // count, next block, size, two elements
      t.heap.poke(t.domain + (60 + i) * t.p, t.of->word(t.domain + (40 + i) * t.p), t.p);
    EXPECT_TRUE(t.derive());
    t.of->expect_refused("AppDomain", "begins with CoreLib");
    EXPECT_EQ(t.of->value("AppDomain.AssemblyList"), std::nullopt);
  });
}

TEST(LayoutAssemblies, AListThatDoesNotBeginWithCoreLibIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Assemblies t(shape);
    for (u64 i = 0; i < 2; ++i) // the application comes first
      t.heap.poke(t.domain + (43 + i) * t.p, t.of->word(t.domain + (44 - i) * t.p), t.p);
    EXPECT_TRUE(t.derive());
    t.of->expect_refused("AppDomain", "begins with CoreLib");
  });
}

TEST(LayoutAssemblies, TwoTablesOfGenericTypesAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Assemblies t(shape);
    const Address core = t.heap.core().module;
    t.heap.poke(core + t.type_params + t.p, t.of->word(core + t.type_params), t.p);
    t.derive();
    t.of->expect_refused("Module.AvailableTypeParams", "that holds only types");
  });
}

TEST(LayoutAssemblies, ATableThatHoldsOtherThingsIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Assemblies t(shape);
    // → the buckets → the first chain's first entry
    const Address table = t.of->word(t.heap.core().module + t.type_params);
    const Address entry = t.of->word(t.of->word(table + 2 * t.p) + 3 * t.p);
    t.heap.poke(entry, t.heap.core().module, t.p);
    t.derive();
    t.of->expect_refused("Module.AvailableTypeParams", "that holds only types");
  });
}

TEST(LayoutAssemblies, WithoutCoreLibNothingIsLookedFor) {
  Assemblies t({.net = Net::net9, .published = false});
  bool found = true;
  t.of->ask({"StringMethodTable"}, [&](Derivation &d) { found = derive_assemblies(d, t.of->gc_variable()); });
  EXPECT_FALSE(found);
}

// .NET 8: where a module has its statics. (Modules that were unloaded, and LoaderAllocators: derive_test.cc.)
TEST(LayoutLoadedModules, StaticsOfAModuleAreFoundRefusedTwiceAndWrong) {
  for_each_unpublished({Net::net8}, [](const HeapShape &shape) {
    auto ask = [&](auto change) {
      auto t = std::make_unique<Assemblies>(shape);
      change(*t);
      const std::vector<Address> modules = {t->heap.core().module, t->heap.app().module};
      t->of->ask({"Module.DomainLocalModule"},
                 [&](Derivation &d) { derive_loaded_modules(d, modules, [](Address) { return nullptr; }); });
      return t;
    };
    const u64 p = shape.format.pointer_size;
    ask([](Assemblies &) {})->of->expect("Module.DomainLocalModule", 70 * p);
    ask([&](Assemblies &t) {
      for (const ModuleWriter &module : t.heap.modules)
        t.heap.poke(module.module + 90 * p, t.of->word(module.module + 70 * p), p);
    })->of->expect_refused("Module.DomainLocalModule", "to a number that no other module has");
    ask([&](Assemblies &t) { // both say that they are the first
      t.heap.poke(t.of->word(t.heap.app().module + 70 * p) + 5 * p, 0, p);
    })
        ->of->expect_refused("Module.DomainLocalModule", "to a number that no other module has");
  });
}

} // namespace
} // namespace dnheap::test
