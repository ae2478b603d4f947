// `inspect`: timers, events and collections that were written, in every layout; types of another shape; words.
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 no_time = 0xffffffff;

// Types as the class library has them, as far as inspectors look at them.
struct Library : LibraryHeap {
  explicit Library(const HeapShape &shape, bool is_known = true) : LibraryHeap(shape) {
    const Address base = type("System", "Delegate", 0, 6, {"_target", "_methodBase", "#_methodPtr", "#_methodPtrAux"});
    multicast = type("System", "MulticastDelegate", base, 8, {"_invocationList", "#_invocationCount"}, 4);
    handler = type("Shop", "Handler", multicast, 8, {});
    callback = type("System.Threading", "TimerCallback", multicast, 8, {});
    holder = type("System.Threading", "TimerHolder", 0, 3, {"_timer"});
    timer = type("System.Threading", "Timer", 0, 3, {"_timer"});
    source = type("System.Threading", "CancellationTokenSource", 0, 3, {"_timer"});
    linked = type("Shop", "OwnSource", source, 3, {});
    queued = type("System.Threading", "TimerQueueTimer", 0, 9,
                  {"_next", "_timerCallback", "_state", is_known ? "!_dueTime" : "!_due", "!_period", "%_startTicks"});
    feed = type("Shop", "Feed", 0, 3, {"_refresh"});
    bus = type("Shop", "Bus", 0, 4, {"Sent", "Closed"});
    view = type("Shop", "View", 0, 4, {});
  }

  Address delegate(Address type, Address target, u64 code) { return with(type, {target, 0, code}); }
  Address several(const std::vector<Address> &parts) {
    return with(handler, {0, 0, 0x7000, 0, array(parts, 3), parts.size()}); // as it grows: with room behind
  }
  Address timer_of_queue(Address calls, Address state, u32 due, u32 period, u64 started = 0) {
    const Address at = with(queued, {0, calls, state});
    old.store(at + 4 * p, due, 4);
    old.store(at + 5 * p, period, 4);
    old.store(at + 6 * p, started, 8);
    return at;
  }

  Address multicast = 0, handler = 0, callback = 0, holder = 0, timer = 0, source = 0, linked = 0, queued = 0, feed = 0,
          bus = 0, view = 0;
};

TEST(Inspect, Timers) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Library library(shape);
    const Address view = library.with(library.view, {});
    Address first = 0;
    for (u32 i = 0; i < 5; ++i) {
      const Address calls = library.delegate(library.callback, view, 0x4000);
      const Address queued = library.timer_of_queue(calls, view, 100 + i, 60000);
      const Address timer = library.with(library.timer, {library.with(library.holder, {queued})});
      first = first ? first : timer;
      library.with(library.feed, {timer});
    }
    const Address stopped = library.timer_of_queue(0, 0, no_time, no_time);
    const Address once = library.timer_of_queue(0, 0, 90000, no_time);
    const Address own = library.with(library.linked, {once}); // by its base type
    library.old.store(once + 3 * library.p, own, library.p);  // its state: no holder
    report::Answer answer = inspected(library.heap, "timers");
    std::vector<TextRow> rows = text_rows_of(answer, "timers");
    ASSERT_EQ(rows.size(), 3u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "5");
    EXPECT_EQ(rows[0]["kind"], "Timer");
    EXPECT_EQ(rows[0]["callback"], "<code 0x4000>");
    EXPECT_EQ(rows[0]["target_type"], "Shop.View");
    EXPECT_EQ(rows[0]["state_type"], "Shop.View");
    EXPECT_EQ(rows[0]["period_ms"], "60000");
    EXPECT_EQ(rows[0]["due_ms_least"], "100");
    EXPECT_EQ(rows[0]["due_ms_most"], "104");
    EXPECT_EQ(rows[0]["held_by"], "Shop.Feed._refresh");
    EXPECT_EQ(rows[0]["example"], hex(first));
    std::sort(rows.begin() + 1, rows.end(), [](auto &a, auto &b) { return a["kind"] < b["kind"]; });
    EXPECT_EQ(rows[1]["kind"], "CancellationTokenSource");
    EXPECT_EQ(rows[1]["held_by"], "(nobody)");
    EXPECT_EQ(rows[1]["due_ms_least"], "90000");
    EXPECT_EQ(rows[1]["period_ms"], "");
    EXPECT_EQ(rows[1]["example"], hex(own));
    EXPECT_EQ(rows[2]["due_ms_least"], "");
    EXPECT_EQ(rows[2]["example"], hex(stopped));
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(first));
  }
}

// Nothing is told of what has the name alone, and that is said.
TEST(Inspect, TimersOfAnotherShape) {
  Library library({}, false);
  library.timer_of_queue(0, 0, 100, 200);
  report::Answer answer = inspected(library.heap, "timers");
  EXPECT_TRUE(text_rows_of(answer, "timers").empty());
  const std::vector<std::string> notes = answer.completeness->notes.sentences();
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string &note) {
    return note.starts_with("1 object of the type System.Threading.TimerQueueTimer does not have the fields");
  }));
}

// The newest start is the present that is known.
TEST(Inspect, AgesOfTimers) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Library library(shape);
    const u64 began = 5'000'000'000; // more than 32 bits
    for (const u64 later : {0, 7000, 3000})
      library.timer_of_queue(0, 0, 5000, no_time, began + later);
    library.timer_of_queue(0, 0, 30000, 60000, began + 20000);
    library.timer_of_queue(0, 0, no_time, 70000, began); // not active
    library.timer_of_queue(0, 0, 100, 80000, 0);
    library.timer_of_queue(0, 0, 100, 90000, ~u64{0}); // damaged
    report::Answer answer = inspected(library.heap, "timers");
    std::map<std::string, std::string> ages;
    for (TextRow &row : text_rows_of(answer, "timers"))
      ages[row["period_ms"]] = row["age_ms_most"] + ", " + row["overdue_ms_most"] + ", " + row["age"];
    const std::map<std::string, std::string> written = {{"", "20000, 15000, 20 s (15 s late)"},
                                                        {"60000", "0, 0, 0 ms"},
                                                        {"70000", ", , "},
                                                        {"80000", ", , "},
                                                        {"90000", ", , "}};
    EXPECT_EQ(ages, written) << notes_of(answer);
    const std::vector<std::string> &notes = answer.tables[0].notes;
    ASSERT_FALSE(notes.empty());
    EXPECT_NE(notes[0].find("so at least that long"), std::string::npos) << notes[0];
  }
}

TEST(Inspect, Events) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Library library(shape);
    std::vector<Address> parts;
    const Address shared = library.with(library.view, {});
    for (int i = 0; i < 20; ++i)
      parts.push_back(library.delegate(library.handler, i < 5 ? shared : library.with(library.view, {}), 0x4000));
    parts.push_back(library.delegate(library.handler, 0, 0x5000));
    const Address large = library.several(parts);
    library.with(library.bus, {large, library.delegate(library.handler, shared, 0x4000)});
    library.with(library.bus, {library.several({parts[0], parts[1]}), 0});
    library.several({parts[2], parts[3], parts[4]}); // garbage
    library.with(library.handler, {0, 0, 0x7000, 0, 0xfffffff0, 2});
    library.with(library.handler, {0, 0, 0x7000, 0, library.old.object(library.heap.object_array_type, 2), 3});
    report::Answer answer = inspected(library.heap, "events");
    std::vector<TextRow> rows = text_rows_of(answer, "events");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["event"], "Shop.Bus.Sent");
    EXPECT_EQ(rows[0]["type"], "Shop.Handler");
    EXPECT_EQ(rows[0]["handlers"], "23");
    EXPECT_EQ(rows[0]["publishers"], "2");
    EXPECT_EQ(rows[0]["most"], "21");
    EXPECT_EQ(rows[0]["targets"], "16");
    EXPECT_EQ(rows[0]["target_bytes"], std::to_string(16 * 4 * library.p));
    EXPECT_EQ(rows[0]["methods_text"], "<code 0x4000> ×22, <code 0x5000>");
    EXPECT_EQ(rows[0]["example"], hex(large));
    EXPECT_EQ(rows[1]["event"], "(nobody)");
    EXPECT_EQ(rows[1]["handlers"], "3");
  }
}

// Delegates that were garbage as soon as one more was added have nearly all handlers: what is held comes first, and is
// told whole.
TEST(Inspect, EventsThatNobodyHoldsComeLast) {
  Library library({});
  std::vector<Address> parts;
  for (int i = 0; i < 30; ++i) {
    parts.push_back(library.delegate(library.handler, library.with(library.view, {}), 0x4000));
    if (i >= 1 && i < 29)
      library.several(parts); // garbage
  }
  library.with(library.bus, {library.several(parts), 0});
  report::Answer answer = inspected(library.heap, "events");
  std::vector<TextRow> rows = text_rows_of(answer, "events");
  ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
  EXPECT_EQ(rows[0]["event"], "Shop.Bus.Sent");
  EXPECT_EQ(rows[0]["targets"], "30");
  EXPECT_EQ(rows[1]["event"], "(nobody)");
  EXPECT_EQ(rows[1]["publishers"], "28");
  EXPECT_EQ(rows[1]["handlers"], std::to_string(29 * 30 / 2 - 1));
  EXPECT_EQ(rows[1]["most"], "29");
  EXPECT_EQ(rows[1]["methods_text"], "<code 0x4000> ×29");
  EXPECT_EQ(answer.next_command.find(rows[1]["example"]), std::string::npos);
}

// Of what garbage refers to, nobody has it.
TEST(Inspect, GarbageHoldsNothing) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Library library(shape);
    auto bus = [&] {
      const Address shared = library.with(library.view, {});
      const Address two = library.several(
          {library.delegate(library.handler, shared, 0x4000), library.delegate(library.handler, shared, 0x5000)});
      return library.with(library.bus, {two, 0});
    };
    library.heap.gc.handles.push_back({.type = HandleType::strong, .object = bus()});
    for (int i = 0; i < 4; ++i)
      bus();
    report::Answer answer = inspected(library.heap, "events");
    std::vector<TextRow> rows = text_rows_of(answer, "events");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["event"], "Shop.Bus.Sent");
    EXPECT_EQ(rows[0]["publishers"], "1");
    EXPECT_EQ(rows[1]["event"], "(nobody)");
    EXPECT_EQ(rows[1]["publishers"], "4");
  }
}

TEST(Inspect, Collections) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Library library(shape);
    const u64 p = library.p;
    MetadataWriter &metadata = library.heap.app().metadata;
    const u32 rid = metadata.type("System.Collections.Generic", "List`1");
    metadata.generic(token(Table::TypeDef, rid), {"T"});
    const u32 items = metadata.field("_items", field_signature(element(ElementType::Object))),
              size = metadata.field("_size", field_signature(element(ElementType::I4)));
    const Address list = library.heap.method_table({.base_size = static_cast<u32>(4 * p),
                                                    .rid = rid,
                                                    .arguments = {library.heap.object_type},
                                                    .series = {{p, p}}});
    library.heap.fields(list, {{items, ElementType::Class, 0}, {size, ElementType::I4, static_cast<u32>(p)}});
    auto of = [&](u64 capacity, u32 count) {
      const Address at = library.with(list, {library.old.object(library.heap.object_array_type, capacity)});
      library.old.store(at + 2 * p, count, 4);
      return at;
    };
    const Address large = of(10, 7);
    library.with(library.feed, {large});
    library.with(library.feed, {of(6, 3)});
    of(4, 4);
    of(4, 5); // cannot be
    report::Answer answer = inspected(library.heap, "collections");
    std::vector<TextRow> rows = text_rows_of(answer, "collections");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["held_by"], "Shop.Feed._refresh");
    EXPECT_EQ(rows[0]["count"], "2");
    EXPECT_EQ(rows[0]["elements"], "10");
    EXPECT_EQ(rows[0]["capacity"], "16");
    EXPECT_EQ(rows[0]["most"], "7");
    EXPECT_EQ(rows[0]["example"], hex(large));
    const u64 arrays = library.heap.size_of(library.heap.object_array_type, 10) +
                       library.heap.size_of(library.heap.object_array_type, 6);
    EXPECT_EQ(rows[0]["bytes"], std::to_string(arrays + 2 * 4 * p));
    EXPECT_EQ(rows[1]["held_by"], "(nobody)");
    EXPECT_EQ(rows[1]["elements"], "4");
    Question show;
    show.subject = hex(large);
    report::Answer shown = answer_of(library.heap, "show", show);
    rows = text_rows_of(shown, "object");
    EXPECT_EQ(rows.at(0)["entries"], "7");
    EXPECT_EQ(rows.at(0)["capacity"], "10");
  }
}

TEST(Inspect, NamesAreListedAndChecked) {
  Library library({});
  report::Answer answer = inspected(library.heap, "list");
  std::vector<std::string> names;
  for (TextRow &row : text_rows_of(answer, "inspectors"))
    names.push_back(row["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"timers", "events", "collections", "pools", "contexts", "finalizers",
                                             "http", "db", "sockets", "safehandles", "caches", "di", "requests",
                                             "regex", "ef", "asynclocals"}));
  EXPECT_FALSE(answer.completeness);
  Library other({});
  try {
    inspected(other.heap, "timer");
    FAIL();
  } catch (const UsageError &error) {
    EXPECT_STREQ(
        error.what(),
        "NAME: 'timer' is none of timers, events, collections, pools, contexts, finalizers, "
        "http, db, sockets, safehandles, caches, di, requests, regex, ef, asynclocals, list, did you mean 'timers'?");
  }
}

} // namespace
} // namespace dnheap::test
