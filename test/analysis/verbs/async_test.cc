// `async`: pending methods as stacks, those that are alike as one; tasks by status; in every layout.
#include "analysis/threads/tasks.h"
#include "base/text.h"
#include "support/async_calls.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(Async, ThoseThatAreAlikeAreOneRow) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Calls calls(shape);
    Address first = 0;
    for (int i = 0; i < 3; ++i) {
      const Address inner = calls.method(calls.pay, 2, calls.of_type(calls.delay, waiting));
      first = first ? first : inner;
      calls.method(calls.run, 0, inner);
    }
    calls.method(calls.pay, 1, calls.of_type(calls.delay, done)); // goes on soon
    calls.method(calls.pay, -1, 0);                               // runs
    calls.method(calls.run, -2, 0, done);
    report::Answer answer = answer_of(calls.heap, "async");
    std::vector<TextRow> rows = text_rows_of(answer, "calls");
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0]["count"], "3");
    EXPECT_EQ(rows[0]["stack"], "Shop.Cart.Pay Shop.Cart.Run");
    EXPECT_EQ(rows[0]["states"], "2 0");
    EXPECT_EQ(rows[0]["awaits"], "delay");
    EXPECT_EQ(rows[0]["example"], hex(first));
    EXPECT_EQ(rows[1]["awaits"], "nothing: it runs");
    EXPECT_EQ(rows[2]["awaits"], "its turn to run");
    u64 pending = 0;
    for (TextRow &row : text_rows_of(answer, "tasks"))
      if (row["status"] == "WaitingForActivation")
        pending += std::stoull(row["count"]);
    EXPECT_EQ(pending, 11u);
  }
}

std::vector<std::string> calls_of(Calls &calls, const Question &question) {
  report::Answer answer = answer_of(calls.heap, "async", question);
  std::vector<std::string> out;
  for (TextRow &row : text_rows_of(answer, "calls"))
    out.push_back(row["stack"]);
  return out;
}

TEST(Async, TypeChoosesCallsByWhatIsOnTheirStacks) {
  Calls calls({});
  calls.method(calls.run, 0, calls.method(calls.pay, 2, calls.of_type(calls.delay, waiting)));
  calls.method(calls.pay, -1, 0); // runs
  using Stacks = std::vector<std::string>;
  EXPECT_EQ(calls_of(calls, {}).size(), 2u);
  EXPECT_EQ(calls_of(calls, {.type_regex = "Cart.Run"}), Stacks{"Shop.Cart.Pay Shop.Cart.Run"}) << "of an outer method";
  EXPECT_EQ(calls_of(calls, {.type_regex = "Cart.Pay"}).size(), 2u);
  EXPECT_EQ(calls_of(calls, {.type_exact = "Shop.Cart.Run"}), Stacks{"Shop.Cart.Pay Shop.Cart.Run"});
  EXPECT_EQ(calls_of(calls, {.type_regex = "Nothing"}), Stacks());
}

// An awaiter without a reference is one of Task.Yield() only where the method has such.
TEST(Async, AwaitersWithoutReferences) {
  Calls calls({});
  calls.method(calls.pay, 1, 0);
  report::Answer answer = answer_of(calls.heap, "async");
  std::vector<TextRow> rows = text_rows_of(answer, "calls");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["awaits"], "other");
}

// A task without code is that of a TaskCompletionSource, of whatever type its result is, a nested one among them.
TEST(Async, ResultsOfNestedTypes) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Calls calls(shape);
    MetadataWriter &metadata = calls.heap.app().metadata;
    const u32 of_result = calls.rid("System.Threading.Tasks", "Task`1");
    metadata.generic(token(Table::TypeDef, of_result), {"TResult"});
    const Address nested =
                      calls.heap.method_table({.base_size = calls.size(1), .rid = metadata.nested(calls.cart, "Bill")}),
                  result = calls.heap.method_table(
                      {.base_size = calls.size(4), .rid = of_result, .parent = calls.task, .arguments = {nested}});
    calls.method(calls.pay, 1, calls.of_type(result, waiting));
    report::Answer answer = answer_of(calls.heap, "async");
    std::vector<TextRow> rows = text_rows_of(answer, "calls");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["awaits"], "TaskCompletionSource");
  }
}

// A method is known by its state machine's type even where no fields of that are.
TEST(Async, MachinesWithoutFields) {
  Calls calls({});
  const Address bare = calls.heap.method_table(
      {.base_size = calls.size(2), .rid = calls.heap.app().metadata.nested(calls.cart, "<Ship>d__9")});
  const Address shipped = calls.method(bare, 1, calls.of_type(calls.delay, waiting));
  calls.method(calls.run, 0, shipped);
  report::Answer answer = answer_of(calls.heap, "async");
  std::vector<TextRow> rows = text_rows_of(answer, "calls");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["stack"], "Shop.Cart.Ship Shop.Cart.Run");
  EXPECT_EQ(rows[0]["awaits"], "unknown");
}

// What several tasks have to be done for is on a stack of each.
TEST(Async, SeveralAtOnce) {
  Calls calls({});
  const Address all = calls.of_type(calls.promise, waiting);
  for (int i = 0; i < 2; ++i)
    calls.method(calls.pay, 0, calls.of_type(calls.delay, waiting), waiting, all);
  calls.of_type(calls.delay, waiting, all);
  calls.method(calls.run, 4, all);
  report::Answer answer = answer_of(calls.heap, "async");
  std::vector<TextRow> rows = text_rows_of(answer, "calls");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["count"], "2");
  EXPECT_EQ(rows[0]["stack"], "Shop.Cart.Pay Shop.Cart.Run");
  EXPECT_EQ(rows[1]["stack"], "Shop.Cart.Run");
  EXPECT_EQ(rows[1]["awaits"], "delay");
}

TEST(Async, MethodsThatAwaitThemselvesAreTold) {
  Calls calls({});
  const Address first = calls.method(calls.pay, 0, 0), second = calls.method(calls.run, 0, first);
  calls.await(first, second);
  const Address third = calls.method(calls.run, 1, 0);
  calls.await(third, third);
  report::Answer answer = answer_of(calls.heap, "async");
  std::vector<TextRow> rows = text_rows_of(answer, "calls");
  ASSERT_EQ(rows.size(), 2u);
  for (TextRow &row : rows)
    EXPECT_EQ(row["awaits"], "itself, through others");
  EXPECT_NE(answer.completeness->notes.sentences().back().find("await themselves"), std::string::npos);
}

// A caller and what it calls refer to an object: neither holds it alone, and it goes with them.
TEST(Async, WhatCallsHaveInCommonIsFreedWithThem) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Calls calls(shape);
    const u64 p = calls.p;
    calls.box = calls.heap.method_table({.base_size = calls.size(5),
                                         .rid = calls.rid("Compiler", "AsyncStateMachineBox<Shop.Cart>"),
                                         .parent = calls.task,
                                         .series = {{3 * p, p}}});
    calls.heap.fields(calls.box, {calls.field("StateMachine", ElementType::Object, 2 * p)});
    const Address machine = calls.heap.method_table({.base_size = calls.size(3),
                                                     .rid = calls.heap.app().metadata.nested(calls.cart, "<Buy>d__3"),
                                                     .series = {{3 * p, p}}});
    calls.heap.fields(machine,
                      {calls.field("<>u__1", ElementType::Object, 0), calls.field("<>1__state", ElementType::I4, p),
                       calls.field("request", ElementType::Object, 2 * p)});
    const Address request = calls.of_type(calls.delay, done); // any object
    const Address inner = calls.method(machine, 0, calls.of_type(calls.delay, waiting));
    const Address outer = calls.method(machine, 0, inner);
    for (Address call : {inner, outer}) {
      calls.old.store(calls.machines.at(call) + 3 * p, request, p);
      calls.heap.gc.handles.push_back({.type = HandleType::strong, .object = call});
    }
    Question question;
    question.by = "retained";
    report::Answer answer = answer_of(calls.heap, "async", question);
    std::vector<TextRow> rows = text_rows_of(answer, "calls");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["stack"], "Shop.Cart.Buy Shop.Cart.Buy");
    const u64 together = 2 * calls.size(5) + 2 * calls.size(3) + calls.size(4);
    EXPECT_EQ(rows[0]["retained"], std::to_string(together));
  }
}

// Each call counts once: what several await is on the stack of the first of these.
TEST(Async, CallsThatSeveralAwaitCountOnce) {
  Calls calls({});
  const Address inner = calls.method(calls.pay, 0, calls.of_type(calls.delay, waiting));
  for (int i = 0; i < 3; ++i)
    calls.method(calls.run, 0, inner);
  report::Answer answer = answer_of(calls.heap, "async");
  std::vector<TextRow> rows = text_rows_of(answer, "calls");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["count"] + " " + rows[0]["calls"] + " " + rows[0]["method"] + " " + rows[0]["awaits"],
            "2 2 Shop.Cart.Run Shop.Cart.Pay, as others do");
  EXPECT_EQ(rows[1]["count"] + " " + rows[1]["calls"] + " " + rows[1]["method"] + " " + rows[1]["awaits"],
            "1 2 Shop.Cart.Pay delay");
  EXPECT_NE(headline_text(answer).find("; 4 calls are pending"), std::string::npos) << headline_text(answer);
}

// A stack of 100,000 calls is cut, and each is looked at once.
TEST(Async, DeepStacksAreCut) {
  Calls calls({});
  Address inner = calls.of_type(calls.delay, waiting);
  for (int i = 0; i < 100000; ++i)
    inner = calls.method(calls.pay, 0, inner);
  report::Answer answer = answer_of(calls.heap, "async");
  std::vector<TextRow> rows = text_rows_of(answer, "calls");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["count"], "1");
  EXPECT_LT(rows[0]["stack"].size(), 20000u);
}

TEST(Async, StatusesOfTasks) {
  EXPECT_EQ(status_of(0), TaskStatus::created);
  EXPECT_EQ(status_of(0x10000), TaskStatus::waiting_to_run);
  EXPECT_EQ(status_of(0x30000), TaskStatus::running);
  EXPECT_EQ(status_of(0x830000), TaskStatus::waiting_for_children);
  EXPECT_EQ(status_of(waiting | 0x400), TaskStatus::waiting_for_activation);
  EXPECT_EQ(status_of(waiting | done), TaskStatus::ran_to_completion);
  EXPECT_EQ(status_of(waiting | 0x400000), TaskStatus::canceled);
  EXPECT_EQ(status_of(waiting | failed), TaskStatus::faulted);
}

TEST(Async, NamesOfMethods) {
  EXPECT_EQ(method_of_state_machine("Shop.Cart+<Pay>d__11"), "Shop.Cart.Pay");
  EXPECT_EQ(method_of_state_machine("Shop.Cart+<Pay>d"), "Shop.Cart.Pay");
  EXPECT_EQ(method_of_state_machine("Shop.Repo<Shop.Order>+<Load>d__3<System.Int32>"),
            "Shop.Repo<Shop.Order>.Load<System.Int32>");
  EXPECT_EQ(method_of_state_machine("Shop.Cart+<>c+<<Pay>b__2_0>d"), "Shop.Cart.<Pay>b__2_0");
  EXPECT_EQ(method_of_state_machine("Shop.Cart+<>c__DisplayClass3_0+<<Pay>b__0>d"), "Shop.Cart.<Pay>b__0");
  EXPECT_EQ(method_of_state_machine("Program+<<Main>$>d__0"), "Program.<Main>$");
  EXPECT_EQ(method_of_state_machine("Shop.Cart+VB$StateMachine_3_Pay"), "Shop.Cart.Pay");
  EXPECT_EQ(method_of_state_machine("Shop.Cart+<Pay>e__FixedBuffer"), "Shop.Cart+<Pay>e__FixedBuffer");
  EXPECT_EQ(method_of_state_machine("Shop.Cart"), "Shop.Cart");
  EXPECT_EQ(method_of_state_machine("+<"), "+<");
}

} // namespace
} // namespace dnheap::test
