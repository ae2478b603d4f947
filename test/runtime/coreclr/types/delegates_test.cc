// What a delegate calls: a method of an object, a static one, several, a native function, a method made at run time.
#include "base/text.h"
#include "support/fields_process.h"

namespace dnheap::test {
namespace {

// Delegates: one method of an object, a static one, several, and code that is no stub.
class WithDelegates : public Process {
public:
  // `one_type`: as .NET 11 has it, all in System.Delegate.
  explicit WithDelegates(const HeapShape &shape, bool one_type = false) : Process(shape) {
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
    if (one_type)
      fields = {core_field("_helperObject", 0, ElementType::Class), core_field("_target", p, ElementType::Class),
                core_field("_methodPtr", 2 * p, ElementType::I), core_field("_methodPtrAux", 3 * p, ElementType::I),
                core_field("_extraData", 4 * p, ElementType::I)};
    Address base = heap.method_table({.base_size = 6 * p, .rid = rid, .module = heap.core().module});
    heap.fields(base, fields);
    rid = core.type("System", "MulticastDelegate");
    fields.clear();
    if (!one_type)
      fields = {core_field("_invocationList", 4 * p, ElementType::Class),
                core_field("_invocationCount", 5 * p, ElementType::I)};
    Address multicast =
        heap.method_table({.base_size = 8 * p, .rid = rid, .module = heap.core().module, .parent = base});
    if (!fields.empty())
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

TEST(Delegates, OneSeveralAndNone) {
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

// What stands in the words: target, method, code, other code, list, count.
TEST(Delegates, TheCountTellsNativeFunctionsAndOpenVirtualMethods) {
  for_each_layout([](const HeapShape &shape) {
    WithDelegates t(shape);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address stub = t.stub(1), target = young.object(t.cart);
    const u64 minus_one = t.p == 8 ? ~u64{0} : 0xffffffff;
    const Address in_module = t.heap.data.address();
    Address native = t.delegate(young, {target, 0, stub, in_module, 0, minus_one});
    Address virtual_one = t.delegate(young, {t.own, 0, stub, 0, 0, t.method(2)});
    Address odd_count = t.delegate(young, {target, 0, stub, 0, 0, t.method(2) + 1}); // no MethodDesc
    auto only = [&](Address delegate) {
      std::vector<DelegateTarget> found = t.fields().delegate_targets(delegate, t.type, 100);
      return found.size() == 1 ? found[0] : DelegateTarget{0, std::to_string(found.size()) + " targets"};
    };
    const Module *module = t.open().target->find_module(in_module);
    ASSERT_TRUE(module);
    EXPECT_EQ(only(native).object, 0u);
    EXPECT_EQ(only(native).method, "libcoreclr.so+" + hex(in_module - module->base));
    EXPECT_EQ(only(virtual_one).object, 0u);
    EXPECT_EQ(only(virtual_one).method, "Shop.Cart.Log");
    EXPECT_EQ(only(odd_count).object, target);
    EXPECT_EQ(only(odd_count).method, "Shop.Cart.OnChanged");
  });
}

// The list of one that wraps another is that other; parts that are null count for nothing; lists that hold themselves
// end.
TEST(Delegates, ListsWithinLists) {
  for_each_layout([](const HeapShape &shape) {
    WithDelegates t(shape);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    Address stub = t.stub(0), target = young.object(t.cart);
    Address part = t.delegate(young, {target, 0, stub, 0, 0, 0});
    Address wrapper = t.delegate(young, {t.own, 0, 0x1234, 0, part, 0});
    Address list = young.object(t.heap.object_array_type, 5);
    Address several = t.delegate(young, {t.own, 0, stub, 0, list, 5});
    for (auto [i, what] : {std::pair{0, part}, {2, wrapper}, {3, several}, {4, part}})
      young.block.pointer(list + (2 + static_cast<u64>(i)) * t.p, what);
    Address not_a_list = t.delegate(young, {target, 0, stub, 0, target, 3}); // keeps something alive
    auto targets = [&](Address delegate, u64 limit) { return t.fields().delegate_targets(delegate, t.type, limit); };
    ASSERT_EQ(targets(wrapper, 9).size(), 1u);
    EXPECT_EQ(targets(wrapper, 9)[0].object, target);
    ASSERT_EQ(targets(not_a_list, 9).size(), 1u);
    EXPECT_EQ(targets(not_a_list, 9)[0].method, "Shop.Cart.First");
    // Two parts, a wrapped one and itself, eight levels deep: 3 at each level.
    std::vector<DelegateTarget> all = targets(several, 1000);
    EXPECT_GE(all.size(), 3u);
    EXPECT_LE(all.size(), 3u * 9);
    for (const DelegateTarget &one : all)
      EXPECT_EQ(one.method, "Shop.Cart.First");
    EXPECT_EQ(targets(several, 2).size(), 2u);
  });
}

// .NET 11: helper, target, code, other code, extra data.
TEST(Delegates, OneTypeWithAHelperAndExtraData) {
  for_each_layout([](const HeapShape &shape) {
    WithDelegates t(shape, true);
    SegmentWriter &young = t.heap.segment(GCSegmentGeneration::gen0);
    const u32 wrapper_rid = t.define("Wrapper");
    const Address wrapper = t.add_struct(wrapper_rid, t.p, {t.field("_value", 0)});
    const Address wrappers = t.heap.array(wrapper, static_cast<u32>(t.p));
    Address stubs[] = {t.stub(0), t.stub(1), t.stub(2)};
    Address target = young.object(t.cart);
    const u64 minus_one = t.p == 8 ? ~u64{0} : 0xffffffff;
    Address closed = t.delegate(young, {0, target, stubs[1], 0, 0});
    Address reflected = t.delegate(young, {0, target, stubs[0], 0, t.method(1)});
    Address open = t.delegate(young, {0, t.own, stubs[0], stubs[2], 0});
    Address open_virtual = t.delegate(young, {0, t.own, stubs[0], 0x1234, t.method(2)});
    Address dynamic = t.delegate(young, {target, t.own, stubs[0], stubs[0], t.method(1)});
    Address native = t.delegate(young, {0, t.own, stubs[0], 0x1234, minus_one});
    Address list = young.object(wrappers, 4); // longer than used
    young.block.pointer(list + 2 * t.p, closed);
    young.block.pointer(list + 3 * t.p, open);
    young.block.pointer(list + 4 * t.p, reflected);
    Address several = t.delegate(young, {list, t.own, stubs[0], 0, 2});
    Address too_many = t.delegate(young, {list, t.own, stubs[0], 0, 5});
    auto targets = [&](Address delegate) { return t.fields().delegate_targets(delegate, t.type, 100); };
    auto expect_one = [&](Address delegate, Address object, const std::string &method) {
      std::vector<DelegateTarget> found = targets(delegate);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].object, object);
      EXPECT_EQ(found[0].method, method);
    };
    expect_one(closed, target, "Shop.Cart.OnChanged");
    expect_one(reflected, target, "Shop.Cart.OnChanged");
    expect_one(open, 0, "Shop.Cart.Log");
    expect_one(open_virtual, 0, "Shop.Cart.Log");
    expect_one(dynamic, 0, "Shop.Cart.OnChanged");
    expect_one(native, 0, "<code 0x1234>");
    ASSERT_EQ(targets(several).size(), 2u);
    EXPECT_EQ(targets(several)[0].object, target);
    EXPECT_EQ(targets(several)[1].method, "Shop.Cart.Log");
    EXPECT_EQ(targets(too_many).size(), 3u); // as many as there are
    const std::optional<DelegateList> of_several = t.fields().delegate_list(several, t.type),
                                      of_too_many = t.fields().delegate_list(too_many, t.type),
                                      of_one = t.fields().delegate_list(dynamic, t.type);
    ASSERT_TRUE(of_several && of_too_many && of_one);
    EXPECT_EQ(of_several->array, list);
    EXPECT_EQ(of_several->count, 2u);
    EXPECT_FALSE(of_several->is_cut);
    EXPECT_TRUE(of_too_many->is_cut);
    EXPECT_EQ(of_one->array, 0u);
    EXPECT_FALSE(t.fields().delegate_list(target, t.cart));
  });
}

// A type without these members is no delegate type, whatever its objects hold.
TEST(Delegates, OtherTypesAreNone) {
  for_each_layout([](const HeapShape &shape) {
    WithDelegates t(shape);
    Address handler = t.delegate(t.heap.segment(GCSegmentGeneration::gen0), {0, 0, t.stub(0), 0, 0, 0});
    EXPECT_EQ(t.fields().delegate_targets(handler, t.type, 9).size(), 1u);
    EXPECT_TRUE(t.fields().delegate_targets(handler, t.heap.object_type, 9).empty());
  });
}

} // namespace
} // namespace dnheap::test
