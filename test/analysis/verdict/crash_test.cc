// What answers lead with in crash dumps: signals and codes in words, and the exception that the thread had; in every
// layout. What its stack adds, test/real/crashes.py tells of real ones.
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash_signal.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using enum OperatingSystem;

TEST(Crash, SignalsAndCodesInWords) {
  EXPECT_EQ(signal_text({1, 11, 1, {}, 0x10}, linux_os), "SIGSEGV (invalid address 0x10)");
  EXPECT_EQ(signal_text({1, 11, 2, {}, 0x10}, linux_os), "SIGSEGV (no access to address 0x10)");
  EXPECT_EQ(signal_text({1, 11, 0x80, {}, {}}, linux_os),
            "SIGSEGV (an invalid address, which the system does not report)");
  EXPECT_EQ(signal_text({1, 11, 0, {}, {}}, linux_os), "SIGSEGV");
  EXPECT_EQ(signal_text({1, 8, 1, {}, 0x40}, linux_os), "SIGFPE (division by zero at 0x40)");
  EXPECT_EQ(signal_text({1, 7, 2, {}, 0x40}, linux_os), "SIGBUS (at address 0x40)");
  EXPECT_EQ(signal_text({1, 6, {}, {}, {}}, linux_os), "SIGABRT");
  EXPECT_EQ(signal_text({1, 31, {}, {}, {}}, linux_os), "SIGSYS");
  EXPECT_EQ(signal_text({1, 32, {}, {}, {}}, linux_os), "signal 32");
  EXPECT_EQ(signal_text({1, 0xc0000005, 1, {}, 0x10}, windows), "access violation (0xc0000005, writing to 0x10)");
  EXPECT_EQ(signal_text({1, 0xc0000005, {}, {}, 0x7700}, windows), "access violation (0xc0000005)");
  EXPECT_EQ(signal_text({1, 0xe0434352, {}, {}, 0x7700}, windows), ".NET exception (0xe0434352)");
  EXPECT_EQ(signal_text({1, 0x12345678, {}, {}, {}}, windows), "exception (0x12345678)");
}

constexpr u32 fields_of_exception = 4; // _message, _innerException, _stackTrace, _HResult

// A thread that has an exception of that type, with another one inside, whether or not the container tells of a crash.
struct Failed {
  Failed(const HeapShape &shape, const char *name_space, const char *name)
      : heap(shape), old(heap.segment(GCSegmentGeneration::gen2)) {
    MetadataWriter &metadata = heap.app().metadata;
    auto field = [&](const char *field_name, ElementType type, u64 offset) {
      return FieldShape{metadata.field(field_name, field_signature(element(type))),
                        type == ElementType::I4 ? ElementType::I4 : ElementType::Class, static_cast<u32>(offset)};
    };
    const u32 size = static_cast<u32>((fields_of_exception + 2) * heap.p);
    const Address base = heap.method_table({.base_size = size, .rid = metadata.type("System", "Exception")});
    heap.fields(base, {field("_message", ElementType::String, 0), field("_innerException", ElementType::Object, heap.p),
                       field("_stackTrace", ElementType::Object, 2 * heap.p),
                       field("_HResult", ElementType::I4, 3 * heap.p)});
    const Address type = heap.method_table({.base_size = size, .rid = metadata.type(name_space, name), .parent = base});
    inner = old.object(base);
    thrown = old.object(type);
    old.store(thrown + 2 * heap.p, inner, heap.p);
    heap.gc.handles = {{.type = HandleType::strong, .object = thrown}};
    Address handle = 0;
    {
      Opened opened(heap);
      Notes problems;
      handle = opened.runtime.gc().get_handles(std::vector{HandleType::strong}, problems).at(0).handle;
    }
    heap.poke(heap.threads[1].address + 0x300, handle, heap.p);
    heap.crash = CrashSignal{heap.threads[1].os_id, 6, {}, {}};
    on_thread = " on thread " + std::to_string(heap.threads[1].os_id);
  }

  HeapBuilder heap;
  SegmentWriter &old;
  Address inner = 0, thrown = 0;
  std::string on_thread;
};

std::string fact(const report::Answer &answer, std::string_view key) {
  for (const report::Fact &one : answer.target)
    if (const auto *crash = one.key == "crash" ? one.value.get_if<std::vector<report::Fact>>() : nullptr)
      for (const report::Fact &of : *crash)
        if (of.key == key)
          return std::string(of.value.text().value_or(""));
  return "(none)";
}

TEST(Crash, FourVerbsLeadWithIt) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Failed failed(shape, "System", "ExecutionEngineException");
    for (const char *verb : {"info", "threads", "stack", "exceptions"}) {
      SCOPED_TRACE(verb);
      const report::Answer answer = answer_of(failed.heap, verb);
      EXPECT_EQ(answer.lead, "ended by SIGABRT" + failed.on_thread + ": Environment.FailFast, with System.Exception " +
                                 hex(failed.inner));
      EXPECT_EQ(fact(answer, "cause"), "fail_fast");
      EXPECT_EQ(fact(answer, "signal"), "SIGABRT");
      EXPECT_EQ(fact(answer, "exception"), hex(failed.thrown));
      EXPECT_EQ(fact(answer, "exception_type"), "System.ExecutionEngineException");
    }
    EXPECT_EQ(answer_of(failed.heap, "stat").lead, "");
    failed.heap.crash.reset();
    const report::Answer answer = answer_of(failed.heap, "threads");
    EXPECT_EQ(answer.lead, "");
    EXPECT_EQ(fact(answer, "cause"), "(none)");
  }
}

// systemd-coredump has written down when it was.
TEST(Crash, TheTimeOfAStoredCore) {
  Failed failed({}, "System", "ExecutionEngineException");
  for (const char *name : {"info", "report"}) {
    SCOPED_TRACE(name);
    std::unique_ptr<Target> target = failed.heap.target();
    CoreRecord record;
    record.seconds = 1764036607;
    record.name = "sh\nop";
    target->stored = record;
    Snapshot snapshot(std::move(target), {});
    for (const Verb &verb : verbs()) {
      if (verb.name != std::string_view(name))
        continue;
      const report::Answer answer = ask(verb, snapshot, {});
      EXPECT_NE(answer.lead.find("; at 2025-11-25T02:10:07Z"), answer.lead.npos) << answer.lead;
      EXPECT_EQ(fact(answer, "time"), "2025-11-25T02:10:07Z");
    }
  }
}

TEST(Crash, StackOverflow) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Failed failed(shape, "System", "StackOverflowException");
    report::Answer answer = answer_of(failed.heap, "threads");
    EXPECT_EQ(answer.lead, "ended by SIGABRT" + failed.on_thread + ": stack overflow");
    EXPECT_EQ(fact(answer, "cause"), "stack_overflow");
  }
}

// A thread may have dealt with an exception long ago: only a stack that still stands where it was thrown says that
// nobody caught it. Signals that do not come of exceptions never say so.
TEST(Crash, TheLastExceptionIsNotTakenForTheReason) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Failed failed(shape, "Shop", "Failure");
    report::Answer answer = answer_of(failed.heap, "threads");
    EXPECT_EQ(answer.lead, "ended by SIGABRT" + failed.on_thread +
                               "; the last exception of that thread is Shop.Failure " + hex(failed.thrown));
    EXPECT_EQ(fact(answer, "cause"), "signal");
    failed.heap.crash = CrashSignal{failed.heap.threads[0].os_id, 11, 1, {}, 0x10};
    answer = answer_of(failed.heap, "threads");
    EXPECT_EQ(answer.lead,
              "ended by SIGSEGV (invalid address 0x10) on thread " + std::to_string(failed.heap.threads[0].os_id));
    EXPECT_EQ(fact(answer, "fault_address"), "0x10");
  }
}

// Where no exception is the reason, the thread's stack shows more than the exceptions do.
TEST(Crash, AReportNamesTheCommandThatShowsMore) {
  Failed failed({}, "System", "ExecutionEngineException");
  EXPECT_TRUE(answer_of(failed.heap, "report").next_command.starts_with("dnheap exceptions "));
  failed.heap.crash = CrashSignal{failed.heap.threads[0].os_id, 11, 1, {}, 0x10};
  const report::Answer answer = answer_of(failed.heap, "report");
  EXPECT_TRUE(answer.next_command.starts_with("dnheap stack ")) << answer.next_command;
  EXPECT_TRUE(answer.next_command.ends_with(" " + std::to_string(failed.heap.threads[0].os_id))) << answer.next_command;
}

// Where it came from says more than where the thread stood by chance.
TEST(Crash, ASignalThatAnotherProcessSent) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
  heap.crash = CrashSignal{12345, 6, 0, 4711, {}};
  report::Answer answer = answer_of(heap, "info");
  EXPECT_EQ(answer.lead, "ended by SIGABRT, which process 4711 sent to it");
  heap.crash->sender = heap.target()->pid; // abort() sends it to its own process
  answer = answer_of(heap, "info");
  EXPECT_EQ(answer.lead, "ended by SIGABRT on thread 12345, which is not a thread of the runtime");
}

TEST(Crash, AThreadThatTheRuntimeDoesNotKnow) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
  heap.crash = CrashSignal{12345, 7, 2, {}, 0x40};
  const report::Answer answer = answer_of(heap, "info");
  EXPECT_EQ(answer.lead, "ended by SIGBUS (at address 0x40) on thread 12345, which is not a thread of the runtime");
}

} // namespace
} // namespace dnheap::test
