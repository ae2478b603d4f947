// What is derived of MethodTables, EEClasses and Modules: by String, Object and object[], which can be recognised by
// what they hold, and by CoreLib's metadata.
#include "runtime/layout/coreclr/field_desc.h"
#include "runtime/layout/coreclr/method_table.h"
#include "runtime/layout/coreclr/module.h"
#include "support/refound.h"

namespace dnheap::test {
namespace {

struct Types {
  explicit Types(const HeapShape &shape) : heap(shape), p(heap.p) {
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
    of.emplace(heap);
  }
  void derive(const std::vector<std::string> &names) {
    of->ask(names, [](Derivation &d) { derive_method_table(d); });
  }
  // In String's and in Object's MethodTable.
  void copy_word(u64 from, u64 to) {
    for (Address mt : {heap.string_type, heap.object_type})
      heap.poke(mt + to, of->word(mt + from), p);
  }
  u64 known(const char *type, const char *field) const { return static_cast<u64>(of->known.offset(type, field)); }

  HeapBuilder heap;
  const u64 p;
  std::optional<Refound> of;
};

const std::vector<std::string> type_names = {"StringMethodTable",
                                             "FreeObjectMethodTable",
                                             "ObjectArrayMethodTable",
                                             "MethodTable.ParentMethodTable",
                                             "MethodTable.EEClassOrCanonMT",
                                             "EEClass.MethodTable",
                                             "MethodTable.Module",
                                             "MethodTable.MTFlags2",
                                             "MethodTable.Token",
                                             "MethodTable.NumVirtuals",
                                             "MethodTable.NumInterfaces",
                                             "MethodTable.PerInstInfo",
                                             "Module.TypeDefToMethodTableMap"};

TEST(LayoutMethodTable, EverythingIsFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    t.derive(type_names);
    t.of->expect("StringMethodTable", t.heap.variables.at("String"));
    t.of->expect("FreeObjectMethodTable", t.heap.variables.at("Free"));
    t.of->expect("ObjectArrayMethodTable", t.heap.variables.at("ObjectArray"));
    t.of->expect("MethodTable.ParentMethodTable", 16);
    t.of->expect("MethodTable.Module", 16 + t.p);
    t.of->expect("MethodTable.EEClassOrCanonMT", 16 + 3 * t.p);
    t.of->expect("MethodTable.PerInstInfo", 16 + 4 * t.p);
    t.of->expect("MethodTable.NumVirtuals", 12);
    t.of->expect("MethodTable.NumInterfaces", 14);
    t.of->expect("EEClass.MethodTable", 2 * t.p);
    t.of->expect("Module.TypeDefToMethodTableMap", t.heap.layout.module_types * t.p);
    if (shape.net == Net::net8)
      t.of->expect("MethodTable.Token", 10);
    else
      t.of->expect("MethodTable.MTFlags2", 8);
  });
}

// A variable that leads to another type of a string's shape.
TEST(LayoutMethodTable, TwoStringsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    HeapBuilder heap(shape);
    Address other = heap.method_table(
        {.base_size = static_cast<u32>(2 * heap.p + 6), .component_size = 2, .module = heap.core().module});
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
    Refound of(heap);
    heap.poke(heap.variables.at("Suspension"), other, heap.p);
    of.ask(type_names, [](Derivation &d) { derive_method_table(d); });
    of.expect_refused("StringMethodTable", "2 candidates");
    of.expect("FreeObjectMethodTable", heap.variables.at("Free"));
    EXPECT_EQ(of.value("MethodTable.Module"), std::nullopt);
  });
}

TEST(LayoutMethodTable, AStringOfAnotherSizeIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    t.heap.poke(t.heap.string_type + 4, 2 * t.p + 8, 4);
    t.derive(type_names);
    t.of->expect_refused("StringMethodTable", "0 candidates");
  });
}

// Another word leads to the same class.
TEST(LayoutMethodTable, TwoWaysToTheClassAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    t.copy_word(16 + 3 * t.p, 16 + 2 * t.p);
    t.derive(type_names);
    t.of->expect_refused("MethodTable.EEClassOrCanonMT", "point back");
    t.of->expect("MethodTable.ParentMethodTable", 16);
  });
}

TEST(LayoutMethodTable, AClassThatDoesNotPointBackIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    const Address own = t.of->word(t.heap.object_type + 16 + 3 * t.p);
    t.heap.poke(own + 2 * t.p, t.heap.string_type, t.p);
    t.derive(type_names);
    t.of->expect_refused("MethodTable.EEClassOrCanonMT", "point back");
  });
}

TEST(LayoutMethodTable, TwoModulesAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    t.copy_word(16 + t.p, 16 + 2 * t.p);
    t.derive(type_names);
    t.of->expect_refused("MethodTable.Module", "the Module whose metadata defines them");
    EXPECT_EQ(t.of->value("Module.TypeDefToMethodTableMap"), std::nullopt);
  });
}

// Object has an interface, it seems.
TEST(LayoutMethodTable, OtherNumbersOfVirtualsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    t.heap.poke(t.heap.object_type + 14, 1, 2);
    t.derive(type_names);
    t.of->expect_refused("MethodTable.NumVirtuals", "four virtual methods and no interface");
  });
}

const std::vector<std::string> module_names = {"Module.Base", "Module.PEAssembly", "PEImage.LoadedImageLayout",
                                               "PEAssembly.PEImage", "PEImageLayout.Base"};

TEST(LayoutModule, CoreLibsModuleLeadsToItsMetadata) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    std::optional<ModuleMetadata> metadata;
    t.of->ask(module_names,
              [&](Derivation &d) { EXPECT_TRUE(derive_core_module(d, t.heap.core().module, metadata).passes()); });
    ASSERT_TRUE(metadata);
    EXPECT_EQ(metadata->metadata.assembly()->name, "System.Private.CoreLib");
    if (shape.net == Net::net8) {
      t.of->expect("Module.PEAssembly", t.heap.layout.module_assembly * t.p);
      t.of->expect("PEImage.LoadedImageLayout", t.heap.layout.loaded_layout * t.p);
      EXPECT_EQ(t.of->value("Module.Base"), std::nullopt);
    } else {
      t.of->expect("Module.Base", t.heap.layout.module_base * t.p);
    }
  });
}

// Of words that lead to the same image the first counts: what lies behind a Module may point there, too.
TEST(LayoutModule, TheFirstOfTwoWordsCounts) {
  for_each_unpublished({Net::net9, Net::net10}, [](const HeapShape &shape) {
    for (auto [word, right] : {std::pair<u64, u64>{2, 2}, {100, 0}}) {
      Types t(shape);
      t.heap.poke(t.heap.core().module + word * t.p, t.heap.core().image, t.p);
      std::optional<ModuleMetadata> metadata;
      t.of->ask(module_names, [&](Derivation &d) { derive_core_module(d, t.heap.core().module, metadata); });
      t.of->expect("Module.Base", (right ? right : t.heap.layout.module_base) * t.p);
    }
  });
}

TEST(LayoutModule, AnotherModuleIsNotCoreLibs) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    std::optional<ModuleMetadata> metadata;
    t.of->ask(module_names,
              [&](Derivation &d) { EXPECT_TRUE(derive_core_module(d, t.heap.app().module, metadata).fails()); });
    t.of->expect_refused("Module.Base", "System.Private.CoreLib");
  });
}

const std::vector<std::string> field_names = {"EEClass.FieldDescList", "EEClass.InternalCorElementType",
                                              "EEClass.BaseSizePadding"};

void derive_fields(Types &t) {
  t.of->ask(field_names, [](Derivation &d) { derive_field_desc(d); });
}
// The classes of all types that CoreLib has loaded.
std::vector<Address> classes(Types &t) {
  const Address map = t.heap.core().module + t.known("Module", "TypeDefToMethodTableMap");
  const Address table = t.of->word(map + t.p);
  std::vector<Address> out;
  for (u32 rid = 1; rid <= t.heap.core().metadata.row_count(Table::TypeDef); ++rid)
    if (Address mt = t.of->word(table + rid * t.p))
      out.push_back(t.of->word(mt + 16 + 3 * t.p));
  return out;
}

TEST(LayoutFieldDesc, ListAndTypeAreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    derive_fields(t);
    t.of->expect("EEClass.FieldDescList", 3 * t.p);
    t.of->expect("EEClass.InternalCorElementType", 5 * t.p + 8);
    EXPECT_TRUE(t.of->value("EEClass.BaseSizePadding"));
  });
}

TEST(LayoutFieldDesc, TwoListsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    const std::vector<Address> all = classes(t);
    ASSERT_GE(all.size(), 5u);
    for (Address own : all)
      t.heap.poke(own + 4 * t.p, t.of->word(own + 3 * t.p), t.p);
    derive_fields(t);
    t.of->expect_refused("EEClass.FieldDescList", "FieldDescs that point at their type");
  });
}

TEST(LayoutFieldDesc, AListThatNamesAnotherTypeIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    const Address own = t.of->word(t.heap.string_type + 16 + 3 * t.p);
    t.heap.poke(t.of->word(own + 3 * t.p), t.heap.object_type, t.p);
    derive_fields(t);
    t.of->expect_refused("EEClass.FieldDescList", "FieldDescs that point at their type");
  });
}

TEST(LayoutFieldDesc, TwoBytesWithTheTypeAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Types t(shape);
    for (Address own : classes(t)) {
      const Address from = own + 5 * t.p + 8;
      t.heap.poke(own, *t.of->sound->memory.try_load<u8>(from), 1); // where a vtable pointer would be
    }
    derive_fields(t);
    t.of->expect_refused("EEClass.InternalCorElementType", "the element type of the only field");
    t.of->expect("EEClass.FieldDescList", 3 * t.p);
  });
}

} // namespace
} // namespace dnheap::test
