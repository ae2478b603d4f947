#include "analysis/names/csharp_name.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

bool means(std::string_view written, std::string_view full) {
  std::optional<CSharpName> name = CSharpName::read(written);
  return name && name->means(full);
}

TEST(CSharpName, Means) {
  const std::pair<const char *, const char *> same[] = {
      {"string", "System.String"},
      {"byte[]", "System.Byte[]"},
      {"int", "System.Int32"},
      {"nuint", "System.UIntPtr"},
      {"object[]", "System.Object[]"},
      {"System.String", "System.String"},
      {"String", "System.String"},
      {"Order", "Shop.Order"},
      {"Shop.Order", "Contoso.Shop.Order"},
      {"List<Timer>", "System.Collections.Generic.List<System.Threading.Timer>"},
      {"Dictionary<string,int>", "System.Collections.Generic.Dictionary<System.String, System.Int32>"},
      {"Dictionary<string, List<byte[]>>",
       "System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.List<System.Byte[]>>"},
      {"Dictionary<string, Shop.Order>.Entry[]",
       "System.Collections.Generic.Dictionary<System.String, Shop.Order>+Entry[]"},
      {"Dictionary<string, Order>+Entry", "System.Collections.Generic.Dictionary<System.String, Shop.Order>+Entry"},
      {"Cart.Line", "Shop.Cart+Line"},
      {"Entry[]", "System.Collections.Generic.Dictionary<System.String, Shop.Order>+Entry[]"},
      {"int?", "System.Nullable<System.Int32>"},
      {"int?[]", "System.Nullable<System.Int32>[]"},
      {"List<DateTime?>", "System.Collections.Generic.List<System.Nullable<System.DateTime>>"},
      {"Dictionary<int?, string?>",
       "System.Collections.Generic.Dictionary<System.Nullable<System.Int32>, System.String>"},
      {"string?[]?", "System.String[]"},
      {"int[,]", "System.Int32[,]"},
      {"int[][]", "System.Int32[][]"},
      {"int[][,]", "System.Int32[,][]"}, // the innermost element's brackets come first in full names
      {"int[,][]", "System.Int32[][,]"},
      {"int?[][,]", "System.Nullable<System.Int32>[,][]"},
      {"List<>", "System.Collections.Generic.List<Shop.Order>"},
      {"Dictionary<,>", "System.Collections.Generic.Dictionary<System.String, System.Tuple<A, B>>"},
      {"Dictionary<,>.Entry[]", "System.Collections.Generic.Dictionary<System.String, Shop.Order>+Entry[]"},
      {"(int, string)", "System.ValueTuple<System.Int32, System.String>"},
      {"(int Id, List<Order> Orders)[]",
       "System.ValueTuple<System.Int32, System.Collections.Generic.List<Shop.Order>>[]"},
      {"<Pay>d__11", "Shop.Cart+<Pay>d__11"},
      {"AsyncStateMachineBox<Cart.<Pay>d__11>",
       "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<Shop.Cart+<Pay>d__"
       "11>"},
      {"byte*", "System.Byte*"},
  };
  for (auto [written, full] : same)
    EXPECT_TRUE(means(written, full)) << written << " " << full;
}

TEST(CSharpName, DoesNotMean) {
  const std::pair<const char *, const char *> other[] = {
      {"string", "Shop.String"},
      {"string", "System.String[]"},
      {"byte[]", "System.Byte"},
      {"byte[]", "System.Byte[,]"},
      {"byte[]", "System.Byte[][]"},
      {"Order", "Shop.PreOrder"},
      {"Order", "Shop.Order+Line"},
      {"Line", "Shop.Lines"},
      {"List<Timer>", "System.Collections.Generic.List<System.Threading.Timer>[]"},
      {"List<Timer>", "System.Collections.Generic.List<Shop.MyTimer>"},
      {"List<Timer>", "System.Collections.Generic.LinkedList<System.Threading.Timer>"},
      {"Dictionary<string, int>", "System.Collections.Generic.Dictionary<System.Int32, System.String>"},
      {"Dictionary<,>", "System.Collections.Generic.List<Shop.Order>"},
      {"List<>", "System.Collections.Generic.Dictionary<System.String, Shop.Order>"},
      {"List<>", "Shop.List"},
      {"List", "System.Collections.Generic.List<Shop.Order>"},
      {"int[][,]", "System.Int32[][,]"},
      {"int?", "System.Int32"},
      {"Timer", "System.Collections.Generic.List<System.Threading.Timer>"},
      {"Order", "System.Void(Shop.Order)"},
  };
  for (auto [written, full] : other)
    EXPECT_FALSE(means(written, full)) << written << " " << full;
}

TEST(CSharpName, AQuestionMarkBehindAClassIsNothing) {
  std::optional<CSharpName> name = CSharpName::read("List<Order?>?", CSharpName::Question::nothing);
  ASSERT_TRUE(name);
  EXPECT_TRUE(name->means("System.Collections.Generic.List<Shop.Order>"));
}

TEST(CSharpName, WhatIsNone) {
  for (const char *text : {"",
                           " ",
                           "(",
                           "List<",
                           "List<Timer",
                           "a>b",
                           "[]",
                           "*",
                           "?",
                           "a..b",
                           ".",
                           "a.",
                           "A B",
                           "a[b]",
                           "a[",
                           "<",
                           "(int",
                           "int)",
                           ",",
                           "a,b",
                           "[0-9]+",
                           "^Shop",
                           "Shop\\.(Order|Cart)$"})
    if (std::optional<CSharpName> name = CSharpName::read(text)) {
      EXPECT_FALSE(name->means("Shop.Order")) << text; // some expressions read as odd names, which nothing is called
    }
  EXPECT_FALSE(CSharpName::read("("));
  EXPECT_FALSE(CSharpName::read("List<Timer"));
  EXPECT_FALSE(CSharpName::read("[]"));
}

TEST(CSharpName, DeepNamesCostNoStack) {
  std::string deep, close;
  for (int i = 0; i < 20000; ++i)
    deep += "L<", close += '>';
  std::optional<CSharpName> name = CSharpName::read(deep + "A" + close);
  ASSERT_TRUE(name);
  EXPECT_TRUE(name->means(deep + "A" + close));
}

} // namespace
} // namespace dnheap
