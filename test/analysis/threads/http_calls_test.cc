// Since when calls over HTTP are in flight, by timers and stopwatches of state machines that are written; calls that
// are over, and those that know nothing, do not count.
#include "analysis/threads/http_calls.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 call_waits = 0x2000000, call_is_done = 0x1000000;

struct HttpHeap : LibraryHeap {
  explicit HttpHeap(const HeapShape &shape) : LibraryHeap(shape) {
    timer = type("System.Threading", "TimerQueueTimer", 0, 5, {"%_startTicks"});
    source = type("System.Threading", "CancellationTokenSource", 0, 3, {"_timer"});
    fetch = box("System.Net.Http.HttpClient", "<GetStringAsyncCore>d__41", "<cts>5__4", ElementType::Class);
    pay = box("Shop.Cart", "<Pay>d__1", "cts", ElementType::Class);
    logged = box("Microsoft.Extensions.Http.Logging.LoggingScopeHttpMessageHandler", "<Core>d__1", "<stopwatch>5__2",
                 ElementType::ValueType);
  }
  FieldShape field(const char *name, const Blob &signature, ElementType kind, u64 offset) {
    return {heap.app().metadata.field(name, field_signature(signature)), kind, static_cast<u32>(offset)};
  }
  // A struct with one field.
  void add_struct(u32 rid, const FieldShape &only) {
    const Address type = heap.method_table({.base_size = static_cast<u32>(2 * p + 8), .flags = 0x40000, .rid = rid});
    heap.fields(type, {only});
    heap.value_type(type, ElementType::ValueType, 8);
  }
  // A call's box with a state machine that has one variable. Its name is as that of a generic instantiation.
  Address box(const std::string &of, const std::string &machine, const char *variable, ElementType kind) {
    MetadataWriter &metadata = heap.app().metadata;
    Blob signature = element(ElementType::Object);
    if (kind == ElementType::ValueType) {
      const u32 watch = metadata.type("Microsoft.Extensions.Internal", "ValueStopwatch");
      add_struct(watch, field("_startTimestamp", element(ElementType::I8), ElementType::I8, 0));
      signature = type_reference(ElementType::ValueType, token(Table::TypeDef, watch));
    }
    const u32 rid = metadata.type("Machines", machine.c_str());
    add_struct(rid, field(variable, signature, kind, 0));
    const u32 builder = metadata.nested(metadata.type("Compiler", "Builder"), ("AsyncStateMachineBox<" + of).c_str());
    const Address out = heap.method_table(
        {.base_size = static_cast<u32>(5 * p + 8), .rid = metadata.nested(builder, (machine + ">").c_str())});
    heap.fields(out, {field("m_stateFlags", element(ElementType::I4), ElementType::I4, 0),
                      field("StateMachine", type_reference(ElementType::ValueType, token(Table::TypeDef, rid)),
                            ElementType::ValueType, p)});
    return out;
  }
  Address call(Address type, u64 variable, u32 flags = call_waits) {
    const Address at = old.object(type);
    old.store(at + p, flags, 4);
    old.store(at + 2 * p, variable, type == logged ? 8 : p);
    return at;
  }
  Address source_since(u64 ticks) { return with(source, {ticks ? with(timer, {ticks}) : 0}); }
  HttpCalls found() {
    Snapshot snapshot(heap.target(), {});
    return find_http_calls(snapshot);
  }

  Address timer = 0, source = 0, fetch = 0, pay = 0, logged = 0;
};

TEST(HttpCalls, KnowTheirAgeByTheTimerThatEndsThem) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HttpHeap s(shape);
    s.call(s.fetch, s.source_since(4'000'000));
    s.call(s.fetch, s.source_since(4'007'000));
    s.call(s.fetch, s.source_since(0));                       // it has no timeout
    s.call(s.fetch, s.source_since(1'000'000), call_is_done); // it is over
    s.call(s.pay, s.source_since(1'000'000));                 // it is something else
    const HttpCalls found = s.found();
    EXPECT_EQ(found.ages, (std::vector<u64>{0, 7000}));
    EXPECT_EQ(found.oldest(), 7000u);
    EXPECT_TRUE(found.is_at_least);
  }
}

TEST(HttpCalls, KnowTheirAgeByTheLog) {
  HttpHeap s({});
  s.call(s.logged, 4'000'000'000'000); // ns
  s.call(s.logged, 4'003'000'000'000);
  s.call(s.logged, 4'004'000'000'000);
  s.call(s.fetch, s.source_since(4'004'500));
  const HttpCalls found = s.found(); // the timer is the newest time, but more calls are logged
  EXPECT_EQ(found.ages.size(), 3u);
  EXPECT_EQ(found.usual(), 1500u);
  EXPECT_EQ(found.oldest(), 4500u);
}

TEST(HttpCalls, AreUnknownWhereThereAreNone) {
  HttpHeap s({});
  s.call(s.pay, s.source_since(1'000'000));
  EXPECT_TRUE(s.found().ages.empty());
}

} // namespace
} // namespace dnheap::test
