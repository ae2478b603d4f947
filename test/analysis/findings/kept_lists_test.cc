// What `report` finds of lists that others are added to: handlers of an event, and registrations of a cancellation
// token. They are a finding where nothing but the list keeps what was added, or the same is added again and again.
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Lists : LibraryHeap {
  explicit Lists(const HeapShape &shape) : LibraryHeap(shape) {
    const Address base = type("System", "Delegate", 0, 6, {"_target", "_methodBase", "#_methodPtr", "#_methodPtrAux"}),
                  multicast = type("System", "MulticastDelegate", base, 8, {"_invocationList", "#_invocationCount"}, 4);
    handler = type("Shop", "Handler", multicast, 8, {});
    grid = type("Shop", "Grid", 0, 4, {"Changed", "_cells"});
    cell = type("Shop", "Cell", 0, 4, {});
    const u32 source_rid = heap.app().metadata.type("System.Threading", "CancellationTokenSource");
    source = type_of(source_rid, 0, 3, {"_registrations"}, 0);
    registrations = nested(source_rid, "Registrations", 4, {"Source", "Callbacks"});
    node = nested(source_rid, "CallbackNode", 8, {"Registrations", "Prev", "Next", "Callback", "CallbackState", "%Id"});
    linked = nested(source_rid, "Linked1CancellationTokenSource", 4, {"_registrations"});
  }
  Address listener(Address target) { return with(handler, {target, 0, 0x4000}); }
  Address event(const std::vector<Address> &listeners) {
    return with(handler, {0, 0, 0x7000, 0, array(listeners), listeners.size()});
  }
  void hold(Address object) { heap.gc.handles.push_back({.type = HandleType::strong, .object = object}); }

  Address handler = 0, grid = 0, cell = 0, source = 0, registrations = 0, node = 0, linked = 0;
};

// A grid with cells that listen to its event. `owned`: it has so many of them in a list, too.
std::string found_of_cells(const HeapShape &shape, u64 count, u64 owned) {
  Lists s(shape);
  std::vector<Address> cells, listeners;
  for (u64 i = 0; i < count; ++i) {
    cells.push_back(s.with(s.cell, {}));
    listeners.push_back(s.listener(cells.back()));
  }
  cells.resize(owned);
  s.hold(s.with(s.grid, {s.event(listeners), s.array(cells)}));
  return findings_of_kind(s.heap, "event_handlers");
}

TEST(KeptLists, HandlersOfForgottenObjects) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    EXPECT_EQ(found_of_cells(shape, 1000, 0), "probable 1000: 1,000 handlers were added to Shop.Grid.Changed, and not "
                                              "removed: 1,000 × <code 0x4000>. The event "
                                              "keeps each handler's object alive (1,000 × Shop.Cell).\n");
  }
  EXPECT_EQ(found_of_cells({}, 999, 0), "");
}

TEST(KeptLists, HandlersOfObjectsThatThePublisherOwns) {
  EXPECT_EQ(found_of_cells({}, 1500, 1500), "");
  EXPECT_EQ(found_of_cells({}, 1500, 501), "");
  EXPECT_NE(found_of_cells({}, 1500, 500).find("(1,000 × Shop.Cell)"), std::string::npos);
}

TEST(KeptLists, HandlersThatWereAddedAgain) {
  for (const u64 times : {1000, 1001}) {
    Lists s({});
    const Address cell = s.with(s.cell, {});
    std::vector<Address> listeners;
    for (u64 i = 0; i < times; ++i)
      listeners.push_back(s.listener(cell));
    s.hold(s.with(s.grid, {s.event(listeners), s.array({cell})}));
    EXPECT_EQ(findings_of_kind(s.heap, "event_handlers").empty(), times == 1000) << times;
  }
}

// Objects that listen to two events are forgotten by both.
TEST(KeptLists, HandlersOfTwoEvents) {
  Lists s({});
  std::vector<Address> one, other;
  for (int i = 0; i < 1000; ++i) {
    const Address cell = s.with(s.cell, {});
    one.push_back(s.listener(cell)), other.push_back(s.listener(cell));
  }
  s.hold(s.with(s.grid, {s.event(one)}));
  s.hold(s.with(s.grid, {s.event(other)}));
  EXPECT_EQ(findings_of_kind(s.heap, "event_handlers").substr(0, 14), "probable 1000:");
}

enum class Linked { forgotten, held, registration_held };

// Sources linked to one. held: by calls in flight.
std::string found_of_linked(const HeapShape &shape, u64 count, Linked how) {
  Lists s(shape);
  const Address list = s.with(s.registrations, {0, 0}), source = s.with(s.source, {list});
  s.old.store(list + s.p, source, s.p);
  const Address calls = s.listener(0);
  std::vector<Address> held;
  Address first = 0;
  for (u64 i = 0; i < count; ++i) {
    const Address linked = s.with(s.linked, {0}), node = s.with(s.node, {list, 0, first, calls, linked, i + 1});
    first = node;
    if (how != Linked::forgotten)
      held.push_back(how == Linked::held ? linked : node);
  }
  s.old.store(list + 2 * s.p, first, s.p);
  s.hold(source);
  s.hold(s.array(held));
  return findings_of_kind(s.heap, "cancellation_registrations");
}

TEST(KeptLists, RegistrationsThatNobodyCanTakeBack) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    const std::string found = found_of_linked(shape, 1000, Linked::forgotten);
    EXPECT_TRUE(found.starts_with("probable 1000: 1,000 callbacks wait for one CancellationTokenSource, held by "))
        << found;
    EXPECT_NE(found.find("1,000 × sources linked to it."), std::string::npos) << found;
  }
  EXPECT_EQ(found_of_linked({}, 999, Linked::forgotten), "");
}

TEST(KeptLists, RegistrationsOfCallsInFlight) {
  EXPECT_EQ(found_of_linked({}, 2000, Linked::held), "");
  EXPECT_EQ(found_of_linked({}, 2000, Linked::registration_held), "");
}

} // namespace
} // namespace dnheap::test
