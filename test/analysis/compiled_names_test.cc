#include "analysis/compiled_names.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

std::vector<std::string> explain(std::string_view text) {
  std::vector<std::string> lines;
  explain_compiled_names(text, lines);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(CompiledNames, OfCSharp) {
  EXPECT_EQ(
      explain("Shop.Cart+<Pay>d__11"),
      Lines{"<Pay>d__11: the async or iterator method Pay of Shop.Cart; its fields are its parameters and variables"});
  EXPECT_EQ(
      explain("System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<Shop.Cart<"
              "System.String>+<Pay>d__11>"),
      Lines{"<Pay>d__11: the async or iterator method Pay of Shop.Cart<System.String>; its fields are its "
            "parameters and variables"});
  EXPECT_EQ(explain("Shop.Cart+<>c__DisplayClass8_0"),
            Lines{"<>c__DisplayClass8_0: variables of a method of Shop.Cart that lambdas use"});
  EXPECT_EQ(explain("<>c__DisplayClass8_0"), Lines{"<>c__DisplayClass8_0: variables that lambdas use"});
  EXPECT_EQ(explain("Shop.Cart+<>c__DisplayClass8_0.<Pay>b__0"),
            (Lines{"<>c__DisplayClass8_0: variables of a method of Shop.Cart that lambdas use",
                   "<Pay>b__0: a lambda in Pay of Shop.Cart"}));
  EXPECT_EQ(explain("Shop.Cart+<>c"), Lines{"<>c: the lambdas of Shop.Cart that use no variables"});
  EXPECT_EQ(explain("Shop.Cart.<Pay>g__Check|8_0"),
            Lines{"<Pay>g__Check|8_0: the local function Check in Pay of Shop.Cart"});
  EXPECT_EQ(explain("Program+<<Main>$>d__0"),
            Lines{"<<Main>$>d__0: the async or iterator method <Main>$ of Program; its fields are its parameters and "
                  "variables"});
  EXPECT_EQ(explain("A+<>c+<<Pay>b__8_0>d"),
            (Lines{"<>c: the lambdas of A that use no variables",
                   "<<Pay>b__8_0>d: a lambda in Pay of A; its fields are its parameters and variables"}));
  EXPECT_EQ(explain("static Shop.Cache.<All>k__BackingField"),
            Lines{"<All>k__BackingField: the property All of Shop.Cache"});
  EXPECT_EQ(explain(".<>4__this.<order>5__2"), (Lines{"<>4__this: this", "<order>5__2: the variable order"}));
  for (const char *field : {".<Right>k__BackingField", "[*].<Right>k__BackingField", "._set.<Right>k__BackingField",
                            "[*].value.<Right>k__BackingField", "._entries[17].value.<Right>k__BackingField"})
    EXPECT_EQ(explain(field), Lines{"<Right>k__BackingField: the property Right"}) << field;
  EXPECT_EQ(explain(".root.<order>P"), Lines{"<order>P: the parameter order of the constructor"});
  EXPECT_EQ(explain("[static Shop.Cache.<All>k__BackingField]"),
            Lines{"<All>k__BackingField: the property All of Shop.Cache"});
  EXPECT_EQ(explain(".<>3__limit"), Lines{"<>3__limit: the parameter limit, as it was passed"});
  EXPECT_EQ(explain("System.Collections.Generic.List<<>f__AnonymousType0<System.Int32>>"),
            Lines{"<>f__AnonymousType0: an anonymous type"});
}

TEST(CompiledNames, OfFSharpAndVisualBasic) {
  EXPECT_EQ(explain("Shop.Cart+pay@42-1"), Lines{"pay@42-1: made by F# from line 42 of the source of Shop.Cart"});
  EXPECT_EQ(explain("Shop.Cart+count@"), Lines{});
  EXPECT_EQ(
      explain("Shop.Cart+VB$StateMachine_3_Pay"),
      Lines{"VB$StateMachine_3_Pay: the async or iterator method Pay of Shop.Cart; its fields are its parameters and "
            "variables"});
  EXPECT_EQ(explain("Shop.Cart+_Closure$__2-0"),
            Lines{"_Closure$__2-0: variables of a method of Shop.Cart that lambdas use"});
}

TEST(CompiledNames, NothingToSay) {
  for (const char *text :
       {"", "<", "<>", "<>1__state", "List<Shop.Cart>", "System.Collections.Generic.Dictionary<A, B<C>>+Entry[]",
        "static Shop.Cart.items", "[17].value", "<Pay", "(frozen)", "<Module>", "System.Action → A.B", "<<<<<<<"})
    EXPECT_EQ(explain(text), Lines{}) << text;
}

TEST(CompiledNames, OnceEachAndNotWithoutEnd) {
  EXPECT_EQ(explain("A+<>c A+<>c").size(), 1u);
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += " A+<M" + std::to_string(i) + ">d__1";
  EXPECT_EQ(explain(many).size(), 20u);
  std::string deep(100'000, '<');
  EXPECT_EQ(explain(deep), Lines{});
  EXPECT_LT(explain(deep.substr(0, 2000) + "a" + std::string(2000, '>') + "d__1").size(), 20u);
}

} // namespace
} // namespace dnheap
