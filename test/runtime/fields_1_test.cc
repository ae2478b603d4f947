// Fields, names of references and delegates of CoreCLR, in every layout: synthetic types with each shape that a
// reference can have.
#include "runtime/string_object.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 value_category = 0x40000;

// A process in which types with fields are written; it is opened at the first question.
class Process {
public:
  explicit Process(const HeapShape &shape) : heap(shape), p(static_cast<u32>(heap.p)) {}

  // A TypeDef of the application; its fields come next.
  u32 define(const std::string &name, u32 flags = 1) { return heap.app().metadata.type("Shop", name, 0, flags); }
  FieldShape field(const std::string &name, u32 offset, ElementType type = ElementType::Class, Blob signature = {}) {
    if (signature.empty())
      signature = element(type == ElementType::Class ? ElementType::Object : type);
    return {heap.app().metadata.field(name, field_signature(signature)), type, offset};
  }
  FieldShape struct_field(const std::string &name, u32 offset, u32 type_rid) {
    return field(name, offset, ElementType::ValueType,
                 type_reference(ElementType::ValueType, token(Table::TypeDef, type_rid)));
  }
  Address add(u32 rid, u64 bytes, const std::vector<FieldShape> &fields, Address parent = 0, u32 flags = 0) {
    TypeShape shape{.base_size = static_cast<u32>(2 * p + bytes), .flags = flags, .rid = rid};
    if (parent)
      shape.parent = parent;
    Address mt = heap.method_table(shape);
    heap.fields(mt, fields);
    return mt;
  }
  Address add_struct(u32 rid, u64 bytes, const std::vector<FieldShape> &fields) {
    Address mt = add(rid, align_up(bytes, p), fields, 0, value_category);
    heap.value_type(mt, ElementType::ValueType, bytes);
    return mt;
  }
  Opened &open() {
    if (!opened) {
      if (heap.segments.empty())
        heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
      opened.emplace(heap);
    }
    return *opened;
  }
  Fields &fields() { return open().runtime.fields(); }
  std::string name(Address mt, u64 offset) { return fields().text(fields().reference(mt, offset)); }
  std::string exact(Address mt, u64 offset, Address object = 0) { return fields().exact_reference(object, mt, offset); }

  HeapBuilder heap;
  const u32 p;
  std::optional<Opened> opened;
};

template <class Visit> void for_each_layout(Visit visit) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    visit(shape);
  }
}

TEST(Fields1, OwnAndInherited) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 base_rid = t.define("Base");
    Address base = t.add(base_rid, 2 * t.p,
                         {t.field("_first", 0),
                          t.field("_count", t.p, ElementType::I4),
                          {t.heap.app().metadata.field("Cache", field_signature(element(ElementType::Object)), 0x16),
                           ElementType::Class, 24, true}});
    u32 rid = t.define("Derived");
    Address derived =
        t.add(rid, 3 * t.p, {t.field("_text", 2 * t.p, ElementType::Class, element(ElementType::String))}, base);
    const std::vector<InstanceField> &fields = t.fields().instance_fields(derived);
    ASSERT_EQ(fields.size(), 3u);
    EXPECT_EQ(fields[0].name, "_first");
    EXPECT_EQ(fields[0].offset, t.p);
    EXPECT_EQ(fields[0].declaring_type, base);
    EXPECT_EQ(fields[1].type, ElementType::I4);
    EXPECT_EQ(fields[1].size, 4u);
    EXPECT_EQ(fields[2].type_name, "System.String");
    EXPECT_EQ(fields[2].size, t.p);
    EXPECT_EQ(t.name(derived, t.p), "._first");
    EXPECT_EQ(t.name(derived, 3 * t.p), "._text");
    EXPECT_EQ(t.name(derived, 2 * t.p), "."
                                        "0x" +
                                            std::string(t.p == 8 ? "10" : "8")); // no reference
    // The type's own list has the static, too.
    auto own = t.open().runtime.field_descs().own_fields(base);
    ASSERT_TRUE(own && own->size() == 3);
    EXPECT_TRUE((*own)[2].is_static);
    EXPECT_EQ((*own)[2].offset, 24u);
    EXPECT_EQ(t.open().runtime.field_descs().name((*own)[2]), "Cache");
    EXPECT_TRUE(t.fields().problems().empty()) << t.fields().problems()[0];
  });
}

TEST(Fields1, StructsAndArrays) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 entry_rid = t.define("Entry");
    Address entry = t.add_struct(entry_rid, 3 * t.p,
                                 {t.field("key", 0), t.field("hash", t.p, ElementType::I4), t.field("value", 2 * t.p)});
    u32 outer_rid = t.define("Outer");
    Address outer =
        t.add(outer_rid, 5 * t.p,
              {t.field("_id", 0, ElementType::I), t.struct_field("_entry", t.p, entry_rid), t.field("_next", 4 * t.p)});
    EXPECT_EQ(t.fields().instance_fields(outer).at(1).method_table, entry);
    EXPECT_EQ(t.fields().instance_fields(outer).at(1).type_name, "Shop.Entry");
    EXPECT_EQ(t.fields().instance_fields(outer).at(1).size, 3 * t.p);
    EXPECT_EQ(t.name(outer, 2 * t.p), "._entry.key");
    EXPECT_EQ(t.name(outer, 4 * t.p), "._entry.value");
    EXPECT_EQ(t.name(outer, 5 * t.p), "._next");
    EXPECT_EQ(t.name(entry, 3 * t.p), ".value"); // boxed
  });
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 entry_rid = t.define("Entry");
    Address entry = t.add_struct(entry_rid, 2 * t.p, {t.field("key", 0), t.field("value", t.p)});
    Address entries = t.heap.array(entry, 2 * t.p), objects = t.heap.array(t.heap.object_type, t.p),
            matrix = t.heap.array(t.heap.object_type, t.p, 2);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address grid = young.object(matrix, 6); // 2 × 3, from (10, -1)
    for (auto [at, value] : {std::pair{0, 2u}, {4, 3u}, {8, 10u}, {12, 0xffffffffu}})
      young.block.word(grid + 2 * t.p + static_cast<u64>(at), value);
    EXPECT_EQ(t.name(entries, 2 * t.p + 17 * 2 * t.p + t.p), "[*].value");
    EXPECT_EQ(t.exact(entries, 2 * t.p + 17 * 2 * t.p + t.p), "[17].value");
    EXPECT_EQ(t.name(objects, 2 * t.p + 3 * t.p), "[*]");
    EXPECT_EQ(t.exact(objects, 2 * t.p + 3 * t.p), "[3]");
    EXPECT_EQ(t.name(matrix, 2 * t.p + 16 + 4 * t.p), "[*]");
    EXPECT_EQ(t.exact(matrix, 2 * t.p + 16 + 4 * t.p, grid), "[11,0]");
    EXPECT_EQ(t.fields().elements(matrix)->rank, 2u);
    EXPECT_EQ(t.fields().elements(objects)->rank, 0u);
    EXPECT_EQ(t.fields().elements(entries)->type, ElementType::ValueType);
    EXPECT_FALSE(t.fields().elements(entry));
  });
}

TEST(Fields1, InlineArraysAndOverlaps) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 pair_rid = t.define("Pair");
    t.add_struct(pair_rid, 2 * t.p, {t.field("a", 0), t.field("b", t.p)});
    u32 buffer_rid = t.define("Buffer"); // [InlineArray(4)] of Pair
    t.add_struct(buffer_rid, 8 * t.p, {t.struct_field("_element0", 0, pair_rid)});
    u32 refs_rid = t.define("Refs"); // [InlineArray(3)] of object
    Address refs = t.add_struct(refs_rid, 3 * t.p, {t.field("_element0", 0)});
    u32 union_rid = t.define("Union", 0x11);
    t.add_struct(union_rid, t.p, {t.field("text", 0), t.field("bytes", 0)});
    u32 wide_rid = t.define("Wide", 0x11); // explicit layout: no inline array, whatever its size
    t.add_struct(wide_rid, 4 * t.p, {t.field("only", 0)});
    u32 holder_rid = t.define("Holder");
    Address holder =
        t.add(holder_rid, 16 * t.p,
              {t.struct_field("_buffer", 0, buffer_rid), t.struct_field("_refs", 8 * t.p, refs_rid),
               t.struct_field("_union", 11 * t.p, union_rid), t.struct_field("_wide", 12 * t.p, wide_rid)});
    EXPECT_EQ(t.name(holder, t.p * 6), "._buffer._element0[*].b");
    EXPECT_EQ(t.exact(holder, t.p * 6), "._buffer._element0[2].b");
    EXPECT_EQ(t.name(holder, t.p * 11), "._refs._element0[*]");
    EXPECT_EQ(t.exact(holder, t.p * 11), "._refs._element0[2]");
    EXPECT_EQ(t.name(holder, t.p * 12), "._union.text|._union.bytes");
    EXPECT_EQ(t.name(holder, t.p * 13), "._wide.only");
    EXPECT_EQ(t.exact(refs, 2 * t.p), "._element0[1]"); // boxed
    EXPECT_EQ(t.name(holder, 1000), t.exact(holder, 1000));
    EXPECT_EQ(t.name(holder, 1000), ".0x3e8");
  });
}

// A field of a type parameter that is bound to a struct; what the parameter is called is of no interest.
TEST(Fields1, TypeParameters) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 pair_rid = t.define("Pair");
    Address pair = t.add_struct(pair_rid, 2 * t.p, {t.field("a", 0), t.field("b", t.p)});
    u32 box_rid = t.define("Box`1");
    t.heap.app().metadata.generic(token(Table::TypeDef, box_rid), {"T"});
    FieldShape item = t.field("_item", 0, ElementType::ValueType, Blob{0x13, 0});
    Address box = t.heap.method_table({.base_size = 4 * t.p, .rid = box_rid, .arguments = {pair}});
    t.heap.fields(box, {item});
    EXPECT_EQ(t.name(box, 2 * t.p), "._item.b");
    EXPECT_EQ(t.fields().instance_fields(box).at(0).type_name, "Shop.Pair");
  });
}

// A generic struct is looked up among what the runtime has instantiated: over references there is but one.
TEST(Fields1, GenericStructs) {
  for_each_layout([](const HeapShape &shape) {
    if (shape.net == Net::net11)
      return; // HeapBuilder publishes no list of assemblies there
    Process t(shape);
    Address canon =
        t.heap.method_table({.rid = t.heap.core().metadata.type("System", "__Canon"), .module = t.heap.core().module});
    u32 pair_rid = t.define("Pair`1");
    t.heap.app().metadata.generic(token(Table::TypeDef, pair_rid), {"T"});
    std::vector<FieldShape> fields = {t.field("Number", t.p, ElementType::I4),
                                      t.field("Key", 0, ElementType::Class, Blob{0x13, 0})};
    Address shared =
        t.heap.method_table({.base_size = 4 * t.p, .flags = value_category, .rid = pair_rid, .arguments = {canon}});
    t.heap.fields(shared, fields);
    t.heap.app().instantiations.push_back(shared);
    Blob pair = Blob{0x15} + type_reference(ElementType::ValueType, token(Table::TypeDef, pair_rid)) + Blob{1};
    u32 holder_rid = t.define("Holder");
    FieldShape strings = t.field("_strings", 0, ElementType::ValueType, pair + element(ElementType::String)),
               numbers = t.field("_numbers", 2 * t.p, ElementType::ValueType, pair + element(ElementType::I4));
    Address holder = t.add(holder_rid, 4 * t.p, {strings, numbers});
    Blob nested = element(ElementType::I4);
    for (unsigned i = 0; i < 30; ++i)
      nested = pair + nested;
    u32 deep_rid = t.define("Deep");
    Address deep = t.add(deep_rid, 2 * t.p, {t.field("_deep", 0, ElementType::ValueType, nested)});
    EXPECT_EQ(t.name(holder, t.p), "._strings.Key");
    const InstanceField held = t.fields().instance_fields(holder).at(0);
    EXPECT_EQ(held.type_name, "Shop.Pair<System.String>");
    // What all instances share calls its fields' types as its metadata does; each of them by its own names.
    EXPECT_EQ(t.fields().instance_fields(shared).at(1).type_name, "T");
    ASSERT_TRUE(held.arguments);
    EXPECT_EQ(t.fields().fields_of_instance(shared, held.arguments).at(1).type_name, "System.String");
    EXPECT_EQ(t.name(holder, 3 * t.p), "._numbers.0x0"); // not loaded: no guess
    EXPECT_EQ(t.fields().problems().size(), 1u);
    EXPECT_EQ(t.name(deep, t.p), "._deep.0x0"); // and soon
  });
}

// Damage: no crash, no endless work, no name that is wrong.
TEST(Fields1, Damage) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    u32 self_rid = t.define("Self"); // a struct that contains itself
    Address self =
        t.add_struct(self_rid, 2 * t.p, {t.struct_field("x", 0, self_rid), t.struct_field("y", t.p, self_rid)});
    u32 outside_rid = t.define("Outside");
    Address outside = t.add(outside_rid, t.p, {t.field("_far", 100 * t.p), t.field("_nowhere", 0x7ffffff)});
    u32 lost_rid = t.define("Lost");
    u32 missing_rid = t.define("Missing");
    FieldShape missing = t.struct_field("_missing", t.p, missing_rid); // not loaded
    Address lost = t.add(lost_rid, 4 * t.p, {missing});
    t.name(self, t.p);
    EXPECT_TRUE(t.fields().instance_fields(outside).empty());
    EXPECT_EQ(t.name(lost, 3 * t.p).substr(0, 2), ".0"); // the field belongs to another type by its row: not believed
    EXPECT_TRUE(t.fields().instance_fields(0).empty());
    EXPECT_TRUE(t.fields().instance_fields(t.heap.free_type).empty());
    EXPECT_FALSE(t.fields().problems().empty());
  });
}

// Delegates: one method of an object, a static one, several, and code that is no stub.
class WithDelegates : public Process {
public:
  explicit WithDelegates(const HeapShape &shape) : Process(shape) {
    MetadataWriter &core = heap.core().metadata;
    auto core_field = [&](const char *name, u32 offset, ElementType type) {
      return FieldShape{
          core.field(name, field_signature(element(type == ElementType::Class ? ElementType::Object : type))), type,
          offset};
    };
    u32 rid = core.type("System", "Delegate");
    std::vector<FieldShape> fields = {
        core_field("_target", 0, ElementType::Class), core_field("_methodBase", p, ElementType::Class),
        core_field("_methodPtr", 2 * p, ElementType::I), core_field("_methodPtrAux", 3 * p, ElementType::I)};
    Address base = heap.method_table({.base_size = 6 * p, .rid = rid, .module = heap.core().module});
    heap.fields(base, fields);
    rid = core.type("System", "MulticastDelegate");
    fields = {core_field("_invocationList", 4 * p, ElementType::Class),
              core_field("_invocationCount", 5 * p, ElementType::I)};
    Address multicast =
        heap.method_table({.base_size = 8 * p, .rid = rid, .module = heap.core().module, .parent = base});
    heap.fields(multicast, fields);
    type = heap.method_table({.base_size = 8 * p, .rid = define("Handler"), .parent = multicast});

    u32 cart_rid = define("Cart");
    for (const char *name : {"First", "OnChanged", "Log"})
      methods.push_back(heap.app().metadata.method(name, method_signature(element(ElementType::Void), {})));
    cart = add(cart_rid, p, {field("_x", 0)});
    chunk = heap.native.reserve(3 * p + 3 * 2 * p);
    heap.native.pointer(chunk, cart);
    heap.native.put(chunk + 2 * p + 1, methods.size() - 1, 1);
    for (u64 i = 0; i < methods.size(); ++i) {
      heap.native.half(method(i), methods[i] & 0xfff);
      heap.native.put(method(i) + 2, i * 2 * p / alignment(), 1);
    }
  }
  u64 alignment() const { return p; }
  Address method(u64 i) const { return chunk + 3 * p + i * 2 * p; }
  // jmp [rip + …]; mov r10, [rip + …]: the MethodDesc lies right behind, or, on other processors, a page further on.
  Address stub(u64 i) {
    Address code = heap.native.reserve(32);
    for (auto [at, byte] : {std::pair{0, 0xff}, {1, 0x25}, {6, 0x4c}, {7, 0x8b}, {8, 0x15}})
      heap.native.put(code + static_cast<u64>(at), static_cast<u64>(byte), 1);
    heap.native.word(code + 9, 24 - 13);
    heap.native.pointer(code + 24, method(i));
    Address behind = code + 0x4000 + p;
    heap.native.reserve(behind + p > heap.native.end() ? behind + p - heap.native.end() : 0, 1);
    heap.native.pointer(behind, method(i));
    return code;
  }
  Address delegate(SegmentWriter &to, const std::vector<u64> &words) {
    Address out = to.object(type);
    for (u64 i = 0; i < words.size(); ++i)
      to.block.pointer(out + (i + 1) * p, words[i] == own ? out : words[i]);
    return out;
  }
  static constexpr u64 own = 0xabcdef; // stands for the delegate itself

  Address type = 0, cart = 0, chunk = 0;
  std::vector<u32> methods;
};

TEST(Fields1, Delegates) {
  for_each_layout([](const HeapShape &shape) {
    WithDelegates t(shape);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address stubs[] = {t.stub(0), t.stub(1), t.stub(2)};
    Address target = young.object(t.cart);
    Address closed = t.delegate(young, {target, 0, stubs[1], 0, 0, 0});
    Address open = t.delegate(young, {t.own, 0, stubs[0], stubs[2], 0, 0});
    Address list = young.object(t.heap.object_array_type, 4);
    young.block.pointer(list + 2 * t.p, closed);
    young.block.pointer(list + 3 * t.p, open);
    young.block.pointer(list + 4 * t.p, closed);
    Address several = t.delegate(young, {t.own, 0, stubs[0], 0, list, 2});
    Address by_method = t.delegate(young, {0, 0, stubs[0], stubs[0], 0, t.method(2)});
    Address unknown = t.delegate(young, {target, 0, 0x123456, 0, 0, 0});
    Address circle = young.object(t.type);
    young.block.pointer(circle + 5 * t.p, circle);
    auto targets = [&](Address delegate, u64 limit = 100) {
      return t.fields().delegate_targets(delegate, t.type, limit);
    };
    auto expect_one = [&](Address delegate, Address object, const std::string &method) {
      std::vector<DelegateTarget> found = targets(delegate);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].object, object);
      EXPECT_EQ(found[0].method, method);
    };
    expect_one(closed, target, "Shop.Cart.OnChanged");
    expect_one(open, 0, "Shop.Cart.Log");
    expect_one(by_method, 0, "Shop.Cart.Log");
    expect_one(unknown, target, "<code 0x123456>");
    ASSERT_EQ(targets(several).size(), 2u); // of three in the list two count
    EXPECT_EQ(targets(several)[0].object, target);
    EXPECT_EQ(targets(several)[1].method, "Shop.Cart.Log");
    EXPECT_EQ(targets(several, 1).size(), 1u);
    EXPECT_LE(targets(circle).size(), 1u);
    EXPECT_TRUE(t.fields().delegate_targets(target, t.cart, 100).empty());
  });
}

TEST(StringObject, LengthAndText) {
  for_each_layout([](const HeapShape &shape) {
    Process t(shape);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address text = young.string("some text"), empty = young.string("");
    young.block.half(text + t.p + 4, 0xe4); // ä
    const Runtime &runtime = t.open().runtime;
    EXPECT_EQ(string_length(runtime, text), 9u);
    EXPECT_EQ(string_text(runtime, text, 100)->text, "\xc3\xa4ome text");
    EXPECT_FALSE(string_text(runtime, text, 9)->is_cut);
    EXPECT_EQ(string_text(runtime, text, 4)->text, "\xc3\xa4ome");
    EXPECT_TRUE(string_text(runtime, text, 4)->is_cut);
    EXPECT_EQ(string_text(runtime, empty, 4)->text, "");
    EXPECT_FALSE(string_length(runtime, 0x10));
    EXPECT_FALSE(string_text(runtime, 0x10, 5));
  });
}

} // namespace
} // namespace dnheap::test
