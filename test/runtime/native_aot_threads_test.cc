// Which Thread of the program's a thread of NativeAOT has, by its statics; and what a program notes of its end.
#include "runtime/facts/thread_details.h"
#include "runtime/nativeaot/native_aot.h"
#include "support/aot_shop.h"

#include <fmt/format.h>

namespace dnheap::test {
namespace {

std::vector<AotShape> shapes() {
  std::vector<AotShape> out = all_aot_shapes();
  for (const AotShape &shape : all_n1_shapes())
    out.push_back(shape);
  return out;
}

// Three threads, each of which has a Thread and a number among its statics.
struct Threads {
  explicit Threads(const AotShape &shape) : heap(shape), p(heap.p) {
    const Address thread = heap.type("System.Threading", "Thread", 4),
                  number = heap.type("System.Threading", "ManagedThreadId", 1), made_up = heap.statics(3);
    AotSegment &old = heap.segment(GCSegmentGeneration::gen2);
    for (u64 i = 0; i < 3; ++i) {
      objects.push_back(heap.object(old, thread));
      numbers.push_back(heap.object(old, number));
      statics.push_back(heap.object(old, made_up));
      heap.poke(objects[i] + 3 * p, numbers[i], p);
      heap.poke(numbers[i] + p, 7 + i, 4);
      heap.poke(statics[i] + p, numbers[i], p);
      heap.poke(statics[i] + 3 * p, objects[i], p);
      heap.threads[i].inlined_statics = {statics[i]};
    }
  }

  // {managed id, address of the Thread} of each.
  std::vector<std::pair<u64, Address>> read() {
    OpenedAot opened(heap.target());
    Notes problems;
    std::vector<std::pair<u64, Address>> out;
    for (const ThreadData &thread : opened.runtime->threads(problems))
      out.emplace_back(thread.managed_id.value_or(0), opened.runtime->thread_details(thread).object);
    return out;
  }

  AotBuilder heap;
  const u64 p;
  std::vector<Address> objects, numbers, statics;
};

TEST(NativeAotThreads, NumbersAndThreads) {
  for (const AotShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    Threads threads(shape);
    const auto found = threads.read();
    ASSERT_EQ(found.size(), 3u);
    for (u64 i = 0; i < 3; ++i)
      EXPECT_EQ(found[i], shape.metadata ? std::pair(7 + i, threads.objects[i]) : std::pair(u64{0}, Address{0}));
  }
}

TEST(NativeAotThreads, WhatIsNotProvedIsNotTold) {
  Threads other({});
  other.heap.poke(other.objects[1] + 3 * other.p, other.numbers[0], other.p); // it refers to another one's number
  EXPECT_EQ(other.read()[1], std::pair(u64{0}, Address{0}));
  Threads two({});
  two.heap.poke(two.statics[1] + 2 * two.p, two.objects[0], two.p); // two Threads
  EXPECT_EQ(two.read()[1], std::pair(u64{0}, Address{0}));
  Threads same({});
  same.heap.poke(same.numbers[2] + same.p, 7, 4); // two of one number
  EXPECT_EQ(same.read()[0].first, 0u);
  EXPECT_EQ(same.read()[2].first, 0u);
  EXPECT_EQ(same.read()[1].first, 8u);
}

// A thread that has asked for neither, and one that knows its number only.
TEST(NativeAotThreads, ThreadsWithoutAThread) {
  Threads threads({});
  threads.heap.poke(threads.statics[0] + threads.p, 0, threads.p);
  threads.heap.poke(threads.statics[0] + 3 * threads.p, 0, threads.p);
  threads.heap.poke(threads.statics[1] + 3 * threads.p, 0, threads.p);
  const auto found = threads.read();
  EXPECT_EQ(found[0], std::pair(u64{0}, Address{0}));
  EXPECT_EQ(found[1], std::pair(u64{8}, Address{0}));
}

std::optional<CrashInfo> crash_info(std::initializer_list<std::string> texts, u64 base_off = 0) {
  AotBuilder heap(AotShape{});
  for (const std::string &text : texts) {
    const std::string full = fmt::format(fmt::runtime(text), fmt::arg("base", heap.base() + base_off)) + '\0';
    heap.data.append(std::string_view(full));
  }
  OpenedAot opened(heap.target());
  return dynamic_cast<const NativeAot &>(*opened.runtime).crash_info();
}

constexpr const char *noted =
    R"({{"version":"1.0.0","runtime_base":"0x{base:X}","runtime_type":"4","runtime_version":"9.0.0","reason":"1","thread":"0x1389",)"
    R"("message":"a \"b\"","exception":{{"address":"0x7000","hr":"0x80131500","message":"m","type":"Shop.Failure",)"
    R"("stack":[{{"ip":"0x1230","offset":"0x30","name":"n"}}],"inner":[{{"address":"0x8000","type":"Shop.Cause"}}]}}}})";

TEST(NativeAotThreads, WhatAProgramNotesOfItsEnd) {
  const std::optional<CrashInfo> found = crash_info({noted});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, CrashInfo::Reason::unhandled_exception);
  EXPECT_EQ(found->thread, 0x1389u);
  EXPECT_EQ(found->message, "a \"b\"");
  EXPECT_EQ(found->exception, 0x7000u);
  EXPECT_EQ(found->inner, 0x8000u);
  EXPECT_EQ(found->exception_type, "Shop.Failure");
  EXPECT_EQ(found->exception_message, "m");
  EXPECT_EQ(found->hresult, 0x80131500u);
  EXPECT_EQ(found->inner_type, "Shop.Cause");
  ASSERT_EQ(found->stack.size(), 1u);
  EXPECT_EQ(found->stack[0].method, 0x1200u);
  EXPECT_EQ(found->stack[0].name, "n");
}

TEST(NativeAotThreads, NotesThatAreNone) {
  const std::string text = noted;
  EXPECT_FALSE(crash_info({}));
  EXPECT_FALSE(crash_info({text}, 0x1000));                                       // of another module
  EXPECT_FALSE(crash_info({text, text}));                                         // which of the two?
  EXPECT_FALSE(crash_info({text.substr(0, text.size() - 4)}));                    // cut off
  EXPECT_FALSE(crash_info({R"({{"version":"1.0.0","runtime_type":"4"}})"}));      // without the rest
  EXPECT_FALSE(crash_info({R"({{"version":"1.0.0","exception":[[[[]]]],"x":)"})); // no JSON
  // Of numbers that are none, what is told is what is not.
  const std::optional<CrashInfo> odd = crash_info(
      {R"({{"version":"1","runtime_type":"4","thread":"0x5","reason":"99","exception":{{"address":"0xz"}}}})"});
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->reason, CrashInfo::Reason::unknown);
  EXPECT_EQ(odd->exception, 0u);
}

} // namespace
} // namespace dnheap::test
