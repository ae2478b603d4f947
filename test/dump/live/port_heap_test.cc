// The heap of a process by way of its diagnostics port, on a port of this process that answers as a runtime does.
#include "base/error.h"
#include "dump/live/diagnostics_port.h"
#include "dump/live/port_heap.h"
#include "support/fake_port.h"
#include "support/nettrace_writer.h"
#include "target/heap_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace dnheap {
namespace {

using test::FakePort;
using test::ListedHeap;

constexpr u8 about_events = 2, stop = 1, oldest = 3, newer = 5;

// Answers as the runtime of .NET 10 does: a reply, and behind it the stream.
FakePort::Answer lists(std::vector<std::byte> stream, std::vector<u8> &asked, u8 understood = newer) {
  return [=, &asked](Bytes request) {
    const DiagnosticsCommand command = FakePort::command_of(request);
    if (command.set != about_events)
      return FakePort::this_process();
    asked.push_back(command.number);
    if (command.number != stop && command.number != understood)
      return FakePort::error(DiagnosticsReply::unknown_command);
    DiagnosticsPayload session;
    session.put(u64{77});
    std::vector<std::byte> out = FakePort::ok(session.bytes());
    if (command.number != stop)
      out.insert(out.end(), stream.begin(), stream.end());
    return out;
  };
}

std::string port_heap_error(FakePort::Answer answer) {
  FakePort fake(std::move(answer));
  DiagnosticsPort port(fake.path());
  try {
    open_port_heap(static_cast<u64>(::getpid()), port, {.patience = 0.5, .watch = {}});
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(PortHeap, OpensAsATarget) {
  std::vector<u8> asked;
  std::unique_ptr<Target> target;
  {
    FakePort fake(lists(test::listed_heap().finished(), asked));
    DiagnosticsPort port(fake.path());
    target = open_port_heap(static_cast<u64>(::getpid()), port, {.patience = 5, .watch = {}});
  }
  EXPECT_EQ(asked, (std::vector<u8>{7, newer, stop})) << "the newest command first, and the session is ended";
  EXPECT_EQ(target->container, "events");
  EXPECT_EQ(target->os, OperatingSystem::linux_os);
  EXPECT_EQ(target->architecture, Architecture::x64);
  EXPECT_EQ(target->program, "/app/shop --all");
  ASSERT_TRUE(target->record);
  EXPECT_EQ(target->record->source, "a heap that the GC of .NET 10.0.15 listed in events");
  EXPECT_TRUE(target->record->paused_seconds);
  EXPECT_EQ(target->memory.try_pointer(ListedHeap::node + 8), ListedHeap::text);
  ASSERT_EQ(target->notes.size(), 1);
  EXPECT_NE(target->notes.front().text.find("made a full collection for this, and stood still for 12 ms"),
            std::string::npos);
}

TEST(PortHeap, OlderRuntimesTakeTheOldestCommand) {
  std::vector<u8> asked;
  EXPECT_EQ(port_heap_error(lists(test::listed_heap().finished(), asked, oldest)), "");
  EXPECT_EQ(asked, (std::vector<u8>{7, newer, oldest, stop}));
}

TEST(PortHeap, AStreamThatBreaksOffIsAnError) {
  std::vector<u8> asked;
  EXPECT_EQ(port_heap_error(lists(test::listed_heap({.with_end = false}).bytes(), asked)),
            "the diagnostics port was closed before all objects were listed: the process has probably ended");
}

TEST(PortHeap, LostEventsAreAnError) {
  std::vector<u8> asked;
  EXPECT_TRUE(port_heap_error(lists(test::listed_heap({.first_index = 1}).finished(), asked))
                  .starts_with("the process lost events of its collection"));
}

TEST(PortHeap, ARefusalIsAnErrorInTheRuntimesWords) {
  EXPECT_EQ(port_heap_error([](Bytes request) {
              return FakePort::command_of(request).set == about_events ? FakePort::error(0x80131515, "no")
                                                                       : FakePort::this_process();
            }),
            "the runtime refuses to send events: error 0x80131515: no");
}

TEST(PortHeap, AProcessThatDoesNotAnswerIsAnError) {
  const std::string error = port_heap_error([](Bytes request) -> std::optional<std::vector<std::byte>> {
    return FakePort::command_of(request).set == about_events ? std::nullopt : std::optional(FakePort::this_process());
  });
  EXPECT_TRUE(error.starts_with("the process does not answer on its diagnostics port within 500 ms")) << error;
}

} // namespace
} // namespace dnheap
