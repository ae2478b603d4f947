// Ways for people: the insides of tables, and chains of one field.
#include "analysis/suspects/folded_way.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(FoldedWay, TheInsideOfATableIsAnyOfItsEntries) {
  EXPECT_EQ(folded_way("._sessions._tables._buckets[*]._node._value.Items._entries[*].value"),
            "._sessions[*].Items[*]");
  EXPECT_EQ(folded_way("._tables._buckets[*]._value"), "[*]");
  EXPECT_EQ(folded_way("._entries[*].values"), "._entries[*].values"); // another field
  EXPECT_EQ(folded_way("._entries"), "._entries");
  EXPECT_EQ(folded_way(""), "");
}

TEST(FoldedWay, AChainOfOneFieldIsItsNumber) {
  EXPECT_EQ(folded_way(".Callbacks.Next.Next.Next.Next.Next"), ".Callbacks.Next (5 ×)");
  EXPECT_EQ(folded_way(".Callbacks.Next.Next.Next.Next.Next.Value"), ".Callbacks.Next (5 ×).Value");
  EXPECT_EQ(folded_way("._next._next._next._next"), "._next._next._next._next"); // few
  EXPECT_EQ(folded_way("._next._next._next._next._nextOne"), "._next._next._next._next._nextOne");
}

} // namespace
} // namespace dnheap::test
