#include "base/error.h"
#include "dump/live/diagnostics_message.h"
#include "support/fake_port.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::FakePort;

TEST(DiagnosticsMessage, AsTheRuntimeWantsIt) {
  DiagnosticsPayload payload;
  payload.put(std::string_view("ä𝄞"));
  payload.put(u32{2});
  const std::vector<std::byte> message = diagnostics_message({1, 3}, payload.bytes());
  const std::string header = "DOTNET_IPC_V1",
                    wanted = {36, 0, 1, 3, 0, 0, 4, 0, 0, 0, '\xe4', 0, 0x34, '\xd8', 0x1e, '\xdd', 0, 0, 2, 0, 0, 0};
  const std::string sent(reinterpret_cast<const char *>(message.data()), message.size());
  EXPECT_EQ(sent, header + '\0' + wanted);
}

TEST(DiagnosticsMessage, TextThatCannotBeSent) {
  DiagnosticsPayload payload;
  EXPECT_THROW(payload.put(std::string_view("\xff")), Error);
  EXPECT_THROW(payload.put(std::string_view("a\xe2\x82")), Error);
  const std::vector<std::byte> most(0xffff - diagnostics_header_size), more(most.size() + 1);
  EXPECT_EQ(diagnostics_message({1, 1}, most).size(), 0xffffu);
  EXPECT_THROW(diagnostics_message({1, 1}, more), Error);
}

TEST(DiagnosticsMessage, Replies) {
  const std::vector<std::byte> payload(3, std::byte{7});
  EXPECT_TRUE(parse_reply(FakePort::ok()).is_ok);
  EXPECT_EQ(parse_reply(FakePort::ok(payload)).payload, payload);
  const DiagnosticsReply reply = parse_reply(FakePort::error(0x80004005, "disk full"));
  EXPECT_FALSE(reply.is_ok);
  EXPECT_EQ(reply.error, 0x80004005u);
  EXPECT_EQ(reply.message, "disk full");
  EXPECT_EQ(parse_reply(FakePort::error(DiagnosticsReply::unknown_command)).message, "");
}

TEST(DiagnosticsMessage, WhatIsNoReply) {
  std::vector<std::byte> bytes = FakePort::ok();
  EXPECT_THROW(size_of_reply(Bytes(bytes).first(19)), Error);
  EXPECT_THROW(size_of_reply(Bytes()), Error);
  auto with = [&](u64 at, u8 value) {
    std::vector<std::byte> out = bytes;
    out[at] = std::byte{value};
    return out;
  };
  EXPECT_THROW(parse_reply(with(3, 'X')), Error) << "another protocol";
  EXPECT_THROW(parse_reply(with(14, 19)), Error) << "less than its header";
  EXPECT_THROW(parse_reply(with(14, 21)), Error) << "more than there is";
  EXPECT_THROW(parse_reply(with(15, 0xff)), Error) << "much more";
  EXPECT_THROW(parse_reply(with(16, 1)), Error) << "a command";
  EXPECT_THROW(parse_reply(with(17, 2)), Error) << "neither good nor bad";
}

TEST(DiagnosticsMessage, PayloadsThatLie) {
  DiagnosticsPayload payload;
  payload.put(u32{0x7fffffff}); // characters of a text
  payload.put(u32{5});
  DiagnosticsReader reader(payload.bytes());
  EXPECT_FALSE(reader.text());
  EXPECT_FALSE(reader.number()) << "nothing is read behind an end";
  DiagnosticsReader empty{Bytes()};
  EXPECT_FALSE(empty.number());
  EXPECT_FALSE(empty.text());
  EXPECT_FALSE(empty.long_number());
}

} // namespace
} // namespace dnheap
