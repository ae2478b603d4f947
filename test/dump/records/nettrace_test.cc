#include "base/error.h"
#include "dump/records/nettrace.h"
#include "support/nettrace_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::EventFields;
using test::NettraceWriter;

struct SeenEvent {
  std::string provider;
  u32 number = 0, sequence = 0;
  u64 thread = 0, time = 0, size = 0;
  bool operator==(const SeenEvent &) const = default;
};

std::vector<SeenEvent> events_of(Bytes stream, u64 step) {
  std::vector<SeenEvent> out;
  NettraceParser parser([&](const NettraceEvent &event) {
    out.push_back(
        {event.kind.provider, event.kind.number, event.sequence, event.thread, event.time, event.payload.size()});
  });
  for (u64 at = 0; at < stream.size(); at += step)
    parser.feed(stream.subspan(at, std::min(step, stream.size() - at)));
  EXPECT_TRUE(parser.has_ended());
  EXPECT_EQ(parser.pointer_size(), 8);
  EXPECT_EQ(parser.ticks_per_second(), 1000);
  EXPECT_EQ(parser.pid(), 4711);
  return out;
}

std::string nettrace_error(Bytes stream) {
  NettraceParser parser([](const NettraceEvent &) {});
  try {
    parser.feed(stream);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(Nettrace, EventsComeInPiecesOfAnySize) {
  NettraceWriter writer;
  const u32 first = writer.describe("A", 5, 1), second = writer.describe("B", 6, 0);
  writer.event(first, EventFields().word(1));
  writer.block("StackBlock", std::vector<std::byte>(7));
  writer.event(second, EventFields().text("text"));
  writer.lose_event();
  writer.event(first, {});
  const std::vector<std::byte> stream = writer.finished();
  const std::vector<SeenEvent> expected = {{"A", 5, 1, 7, 1, 4}, {"B", 6, 2, 7, 2, 10}, {"A", 5, 4, 7, 3, 0}};
  for (u64 step : {u64{1}, u64{3}, u64{64}, u64{stream.size()}})
    EXPECT_EQ(events_of(stream, step), expected) << step;
}

TEST(Nettrace, WhatIsNoStreamIsAnError) {
  const std::string other = "HTTP/1.1 400 Bad Request";
  EXPECT_EQ(nettrace_error(std::as_bytes(std::span(other))),
            "the stream of events cannot be read: it is not in the nettrace format");
  const std::string newer("Nettrace\0\0\0\0\x06\0\0\0\0\0\0\0", 20);
  EXPECT_EQ(nettrace_error(std::as_bytes(std::span(newer))),
            "the stream of events cannot be read: it is in another version of the nettrace format than 4, the one that "
            "dnheap reads");
}

TEST(Nettrace, AnEventOfAnUnknownKindIsAnError) {
  NettraceWriter writer;
  writer.event(9, {});
  EXPECT_EQ(nettrace_error(writer.finished()),
            "the stream of events cannot be read: an event is of a kind that was not described");
}

TEST(Nettrace, NothingIsReadBeyondABlock) {
  NettraceWriter writer;
  writer.block("EventBlock", std::vector<std::byte>(3));
  EXPECT_EQ(nettrace_error(writer.finished()), "the stream of events cannot be read: a block ends within an event");
}

TEST(Nettrace, ABlockTooLargeIsAnErrorBeforeItCame) {
  NettraceWriter writer;
  writer.block("EventBlock", {});
  std::vector<std::byte> &bytes = writer.bytes();
  for (u64 at = bytes.size() - 8; at < bytes.size(); ++at)
    bytes[at] = std::byte{0x7f};
  EXPECT_NE(nettrace_error(bytes), "");
}

TEST(Nettrace, EveryCutAndEveryChangedByteIsHarmless) {
  const std::vector<std::byte> stream = test::listed_heap().finished();
  for (u64 size = 0; size < stream.size(); ++size)
    EXPECT_EQ(nettrace_error(Bytes(stream).first(size)), "") << size;
  for (u64 at = 0; at < stream.size(); ++at) {
    std::vector<std::byte> changed = stream;
    changed[at] ^= std::byte{0xff};
    nettrace_error(changed);
  }
}

} // namespace
} // namespace dnheap
