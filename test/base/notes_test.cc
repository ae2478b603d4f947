#include "base/missing_value.h"
#include "base/notes.h"

#include <gtest/gtest.h>

using namespace dnheap;

// One problem of the thread list reaches `report` as the heap's, the roots' and the crash's.
TEST(Notes, EachTextStandsOnce) {
  Notes of_roots;
  of_roots.add(Subject::threads, Effect::liveness, "the thread list breaks off");
  of_roots.add(Subject::handles, Effect::liveness, "handles are cut", "copy the file again");
  Notes notes;
  notes.add_all(of_roots.up_to(Effect::numbers));
  EXPECT_EQ(notes[0].effect, Effect::numbers);
  notes.add("names are missing");
  notes.add_all(of_roots, Subject::roots);
  notes.add_first(Note{.text = "one object was named"});
  notes.add_first(Note{.text = "one object was named"});
  EXPECT_EQ(notes.sentences(), (std::vector<std::string>{"one object was named", "the thread list breaks off",
                                                         "handles are cut; copy the file again", "names are missing"}));
  EXPECT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[1].effect, Effect::liveness) << "the gravest effect stays";
}

TEST(Notes, EffectsBySubject) {
  Notes notes;
  notes.add("how something was found");
  EXPECT_FALSE(notes.have_effect());
  notes.add(Subject::roots, Effect::liveness, "handles are cut");
  EXPECT_TRUE(notes.have_effect_on(Subject::roots));
  EXPECT_FALSE(notes.have_effect_beyond(Subject::roots));
  notes.add(Subject::heap, Effect::numbers, "a segment was left out");
  EXPECT_TRUE(notes.have_effect_beyond(Subject::roots));
  EXPECT_FALSE(notes.up_to(Effect::none).have_effect());
  EXPECT_EQ(notes[1].sentence(), "roots: handles are cut");
  notes.remove(Subject::roots);
  notes.add(Subject::roots, Effect::liveness, "handles are cut");
  EXPECT_EQ(notes.size(), 3u) << "what was removed may come again";
}

TEST(Notes, MissingValuesAreKeys) {
  Notes notes;
  notes.add(Subject::handles, Effect::liveness, "handles are missing: ", MissingValue("no HandleTable", "HandleTable"));
  notes.add(Subject::handles, Effect::liveness, "handles are cut: ", Error("no page"));
  ASSERT_TRUE(notes.find("HandleTable"));
  EXPECT_EQ(notes.find("HandleTable")->text, "handles are missing: no HandleTable");
  EXPECT_FALSE(notes.find("Handle"));
  EXPECT_TRUE(notes.find("handles are cut: no page"));
}
