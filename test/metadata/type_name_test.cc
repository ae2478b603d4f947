#include "metadata/type_name.h"
#include "support/metadata_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using Names = std::vector<std::string>;

struct Nested {
  const char *name;
  std::vector<std::string> parameters; // all, as in metadata
};

// The name of the innermost of types nested in one another.
std::string formatted(const char *name_space, const std::vector<Nested> &chain, const Names &arguments) {
  MetadataWriter w;
  u32 rid = 0;
  for (const Nested &level : chain) {
    rid = rid ? w.nested(rid, level.name) : w.type(name_space, level.name);
    w.generic(token(Table::TypeDef, rid), level.parameters);
  }
  std::vector<std::byte> bytes = w.write();
  std::optional<Metadata> metadata = Metadata::parse(bytes);
  return format_type_name(type_name_parts(*metadata, token(Table::TypeDef, rid)), arguments);
}

TEST(TypeName, ArgumentsStandWhereTheirParametersWereIntroduced) {
  EXPECT_EQ(formatted("Shop", {{"Order", {}}}, {}), "Shop.Order");
  EXPECT_EQ(formatted("", {{"Order", {}}}, {}), "Order");
  EXPECT_EQ(formatted("N", {{"List`1", {"T"}}}, {"System.Int32[,][]"}), "N.List<System.Int32[,][]>");
  EXPECT_EQ(formatted("N", {{"Map`2", {"K", "V"}}, {"Entry", {"K", "V"}}}, {"A", "B"}), "N.Map<A, B>+Entry");
  EXPECT_EQ(formatted("N", {{"Outer`1", {"T"}}, {"Inner`1", {"T", "U"}}, {"Plain", {"T", "U"}}}, {"A", "B"}),
            "N.Outer<A>+Inner<B>+Plain");
  EXPECT_EQ(formatted("N", {{"P", {}}, {"<>c__DisplayClass0_0`1", {"T"}}}, {"A"}), "N.P+<>c__DisplayClass0_0<A>");
  EXPECT_EQ(formatted("N", {{"P`1", {"T"}}, {"<Main>d__0", {"T"}}}, {"A"}), "N.P<A>+<Main>d__0");
  EXPECT_EQ(formatted("", {{"<>f__AnonymousType0`2", {"a", "b"}}}, {"A", "B"}), "<>f__AnonymousType0<A, B>");
  EXPECT_EQ(formatted("", {{"Ωmega`1", {"Τ"}}}, {"日本語"}), "Ωmega<日本語>");
}

TEST(TypeName, UnknownArgumentsAreNumberedByLevel) {
  EXPECT_EQ(formatted("N", {{"Map`2", {"K", "V"}}}, {}), "N.Map<T1, T2>");
  EXPECT_EQ(formatted("N", {{"Map`2", {"K", "V"}}, {"In`1", {"K", "V", "U"}}}, {}), "N.Map<T1, T2>+In<T1>");
  EXPECT_EQ(formatted("N", {{"Map`2", {"K", "V"}}}, {"A"}), "N.Map<A, T2>");
}

TEST(TypeName, MarksThatDoNotTellTheArityArePartOfTheName) {
  EXPECT_EQ(formatted("", {{"NoMark", {"T", "U"}}}, {"A", "B"}), "NoMark<A, B>");
  EXPECT_EQ(formatted("", {{"P", {}}, {"clo@7-1", {"a"}}}, {"A"}), "P+clo@7-1<A>");
  EXPECT_EQ(formatted("", {{"Wrong`3", {"T"}}}, {"A"}), "Wrong`3<A>");
  EXPECT_EQ(formatted("", {{"Odd`1", {}}}, {}), "Odd`1");
  EXPECT_EQ(formatted("", {{"Odd`", {}}}, {}), "Odd`");
  EXPECT_EQ(formatted("", {{"Odd`1x", {"T"}}}, {"A"}), "Odd`1x<A>");
  EXPECT_EQ(formatted("", {{"A`1`1", {"T"}}}, {"A"}), "A`1<A>");
  EXPECT_EQ(formatted("", {{"NoMetadata", {}}}, {"A", "B"}), "NoMetadata<A, B>");
  std::vector<std::string> many(2000, "T");
  EXPECT_EQ(formatted("", {{"Many`2000", many}}, many).size(), std::string("Many`2000<>").size() + 2000 * 3 - 2);
}

// Parameters are normally repeated; Reflection.Emit need not.
TEST(TypeName, NestedTypesMayHaveTheirOwnParametersOnly) {
  EXPECT_EQ(formatted("", {{"Out`1", {"T"}}, {"Plain", {}}}, {}), "Out`1+Plain");
  EXPECT_EQ(formatted("", {{"Out`1", {"T"}}, {"Own`1", {"U"}}}, {"A"}), "Out`1+Own<A>");
  EXPECT_EQ(formatted("", {{"Out`1", {"T"}}, {"In`1", {"T", "U"}}, {"Plain", {}}}, {}), "Out`1+In`1+Plain");
}

TEST(TypeName, MetadataNamesAreEscaped) {
  EXPECT_EQ(formatted("N,S", {{"a+b&c*d[e]f\\g", {}}}, {}), "N\\,S.a\\+b\\&c\\*d\\[e\\]f\\\\g");
  EXPECT_EQ(
      formatted("", {{"P`1", {"T"}}, {"<IEnumerable<KeyValuePair<System-String,T>>-GetEnumerator>d__4", {"T"}}}, {"A"}),
      "P<A>+<IEnumerable<KeyValuePair<System-String\\,T>>-GetEnumerator>d__4");
}

TEST(TypeName, WithoutArityMarks) {
  EXPECT_EQ(without_arity_marks("Shop.Rows`2+Row`10"), "Shop.Rows+Row");
  EXPECT_EQ(without_arity_marks("Odd`"), "Odd");
}

TEST(TypeName, ArraysAndFunctionPointers) {
  EXPECT_EQ(array_type_name("A", 1, true), "A[]");
  EXPECT_EQ(array_type_name("A", 1, false), "A[*]");
  EXPECT_EQ(array_type_name("A", 3, false), "A[,,]");
  EXPECT_EQ(array_type_name(array_type_name("A", 2, false), 1, true), "A[,][]");
  EXPECT_EQ(array_type_name("A", ~0u, false).size(), 34u);
  EXPECT_EQ(function_pointer_type_name("System.Void", Names{}), "System.Void()");
  EXPECT_EQ(function_pointer_type_name("System.Void", Names{"A", "B"}), "System.Void(A, B)");
}

TEST(TypeName, CircularAndDeepNestingIsCut) {
  MetadataWriter w;
  u32 a = w.nested(3, "A"), b = w.nested(2, "B"), own = w.nested(4, "Own");
  ASSERT_EQ(a, 2u);
  u32 deep = own;
  for (int i = 0; i < 1000; ++i)
    deep = w.nested(deep, "D");
  std::vector<std::byte> bytes = w.write();
  std::optional<Metadata> m = Metadata::parse(bytes);
  for (u32 rid : {a, b, own, deep})
    EXPECT_EQ(type_name_parts(*m, token(Table::TypeDef, rid)).size(), 64u);
}

TEST(TypeName, TypeReferences) {
  MetadataWriter w;
  u32 outer = w.type_ref(token(Table::AssemblyRef, w.assembly_ref("lib")), "N", "Outer`1");
  u32 inner = w.type_ref(token(Table::TypeRef, outer), "", "Inner`2");
  u32 circular = w.type_ref(token(Table::TypeRef, 3), "", "C`1");
  u32 hostile = w.type_ref(0, "", "H`4294967295");
  std::vector<std::byte> bytes = w.write();
  std::optional<Metadata> m = Metadata::parse(bytes);
  auto parts = type_name_parts(*m, token(Table::TypeRef, inner));
  EXPECT_EQ(format_type_name(parts, Names{"A", "B", "C"}), "N.Outer<A>+Inner<B, C>");
  EXPECT_EQ(type_name(*m, token(Table::TypeRef, inner)), "N.Outer`1+Inner`2");
  EXPECT_EQ(type_name_parts(*m, token(Table::TypeRef, circular)).size(), 64u);
  EXPECT_TRUE(type_name_parts(*m, token(Table::TypeSpec, 1)).empty());
  EXPECT_EQ(format_type_name(type_name_parts(*m, token(Table::TypeRef, hostile)), {}), "H`4294967295");
}

} // namespace
} // namespace dnheap
