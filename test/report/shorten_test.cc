// Names made to fit: what is promised of all names, on random ones, hostile ones among them, and what comes of some.
#include "report/encoding.h"
#include "report/formats/shorten.h"
#include "report/formats/wrap.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::report {
namespace {

TEST(Shorten, GenericArgumentsGoFirst) {
  const char *entries = "System.Collections.Generic.Dictionary<System.String, "
                        "System.Collections.Generic.LinkedListNode<Shop.Cache.Session>>+Entry[]";
  EXPECT_EQ(shorten(entries, 200), entries);
  EXPECT_EQ(shorten(entries, 80), "System.Collections.Generic.Dictionary<String, LinkedListNode<Session>>+Entry[]");
  EXPECT_EQ(shorten(entries, 73), "Dictionary<String, LinkedListNode<Session>>+Entry[]");
  EXPECT_EQ(shorten(entries, 50), "Dictionary<String, LinkedListNode<…>>+Entry[]");
  EXPECT_EQ(shorten(entries, 24), "Dictionary<…>+Entry[]");
}

TEST(Shorten, Methods) {
  EXPECT_EQ(shorten("Shop.Pay.Take<System.Int32>(System.Object, System.Threading.CancellationToken) Pay.cs:7", 70),
            "Shop.Pay.Take<Int32>(Object, CancellationToken) Pay.cs:7");
  EXPECT_EQ(shorten("Shop.Pay.Take(System.Object, System.Threading.CancellationToken) Pay.cs:7", 30),
            "Shop.Pay.Take(…) Pay.cs:7");
}

// `<Run>d__5` is no List<T>, and nothing else stands for what it says.
TEST(Shorten, NamesThatACompilerMadeKeepTheirBrackets) {
  EXPECT_EQ(shorten("Shop.Mail.Outbox.Of.All.Letters+<SendLetterAsync>d__11", 40),
            "Shop.Mail.Outbo…s+<SendLetterAsync>d__11");
  EXPECT_EQ(shorten("bytes(12.5 of them, in all of the heap)", 20), "bytes(…)");
}

TEST(Shorten, TreesKeepTheirLines) {
  EXPECT_EQ(shorten("  ├ System.Threading.WaitHandle.WaitOneNoCheck(System.Int32, System.Object)", 58),
            "  ├ System.Threading.WaitHandle.WaitOneNoCheck(…)");
}

std::string random_name(std::mt19937 &random) {
  static const std::string parts[] = {"System.", "Shop",      "<", ">",  "(", ")", ", ", "+", "[]", "漢字",
                                      "ö",       "e\xcc\x81", " ", "│ ", "…", ".", "`1", "9", "×5", "a"};
  std::string out;
  for (u64 i = random() % 40; i--;)
    out += parts[random() % std::size(parts)];
  return out;
}

TEST(Shorten, NeverLongerThanAskedAndAlwaysTheSame) {
  std::mt19937 random(5);
  for (int round = 0; round < 50'000; ++round) {
    const std::string name = random_name(random);
    const u64 width = random() % 40;
    const std::string out = shorten(name, width);
    ASSERT_LE(width_of(out), width) << name;
    ASSERT_EQ(out, shorten(std::string(name), width));
    std::string printable;
    append_utf8(printable, out);
    ASSERT_EQ(out, printable) << "no character is cut: " << name;
    if (width_of(name) <= width) {
      ASSERT_EQ(out, name);
    }
  }
}

// A name of a type: Namespace.Outer<…>+Inner.
TEST(Shorten, BeginningAndEndStay) {
  std::mt19937 random(6);
  for (int round = 0; round < 20'000; ++round) {
    const std::string first = "A" + std::string(random() % 20, 'a'), last = std::string(random() % 20, 'z') + "Z";
    std::string inner;
    for (u64 i = random() % 5; i--;)
      inner += "Space.Type<Other.Name, List<System.Int32>>, ";
    const std::string name = first + "<" + inner + "Space.T>+" + last;
    const u64 width = 10 + random() % 60;
    const std::string out = shorten(name, width);
    const u64 head = std::min<u64>((width - 1) * 2 / 5, first.size()), tail = std::min<u64>(width / 2, last.size());
    ASSERT_TRUE(out.starts_with(first.substr(0, head))) << name << " → " << out;
    ASSERT_TRUE(out.ends_with(last.substr(last.size() - tail))) << name << " → " << out;
    if (out.size() < name.size() && out.find("…") == out.npos) {
      ASSERT_EQ(out.find("Space."), out.npos); // only namespaces went, all of them
    }
  }
}

TEST(Shorten, HostileNestingIsQuick) {
  std::string deep;
  for (int i = 0; i < 5'000; ++i)
    deep += "a<";
  EXPECT_EQ(width_of(shorten(deep + std::string(5'000, '>'), 60)), 60u);
  EXPECT_EQ(width_of(shorten(std::string(1'000'000, 'x'), 60)), 60u);
}

TEST(Wrap, BetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap("one two three", 8, 2), (Lines{"one two", "  three"}));
  EXPECT_EQ(wrap("one two three", 0, 2), (Lines{"one two three"}));
  EXPECT_EQ(wrap("", 8), (Lines{""}));
  EXPECT_EQ(wrap("static Shop.Cache.byToken.entries", 21, 2), (Lines{"static Shop.Cache", "  .byToken.entries"}));
}

TEST(Wrap, LosesNothingAndFits) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = random_name(random);
    const u64 width = 4 + random() % 30;
    std::string joined, expected;
    for (const std::string &line : wrap(text, width, random() % 3)) {
      ASSERT_LE(width_of(line), width) << text;
      joined += line;
    }
    auto drop_spaces = [](std::string &of) { std::erase(of, ' '); };
    drop_spaces(joined);
    drop_spaces(expected = text);
    ASSERT_EQ(joined, expected);
  }
}

} // namespace
} // namespace dnheap::report
