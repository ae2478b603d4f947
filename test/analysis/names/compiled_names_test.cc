#include "analysis/names/compiled_names.h"

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
  EXPECT_EQ(explain("static Shop.Cache.<All>k__BackingField"), Lines{}); // text calls it as the property
  EXPECT_EQ(explain(".<>4__this.<order>5__2"), (Lines{"<>4__this: this", "<order>5__2: the variable order"}));
  for (const char *field : {".<order>5__2", "[*].<order>5__2", "._set.<order>5__2", "[*].value.<order>5__2",
                            "._entries[17].value.<order>5__2"})
    EXPECT_EQ(explain(field), Lines{"<order>5__2: the variable order"}) << field;
  EXPECT_EQ(explain(".root.<order>P"), Lines{"<order>P: the parameter order of the constructor"});
  EXPECT_EQ(explain(".<>3__limit"), Lines{"<>3__limit: the parameter limit, as it was passed"});
  EXPECT_EQ(explain("System.Collections.Generic.List<<>f__AnonymousType0<System.Int32>>"),
            Lines{"<>f__AnonymousType0: an anonymous type"});
}

TEST(CompiledNames, CallsOfBoxes) {
  const std::string box = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<";
  EXPECT_EQ(call_of_box(box + "Shop.Cart+<Pay>d__11>"), "Shop.Cart.Pay");
  EXPECT_EQ(call_of_box(box + "Shop.Cart<System.String>+<Pay>d__11>"), "Shop.Cart<System.String>.Pay");
  EXPECT_EQ(call_of_box(box + "Shop.Cart+<Pay>d__11<System.Int32>>"), "Shop.Cart.Pay");
  EXPECT_EQ(call_of_box(box + "Shop.Cart+<>c+<<Pay>b__8_0>d>"), "a lambda in Pay of Shop.Cart");
  EXPECT_EQ(call_of_box(box + "Program+<<<Main>$>g__Work|0_1>d>"), "the local function Work in <Main>$ of Program");
  for (const std::string &type : {box, box + ">", box + "Shop.Cart>", box + "Shop.Cart+<Pay", box + "Shop.Cart+<>c>",
                                  std::string("System.Collections.Generic.List<") + box + "Shop.Cart+<Pay>d__11>>",
                                  std::string("Shop.Cart+<Pay>d__11"), std::string()})
    EXPECT_EQ(call_of_box(type), "") << type;
}

TEST(CompiledNames, VariablesOfCalls) {
  const std::string box = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<";
  EXPECT_EQ(variable_in_words(box + "Shop.Cart+<Pay>d__11>.StateMachine.<receipt>5__2"),
            "variable receipt of Shop.Cart.Pay");
  EXPECT_EQ(variable_in_words(box + "Shop.Cart+<Pay>d__11>.StateMachine.order"), "variable order of Shop.Cart.Pay");
  EXPECT_EQ(variable_in_words("Shop.Cart+<>c__DisplayClass9_0.seats"), "variable seats of lambdas in Shop.Cart");
  EXPECT_EQ(variable_in_words("Shop.Cart+<>c__DisplayClass9_0.<>4__this"), "Shop.Cart+<>c__DisplayClass9_0.<>4__this");
  EXPECT_EQ(variable_in_words("Shop.Cart+<>c__DisplayClass9_0<System.Int32>.seats"),
            "Shop.Cart+<>c__DisplayClass9_0<System.Int32>.seats");
  EXPECT_EQ(variable_in_words("Shop.Quote.Currency"), "Shop.Quote.Currency");
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

TEST(CompiledNames, MethodsInWords) {
  EXPECT_EQ(method_in_words("Shop.Program+<>c.<Run>b__8_21"), "a lambda in Run of Shop.Program");
  EXPECT_EQ(method_in_words("Shop.Cart+<Pay>d__2.MoveNext"), "the async or iterator method Pay of Shop.Cart");
  EXPECT_EQ(method_in_words("Shop.Cart.Pay"), "Shop.Cart.Pay");
  EXPECT_EQ(method_in_words(""), "");
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
