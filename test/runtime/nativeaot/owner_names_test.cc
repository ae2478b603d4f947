// Names of static classes and generic owners, by symbols and what metadata has.
#include "runtime/nativeaot/owner_names.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// The assemblies "shop" and "S.P.CoreLib", one type of which each has a symbol.
OwnerNames names_of_shop() {
  OwnerNames out;
  const NativeTypeName node{"Shop", {"Node"}}, list{"System.Collections.Generic", {"List`1"}};
  for (const NativeTypeName &name : {node, list, NativeTypeName{"Shop", {"Roots"}},
                                     NativeTypeName{"Shop", {"Holder`1"}}, NativeTypeName{"Shop", {"Pair`2", "<>c"}},
                                     NativeTypeName{"Shop", {"Two", "Faced"}}, NativeTypeName{"Shop.Two", {"Faced"}}})
    out.add(name);
  out.add_symbol("shop_Shop_Node", node);
  out.add_symbol("S_P_CoreLib_System_Collections_Generic_List_1", list);
  return out;
}

std::string known(std::string_view symbol) {
  return symbol == "shop_Shop_Node" ? "Shop.Node" : symbol == "Int32" ? "System.Int32" : "";
}

std::string found(std::string_view mangled) { return names_of_shop().find(mangled, known).value_or("?"); }

TEST(OwnerNames, StaticClasses) {
  EXPECT_EQ(found("shop_Shop_Roots"), "Shop.Roots");
  EXPECT_EQ(found("shop_Shop_Node"), "Shop.Node");
  EXPECT_EQ(found("other_Shop_Roots"), "?"); // nobody knows an assembly of that name
  EXPECT_EQ(found("shop_Shop_Gone"), "?");
  EXPECT_EQ(found("shop_Shop_Two_Faced"), "?"); // two types are spelled so
  EXPECT_EQ(found("shop_Shop_Holder_1"), "?");  // of what?
}

TEST(OwnerNames, Instances) {
  EXPECT_EQ(found("shop_Shop_Holder_1<shop_Shop_Node>"), "Shop.Holder<Shop.Node>");
  EXPECT_EQ(found("shop_Shop_Holder_1<__Array<Int32>>"), "Shop.Holder<System.Int32[]>");
  EXPECT_EQ(found("shop_Shop_Holder_1<shop_Shop_Holder_1<Int32>>"), "Shop.Holder<Shop.Holder<System.Int32>>");
  EXPECT_EQ(found("shop_Shop_Pair_2___c<Int32__shop_Shop_Node>"), "Shop.Pair<System.Int32, Shop.Node>+<>c");
  EXPECT_EQ(found("shop_Shop_Pair_2___c<Int32__shop_Shop_Gone>"), "?");
  EXPECT_EQ(found("shop_Shop_Pair_2___c<Int32>"), "?");
  EXPECT_EQ(found("shop_Shop_Holder_1<>"), "?");
}

// However it is nested, it ends.
TEST(OwnerNames, Hostile) {
  std::string deep;
  for (int i = 0; i < 200; ++i)
    deep += "shop_Shop_Holder_1<";
  EXPECT_EQ(found(deep + "Int32" + std::string(200, '>')), "?");
  EXPECT_EQ(found("shop_Shop_Pair_2___c<" + std::string(3000, '_') + ">"), "?");
  EXPECT_EQ(found(std::string(100000, '<')), "?");
}

} // namespace
} // namespace dnheap::test
