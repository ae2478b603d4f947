// What a suspect's line says beyond its type: what delegates and timers call, and the GCHandles that hold objects.
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Remarked : LibraryHeap {
  explicit Remarked(const HeapShape &shape) : LibraryHeap(shape) {
    const Address base = type("System", "Delegate", 0, 6, {"_target", "_methodBase", "#_methodPtr", "#_methodPtrAux"});
    const Address multicast = type("System", "MulticastDelegate", base, 8, {"_invocationList", "#_invocationCount"}, 4);
    action = type("System", "Action", multicast, 8, {});
    queued = type("System.Threading", "TimerQueueTimer", 0, 4, {"_next", "_timerCallback"});
    view = type("Shop", "View", 0, 40, {});
    cursor = type("System", "Cursor", 0, 40, {});
  }
  Address calls(Address target) { return with(action, {target, 0, 0x4000}); }
  void held(HandleType by, const std::vector<Address> &objects) {
    for (Address object : objects)
      heap.gc.handles.push_back({.type = by, .object = object});
  }
  std::string first_text() {
    Question question;
    question.target = "core";
    report::Answer answer = answer_of(heap, "report", question);
    std::vector<TextRow> rows = text_rows_of(answer, "suspects");
    return rows.empty() ? "" : rows[0]["text"];
  }
  Address action = 0, queued = 0, view = 0, cursor = 0;
};

bool ends_in(const std::string &text, const std::string &end) { return text.ends_with(end); }

TEST(SuspectRemarks, WhatDelegatesCall) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    for (u64 others : {0, 100, 200}) {
      Remarked s(shape);
      std::vector<Address> list;
      for (u64 i = 0; i < 400; ++i)
        list.push_back(s.calls(s.with(i < others ? s.cursor : s.view, {})));
      s.held(HandleType::strong, {s.array(list)});
      const std::string text = s.first_text();
      EXPECT_NE(text.find("400 × Action"), text.npos) << text;
      EXPECT_EQ(ends_in(text, "each, which call a method of Shop.View"), others == 0) << text;
      EXPECT_EQ(ends_in(text, "each, most of which call a method of Shop.View"), others == 100) << text;
      EXPECT_EQ(ends_in(text, " each"), others == 200) << text;
    }
  }
}

TEST(SuspectRemarks, WhatTimersCall) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Remarked s(shape);
    std::vector<Address> list;
    for (u64 i = 0; i < 400; ++i)
      list.push_back(s.with(s.queued, {0, s.calls(s.with(s.view, {}))}));
    s.held(HandleType::strong, {s.array(list)});
    const std::string text = s.first_text();
    EXPECT_TRUE(ends_in(text, "each, which call a method of Shop.View")) << text;
  }
}

TEST(SuspectRemarks, GCHandles) {
  for (u64 count : {99, 100}) {
    Remarked s({});
    std::vector<Address> views, more;
    for (u64 i = 0; i < count; ++i)
      views.push_back(s.with(s.view, {}));
    s.held(HandleType::strong, views);
    const std::string text = s.first_text();
    EXPECT_EQ(ends_in(text, ", by 100 GCHandles (strong) that nobody freed"), count == 100) << text;
  }
}

// Handles call nothing; the delegates that they hold do.
TEST(SuspectRemarks, HandlesOfDelegates) {
  Remarked s({});
  const Address bell = s.type("Shop", "Bell", 0, 600, {});
  std::vector<Address> bells;
  for (u64 i = 0; i < 1000; ++i)
    bells.push_back(s.calls(s.with(bell, {})));
  s.held(HandleType::strong, bells);
  const std::string found = findings_of_kind(s.heap, "gc_handles");
  EXPECT_NE(found.find("1,000 × Action, which call a method of Shop.Bell, are kept by 1,000 GCHandles (strong) that "
                       "nobody freed: "),
            found.npos)
      << found;
}

} // namespace
} // namespace dnheap::test
