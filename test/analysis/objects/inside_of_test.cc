// Which types are parts of a collection, and which arrays belong to one.
#include "analysis/objects/inside_of.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

bool folds(std::string_view parent, std::string_view child) {
  return InsideTraits(parent, false).folds(InsideTraits(child, false));
}

TEST(InsideOf, PartsByTheirOwnNamesNotByThoseOfTheirArguments) {
  EXPECT_TRUE(is_node_of_collection("System.Collections.Generic.Dictionary<System.Int32, Shop.Item>+Entry[]"));
  EXPECT_TRUE(is_node_of_collection("System.Collections.Concurrent.ConcurrentDictionary<A, B<C>>+VolatileNode[]"));
  EXPECT_TRUE(is_node_of_collection("System.Collections.Generic.LinkedListNode<Shop.Item>"));
  EXPECT_TRUE(is_node_of_collection("System.Collections.Immutable.SortedInt32KeyNode<System.Int32>"));
  EXPECT_FALSE(is_node_of_collection("System.Collections.Generic.List<Shop.Graph+Node>"));
  EXPECT_FALSE(is_node_of_collection("System.Collections.Generic.Dictionary<System.String, Shop.Cache+Entry>"));
  EXPECT_FALSE(is_node_of_collection("Shop.Cache+Entry"));
}

TEST(InsideOf, ArraysThatAreValuesAreNoParts) {
  constexpr const char *dictionary = "System.Collections.Generic.Dictionary<System.Int32, System.Byte[]>",
                       *entries = "System.Collections.Generic.Dictionary<System.Int32, System.Byte[]>+Entry[]",
                       *concurrent = "System.Collections.Concurrent.ConcurrentDictionary<System.Int32, System.Byte[]>";
  EXPECT_TRUE(folds(dictionary, entries));
  EXPECT_TRUE(folds(dictionary, "System.Int32[]"));
  EXPECT_FALSE(folds(entries, "System.Byte[]"));
  EXPECT_TRUE(folds(concurrent, concurrent + std::string("+Tables")));
  EXPECT_TRUE(folds(concurrent + std::string("+Tables"), "System.Int32[]"));
  EXPECT_TRUE(folds(concurrent + std::string("+Tables"), concurrent + std::string("+VolatileNode[]")));
  EXPECT_FALSE(folds(concurrent + std::string("+Node"), "System.Byte[]"));
  EXPECT_FALSE(folds("System.Collections.Generic.LinkedListNode<System.Byte[]>", "System.Byte[]"));
  EXPECT_TRUE(folds("System.Collections.Generic.List<System.Byte[]>", "System.Byte[][]"));
  EXPECT_FALSE(folds("System.Byte[][]", "System.Byte[]"));
  EXPECT_TRUE(folds("System.Collections.Generic.List<Shop.Graph+Node>", "Shop.Graph+Node[]"));
}

} // namespace
} // namespace dnheap::test
