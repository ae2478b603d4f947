#include "report/notes.h"

#include <gtest/gtest.h>

using namespace dnheap::report;

// One problem of the thread list reaches `report` as the target's, the roots' and the crash's.
TEST(Notes, EachTextStandsOnce) {
  Notes notes;
  notes.add("the thread list breaks off");
  notes.add("the thread list breaks off", "roots");
  notes.add("handles are cut", "roots");
  notes.add_all(std::vector<std::string>{"handles are cut", "names are missing"});
  notes.add_first("one object was named");
  notes.add_first("one object was named");
  EXPECT_EQ(notes.whole(), (std::vector<std::string>{"one object was named", "the thread list breaks off",
                                                     "roots: handles are cut", "names are missing"}));
  EXPECT_EQ(notes.size(), 4u);
}
