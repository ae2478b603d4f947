// Contract descriptors in memory: struct, JSON, pointer data, sub-descriptors; in four formats.
#include "contract/parse.h"
#include "support/descriptor_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// A memory of two stretches, in which descriptors are written.
struct Fixture {
  Block data, text;

  explicit Fixture(Format format) : data(format, 0x10000), text(format, 0x800000) { data.reserve(64); }
  Memory memory() const { return Memory(data.format(), {data.range(), text.range()}); }
  Address add(std::string_view json, const std::vector<u64> &pointers = {0}) {
    return write_descriptor(data, text, json, pointers);
  }
  // A variable that points there.
  Address variable(Address to) { return data.words({to}); }
  ContractDescriptor parse(Address at) const {
    Memory known = memory();
    return parse_descriptor(known, at);
  }
  std::string error(Address at) const {
    try {
      parse(at);
    } catch (const Error &e) {
      return e.what();
    }
    return "";
  }
};

std::string with_sub(const std::string &members, u64 pointer = 1, const std::string &name = "Sub") {
  return R"({"version":2,"subDescriptors":{")" + name + "\":[[" + std::to_string(pointer) + "],\"pointer\"]}" +
         (members.empty() ? "" : "," + members) + "}";
}

TEST(Parse, EveryFormat) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Fixture f(format);
    u64 high = format.pointer_size == 8 ? 0x123456789abcdef0 : 0x9abcdef0;
    Address at =
        f.add(R"({"version":0,"types":{"T":{"A":1}},"globals":{"G":[[1],"pointer"]},"contracts":{"C":1}})", {0, high});
    ContractDescriptor d = f.parse(at);
    EXPECT_EQ(d.offset("T", "A"), 1);
    EXPECT_EQ(d.number("G"), high);
    EXPECT_EQ(d.contracts.at("C"), "c1");
    ASSERT_EQ(d.sources.size(), 1u);
    EXPECT_EQ(d.sources[0].address, at);
    EXPECT_EQ(d.sources[0].json, f.text.address());
    EXPECT_EQ(d.sources[0].json_size, f.text.bytes().size());
    EXPECT_EQ(d.sources[0].pointer_count, 2u);
    EXPECT_EQ(d.sources[0].version, 0u);
  }
}

TEST(Parse, HeaderMustFitTheTarget) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Fixture f(format);
    Address good = f.add(R"({"version":2})");
    u64 p = format.pointer_size;
    auto broken = [&](u64 offset, u64 value, u64 size) {
      Fixture other = f;
      other.data.put(good + offset, value, size);
      return other.error(good);
    };
    EXPECT_EQ(f.error(good), "");
    EXPECT_NE(broken(0, 0x20, 1), "") << "magic";
    EXPECT_NE(broken(8, p == 8 ? 3 : 1, 4), "") << "pointer size";
    EXPECT_NE(broken(8, 0, 4), "") << "bit 0 is always set";
    EXPECT_EQ(broken(8, (p == 8 ? 1 : 3) | 0xfffffffc, 4), "") << "other flags are reserved";
    EXPECT_NE(broken(12, 0, 4), "") << "no JSON";
    EXPECT_NE(broken(12, 0xffffffff, 4), "") << "too much JSON";
    EXPECT_NE(broken(16, 0x500, p), "") << "JSON not in the dump";
    EXPECT_NE(broken(16 + p, 0xffffffff, 4), "") << "too many pointers";
    EXPECT_NE(broken(24 + p, 0x500, p), "") << "pointers not in the dump";
    EXPECT_NE(f.error(good + 8), "");
    EXPECT_NE(f.error(0x100).find("contract descriptor at 0x100: "), std::string::npos);
  }
}

TEST(Parse, OtherByteOrderIsNoDescriptor) {
  Fixture f({8, ByteOrder::big});
  Address at = f.add(R"({"version":2})");
  Memory little({8, ByteOrder::little}, {f.data.range(), f.text.range()});
  EXPECT_FALSE(is_descriptor(little, at));
  EXPECT_THROW(parse_descriptor(little, at), Error);
  EXPECT_TRUE(is_descriptor(f.memory(), at));
}

TEST(Parse, SubDescriptorsAreMerged) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Fixture f(format);
    Address inner = f.add(
        R"({"version":2,"types":{"U":{"B":2}},"globals":{"H":[[1],"pointer"]},"contracts":{"GC":"c1"}})", {0, 0x777});
    Address at = f.add(with_sub(R"("types":{"T":{"A":1}},"globals":{"G":[2]},"contracts":{"Thread":"c1"})", 1, "GC"),
                       {0, f.variable(inner), 0x555});
    ContractDescriptor d = f.parse(at);
    EXPECT_EQ(d.offset("T", "A"), 1);
    EXPECT_EQ(d.offset("U", "B"), 2);
    EXPECT_EQ(d.number("G"), 0x555u) << "each descriptor has pointers of its own";
    EXPECT_EQ(d.number("H"), 0x777u);
    EXPECT_EQ(d.contracts.size(), 2u);
    EXPECT_EQ(d.contract_origin.at("GC"), Origin::published);
    ASSERT_EQ(d.sources.size(), 2u);
    EXPECT_EQ(d.sources[1].name, "GC");
    EXPECT_EQ(d.sources[1].address, inner);
  }
}

TEST(Parse, SubDescriptorsNest) {
  Fixture f({});
  Address below = 0;
  for (int depth = 5; depth >= 0; --depth) {
    std::string name = "D" + std::to_string(depth), contracts = "\"contracts\":{\"" + name + "\":\"c1\"}";
    below = below ? f.add(with_sub(contracts), {0, f.variable(below)}) : f.add("{\"version\":2," + contracts + "}");
  }
  ContractDescriptor d = f.parse(below);
  EXPECT_EQ(d.contracts.size(), 6u);
  EXPECT_EQ(d.sources.size(), 6u);
}

TEST(Parse, SubDescriptorsSideBySide) {
  Fixture f({});
  std::string json = R"({"version":2,"subDescriptors":{)";
  std::vector<u64> pointers = {0};
  for (int i = 0; i < 4; ++i) {
    std::string name = "S" + std::to_string(i);
    pointers.push_back(f.variable(f.add("{\"version\":2,\"globals\":{\"" + name + "\":" + std::to_string(i) + "}}")));
    json += (i ? ",\"" : "\"") + name + "\":[[" + std::to_string(i + 1) + "],\"pointer\"]";
  }
  ContractDescriptor d = f.parse(f.add(json + "}}", pointers));
  for (u64 i = 0; i < 4; ++i)
    EXPECT_EQ(d.number("S" + std::to_string(i)), i);
}

TEST(Parse, AbsentSubDescriptors) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    struct Absent {
      const char *what;
      Address pointer; // what the pointer data holds
      const char *problem;
    };
    Fixture f(format);
    for (const Absent &absent : {Absent{"no variable", 0, "no address"},
                                 {"variable not in the dump", 0x500, "0x500 is not in this dump"},
                                 {"null variable", f.variable(0), "has not set it"},
                                 {"points at missing memory", f.variable(0x600), "0x600 is not in this dump"}}) {
      SCOPED_TRACE(absent.what);
      ContractDescriptor d = f.parse(f.add(with_sub(R"("contracts":{"C":"c1"})"), {0, absent.pointer}));
      EXPECT_EQ(d.contracts.size(), 1u);
      ASSERT_EQ(d.sources.size(), 2u);
      EXPECT_EQ(d.sources[1].name, "Sub");
      EXPECT_EQ(d.sources[1].address, 0u);
      EXPECT_NE(d.sources[1].problem.find(absent.problem), std::string::npos) << d.sources[1].problem;
    }
  }
}

TEST(Parse, SubDescriptorsThatAreBroken) {
  Fixture f({});
  Address nothing = f.data.words({1, 2, 3, 4, 5, 6});
  std::string error = f.error(f.add(with_sub(""), {0, f.variable(nothing)}));
  EXPECT_NE(error.find("contract descriptor Sub at"), std::string::npos) << error;
  EXPECT_NE(error.find("no descriptor lies there"), std::string::npos) << error;
  error = f.error(f.add(with_sub(""), {0, f.variable(f.add("{\"version\":7}"))}));
  EXPECT_NE(error.find("reads versions 0 and 2"), std::string::npos) << error;
}

TEST(Parse, NothingIsGivenTwiceAcrossSubDescriptors) {
  for (const char *members : {R"("types":{"X":{}})", R"("globals":{"X":1})", R"("contracts":{"X":"c1"})"}) {
    SCOPED_TRACE(members);
    Fixture f({});
    Address variable = f.variable(f.add(std::string("{\"version\":2,") + members + "}"));
    EXPECT_NE(f.error(f.add(with_sub(members), {0, variable})).find("\"X\" is given twice"), std::string::npos);
    Address outer = f.variable(f.add(with_sub(""), {0, variable}));
    EXPECT_NE(f.error(f.add(with_sub(members), {0, outer})).find("\"X\" is given twice"), std::string::npos)
        << "however deep";
  }
}

TEST(Parse, SelfContainingDescriptors) {
  for (u64 length : {1, 2, 3}) { // descriptors in the circle
    Fixture f({});
    std::vector<Address> variables;
    for (u64 i = 0; i < length; ++i)
      variables.push_back(f.variable(0));
    std::vector<Address> descriptors;
    for (u64 i = 0; i < length; ++i)
      descriptors.push_back(f.add(with_sub(""), {0, variables[i]}));
    for (u64 i = 0; i < length; ++i)
      f.data.pointer(variables[i], descriptors[(i + 1) % length]);
    EXPECT_NE(f.error(descriptors[0]).find("contains itself"), std::string::npos) << length;
  }
  Fixture f({});
  Address variable = f.variable(f.add("{\"version\":2}"));
  Address twice = f.add(R"({"version":2,"subDescriptors":{"A":[1],"B":[1]}})", {0, variable});
  EXPECT_NE(f.error(twice).find("\"B\" is given twice"), std::string::npos) << "two names for one";
}

TEST(Parse, TooManySubDescriptors) {
  Fixture f({});
  Address below = f.add("{\"version\":2}");
  for (int i = 0; i < 200; ++i)
    below = f.add(with_sub(""), {0, f.variable(below)});
  EXPECT_NE(f.error(below).find("more than 64 sub-descriptors"), std::string::npos);
}

TEST(Parse, MissingPagesAreSaid) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Fixture f(format);
    Address at = f.add(R"({"version":2,"globals":{"G":[1]}})", {0, 5});
    // Whatever one byte is missing: an error, never another descriptor.
    for (const Block *block : {&f.data, &f.text})
      for (Address hole = block == &f.data ? block->address() + 64 : block->address(); hole < block->end(); ++hole) {
        u64 before = hole - block->address();
        std::vector<Range> ranges = {{block->address(), Bytes(block->bytes()).first(before)},
                                     {hole + 1, Bytes(block->bytes()).subspan(before + 1)},
                                     (block == &f.data ? f.text : f.data).range()};
        Memory memory(format, ranges);
        bool padding = format.pointer_size == 8 ? hole >= at + 28 && hole < at + 32 : hole >= at + 24 && hole < at + 28;
        if (!padding) {
          EXPECT_THROW(parse_descriptor(memory, at), Error) << hole;
        }
      }
  }
}

TEST(Parse, Extents) {
  for (Format format : all_formats) {
    Fixture f(format);
    Address at = f.add(R"({"version":2})", {0, 1, 2});
    std::vector<DescriptorExtent> extents = descriptor_extents(f.memory(), at);
    ASSERT_EQ(extents.size(), 3u);
    EXPECT_EQ(extents[0].start, at);
    EXPECT_EQ(extents[0].size, format.pointer_size == 8 ? 40u : 32u);
    EXPECT_EQ(extents[1].start, f.text.address());
    EXPECT_EQ(extents[1].size, 13u);
    EXPECT_EQ(extents[2].size, 3u * format.pointer_size);
    EXPECT_TRUE(descriptor_extents(f.memory(), at + 8).empty());
  }
}

} // namespace
} // namespace dnheap::test
