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
  EXPECT_EQ(ours({"eeheap", "-loader"}), "account");
  EXPECT_EQ(ours({"threads"}), "threads");
  EXPECT_EQ(ours({"pe"}), "exceptions --values");
  EXPECT_EQ(ours({"pe", "7f00"}), "exceptions 7f00 --values");
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
        Strings{"eeheap", "-nonsense"}, Strings{"setthread", "3"}, Strings{"dumpmt", "-md", "7f00"},
        Strings{"da", "-start", "3", "7f00"}, Strings{"fq", "-short"}, Strings{"threads", "-special"},
        Strings{"traverseheap", "x"}})
    EXPECT_THROW(our_words(wrong), UsageError) << wrong[0];
}

TEST(Sos, AllOfThemAreVerbsWithOptionsThatTheseTake) {
  for (const SosCommand &command : sos_commands()) {
    if (!command.instead.empty())
      continue;
    SCOPED_TRACE(command.name);
    Strings words = {std::string(command.name)};
    if (command.when.starts_with('-'))
      words.emplace_back(command.when);
    const auto add = [&](std::string_view arguments, const char *value) {
      for (char c : std::string(arguments) + " ")
        if (c == ' ' && !arguments.empty() && arguments[0] != '[')
          words.emplace_back(value);
    };
    add(command.arguments, command.arguments == "GEN" ? "gen1" : "0x7f00");
    const auto parses = [&](const Strings &line) {
      Strings asked = our_words(line);
      asked.insert(asked.begin() + 1, "a.core");
      const std::vector<std::string_view> views(asked.begin(), asked.end());
      EXPECT_NO_THROW(parse_options(views, verbs_and_commands())) << line.back();
    };
    parses(words);
    for (const SosOption &option : command.options) {
      Strings line = words;
      line.emplace_back(option.theirs);
      if (option.has_value)
        line.emplace_back(option.theirs == "-gen" ? "2" : "10");
      if (option.instead.empty() && (command.ours != "stat" || option.theirs != "-short")) // which lists no objects
        parses(line);
    }
    const std::string verb(command.ours.substr(0, command.ours.find(' ')));
    EXPECT_NE(sos_help(command.name).find(verb), std::string::npos);
    EXPECT_NE(sos_help().find(verb), std::string::npos);
    EXPECT_EQ(sos_help(command.name).find('$'), std::string::npos);
  }
}

} // namespace
} // namespace dnheap::cli
