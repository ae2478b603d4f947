// Type names and object layouts of MethodTables and TypeDescs, in the layouts of 8 to 11.
#include "support/opened.h"

#include <cstring>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// A process with no heap to speak of, in which types are written and then named.
class Types {
public:
  explicit Types(const HeapShape &shape) : heap(shape) {
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
  }
  const std::string &name(Address method_table) {
    if (!opened)
      opened.emplace(heap);
    return opened->runtime.types().name(method_table);
  }
  std::vector<std::string> problems() const { return opened->runtime.types().notes().texts(); }
  // A TypeDef, its name with namespace, its parameters.
  u32 define(const std::string &name_space, const std::string &name, const std::vector<std::string> &parameters = {}) {
    return parametrised(heap.app().metadata.type(name_space, name), parameters);
  }
  u32 nest(u32 enclosing, const std::string &name, const std::vector<std::string> &parameters = {}) {
    return parametrised(heap.app().metadata.nested(enclosing, name), parameters);
  }
  Address instance(u32 rid, const std::vector<Address> &arguments = {}, u32 ancestors = 0) {
    return heap.method_table({.rid = rid, .arguments = arguments, .ancestor_dictionaries = ancestors});
  }
  // {TypeAndFlags; from 9.0 on a handle; the rest}, as a TypeHandle.
  Address type_desc(u8 element, std::vector<u64> rest) {
    if (heap.shape.net != Net::net8)
      rest.insert(rest.begin(), 0x20202020);
    Address at = heap.native.words({0});
    heap.native.word(at, element);
    for (u64 word : rest)
      heap.native.pointer(heap.native.reserve(heap.p, 1), word);
    return at | 2;
  }

  HeapBuilder heap;
  std::optional<Opened> opened;

private:
  u32 parametrised(u32 rid, const std::vector<std::string> &parameters) {
    if (!parameters.empty())
      heap.app().metadata.generic(token(Table::TypeDef, rid), parameters);
    return rid;
  }
};

template <class Visit> void for_each_layout(Visit visit) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    visit(shape);
  }
}

TEST(RuntimeTypeSystem1, Names) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    std::map<Address, std::string> expected = {
        {t.heap.object_type, "System.Object"}, {t.heap.string_type, "System.String"}, {t.heap.free_type, "Free"}};
    auto expect = [&](Address mt, const std::string &name) {
      expected[mt] = name;
      return mt;
    };
    u32 outer = t.define("Shop", "Outer"), list = t.define("Shop", "List`1", {"T"}),
        pair = t.define("Shop", "Pair`2", {"K", "V"});
    expect(t.instance(outer), "Shop.Outer");
    expect(t.instance(t.nest(outer, "Inner")), "Shop.Outer+Inner");
    expect(t.instance(t.define("", "Global,Odd")), "Global\\,Odd");
    Address strings = expect(t.instance(list, {t.heap.string_type}), "Shop.List<System.String>");
    Address deep = expect(t.instance(pair, {strings, t.instance(list, {strings})}),
                          "Shop.Pair<Shop.List<System.String>, Shop.List<Shop.List<System.String>>>");
    expect(t.instance(t.nest(list, "Entry", {"T"}), {strings}), "Shop.List<Shop.List<System.String>>+Entry");
    expect(t.instance(t.nest(pair, "Pick`1", {"K", "V", "W"}), {t.heap.string_type, t.heap.object_type, strings}),
           "Shop.Pair<System.String, System.Object>+Pick<Shop.List<System.String>>");
    // The dictionaries of generic ancestors come first.
    expect(t.instance(pair, {t.heap.string_type, strings}, 3), "Shop.Pair<System.String, Shop.List<System.String>>");
    Address vector = expect(t.heap.array(deep, static_cast<u32>(t.heap.p)), expected[deep] + "[]");
    expect(t.heap.array(vector, static_cast<u32>(t.heap.p)), expected[deep] + "[][]");
    expect(t.heap.array(t.heap.string_type, static_cast<u32>(t.heap.p), 1), "System.String[*]");
    for (u32 rank = 2; rank <= 32; ++rank)
      expect(t.heap.array(t.heap.string_type, 4, rank), "System.String[" + std::string(rank - 1, ',') + "]");
    for (const auto &[mt, name] : expected)
      EXPECT_EQ(t.name(mt), name);
    EXPECT_TRUE(t.problems().empty()) << t.problems()[0];
  });
}

// Types that only occur as elements and arguments.
TEST(RuntimeTypeSystem1, TypeDescs) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    const u64 p = t.heap.p;
    Address pointer = t.type_desc(0x0f, {t.heap.string_type}), twice = t.type_desc(0x0f, {pointer}),
            reference = t.type_desc(0x10, {t.heap.object_type});
    auto counts = [&](u64 arguments) { // u32 NumArgs, u32 CallConv
      if (p == 4)
        return std::vector<u64>{arguments, 9};
      return std::vector<u64>{shape.format.byte_order == ByteOrder::little ? arguments | u64{9} << 32
                                                                           : arguments << 32 | 9};
    };
    auto function = [&](std::vector<u64> handles) {
      std::vector<u64> rest = counts(handles.size() - 1);
      rest.insert(rest.end(), handles.begin(), handles.end());
      return t.type_desc(0x1b, rest);
    };
    u32 list = t.define("Shop", "List`1", {"T"});
    Address variable = t.type_desc(0x13, {t.heap.app().module, 0, 0, 0, 0});
    // The token lies at five words, whatever comes before.
    t.heap.native.word((variable & ~u64{2}) + 5 * p, token(Table::GenericParam, 1));
    std::map<Address, std::string> expected = {
        {t.heap.array(pointer, 8), "System.String*[]"},
        {t.heap.array(twice, 8), "System.String**[]"},
        {t.heap.array(reference, 8), "System.Object&[]"},
        {t.heap.array(function({t.heap.string_type}), 8), "System.String()[]"},
        {t.heap.array(function({t.heap.object_type, pointer, t.heap.string_type}), 8),
         "System.Object(System.String*, System.String)[]"},
        {t.instance(list, {variable}), "Shop.List<T>"},
    };
    for (const auto &[mt, name] : expected)
      EXPECT_EQ(t.name(mt), name);
    EXPECT_TRUE(t.problems().empty()) << t.problems()[0];
  });
}

TEST(RuntimeTypeSystem1, DictionariesThatDoNotFit) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    u32 pair = t.define("Shop", "Pair`2", {"K", "V"});
    Address few = t.instance(pair, {t.heap.string_type}), none = t.instance(pair, {}),
            damaged = t.instance(pair, {t.heap.string_type, 0x1234568});
    EXPECT_EQ(t.name(few), "Shop.Pair<T1, T2>");
    EXPECT_EQ(t.name(none), "Shop.Pair<T1, T2>");
    EXPECT_EQ(t.name(damaged), "Shop.Pair<System.String, <unknown type 0x1234568>>");
    std::vector<std::string> problems = t.problems();
    ASSERT_EQ(problems.size(), 3u);
    EXPECT_EQ(problems[0], "MethodTables that are damaged or not in this dump");
    EXPECT_EQ(problems[1],
              "generic types for which GenericsDictInfo.NumDicts and NumTypeArgs do not fit their metadata");
    EXPECT_EQ(problems[2], "generic types whose arguments could not be found");
  });
}

TEST(RuntimeTypeSystem1, NamesThatContainThemselves) {
  Types t({});
  u32 list = t.define("Shop", "List`1", {"T"});
  Address endless = t.instance(list, {t.heap.string_type});
  u64 per_inst = 16 + 4 * t.heap.p;
  std::unique_ptr<Target> target = t.heap.target();
  Address dictionary = *target->memory.try_pointer(*target->memory.try_pointer(endless + per_inst));
  t.heap.poke(dictionary, endless, 8);
  EXPECT_LT(t.name(endless).size(), 10000u);
  ASSERT_EQ(t.problems().size(), 1u);
  EXPECT_NE(t.problems()[0].find("nested deeper than 32"), std::string::npos) << t.problems()[0];
}

// Sixty generic types in one another, and sixty of which each doubles the one within: names stay short.
TEST(RuntimeTypeSystem1, NamesOfDeepGenericTypes) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    u32 list = t.define("Shop", "List`1", {"T"}), pair = t.define("Shop", "Pair`2", {"K", "V"});
    Address lists = t.heap.string_type, pairs = t.heap.string_type, thirty = 0;
    for (int i = 0; i < 60; ++i) {
      lists = t.instance(list, {lists});
      pairs = t.instance(pair, {pairs, pairs});
      if (i == 29)
        thirty = lists;
    }
    std::string wanted = "System.String";
    for (int i = 0; i < 30; ++i)
      wanted = "Shop.List<" + wanted + ">";
    EXPECT_EQ(t.name(thirty), wanted);
    for (Address type : {lists, pairs}) {
      EXPECT_EQ(t.name(type).find("Shop."), 0u);
      EXPECT_LE(t.name(type).size(), 8192u + std::strlen("…")); // cut off
    }
    EXPECT_FALSE(t.problems().empty());
  });
}

// Of collectible types, by way of the module that loaded the type: handle → the managed LoaderAllocator.
TEST(RuntimeTypeSystem1, LoaderAllocatorOfCollectibleTypes) {
  for_each_layout([](const HeapShape &shape) {
    HeapBuilder heap(shape);
    const u64 p = heap.p;
    Address allocator = heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
    u32 collectible = shape.net == Net::net8 ? 0x10000000 : 0x00200000;
    Address type = heap.method_table({.flags = collectible}), plain = heap.method_table({});
    const i64 at = 0x800;
    heap.native.pointer(heap.app().module + at, heap.native.words({0, 0, heap.native.words({allocator})}));
    for (Address mt : {type, plain})
      if (shape.net != Net::net8)
        heap.native.pointer(mt + 16 + 2 * p, heap.native.words({0, heap.app().module, 0, 0}));
    Opened opened(heap);
    ContractDescriptor descriptor = opened.runtime.descriptor();
    descriptor.set_field("Module", "LoaderAllocator", at, Origin::published);
    descriptor.set_field("LoaderAllocator", "ObjectHandle", static_cast<i64>(2 * p), Origin::published);
    descriptor.set_field("MethodTableAuxiliaryData", "LoaderModule", static_cast<i64>(p), Origin::published);
    RuntimeTypeSystem1 types(opened.runtime.memory(), descriptor, opened.runtime.loader());
    EXPECT_EQ(types.loader_allocator_object(type), allocator);
    EXPECT_EQ(types.loader_allocator_object(plain), 0u);
    descriptor.types["LoaderAllocator"].fields.erase("ObjectHandle");
    EXPECT_EQ(types.loader_allocator_object(type), 0u);
  });
}

// Whatever a name does not deserve to be believed for is said.
TEST(RuntimeTypeSystem1, NamesThatDisagreeWithWhatElseIsKnown) {
  auto problems_of = [](auto prepare) {
    Types t({});
    t.name(prepare(t));
    return t.problems();
  };
  auto define = [](Types &t, const char *name, Token extends) {
    return t.heap.app().metadata.type("Shop", name, extends);
  };
  auto object = [](Types &t, const char *name = "Object") {
    return token(Table::TypeRef, t.heap.app().metadata.type_ref(0, "System", name));
  };
  const char *base = "types whose base type is not the one that their metadata names";
  using Problems = std::vector<std::string>;
  EXPECT_EQ(problems_of([&](Types &t) { return t.instance(define(t, "Order", object(t))); }), Problems{});
  EXPECT_EQ(problems_of([&](Types &t) { return t.instance(define(t, "Order", object(t, "ValueType"))); }),
            Problems{base});
  EXPECT_EQ(problems_of([&](Types &t) { return t.instance(define(t, "Order", token(Table::TypeDef, 1))); }),
            Problems{base});
  for (bool right : {true, false})
    EXPECT_EQ(problems_of([&](Types &t) {
                u32 order = define(t, "Order", object(t)), other = define(t, "Other", object(t)),
                    special = define(t, "Special", token(Table::TypeDef, right ? order : other));
                return t.heap.method_table({.rid = special, .parent = t.instance(order)});
              }),
              right ? Problems{} : Problems{base});
  EXPECT_EQ(problems_of([&](Types &t) {
              u32 rid = t.define("Shop", "Order");
              t.name(t.instance(rid));
              return Address{0x1000};
            }).size(),
            1u); // only that there is no such type
  for (const char *name :
       {"Or\001er", "Or\344er", "Or\303", "Or!er", "Or#er", "", "\355Order", "Order`1", "Shop.Order", "Order`12"})
    EXPECT_EQ(problems_of([&](Types &t) { return t.instance(t.define("Shop", name)); }).size(), 1u) << name;
  for (const char *name_space : {".Shop", "Shop.", "Shop..Cart", "List`1", "Sh\001op"})
    EXPECT_EQ(problems_of([&](Types &t) { return t.instance(t.define(name_space, "Order")); }).size(), 1u)
        << name_space;
  for (const char *name :
       {"<>c__DisplayClass1_0", "Bestellung\303\244", "\345\270\201", "\360\237\230\200", "clo@12-3", "a b", "Odd`",
        "<System-Collections.Generic.IEnumerable<A[],B&>-GetEnumerator>d__5", "__StaticArrayInitTypeSize=16"})
    EXPECT_EQ(problems_of([&](Types &t) { return t.instance(t.define("<StartupCode$Shop-Core>.A", name)); }),
              Problems{})
        << name;
}

TEST(RuntimeTypeSystem1, TypesThatShareARow) {
  Types t({});
  u32 order = t.define("Shop", "Order"), list = t.define("Shop", "List`1", {"T"});
  Address first = t.instance(order), second = t.instance(order);
  Address strings = t.instance(list, {t.heap.string_type}), objects = t.instance(list, {t.heap.object_type});
  for (Address mt : {first, strings, objects})
    t.name(mt);
  EXPECT_TRUE(t.problems().empty());
  t.name(second);
  EXPECT_EQ(t.problems(), std::vector<std::string>{"types that have the same row of metadata as another one"});
}

// A hostile process can have any number of types, each with the longest name there is.
TEST(RuntimeTypeSystem1, AllNamesTogetherHaveABound) {
  Types t({});
  u32 list = t.define("Shop", "List`1", {"T"});
  Address longest = t.instance(t.define("Shop", std::string(8000, 'x')));
  std::vector<Address> types;
  for (u64 i = 0; i < 20000; ++i)
    types.push_back(t.instance(list, {longest}));
  u64 characters = 0;
  for (Address mt : types)
    characters += t.name(mt).size();
  EXPECT_LT(characters, 70u << 20);
  ASSERT_EQ(t.problems().size(), 1u);
  EXPECT_NE(t.problems()[0].find("cut short"), std::string::npos) << t.problems()[0];
}

TEST(RuntimeTypeSystem1, MissingMetadata) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    ModuleWriter &plugin = t.heap.module("plugin.dll");
    plugin.has_image = false;
    Address lost = t.heap.method_table({.rid = 0x123, .module = plugin.module});
    Address array = t.heap.array(lost, 8);
    bool path_known = shape.net != Net::net8;
    char unnamed[40];
    std::snprintf(unnamed, sizeof unnamed, "<module 0x%llx>", static_cast<unsigned long long>(plugin.module));
    std::string module = path_known ? "plugin.dll" : unnamed;
    EXPECT_EQ(t.name(lost), module + "!0x02000123");
    EXPECT_EQ(t.name(array), module + "!0x02000123[]");
    ASSERT_EQ(t.problems().size(), 1u);
    EXPECT_EQ(t.problems()[0],
              "types shown by row number instead of name, since the dump lacks their module's metadata: " + module +
                  " (1 type)");
    EXPECT_EQ(t.opened->runtime.loader().modules_without_metadata(), std::vector<Address>{plugin.module});
  });
}

// Reflection.Emit: no image, but the runtime keeps the metadata for debuggers.
TEST(RuntimeTypeSystem1, EmittedModules) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    ModuleWriter &emitted = t.heap.module("<emitted>");
    emitted.has_image = false;
    u32 rid = emitted.metadata.type("Made", "AtRunTime");
    Address type = t.heap.method_table({.rid = rid, .module = emitted.module});
    std::vector<std::byte> metadata = emitted.metadata.write();
    Block &native = t.heap.native;
    Address place = emitted.module + 61 * t.heap.p;
    if (shape.net == Net::net8) { // {u32 size; …; bytes *}
      Address bytes = native.append(metadata), buffer = native.words({0, 0, bytes});
      native.word(buffer, metadata.size());
      native.pointer(place, buffer);
    } else { // {u32 size; bytes}
      Address at = native.reserve(4);
      native.word(at, metadata.size());
      native.append(metadata, 1);
      native.pointer(place, at);
    }
    EXPECT_EQ(t.name(type), "Made.AtRunTime");
    EXPECT_TRUE(t.problems().empty()) << t.problems()[0];
  });
}

// 8.0: MethodTable.Module is the module that loaded an instantiation; the one that defines it can lie in an optional
// slot, whose place depends on which other slots there are.
TEST(RuntimeTypeSystem1, ModuleOverrideSlot) {
  struct Case {
    u16 flags2;
    u64 words; // from PerInstInfo on
  };
  for (Format format : all_formats)
    for (Case c : {Case{0x10, 0}, {0x11, 1}, {0x12, 1}, {0x13, 3}, {0x17, 4}, {0x1f, 5}}) {
      SCOPED_TRACE(name_of(format) + " flags " + std::to_string(c.flags2));
      Types t({.format = format, .net = Net::net8, .published = false});
      u32 rid = t.define("Shop", "Item");
      // PerInstInfo's word is taken by the slot itself in the first case, so the type has no arguments.
      Address owner = t.heap.method_table({.flags = 0x30, .rid = rid, .module = t.heap.core().module});
      Address shared =
          t.heap.method_table({.flags = 0x10, .rid = rid, .module = t.heap.core().module, .canonical = owner});
      t.heap.native.half(owner + 8, c.flags2);
      t.heap.native.pointer(owner + 16 + 4 * t.heap.p + c.words * t.heap.p, t.heap.app().module);
      EXPECT_EQ(t.name(owner), "Shop.Item");
      EXPECT_EQ(t.name(shared), "Shop.Item");
    }
}

TEST(RuntimeTypeSystem1, Layouts) {
  for_each_layout([](const HeapShape &shape) {
    Types t(shape);
    const u32 p = static_cast<u32>(t.heap.p);
    u32 rid = t.define("", "Plain");
    Address plain = t.heap.method_table({.base_size = 5 * p, .rid = rid}),
            shared = t.heap.method_table({.base_size = 7 * p, .rid = rid, .canonical = plain}),
            array = t.heap.array(plain, 12, 2), small = t.instance(rid), large = t.instance(rid), odd = t.instance(rid),
            headless = t.instance(rid);
    t.heap.native.word(small + 4, 2 * p + 3);
    t.heap.native.word(large + 4, (1 << 30) + p);
    t.heap.native.word(odd + 4, 3 * p + 1);
    t.heap.native.pointer(headless + 16 + 3 * p, plain);
    t.name(plain);
    const RuntimeTypeSystem1 &types = t.opened->runtime.types();
    auto expect = [&](Address mt, u32 base, u32 component) {
      std::optional<ObjectLayout> layout = types.object_layout(mt);
      ASSERT_TRUE(layout);
      EXPECT_EQ(layout->base_size, base);
      EXPECT_EQ(layout->component_size, component);
    };
    expect(t.heap.free_type, 3 * p, 1);
    expect(t.heap.string_type, 2 * p + 6, 2);
    expect(plain, 5 * p, 0);
    expect(shared, 7 * p, 0);
    expect(array, 3 * p + 16, 12);
    for (Address none :
         {small, large, odd, headless, plain + p, plain + 1, Address{0}, Address{8}, ~Address{0} & ~Address{7}})
      EXPECT_FALSE(types.object_layout(none)) << none;
  });
}

} // namespace
} // namespace dnheap::test
