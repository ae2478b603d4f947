// The semaphores for which a method has waited, and that it has not released, at a place in its IL.
#include "analysis/waits/passed_waits.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

const std::string semaphore = "System.Threading.SemaphoreSlim";

MethodBodies::Call call(u32 at, const char *method, const char *field, const std::string &type = semaphore) {
  return {at, {type, method}, {field}};
}

TEST(PassedWaits, BetweenWaitAndRelease) {
  const std::vector<MethodBodies::Call> calls = {call(6, "Wait", "_gate"), call(20, "Release", "_gate")};
  EXPECT_TRUE(fields_waited_for(calls, 0).empty());
  EXPECT_TRUE(fields_waited_for(calls, 6).empty()); // in the wait itself
  EXPECT_EQ(fields_waited_for(calls, 7), std::set<std::string>{"_gate"});
  EXPECT_EQ(fields_waited_for(calls, 20), std::set<std::string>{"_gate"});
  EXPECT_TRUE(fields_waited_for(calls, 21).empty());
}

TEST(PassedWaits, EachFieldByItself) {
  const std::vector<MethodBodies::Call> calls = {call(6, "Wait", "_gate"), call(12, "Wait", "_room"),
                                                 call(20, "Release", "_room"), call(26, "Wait", "_ticks", "Shop.Clock"),
                                                 call(32, "Wait", "")};
  EXPECT_EQ(fields_waited_for(calls, 40), std::set<std::string>{"_gate"});
}

} // namespace
} // namespace dnheap::test
