#include "cli/commands.h"
#include "cli/shell/sos.h"
#include "dnheap/error.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

using Strings = std::vector<std::string>;

std::string ours(const Strings &words) {
  std::string out;
  for (const std::string &word : our_words(words))
    out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(Sos, NamesAndOptionsBecomeOurs) {
  EXPECT_EQ(ours({"!DumpHeap", "-stat"}), "stat");
  EXPECT_EQ(ours({"dumpheap", "-type", "X", "-STAT"}), "stat --type X");
  EXPECT_EQ(ours({"sos", "DumpHeap", "-stat"}), "stat");
  EXPECT_EQ(ours({"ext", "stat"}), "stat");
  EXPECT_EQ(ours({"dumpheap"}), "objects");
  EXPECT_EQ(ours({"dumpheap", "-mt", "7f00", "-min", "10", "-max", "20", "-live"}),
            "objects --type-exact 0x7f00 --min 10 --max 20 --live");
  EXPECT_EQ(ours({"dumpheap", "-short", "-dead"}), "objects --format addresses --dead");
  EXPECT_EQ(ours({"dumpheap", "7f00", "7f80", "-stat"}), "stat --range 7f00-7f80");
  EXPECT_EQ(ours({"dumpheap", "7f00"}), "objects --range 7f00-ffffffffffffffff");
  EXPECT_EQ(ours({"do", "7f00`1234"}), "show 7f00`1234 --values");
  EXPECT_EQ(ours({"dcd", "7f00"}), "show 7f00 --table entries --values");
  EXPECT_EQ(ours({"DumpConcurrentQueue", "7f00"}), "show 7f00 --table entries --values");
  EXPECT_EQ(ours({"pathto", "1", "2"}), "path 2 --from 1");
  EXPECT_EQ(ours({"dumpvc", "7f00", "8000"}), "show 8000 --struct 7f00 --values");
  EXPECT_EQ(ours({"dumpgen", "FOH", "-type", "X"}), "stat --gen frozen --type X");
  EXPECT_EQ(ours({"clrstack", "-a", "-all"}), "stack --roots --all");
  EXPECT_EQ(ours({"clrstack", "-f"}), "stack");
  EXPECT_EQ(ours({"fq", "-stat"}), "inspect finalizers");
  EXPECT_EQ(ours({"vh"}), "verify");
  EXPECT_EQ(ours({"ao"}), "gc --table oom");
  EXPECT_EQ(ours({"tp"}), "async --table pool");
  EXPECT_EQ(ours({"tpq"}), "async --table queued");
  EXPECT_EQ(ours({"ti"}), "inspect timers");
  EXPECT_EQ(ours({"lm"}), "info --table images");
  EXPECT_EQ(ours({"da", "-length", "3", "-details", "-nofields", "7f00"}), "show 7f00 --values --top 3");
  EXPECT_EQ(ours({"gcroot", "-nostacks", "7f00"}), "path 7f00 --no-stacks");
  EXPECT_EQ(ours({"eeheap", "-gc"}), "segments");
  EXPECT_EQ(ours({"eeheap", "-loader"}), "account --table loaders");
  EXPECT_EQ(ours({"threads"}), "threads");
  EXPECT_EQ(ours({"pe"}), "exceptions --values");
  EXPECT_EQ(ours({"pe", "7f00"}), "exceptions 7f00 --values");
  EXPECT_EQ(ours({"pe", "-lines", "7f00"}), "exceptions 7f00 --values");
  EXPECT_EQ(ours({"dumpheap", "-thinlock", "-stat"}), "locks --kind thin_lock");
  EXPECT_EQ(ours({"dumpheap", "-stat", "-bycount"}), "stat --sort count");
  EXPECT_EQ(ours({"gchandles", "-type", "WeakShort"}), "handles --kind WeakShort");
  EXPECT_EQ(ours({"gcroot", "7f00", "-limit", "3"}), "path 7f00 --all --top 3");
  EXPECT_EQ(ours({"objsize"}), "threads --by retained");
  EXPECT_EQ(ours({"dumpmt", "-MD", "7f00"}), "lookup 7f00");
  EXPECT_EQ(ours({"name2ee", "Shop.dll", "Shop.Cart"}), "lookup Shop.dll!Shop.Cart");
  EXPECT_EQ(ours({"notreachableinrange", "7f00", "7f80"}), "objects --dead --range 7f00-7f80");
  EXPECT_EQ(ours({"dq", "7f00", "-c", "4"}), "memory 7f00 --by qwords --values --limit 4");
  EXPECT_EQ(ours({"dd", "7f00", "-e", "7f80"}), "memory 7f00 --by dwords --values --range 7f00-7f80");
  EXPECT_EQ(ours({"d", "-l", "2", "7f00"}), "memory 7f00 --by bytes --values --by words");
  EXPECT_THROW(ours({"d", "-l", "3", "7f00"}), UsageError);
  EXPECT_EQ(ours({"dumpasync", "--stats"}), "async");
  EXPECT_EQ(ours({"dumpasync", "--type", "Read"}), "async --type Read");
  EXPECT_EQ(ours({"dumpasync", "-t", "--completed"}), "async --table tasks");
  EXPECT_EQ(ours({"gcheapstat", "-iu"}), "account --live");
  EXPECT_EQ(ours({"modules", "-a", "7f00"}), "lookup 7f00");
  EXPECT_EQ(ours({"crashinfo", "-e", "All"}), "report --table findings");
}

TEST(Sos, QueriesOfEclipseMatAndViewsOfChromeBecomeOurs) {
  EXPECT_EQ(ours({"histogram"}), "stat --by retained");
  EXPECT_EQ(ours({"Histogram", "Shop"}), "stat --by retained --type Shop");
  EXPECT_EQ(ours({"dominator_tree"}), "retained --tree");
  EXPECT_EQ(ours({"path2gc", "0x7f00"}), "path 0x7f00");
  EXPECT_EQ(ours({"merge_shortest_paths", "Shop.Order"}), "path Shop.Order");
  EXPECT_EQ(ours({"list_objects", "Shop.Order"}), "objects --by retained --type-exact Shop.Order");
  EXPECT_EQ(ours({"list_objects", "0x7f00"}), "show 0x7f00 --values");
  EXPECT_EQ(ours({"oql", "select", "1"}), "query select 1");
  EXPECT_EQ(our_words({"oql", "select", "1"}).size(), 2u) << "one word, also without quotes";
  EXPECT_THROW(our_words({"oql"}), UsageError);
  EXPECT_EQ(ours({"thread_overview"}), "threads --by retained");
  EXPECT_EQ(ours({"retainers", "0x7f00"}), "show 0x7f00 --table referrers");
  EXPECT_EQ(ours({"comparison", "a", "b"}), "diff a b");
  EXPECT_EQ(ours({"find", "Shop"}), "stat --type Shop");
  EXPECT_EQ(ours({"find", "7f00aabbccd0"}), "show 7f00aabbccd0");
  EXPECT_THROW(our_words({"find_strings", "x"}), UsageError);
}

TEST(Sos, NamesMayBeTypedAsMenusHaveThem) {
  EXPECT_EQ(ours({"Leak", "Suspects"}), "report");
  EXPECT_EQ(ours({"leak suspects"}), "report");
  EXPECT_EQ(ours({"dominator-tree"}), "retained --tree");
  EXPECT_EQ(ours({"merge", "shortest", "paths", "to", "GC", "roots", "Shop.Order"}), "path Shop.Order");
  EXPECT_EQ(ours({"gc", "roots"}), "roots");
  EXPECT_EQ(ours({"gc"}), "gc");
  EXPECT_EQ(ours({"gc", "--table", "roots"}), "gc --table roots");
}

TEST(Sos, AnInspectorsNameAloneIsTheInspector) {
  EXPECT_EQ(ours({"timers"}), "inspect timers");
  EXPECT_EQ(ours({"events", "--top", "3"}), "inspect events --top 3");
  EXPECT_EQ(ours({"db", "0x7f00"}), "memory 0x7f00 --by bytes --values") << "a command of SOS'";
}

TEST(Sos, EachToolHasItsOwnList) {
  EXPECT_NE(help_of_tool("mat").find("dominator_tree"), std::string::npos);
  EXPECT_EQ(help_of_tool("mat").find("dumpheap"), std::string::npos);
  EXPECT_NE(help_of_tool("chrome").find("retainers"), std::string::npos);
  EXPECT_EQ(help_of_tool("sos").find("retainers"), std::string::npos);
  EXPECT_EQ(help_of_tool("windbg"), "");
}

TEST(Sos, ValuesMayStandBehindAColonOrAnEqualsSign) {
  EXPECT_EQ(ours({"dumpheap", "-stat", "-min:4000"}), "stat --min 4000");
  EXPECT_EQ(ours({"dumpheap", "-min=4000", "-gen=FOH"}), "objects --min 4000 --gen frozen");
}

TEST(Sos, InDotnetDumpDaShowsMemoryAndInDebuggersAnArray) {
  EXPECT_EQ(ours({"da", "7f00"}), "memory 7f00 --by string --values");
  EXPECT_EQ(ours({"!da", "7f00"}), "show 7f00 --values");
  EXPECT_EQ(ours({"sos", "da", "-details", "7f00"}), "show 7f00 --values");
}

TEST(Sos, TheCurrentThreadIsTheOneThatNoneWasNamedFor) {
  const auto of_thread = [](const Strings &words) {
    std::string out;
    for (const std::string &word : our_words(words, "7"))
      out += (out.empty() ? "" : " ") + word;
    return out;
  };
  EXPECT_EQ(of_thread({"clrstack"}), "stack 7");
  EXPECT_EQ(of_thread({"clrstack", "8", "-a"}), "stack 8 --roots");
  EXPECT_EQ(of_thread({"clrstack", "-all"}), "stack --all");
  EXPECT_EQ(of_thread({"dso"}), "stack 7 --roots");
  EXPECT_EQ(of_thread({"r"}), "stack 7 --table registers --values");
  EXPECT_EQ(of_thread({"clrthreads"}), "threads");
  EXPECT_EQ(thread_set_by({"setthread", "3"}), "3");
  EXPECT_EQ(thread_set_by({"threads", "-t", "0x4c76"}), "0x4c76");
  EXPECT_EQ(thread_set_by({"threads"}), std::nullopt);
  EXPECT_EQ(thread_set_by({"threads", "--by", "retained"}), std::nullopt) << "an option of ours";
  EXPECT_EQ(thread_set_by({"stat"}), std::nullopt);
  EXPECT_THROW(thread_set_by({"setthread"}), UsageError);
}

TEST(Sos, StatesOfThreadsAndTasksAreWords) {
  EXPECT_EQ(sos_text({"threadstate", "b220"}),
            "Legal to Join\nBackground\nCLR Owns\nCoInitialized\nIn Multi Threaded Apartment\n");
  EXPECT_EQ(sos_text({"threadstate", "0"}), "no state is set\n");
  EXPECT_EQ(sos_text({"tks", "-v", "73728"}), "WaitingToRun\n");
  EXPECT_EQ(sos_text({"taskstate", "--value", "33557504"}), "WaitingForActivation\n");
  EXPECT_EQ(sos_text({"taskstate", "-v", "0"}), "Created\n");
  EXPECT_EQ(sos_text({"taskstate", "7f00"}), std::nullopt) << "an address: the dump is asked";
  for (const Strings &wrong :
       {Strings{"threadstate"}, Strings{"threadstate", "xyz"}, Strings{"threadstate", "123456789a"},
        Strings{"tks", "-v", "abc"}, Strings{"tks", "-v", "99999999999"}})
    EXPECT_THROW(sos_text(wrong), UsageError) << wrong.back();
}

TEST(Sos, OursStayAsTheyAre) {
  EXPECT_EQ(ours({"stat", "-v"}), "stat -v");
  EXPECT_EQ(ours({"!stat"}), "stat");
  EXPECT_EQ(ours({"listnearobj", "7f00", "--top", "4"}), "objects --near 7f00 --top 4") << "4 is no argument";
  EXPECT_EQ(ours({"dumpheap", "--min=4", "--format", "csv"}), "objects --min=4 --format csv");
  EXPECT_TRUE(our_words({}).empty());
}

TEST(Sos, WhatIsNotUnderstoodIsSaid) {
  for (const Strings &wrong :
       {Strings{"pathto", "1"}, Strings{"pathto", "1", "2", "3"}, Strings{"dumpvc"}, Strings{"dumpgen"},
        Strings{"dumpheap", "-nonsense"}, Strings{"dumpheap", "-type"}, Strings{"dumpheap", "1", "2", "3"},
        Strings{"eeheap", "-nonsense"}, Strings{"setthread", "3"}, Strings{"dumpil", "7f00"},
        Strings{"name2ee", "Shop"}, Strings{"dumpasync", "--fields"}, Strings{"loadsymbols", "-ms"},
        Strings{"dumpheap", "-heap", "1"}, Strings{"da", "-start", "3", "7f00"}, Strings{"fq", "-short"},
        Strings{"threads", "-special"}, Strings{"traverseheap", "x"}})
    EXPECT_THROW(our_words(wrong), UsageError) << wrong[0];
}

TEST(Sos, AllOfThemAreVerbsWithOptionsThatTheseTake) {
  for (const SosCommand &command : sos_commands()) {
    if (!command.instead.empty() || command.ours.empty())
      continue;
    SCOPED_TRACE(command.name);
    Strings words = {(command.name == "da" ? "" : "!") + std::string(command.name)};
    if (command.when.starts_with('-'))
      words.emplace_back(command.when.substr(0, command.when.find('|')));
    const auto add = [&](std::string_view arguments, const char *value) {
      for (char c : std::string(arguments) + " ")
        if (c == ' ' && !arguments.empty() && arguments[0] != '[')
          words.emplace_back(value == std::string_view("0x7f00") && words.back() == value ? "0x7f80" : value);
    };
    add(command.arguments, command.arguments == "GEN" ? "gen1" : "0x7f00");
    const auto parses = [&](const Strings &line) {
      Strings asked = our_words(line);
      asked.insert(asked.begin() + 1, "a.core");
      if (asked[0] == "diff")
        asked.emplace_back("b.core");
      const std::vector<std::string_view> views(asked.begin(), asked.end());
      EXPECT_NO_THROW(parse_options(views, verbs_and_commands())) << line.back();
    };
    parses(words);
    for (const SosOption &option : command.options) {
      Strings line = words;
      line.emplace_back(option.theirs);
      if (option.has_value)
        line.emplace_back(option.theirs == "-gen" ? "2"
                          : option.theirs == "-l" ? "4"
                          : option.theirs == "-e" ? "0x7f90"
                                                  : "10");
      if (option.instead.empty())
        parses(line);
    }
    const std::string verb(command.ours.substr(0, command.ours.find(' ')));
    EXPECT_NE(sos_help(command.name).find(verb), std::string::npos);
    const char *list = command.tool.empty() ? "sos" : command.tool == "Chrome" ? "chrome" : "mat";
    EXPECT_NE(help_of_tool(list).find(verb), std::string::npos);
    EXPECT_EQ(sos_help(command.name).find('$'), std::string::npos);
  }
}

} // namespace
} // namespace dnheap::cli
