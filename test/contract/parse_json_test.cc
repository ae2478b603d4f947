// The JSON of contract descriptors: every form that data_descriptor.md allows, and what must be refused.
#include "base/error.h"
#include "contract/parse.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

constexpr u64 pointers[] = {0, 0x1000, 0xffffffffffff0000};

ParsedJson parse_text(const std::string &json) { return parse_descriptor_json(json, pointers); }
ContractDescriptor parse_with(const std::string &members) {
  return parse_text("{\"version\":2," + members + "}").descriptor;
}
std::string error_of(const std::string &json) {
  try {
    parse_text(json);
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}
std::string error_with(const std::string &members) { return error_of("{\"version\":2," + members + "}"); }

#define EXPECT_CONTAINS(text, part)                                                                                    \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "\"" << (text) << "\" lacks \"" << (part) << "\""

TEST(ParseJson, CompactTypes) {
  ContractDescriptor d =
      parse_with(R"("types":{"T":{"!":24,"Plain":16,"Typed":[8,"pointer"],"Negative":-12,"Hex":"0x12",
      "NegativeHex":"-0x12","Decimal":"20","TypedHex":["0x100","int"]},"Opaque":{"Only":0},"Sized":{"!":"0x20"}})");
  EXPECT_EQ(d.size_of("T"), 24u);
  EXPECT_EQ(d.size_of("Sized"), 32u);
  EXPECT_EQ(d.find_type("Opaque")->size, std::nullopt);
  for (auto [field, offset] : {std::pair{"Plain", 16},
                               {"Typed", 8},
                               {"Negative", -12},
                               {"Hex", 0x12},
                               {"NegativeHex", -0x12},
                               {"Decimal", 20},
                               {"TypedHex", 0x100}})
    EXPECT_EQ(d.offset("T", field), offset) << field;
  EXPECT_EQ(d.find_field("T", "Typed")->type, "pointer");
  EXPECT_EQ(d.find_field("T", "TypedHex")->type, "int");
  EXPECT_EQ(d.find_field("T", "Plain")->type, "");
  EXPECT_EQ(d.find_field("T", "!"), nullptr);
  EXPECT_EQ(d.find_field("T", "plain"), nullptr) << "names are case sensitive";
  EXPECT_EQ(d.find_field("T", "Plain")->origin, Origin::published);
}

TEST(ParseJson, OffsetsThatAreNone) {
  for (const char *offset : {"true",
                             "null",
                             "1.5",
                             "\"\"",
                             "\"-\"",
                             "\"0x\"",
                             "\"12x\"",
                             "\"--1\"",
                             "\"+1\"",
                             "\" 1\"",
                             "[]",
                             "[1]",
                             "[1,2]",
                             "[1,\"int\",3]",
                             "[\"x\",\"int\"]",
                             "{}",
                             "2147483648",
                             "-2147483649",
                             "\"0x100000000\"",
                             "\"99999999999999999999\""})
    EXPECT_CONTAINS(error_with(std::string(R"("types":{"T":{"F":)") + offset + "}}"),
                    R"(field "F" of type "T" is not an offset)")
        << offset;
  for (const char *size : {"-1", "true", "\"x\"", "[8]", "2147483648"})
    EXPECT_CONTAINS(error_with(std::string(R"("types":{"T":{"!":)") + size + "}}"), R"(size of type "T")") << size;
  EXPECT_CONTAINS(error_with(R"("types":{"T":5})"), R"(type "T")");
}

TEST(ParseJson, GlobalsDirect) {
  struct Vector {
    const char *json;
    std::optional<u64> number;
    const char *text, *type;
  };
  const Vector vectors[] = {
      {"5", 5, "", ""},
      {"-5", ~u64{4}, "", ""},
      {"18446744073709551615", ~u64{0}, "", ""},
      {"\"0x7\"", 7, "0x7", ""},
      {"\"-0x7\"", ~u64{6}, "-0x7", ""},
      {"\"12\"", 12, "12", ""},
      {"\"-12\"", ~u64{11}, "-12", ""},
      {"\"0xFFFFFFFFFFFFFFFF\"", ~u64{0}, "0xFFFFFFFFFFFFFFFF", ""},
      {"\"x64\"", std::nullopt, "x64", ""},
      {"\"\"", std::nullopt, "", ""},
      {"[5,\"uint32\"]", 5, "", "uint32"},
      {"[-1,\"nint\"]", ~u64{0}, "", "nint"},
      {"[\"0x10\",\"uint8\"]", 16, "0x10", "uint8"},
      {"[\"x64\",\"string\"]", std::nullopt, "x64", "string"},
  };
  for (const Vector &v : vectors) {
    SCOPED_TRACE(v.json);
    ContractDescriptor d = parse_with(std::string(R"("globals":{"G":)") + v.json + "}");
    const Global *global = d.find_global("G");
    ASSERT_NE(global, nullptr);
    EXPECT_EQ(global->number, v.number);
    EXPECT_EQ(global->text, v.text);
    EXPECT_EQ(global->type, v.type);
    EXPECT_FALSE(global->indirect);
  }
}

TEST(ParseJson, GlobalsIndirect) {
  struct Vector {
    const char *json;
    u64 number;
    const char *type;
  };
  for (const Vector &v : {Vector{"[1]", pointers[1], ""},
                          {"[2]", pointers[2], ""},
                          {"[\"0x1\"]", pointers[1], ""},
                          {"[\"2\"]", pointers[2], ""},
                          {"[[1],\"pointer\"]", pointers[1], "pointer"},
                          {"[[\"0x2\"],\"nuint\"]", pointers[2], "nuint"},
                          {"[0]", 0, ""}}) {
    SCOPED_TRACE(v.json);
    ContractDescriptor d = parse_with(std::string(R"("globals":{"G":)") + v.json + "}");
    EXPECT_TRUE(d.find_global("G")->indirect);
    EXPECT_EQ(d.number("G"), v.number);
    EXPECT_EQ(d.find_global("G")->type, v.type);
  }
  EXPECT_CONTAINS(error_with(R"("globals":{"G":[3]})"), R"(global "G" uses pointer 3 of 3)");
  EXPECT_CONTAINS(error_with(R"("globals":{"G":[[-1],"pointer"]})"), R"(global "G" uses pointer)");
}

TEST(ParseJson, GlobalsThatAreNone) {
  for (const char *value : {"true", "null", "1.5", "{}", "[]", "[[]]", "[[1]]", "[1,2]", "[[1],2]", "[1,\"t\",3]",
                            "[[1,2],\"t\"]", "[[[1]],\"t\"]", "[null,\"t\"]", "[[\"x\"],\"t\"]"})
    EXPECT_CONTAINS(error_with(std::string(R"("globals":{"G":)") + value + "}"), R"(global "G" is neither)") << value;
}

TEST(ParseJson, RegularForm) {
  ContractDescriptor d = parse_with(R"("types":[{"name":"T","size":"indeterminate","fields":[
      {"name":"A","type":"pointer","offset":8},{"name":"B","offset":"0x10"},{"name":"C","offset":"unknown"}]},
      {"name":"U","size":16}], "globals":[{"name":"G","type":"uint8","value":1},{"name":"H","value":"0x2"},
      {"name":"I","type":"pointer","value":[1]}])");
  EXPECT_EQ(d.find_type("T")->size, std::nullopt);
  EXPECT_EQ(d.offset("T", "A"), 8);
  EXPECT_EQ(d.find_field("T", "A")->type, "pointer");
  EXPECT_EQ(d.offset("T", "B"), 16);
  EXPECT_EQ(d.find_field("T", "C"), nullptr);
  EXPECT_EQ(d.size_of("U"), 16u);
  EXPECT_EQ(d.find_global("G")->type, "uint8");
  EXPECT_EQ(d.number("G"), 1u);
  EXPECT_EQ(d.number("H"), 2u);
  EXPECT_EQ(d.number("I"), pointers[1]);
  EXPECT_TRUE(d.find_global("I")->indirect);
  EXPECT_CONTAINS(error_with(R"("types":[{"size":1}])"), "has no name");
  EXPECT_CONTAINS(error_with(R"("types":[{"name":"T"},{"name":"T"}])"), R"(type "T" is given twice)");
  EXPECT_CONTAINS(error_with(R"("types":[{"name":"T","fields":[{"name":"A","offset":1},{"name":"A","offset":1}]}])"),
                  R"(field "A" of type "T" is given twice)");
  EXPECT_CONTAINS(error_with(R"("globals":[{"name":"G","value":1},{"name":"G","value":1}])"),
                  R"(global "G" is given twice)");
}

TEST(ParseJson, CommentsAndTrailingCommas) {
  ContractDescriptor d = parse_text(R"(// before
      { /* in */ "version" : 2, // to the end
      "types": { "T/*not*/": { "A": [1, "a,}", ], "B": 2, /* , */ }, }, /*
      over lines */ "contracts": {"C": "c1",},
      } // after)")
                             .descriptor;
  EXPECT_EQ(d.offset("T/*not*/", "A"), 1);
  EXPECT_EQ(d.find_field("T/*not*/", "A")->type, "a,}");
  EXPECT_EQ(d.offset("T/*not*/", "B"), 2);
  EXPECT_EQ(d.contracts.at("C"), "c1");
  EXPECT_EQ(parse_with(R"("types":{"a\"//b":{}})").types.count("a\"//b"), 1u) << "an escaped quote does not end a text";
  EXPECT_NE(error_of("{\"version\":2} /"), "");
  EXPECT_NE(error_of("{\"version\":2,,}"), "");
}

TEST(ParseJson, UnknownKeysAreIgnored) {
  EXPECT_EQ(error_with(R"("future":[1,{"x":[]}],"another":null)"), "");
  EXPECT_TRUE(parse_with(R"("Types":{"T":{}},"Contracts":{"C":1})").types.empty()) << "keys are case sensitive";
}

TEST(ParseJson, Contracts) {
  ContractDescriptor d = parse_with(R"("contracts":{"A":1,"B":"c1","C":"n1","D":12,"a":2})");
  const std::map<std::string, std::string, std::less<>> expected = {
      {"A", "c1"}, {"B", "c1"}, {"C", "n1"}, {"D", "c12"}, {"a", "c2"}};
  EXPECT_EQ(d.contracts, expected);
  EXPECT_EQ(d.contract_origin.at("A"), Origin::published);
  for (const char *version : {"-1", "1.5", "null", "true", "[1]", "{}"})
    EXPECT_CONTAINS(error_with(std::string(R"("contracts":{"C":)") + version + "}"), R"(contract "C")") << version;
  EXPECT_NE(error_with(R"("contracts":[])"), "");
}

TEST(ParseJson, SubDescriptors) {
  ParsedJson parsed = parse_text(R"({"version":2,"subDescriptors":{"GC":[[1],"pointer"],"Managed":[2]}})");
  const std::vector<std::pair<std::string, Address>> expected = {{"GC", pointers[1]}, {"Managed", pointers[2]}};
  EXPECT_EQ(parsed.sub_descriptors, expected);
  EXPECT_CONTAINS(error_with(R"("subDescriptors":{"GC":5})"), R"(sub-descriptor "GC" is not a pointer)");
  EXPECT_CONTAINS(error_with(R"("subDescriptors":{"GC":[9]})"), R"("GC" uses pointer 9)");
  EXPECT_TRUE(parse_text(R"({"version":2,"SubDescriptors":{"GC":[1]}})").sub_descriptors.empty());
}

TEST(ParseJson, NothingIsGivenTwice) {
  for (const char *members :
       {R"("types":{"T":{},"T":{}})", R"("types":{"T":{"A":1,"A":1}})", R"("types":{"T":{"!":1,"!":1}})",
        R"("globals":{"G":1,"G":1})", R"("contracts":{"C":1,"C":1})", R"("types":{},"types":{})",
        R"("subDescriptors":{"S":[1],"S":[1]})"})
    EXPECT_CONTAINS(error_with(members), "twice") << members;
  EXPECT_EQ(error_with(R"("types":{"T":{"A":1},"U":{"A":1}},"globals":{"T":1,"A":2},"contracts":{"T":1})"), "")
      << "types, fields, globals and contracts have their own names";
}

TEST(ParseJson, Versions) {
  EXPECT_EQ(parse_text(R"({"version":0})").version, 0u);
  EXPECT_EQ(parse_text(R"({"version":2})").version, 2u);
  EXPECT_EQ(parse_text(R"({"version":"2"})").version, 2u);
  for (const char *version : {"1", "3", "-1", "\"c2\"", "null", "2.0", "[2]"})
    EXPECT_CONTAINS(error_of(std::string("{\"version\":") + version + "}"), "reads versions 0 and 2") << version;
  EXPECT_CONTAINS(error_of("{}"), "states no version");
}

TEST(ParseJson, Baseline) {
  EXPECT_EQ(parse_text(R"({"version":2,"baseline":"empty"})").baseline, "empty");
  EXPECT_EQ(parse_text(R"({"version":2,"baseline":""})").baseline, "");
  EXPECT_CONTAINS(error_with(R"("baseline":"net9-x64")"), R"(baseline "net9-x64")");
}

TEST(ParseJson, MalformedText) {
  for (const char *json : {"", " ", "{", "[]", "5", "null", "\"x\"", "{\"version\":2}{}", "{}{}", "{\"version\":2} x",
                           "{\"version\":2]", "{'version':2}", "{version:2}", "{\"version\":2\0}"})
    EXPECT_NE(error_of(json), "") << json;
  EXPECT_NE(error_of(std::string("{\"version\":2}\0", 14)), "") << "no NUL is counted";
  EXPECT_NE(error_with(R"("types":5)"), "");
  EXPECT_NE(error_with(R"("globals":5)"), "");
  EXPECT_NE(error_with(R"("types":{")"
                       "\xff\xfe"
                       R"(":{}})"),
            "")
      << "not UTF-8";
}

TEST(ParseJson, Bombs) {
  const std::string open(10000, '['), close(10000, ']');
  EXPECT_CONTAINS(error_with("\"x\":" + open + close), "nested deeper than 64");
  EXPECT_NE(error_with("\"x\":" + open), "");
  std::string objects;
  for (int i = 0; i < 10000; ++i)
    objects += "{\"a\":";
  EXPECT_CONTAINS(error_with("\"x\":" + objects), "nested deeper than 64");
  EXPECT_EQ(error_with("\"x\":" + open.substr(0, 60) + close.substr(0, 60)), "");
  EXPECT_NE(error_with("\"" + std::string(1 << 20, 'x') + "\":1,\"" + std::string(1 << 20, 'x') + "\":1").size(), 0u);
  EXPECT_LT(error_with("\"" + std::string(1 << 20, 'x') + "\":1,\"" + std::string(1 << 20, 'x') + "\":1").size(), 1000u)
      << "an error's text stays readable";
}

} // namespace
} // namespace dnheap
