#include "cli/shell/line_completion.h"
#include "cli/shell/seen_addresses.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

using Strings = std::vector<std::string>;

const Strings addresses = {"0x7f0010", "0x7f0020", "0x8f0030"};

Completion at(std::string_view before, bool *asked_for_types = nullptr) {
  return complete(before, {[=] {
                             if (asked_for_types)
                               *asked_for_types = true;
                             return Strings{"Shop.Order",  "Shop.OrderLine", "List<A, B>",
                                            "Shop.Straße", "Shop.Straäe",    "Outer+Node"};
                           },
                           addresses});
}

// The line as it becomes.
std::string line(std::string_view before) {
  const Completion found = at(before);
  return std::string(before.substr(0, found.begin)) + found.text;
}

bool offers(const Completion &found, const std::string &word) {
  return std::ranges::find(found.choices, word) != found.choices.end();
}

TEST(Completion, WhatIsTypedInFullComesFirst) {
  const Completion found = complete("path Shop.Order", {[] { return Strings{"Shop.OrderLine", "Shop.Order"}; }, {}});
  EXPECT_EQ(found.choices, (Strings{"Shop.Order", "Shop.OrderLine"}));
}

TEST(Completion, Verbs) {
  EXPECT_EQ(line("sta"), "sta");
  EXPECT_EQ(at("sta").choices, (Strings{"stat", "stack"}));
  EXPECT_EQ(line("retai"), "retained ");
  EXPECT_EQ(line("dumphe"), "dumpheap ") << "SOS' names, too";
  EXPECT_EQ(line("help retai"), "help retained ");
  EXPECT_TRUE(offers(at(""), "stat"));
  EXPECT_FALSE(offers(at(""), "dumpheap")) << "ours, where nothing is typed";
  EXPECT_FALSE(offers(at(""), "diff")) << "it opens dumps itself";
  EXPECT_EQ(line("  retai"), "  retained ");
  EXPECT_EQ(line("domin"), "dominator") << "others' words, where no verb begins so";
}

TEST(Completion, OptionsAndTheirWords) {
  EXPECT_EQ(line("stat --ty"), "stat --type");
  EXPECT_EQ(at("stat --ty").choices, (Strings{"--type", "--type-exact"}));
  EXPECT_EQ(line("stat --clo"), "stat --clo") << "of show, not of stat";
  EXPECT_EQ(line("stat --gen fr"), "stat --gen frozen ");
  EXPECT_EQ(line("retained --table own"), "retained --table owners ");
  EXPECT_EQ(line("stat --by ret"), "stat --by retained ");
  EXPECT_EQ(line("objects --format addr"), "objects --format addresses ");
  EXPECT_EQ(line("stat --format addr"), "stat --format addr") << "it has no table of objects";
  EXPECT_EQ(line("stat --refers-to you"), "stat --refers-to younger ");
  EXPECT_EQ(line("inspect tim"), "inspect timers ");
  EXPECT_EQ(line("stat --top 5 --so"), "stat --top 5 --sort ");
  EXPECT_EQ(line("stat --sort cou"), "stat --sort count ");
}

TEST(Completion, OfSos) {
  EXPECT_EQ(line("dumpheap -st"), "dumpheap -st");
  EXPECT_EQ(at("dumpheap -st").choices, (Strings{"-strings", "-stat"}));
  EXPECT_EQ(line("!DumpHeap -sta"), "!DumpHeap -stat ");
  EXPECT_EQ(line("dumpheap -stat -type Out"), "dumpheap -stat -type Outer+Node ");
  EXPECT_EQ(line("do 0x8"), "do 0x8f0030 ");
  EXPECT_EQ(line("dumpgen po"), "dumpgen poh ");
  EXPECT_EQ(line("dumpheap --no-pr"), "dumpheap --no-progress ");
}

TEST(Completion, TypesAndAddresses) {
  EXPECT_EQ(line("path 0x7"), "path 0x7f00");
  EXPECT_EQ(at("path 0x7").choices, (Strings{"0x7f0010", "0x7f0020"}));
  EXPECT_EQ(line("show 0x8"), "show 0x8f0030 ");
  EXPECT_EQ(line("path Shop.O"), "path Shop.Order");
  EXPECT_EQ(line("path Shop.OrderL"), "path Shop.OrderLine ");
  EXPECT_EQ(line("path OrderL"), "path Shop.OrderLine ") << "a part of a name";
  EXPECT_EQ(line("path Ord"), "path Ord") << "of several such parts nothing is typed";
  EXPECT_EQ(at("path Ord").choices.size(), 2u);
  EXPECT_EQ(line("path Node"), "path Outer+Node ");
  EXPECT_EQ(line("stat --type-exact Li"), "stat --type-exact 'List<A, B>' ") << "as one word";
  EXPECT_EQ(line("stat --type-exact 'List<A, "), "stat --type-exact 'List<A, B>' ");
  EXPECT_EQ(line("stat --type-exact \"Shop.OrderL"), "stat --type-exact \"Shop.OrderLine\" ");
  EXPECT_EQ(line("path Shop.S"), "path Shop.Stra") << "no half of a letter";
  EXPECT_EQ(line("path --from 0x8"), "path --from 0x8f0030 ");
  bool asked = false;
  at("stat --ty", &asked);
  at("show 0x7", &asked);
  at("path 0x7", &asked);
  EXPECT_FALSE(asked) << "names cost a walk: only where one can stand";
}

// Names of a dump may be made to be typed: what stands behind them must not become a program.
TEST(Completion, NamesStayOneWord) {
  const KnownNames known{[] { return Strings{"A.One'\" | touch x", "B.Two' | touch x", "C.Three\" | touch x"}; }, {}};
  auto typed = [&](const std::string &before) {
    const Completion found = complete(before, known);
    return before.substr(0, found.begin) + found.text;
  };
  EXPECT_EQ(typed("path A.O"), "path A.O") << "no quotes hold it";
  EXPECT_EQ(typed("path B.T"), "path \"B.Two' | touch x\" ");
  EXPECT_EQ(typed("path 'B.T"), "path 'B.T") << "it would end the quotes";
  EXPECT_EQ(typed("path C.T"), "path 'C.Three\" | touch x' ");
  EXPECT_EQ(typed("path \"C.T"), "path \"C.T");
}

TEST(Completion, NothingElsewhere) {
  for (const char *before : {"stat | so", "stat > fi", "stat >> fi", "# com", "nonsense --ty", "stat --top ", "diff "})
    EXPECT_EQ(line(before), before);
}

TEST(SeenAddresses, AreThoseThatStandInTheText) {
  SeenAddresses seen;
  seen.look_at("Address 0x7ff3ad0f4068 x0x7ff3ad0f4070 0x12 0x7ff3ad0f4068\n\x1b[1m0xdeadbe");
  seen.look_at("ef\x1b[0m 0x7ff3adzz11 0x123456789012345678901234\n");
  EXPECT_EQ(seen.list(), (Strings{"0x7ff3ad0f4068", "0xdeadbeef"}));
  seen.clear();
  EXPECT_TRUE(seen.list().empty());
  for (std::size_t i = 0; i < SeenAddresses::most + 5; ++i)
    seen.look_at("0x7f" + std::to_string(10'000'000 + i) + " ");
  EXPECT_EQ(seen.list().size(), SeenAddresses::most);
}

} // namespace
} // namespace dnheap::cli
