// JSON of untrusted text: what is read, what is refused, and that nothing is lost between reading and writing.
#include "base/error.h"
#include "base/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace dnheap {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_json(text);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(JsonText, ValuesOfEachKind) {
  const Json root = parse_json(R"( {"b":true,"n":null,"u":18446744073709551615,"i":-9223372036854775808,"f":1.5e3,
      "t":"x","l":[1,[],{}],"o":{"a":0}} )");
  EXPECT_TRUE(root.at("b").boolean());
  EXPECT_TRUE(root.at("n").is_null());
  EXPECT_EQ(root.at("u").number(), ~u64{0});
  EXPECT_EQ(root.at("i").integer(), u64{1} << 63);
  EXPECT_FALSE(root.at("i").is_unsigned());
  EXPECT_FALSE(root.at("f").is_integer());
  EXPECT_EQ(root.at("t").text(), "x");
  EXPECT_EQ(root.at("l").list().size(), 3u);
  EXPECT_EQ(root.at("l").at(0).number(), 1u);
  EXPECT_EQ(root.at("o").at("a").number(), 0u);
  EXPECT_EQ(root.find("x"), nullptr);
  EXPECT_EQ(root.at("t").find("x"), nullptr);
  for (const char *name : {"x", "B"})
    EXPECT_THROW(root.at(name), Error);
  EXPECT_THROW(root.at("l").at(3), Error);
  EXPECT_THROW(root.at("t").number(), Error);
  EXPECT_THROW(root.at("i").number(), Error);
  EXPECT_THROW(root.at("u").text(), Error);
  EXPECT_THROW(root.at("u").list(), Error);
  EXPECT_THROW(root.at("l").members(), Error);
  EXPECT_THROW(root.at("n").boolean(), Error);
  EXPECT_EQ(root.at("i").shown(), "-9223372036854775808");
  EXPECT_EQ(root.at("t").shown(), "\"x\"");
  EXPECT_EQ(root.at("l").shown(), "a list");
}

TEST(JsonText, NumbersThatAreNoIntegersAndNumbersThatAreNone) {
  for (const char *fraction : {"18446744073709551616", "-9223372036854775809", "0.5", "-0.5", "1e2", "1E+2", "2.0e-1"})
    EXPECT_FALSE(parse_json(fraction).is_integer()) << fraction;
  for (const char *bad : {"01", "-", "+1", ".5", "1.", "1e", "1e+", "0x10", "NaN", "-01", "1 2", "--1", "tru", "nul"})
    EXPECT_NE(error_of(bad), "") << bad;
}

TEST(JsonText, Texts) {
  EXPECT_EQ(parse_json(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")").text(),
            "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  for (const char *bad :
       {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud800")", R"("\ud800\u0041")", R"("\udc00")", R"("\ud800x")",
        "\"\n\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"open", "\"open\\", "\"\\u", "'x'"})
    EXPECT_NE(error_of(bad), "") << bad;
  EXPECT_NE(error_of(std::string_view("\"a\0b\"", 5)), "");
}

TEST(JsonText, WhatIsWrittenIsReadAgain) {
  EXPECT_EQ(json_quoted("a\"\\\n\x01\xc3\xa9"), "\"a\\\"\\\\\\u000a\\u0001\xc3\xa9\"");
  EXPECT_EQ(json_quoted("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
  for (int c = 0; c < 128; ++c) {
    const std::string text(3, static_cast<char>(c));
    EXPECT_EQ(parse_json(json_quoted(text)).text(), text) << c;
  }
}

TEST(JsonText, ErrorsAreShortAndSayWhere) {
  EXPECT_TRUE(error_of("[1,]").find("its JSON is malformed: parse error at line 1") != std::string::npos)
      << error_of("[1,]");
  EXPECT_NE(error_of("[1,]").find("column 4"), std::string::npos);
  EXPECT_LT(error_of("[" + std::string(100'000, 'x')).size(), 300u);
  EXPECT_EQ(error_of(R"({"a":1,"b":2,"a":3})"), "its JSON gives a twice");
  EXPECT_NE(error_of(std::string(64, '[') + "[1]"), "");
  EXPECT_EQ(error_of(std::string(64, '[') + "1" + std::string(64, ']')), "");
  const std::string depth = error_of(std::string(1'000'000, '['));
  EXPECT_NE(depth.find("nested deeper than 64"), depth.npos);
}

// Nothing is lost or added on the way from nlohmann's parser to the tree, whatever the text.
std::string written(const Json &json) {
  if (json.is_text())
    return nlohmann::json(json.text()).dump();
  if (json.is_null())
    return "null";
  std::string out;
  if (json.is_list()) {
    for (const Json &value : json.list())
      out += (out.empty() ? "" : ",") + written(value);
    return "[" + out + "]";
  }
  if (!json.is_object())
    return json.shown();
  for (const Json::Member &member : json.members())
    out += (out.empty() ? "" : ",") + nlohmann::json(member.name).dump() + ":" + written(member.value);
  return "{" + out + "}";
}

TEST(JsonText, DamagedTextsAsNlohmannsTreesHaveThem) {
  const std::string whole = R"({"a":[1,-2,3,"x\u00e9\n\ud83d\ude00"],"b":{"c":null,"d":true,"e":false},"f":"é"})";
  std::mt19937 random(1);
  u64 taken = 0, refused = 0, twice = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (unsigned edits = 1 + random() % 2; edits; --edits) {
      const u64 at = random() % text.size();
      constexpr std::string_view likely = "0123456789-+\"\\{}[],: utrlsfan\n";
      if (random() % 3 == 0)
        text.erase(at, 1);
      else
        text[at] = random() % 8 ? likely[random() % likely.size()] : static_cast<char>(1 + random() % 255);
    }
    const std::string error = error_of(text);
    if (error.ends_with(" twice")) {
      ++twice; // nlohmann's trees keep the last
      continue;
    }
    const nlohmann::json other = nlohmann::json::parse(text, nullptr, false);
    ASSERT_EQ(error.empty(), !other.is_discarded()) << text << "\n" << error;
    const std::string mine = error.empty() ? written(parse_json(text)) : "a fraction";
    if (mine.find("a fraction") == mine.npos) {
      EXPECT_EQ(mine, other.dump()) << text;
    }
    ++(error.empty() ? taken : refused);
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(twice, 0u);
}

} // namespace
} // namespace dnheap
