// What a method's IL calls: bodies with both kinds of header, every form of callee, and bytes that are no IL.
#include "metadata/method_calls.h"
#include "support/metadata_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (unsigned value : values)
    out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(MethodCalls, WhereTheIlLies) {
  const std::optional<IlPlace> tiny = find_il(bytes({5 << 2 | 2, 0, 0}));
  ASSERT_TRUE(tiny);
  EXPECT_EQ(tiny->offset, 1u);
  EXPECT_EQ(tiny->size, 5u);
  const std::optional<IlPlace> fat = find_il(bytes({0x13, 0x30, 2, 0, 0x21, 1, 0, 0, 0, 0, 0, 0}));
  ASSERT_TRUE(fat);
  EXPECT_EQ(fat->offset, 12u);
  EXPECT_EQ(fat->size, 0x121u);
  EXPECT_FALSE(find_il({}));
  EXPECT_FALSE(find_il(bytes({0x13, 0x30, 2, 0, 0x21})));                      // ends early
  EXPECT_FALSE(find_il(bytes({0x13, 0x40, 2, 0, 0x21, 1, 0, 0, 0, 0, 0, 0}))); // another header
  EXPECT_FALSE(find_il(bytes({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST(MethodCalls, BetweenOtherInstructions) {
  // ldarg.0; ldc.i8; switch of two; call; ceq; callvirt; ret
  const auto calls = find_calls(
      bytes({0x02, 0x21, 0x28, 0x28, 0x28, 0x28, 0x28, 0x28, 0x28, 0x28, 0x45, 2,    0,    0, 0, 0x28, 0,    0,
             0,    0x6f, 0,    0,    0,    0x28, 1,    0,    0,    0x0a, 0xfe, 0x01, 0x6f, 2, 0, 0,    0x06, 0x2a}));
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 2u);
  EXPECT_EQ((*calls)[0].il_offset, 23u);
  EXPECT_EQ((*calls)[0].callee, token(Table::MemberRef, 1));
  EXPECT_EQ((*calls)[1].il_offset, 30u);
  EXPECT_EQ((*calls)[1].callee, token(Table::MethodDef, 2));
}

TEST(MethodCalls, TheFieldsThatAreLoadedBefore) {
  // ldarg.0; ldfld 1; callvirt; ldsfld 2; ldfld 3; call; call; five times ldfld; call
  const auto calls =
      find_calls(bytes({0x02, 0x7b, 1, 0, 0, 4, 0x6f, 1, 0, 0, 0x0a, 0x7e, 2, 0, 0, 4, 0x7b, 3, 0, 0, 4, 0x28, 2, 0, 0,
                        6,    0x28, 2, 0, 0, 6, 0x7b, 1, 0, 0, 4,    0x7b, 2, 0, 0, 4, 0x7b, 3, 0, 0, 4, 0x7b, 4, 0, 0,
                        4,    0x7b, 5, 0, 0, 4, 0x28, 2, 0, 0, 6}));
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 4u);
  EXPECT_EQ((*calls)[0].fields, std::vector<Token>{token(Table::Field, 1)});
  EXPECT_EQ((*calls)[1].fields, (std::vector<Token>{token(Table::Field, 2), token(Table::Field, 3)}));
  EXPECT_TRUE((*calls)[2].fields.empty());
  EXPECT_EQ((*calls)[3].fields.size(), 4u); // the last few
  EXPECT_EQ((*calls)[3].fields.back(), token(Table::Field, 5));
}

TEST(MethodCalls, WhatElseIlNames) {
  // newobj; ldsfld; stfld; ldflda; ldftn; call; ret
  const auto uses = find_uses(bytes({0x73, 3, 0, 0, 0x0a, 0x7e, 1, 0, 0, 0x04, 0x7d, 2, 0, 0, 0x04, 0x7c,
                                     2,    0, 0, 4, 0xfe, 0x06, 5, 0, 0, 0x06, 0x28, 1, 0, 0, 0x06, 0x2a}));
  ASSERT_TRUE(uses);
  std::vector<std::pair<IlUse, Token>> found;
  for (const NamedInIl &one : *uses)
    found.push_back({one.use, one.token});
  EXPECT_EQ(found, (std::vector<std::pair<IlUse, Token>>{{IlUse::makes, token(Table::MemberRef, 3)},
                                                         {IlUse::reads_field, token(Table::Field, 1)},
                                                         {IlUse::writes_field, token(Table::Field, 2)},
                                                         {IlUse::reads_field, token(Table::Field, 2)},
                                                         {IlUse::points, token(Table::MethodDef, 5)},
                                                         {IlUse::calls, token(Table::MethodDef, 1)}}));
  EXPECT_FALSE(find_uses(bytes({0x73, 3, 0, 0})));
}

TEST(MethodCalls, WhatIsNoIl) {
  EXPECT_FALSE(find_calls(bytes({0x24})));          // no instruction
  EXPECT_FALSE(find_calls(bytes({0x28, 1, 0, 0}))); // ends early
  EXPECT_FALSE(find_calls(bytes({0xfe})));
  EXPECT_FALSE(find_calls(bytes({0xfe, 0x08})));
  EXPECT_FALSE(find_calls(bytes({0x45, 0xff, 0xff, 0xff, 0xff, 0}))); // more targets than bytes
  EXPECT_FALSE(find_calls(bytes({0x45, 1, 0})));
  EXPECT_TRUE(find_calls({})->empty());
}

TEST(MethodCalls, NamesOfCallees) {
  MetadataWriter writer;
  const Token scope = token(Table::AssemblyRef, writer.assembly_ref("System.Threading"));
  const u32 semaphore = writer.type_ref(scope, "System.Threading", "SemaphoreSlim");
  const u32 collection = writer.type_ref(scope, "System.Collections.Concurrent", "BlockingCollection`1");
  const u32 spec = writer.type_spec({0x15, 0x12, static_cast<u8>(collection << 2 | 1), 1, 0x1c});
  auto member = [&](Token of, std::string_view name) {
    return token(Table::MemberRef, writer.row(Table::MemberRef, {MetadataWriter::coded(ColumnKind::MemberRefParent, of),
                                                                 writer.string(name), writer.blob({0x20, 0, 1})}));
  };
  const Token release = member(token(Table::TypeRef, semaphore), "Release");
  const Token add = member(token(Table::TypeSpec, spec), "Add");
  const Token instantiated =
      token(Table::MethodSpec,
            writer.row(Table::MethodSpec,
                       {MetadataWriter::coded(ColumnKind::MethodDefOrRef, release), writer.blob({0x0a, 1, 0x1c})}));
  writer.type("Shop", "Cart");
  const Token own = token(Table::MethodDef, writer.method("Pay", {0x20, 0, 1}));
  const std::vector<std::byte> written = writer.write();
  const std::optional<Metadata> metadata = Metadata::parse(written);
  ASSERT_TRUE(metadata);
  auto name = [&](Token callee) {
    const CalleeName found = name_of_callee(*metadata, callee);
    return found.type + "." + found.method;
  };
  EXPECT_EQ(name(release), "System.Threading.SemaphoreSlim.Release");
  EXPECT_EQ(name(add), "System.Collections.Concurrent.BlockingCollection`1.Add");
  EXPECT_EQ(name(instantiated), "System.Threading.SemaphoreSlim.Release");
  EXPECT_EQ(name(own), "Shop.Cart.Pay");
  EXPECT_EQ(name(token(Table::MemberRef, 77)), ".");
  EXPECT_EQ(name(token(Table::Field, 1)), ".");
  EXPECT_EQ(name(0), ".");
}

} // namespace
} // namespace dnheap::test
