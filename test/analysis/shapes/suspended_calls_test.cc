// Chains of suspended runtime-async calls: from their task by the leaf to the outermost method; damaged ones.
#include "base/text.h"
#include "support/async_calls.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// A task that waits for calls which the runtime suspended.
struct Chains : Calls {
  explicit Chains(const HeapShape &shape) : Calls(shape) {
    call = heap.continuation_type(2 * p, {0});
    const u32 helpers = rid("System.Runtime.CompilerServices", "AsyncHelpers");
    runtime_task = heap.method_table(
        {.base_size = size(5), .rid = heap.app().metadata.nested(helpers, "RuntimeAsyncTask<Int32>"), .parent = task});
    heap.fields(runtime_task, {field("m_stateObject", ElementType::Object, 2 * p)});
    leaf = heap.method_table({.base_size = static_cast<u32>(4 * p + 8 + 2 * p),
                              .rid = rid("System.Runtime.CompilerServices", "RuntimeAsyncTaskContinuation"),
                              .parent = heap.continuation_base});
    heap.fields(leaf, {field("Task", ElementType::Object, 2 * p + 8),
                       field("RuntimeAsyncTask", ElementType::Object, 3 * p + 8)});
  }
  Address add_call(Address next, u32 state) {
    const Address at = old.object(call);
    old.store(at + p, next, p);
    old.store(at + 2 * p, 0x5000 + state, p); // leads nowhere
    old.store(at + 3 * p + 4, state, 4);
    return at;
  }
  // Its task; `first`: the innermost call.
  Address add_task(Address awaited, Address first) {
    const Address at = of_type(runtime_task, waiting), end = old.object(leaf);
    old.store(at + 3 * p, end, p);
    old.store(end + p, first, p);
    old.store(end + 3 * p + 8, awaited, p);
    old.store(end + 4 * p + 8, at, p);
    return at;
  }

  Address call = 0, runtime_task = 0, leaf = 0;
};

template <class Visit> void in_all_formats(Visit visit) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    visit(HeapShape{.format = format, .net = Net::net11});
  }
}

bool has_note(const report::Answer &answer, const char *text) {
  const std::vector<std::string> notes = answer.completeness->notes.sentences();
  return std::any_of(notes.begin(), notes.end(), [&](const std::string &note) { return note.find(text) != note.npos; });
}

TEST(SuspendedCalls, AChainIsOneStack) {
  in_all_formats([](const HeapShape &shape) {
    Chains chains(shape);
    Address innermost = 0;
    for (int i = 0; i < 3; ++i) {
      const Address outer = chains.add_call(0, 2), inner = chains.add_call(outer, 0);
      innermost = innermost ? innermost : inner;
      chains.add_task(chains.of_type(chains.delay, waiting), inner);
    }
    chains.add_call(0, 1); // of no pending task
    report::Answer answer = answer_of(chains.heap, "async");
    std::vector<TextRow> rows = text_rows_of(answer, "calls");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["count"], "3");
    EXPECT_EQ(rows[0]["calls"], "6");
    EXPECT_EQ(rows[0]["awaits"], "delay");
    EXPECT_EQ(rows[0]["states"], "0 2");
    EXPECT_EQ(rows[0]["example"], hex(innermost));
    EXPECT_TRUE(has_note(answer, "places where calls resume the method is unknown"));
    EXPECT_FALSE(has_note(answer, "are only partly known"));
  });
}

// A state machine awaits such a task, and such a call awaits a state machine.
TEST(SuspendedCalls, AndStateMachinesAwaitEachOther) {
  in_all_formats([](const HeapShape &shape) {
    Chains chains(shape);
    const Address machine = chains.method(chains.pay, 3, chains.of_type(chains.delay, waiting));
    const Address between = chains.add_task(machine, chains.add_call(0, 1));
    chains.method(chains.run, 4, between);
    report::Answer answer = answer_of(chains.heap, "async");
    std::vector<TextRow> rows = text_rows_of(answer, "calls");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["states"], "3 1 4");
    EXPECT_EQ(rows[0]["calls"], "3");
  });
}

TEST(SuspendedCalls, DamagedChainsAreSaid) {
  in_all_formats([](const HeapShape &shape) {
    for (const char *way : {"circle", "no call", "shared"}) {
      SCOPED_TRACE(way);
      Chains chains(shape);
      const Address outer = chains.add_call(0, 2), inner = chains.add_call(outer, 0);
      chains.add_task(chains.of_type(chains.delay, waiting), inner);
      if (way == std::string("circle"))
        chains.old.store(outer + chains.p, inner, chains.p);
      else if (way == std::string("no call"))
        chains.old.store(outer + chains.p, chains.of_type(chains.delay, waiting), chains.p);
      else
        chains.add_task(chains.of_type(chains.delay, waiting), outer);
      report::Answer answer = answer_of(chains.heap, "async");
      EXPECT_TRUE(has_note(answer, "the calls of 1 task are only partly known"));
      EXPECT_EQ(text_rows_of(answer, "calls").size(), 1u);
    }
  });
}

} // namespace
} // namespace dnheap::test
