// keeps_elements_itself(): whether a suspect's elements lie in an object on its path, or in a collection that only
// hangs from that object. Dumps of programs that have both are in test/real/findings.py.
#include "analysis/findings/gathered/gathered.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr const char *channel = "System.Threading.Channels.UnboundedChannel<Shop.Order>",
                     *queue = "System.Collections.Concurrent.ConcurrentQueue<Shop.Order>",
                     *segment = "System.Collections.Concurrent.ConcurrentQueueSegment<Shop.Order>",
                     *slots = "System.Collections.Concurrent.ConcurrentQueueSegment<Shop.Order>+Slot[]";

// Asks for the first of these steps.
bool keeps(const std::vector<std::string> &types, u64 most_between) {
  Suspect suspect;
  for (const std::string &type : types)
    suspect.steps.push_back({.field = "._next", .type = type, .address = 0, .call = ""});
  return keeps_elements_itself(suspect, 0, most_between);
}

TEST(Gathered, ElementsInTheObjectItself) {
  EXPECT_TRUE(keeps({channel}, 0));
  EXPECT_TRUE(keeps({channel, queue, segment, slots}, 1));
  EXPECT_TRUE(keeps({"System.Collections.Generic.List<System.Object>", "System.Object[]"}, 0));
}

TEST(Gathered, ElementsBehindTheObject) {
  EXPECT_FALSE(keeps({channel, queue, segment, slots}, 0));
  EXPECT_FALSE(keeps({channel, "Shop.Reader", "System.Collections.Generic.List<Shop.Order>"}, 1));
}

TEST(Gathered, ElementsOfOneElement) {
  EXPECT_FALSE(keeps({channel, queue, segment, slots, "System.Collections.Generic.List<Shop.Order>"}, 1));
  EXPECT_FALSE(keeps({channel, queue, segment, slots, "Shop.Order[]"}, 1));
}

} // namespace
} // namespace dnheap::test
