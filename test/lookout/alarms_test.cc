// When a condition counts: once, until it was false again.
#include "lookout/alarms.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

// Of one condition, after each level: is a core due?
std::string dues(Alarms alarms, std::string_view levels) {
  std::string out;
  double now = 0;
  for (const char letter : levels) {
    const Level level[] = {letter == '?'   ? Level::unknown
                           : letter == '-' ? Level::below
                           : letter == '=' ? Level::between
                                           : Level::above};
    const bool is_due = !alarms.due(level, now).empty();
    out += is_due ? '!' : '.';
    if (is_due && letter == 'F')
      alarms.failed(now);
    else if (is_due)
      alarms.taken(level, now);
    now += 60;
  }
  return out;
}

TEST(Alarms, CountOnceUntilTheyWereFalseAgain) {
  EXPECT_EQ(dues({1, 0, 600}, "-++=+?+-=+"), ".!.......!");
  EXPECT_EQ(dues({1, 0, 600}, "++"), "!.") << "true from the beginning";
}

TEST(Alarms, AreDueAgainAfterATime) {
  EXPECT_EQ(dues({1, 180, 600}, "++++++++"), "!..!..!.");
  EXPECT_EQ(dues({1, 180, 600}, "+======="), "!.......") << "only while it is true";
}

TEST(Alarms, WaitAfterAFailure) { EXPECT_EQ(dues({1, 0, 180}, "FFFFF"), "!..!."); }

TEST(Alarms, OneCoreIsForAllThatAreTrue) {
  Alarms alarms(2, 0, 600);
  const Level both[] = {Level::above, Level::above}, second[] = {Level::below, Level::above};
  EXPECT_EQ(alarms.due(second, 0), std::vector<u64>{1});
  alarms.taken(second, 0);
  EXPECT_EQ(alarms.due(both, 1), std::vector<u64>{0}) << "the second was answered";
  alarms.taken(both, 1);
  EXPECT_TRUE(alarms.due(both, 2).empty());
}

} // namespace
} // namespace dnheap
