#include "report/encoding.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace dnheap::report {
namespace {

std::string json(const Cell &cell, Kind kind = Kind::nested) {
  std::string out;
  append_json(out, cell, kind);
  return out;
}

std::string csv(const Cell &cell, Kind kind = Kind::nested) {
  std::string out;
  append_csv(out, cell, kind);
  return out;
}

std::string text(const Cell &cell, Kind kind, bool exact = false, bool is_value = false) {
  Column column{"", "", kind};
  column.is_value = is_value;
  std::string out;
  append_text(out, cell, column, exact);
  return out;
}

// For people the field behind a property is the property; what the program itself says stays.
TEST(Encoding, PropertiesByTheirNames) {
  EXPECT_EQ(text("static Shop.Cache.<All>k__BackingField._items", Kind::text), "static Shop.Cache.All._items");
  EXPECT_EQ(text(">k__BackingField", Kind::text), ">k__BackingField");
  EXPECT_EQ(text("<All>k__BackingField", Kind::text, false, true), "<All>k__BackingField");
  EXPECT_EQ(json("<All>k__BackingField"), "\"<All>k__BackingField\"");
}

TEST(Encoding, Json) {
  EXPECT_EQ(json({}), "null");
  EXPECT_EQ(json(true), "true");
  EXPECT_EQ(json(~u64{0}, Kind::bytes), "18446744073709551615");
  EXPECT_EQ(json(std::numeric_limits<i64>::min()), "-9223372036854775808");
  EXPECT_EQ(json(u64{0x7fb27a49c050}, Kind::address), "\"0x7fb27a49c050\"");
  EXPECT_EQ(json(0u, Kind::address), "\"0x0\"");
  EXPECT_EQ(json(0.1), "0.1");
  EXPECT_EQ(json(std::nan("")), "null");
  EXPECT_EQ(json(HUGE_VAL), "null");
  EXPECT_EQ(json("a\"\\\n\x7f"), "\"a\\\"\\\\\\n\\u007f\"");
  EXPECT_EQ(json("\r\t\x1b[1m\xc2\x9b ö"), "\"\\r\\t\\u001b[1m\\u009b ö\"");
  EXPECT_EQ(json(std::vector<Cell>{1u, {}, "x"}), "[1,null,\"x\"]");
  EXPECT_EQ(json(std::vector<Fact>{{"a", 1u}, {"b", std::vector<Fact>{}}}), "{\"a\":1,\"b\":{}}");
  EXPECT_EQ(json(std::optional<u64>()), "null");
  EXPECT_EQ(json(std::optional<u64>(5)), "5");
}

// Texts are looked through eight characters at a time: each character counts, wherever it stands.
TEST(Encoding, EveryCharacterAtEveryPlace) {
  for (int c = 0; c < 0x80; ++c)
    for (u64 at = 0; at < 19; ++at) {
      std::string some(19, 'x');
      some[at] = static_cast<char>(c);
      const std::string written = json(some);
      ASSERT_EQ(nlohmann::json::parse(written).get<std::string>(), some) << "character " << c;
      const bool is_escaped = c < 0x20 || c == 0x7f || c == '"' || c == '\\';
      ASSERT_EQ(written.size() > some.size() + 2, is_escaped) << "character " << c;
    }
}

TEST(Encoding, Csv) {
  EXPECT_EQ(csv({}), "");
  EXPECT_EQ(csv(false), "false");
  EXPECT_EQ(csv(u64{0xab}, Kind::address), "0xab");
  EXPECT_EQ(csv(std::nan(""), Kind::percent), "");
  EXPECT_EQ(csv("plain text"), "plain text");
  EXPECT_EQ(csv(std::string("a\0b", 3)), "a\ufffdb") << "no reader of CSV takes a NUL";
  EXPECT_EQ(csv("a\x1b[1m\x7f\u0085b"), "a\ufffd[1m\ufffd\ufffdb") << "terminals would take them for orders";
  EXPECT_EQ(csv("=1+2"), "'=1+2") << "spreadsheets would work it out";
  EXPECT_EQ(csv("@a,b"), "\"'@a,b\"");
  EXPECT_EQ(csv(i64{-5}), "-5");
  EXPECT_EQ(csv("a-b"), "a-b");
  EXPECT_EQ(csv("Dictionary<A, B>"), "\"Dictionary<A, B>\"");
  EXPECT_EQ(csv("say \"x\"\r\n"), "\"say \"\"x\"\"\r\n\"");
  EXPECT_EQ(csv(std::vector<Fact>{{"a", "b"}}), "\"{\"\"a\"\":\"\"b\"\"}\"");
}

TEST(Encoding, Text) {
  EXPECT_EQ(text({}, Kind::count), "-");
  EXPECT_EQ(text(46077786u, Kind::count), "46,077,786");
  EXPECT_EQ(text(46077786u, Kind::number), "46077786");
  EXPECT_EQ(text(-46077786, Kind::count), "-46,077,786");
  EXPECT_EQ(text(902823936u, Kind::bytes), "861.0 MiB");
  EXPECT_EQ(text(902823936u, Kind::bytes, true), "902,823,936");
  EXPECT_EQ(text(i64{-902823936}, Kind::bytes), "-861.0 MiB");
  EXPECT_EQ(text(i64{-902823936}, Kind::bytes, true), "-902,823,936");
  EXPECT_EQ(text(0.1234, Kind::percent), "12.3%");
  EXPECT_EQ(text(1, Kind::percent), "100.0%");
  EXPECT_EQ(text(0.126, Kind::number), "0.13");
  EXPECT_EQ(text(true, Kind::boolean), "yes");
  EXPECT_EQ(text("all", Kind::number), "all");
  EXPECT_EQ(text("\x1b[31mred\xc2\x9b", Kind::text), "?[31mred?");
  EXPECT_EQ(text("bad\xff", Kind::text), "bad\xef\xbf\xbd");
}

TEST(Encoding, WidthCountsCharacters) {
  EXPECT_EQ(width_of(""), 0u);
  EXPECT_EQ(width_of("Größe λ"), 7u);
}

TEST(Encoding, WhatIsNotUtf8IsReplacedByteByByte) {
  const std::pair<const char *, const char *> cases[] = {
      {"\xc3\xa9", "\xc3\xa9"},    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}, {"\xff", "?"}, {"\xc3", "?"},
      {"\xc0\xaf", "??"},          // overlong
      {"\xe0\x80\xaf", "???"},     // overlong
      {"\xed\xa0\x80", "???"},     // surrogate
      {"\xf4\x90\x80\x80", "????"} // beyond U+10FFFF
  };
  for (auto [input, expected] : cases) {
    std::string out;
    append_utf8(out, input);
    std::string marked;
    for (std::size_t at = 0; at < out.size();) {
      bool bad = out.compare(at, 3, "\xef\xbf\xbd") == 0;
      marked += bad ? '?' : out[at];
      at += bad ? 3 : 1;
    }
    EXPECT_EQ(marked, expected);
  }
}

// The twin is the JSON library: whatever bytes come in, it must read what we write, and read what it would have
// written.
TEST(Encoding, AnyBytesBecomeTheSameJsonAsTheLibrarys) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (u64 i = random() % 12; i--;)
      bytes += static_cast<char>(random() % 3 ? random() : random() % 128);
    std::string parsed = nlohmann::json::parse(json(bytes)).get<std::string>();
    std::string clean;
    append_utf8(clean, bytes);
    ASSERT_EQ(parsed, clean);
    if (clean == bytes) {
      ASSERT_EQ(nlohmann::json(bytes).dump(), nlohmann::json(parsed).dump());
    } else {
      ASSERT_THROW((void)nlohmann::json(bytes).dump(), nlohmann::json::type_error);
    }
  }
}

} // namespace
} // namespace dnheap::report
