#include "base/error.h"
#include "dump/live/diagnostics_port.h"
#include "support/fake_port.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dnheap {
namespace {

using test::FakePort;

const Patience short_patience = {0.5, {}};

std::vector<std::byte> bytes_of(const std::string &text) {
  std::vector<std::byte> out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

// Returns the error of a question that is answered so.
std::string error_of_answer(FakePort::Answer answer) {
  FakePort fake(std::move(answer));
  DiagnosticsPort port(fake.path());
  try {
    port.ask({4, 8}, {}, short_patience);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

void leave_dead_socket(const std::string &path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
  ::close(socket);
}

TEST(DiagnosticsPort, TakesCommands) {
  std::vector<std::byte> got;
  FakePort fake([&](Bytes request) {
    got.assign(request.begin(), request.end());
    return FakePort::error(0x80131515, "no");
  });
  DiagnosticsPort port(fake.path());
  const std::vector<std::byte> payload(5, std::byte{1});
  for (int i = 0; i < 2; ++i) { // each on a connection of its own
    const DiagnosticsReply reply = port.ask({1, 3}, payload, short_patience);
    EXPECT_EQ(reply.error, DiagnosticsReply::not_supported);
    EXPECT_EQ(reply.message, "no");
    EXPECT_EQ(got, diagnostics_message({1, 3}, payload));
  }
}

TEST(DiagnosticsPort, AnswersThatAreNone) {
  EXPECT_NE(error_of_answer([](Bytes) { return bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"); }).find("does not speak"),
            std::string::npos);
  EXPECT_NE(error_of_answer([](Bytes) { return bytes_of("DOTNET"); }).find("closed before it answered"),
            std::string::npos);
  EXPECT_NE(error_of_answer([](Bytes) { return bytes_of(""); }).find("closed before it answered"), std::string::npos);
  EXPECT_NE(error_of_answer([](Bytes) {
              std::vector<std::byte> out = FakePort::ok();
              out[14] = out[15] = std::byte{0xff};
              return out;
            }).find("closed before it answered"),
            std::string::npos)
      << "64 KiB are announced, and do not come";
  EXPECT_NE(error_of_answer([](Bytes) { return std::nullopt; }).find("does not answer"), std::string::npos);
}

TEST(DiagnosticsPort, WhoWaitsCanGiveUp) {
  FakePort fake([](Bytes) { return std::nullopt; });
  DiagnosticsPort port(fake.path());
  int turns = 0;
  EXPECT_THROW(port.ask({1, 3}, {},
                        {0,
                         [&] {
                           if (++turns == 3)
                             throw Interrupted();
                         }}),
               Interrupted);
}

TEST(DiagnosticsPort, NobodyListens) {
  DiagnosticsPort port("/tmp/dnheap-no-such-socket");
  EXPECT_THROW(port.ask({4, 8}, {}, short_patience), Error);
}

TEST(DiagnosticsPort, IsFoundAmongThoseOfEndedProcesses) {
  FakePort fake([](Bytes) { return FakePort::this_process(); });
  const u64 own = static_cast<u64>(::getpid());
  const std::string front = fake.folder() + "/dotnet-diagnostic-" + std::to_string(own);
  leave_dead_socket(front + "-99-socket");
  leave_dead_socket(front + "1-17-socket"); // of another number
  PortSearch search = find_diagnostics_port(own, own, {{fake.folder() + "-missing", ""}, {fake.folder(), "/tmp"}});
  ASSERT_TRUE(search.port);
  EXPECT_EQ(search.port->path(), fake.path());
  EXPECT_EQ(search.port->folder().inside, "/tmp");
  const PortProcess process = ask_for_process(*search.port, short_patience);
  EXPECT_EQ(process.pid, own);
  EXPECT_EQ(process.assembly, "shop");
  EXPECT_EQ(process.version, "10.0.15+abc");
  EXPECT_EQ(process.command_line, "/app/shop --all");
}

TEST(DiagnosticsPort, OfAnotherProcess) {
  FakePort fake([](Bytes) { return FakePort::ok(); });
  const u64 own = static_cast<u64>(::getpid()), other = static_cast<u64>(::getppid());
  const PortSearch search = find_diagnostics_port(other, own, {{fake.folder(), "/tmp"}});
  EXPECT_FALSE(search.port) << "this process listens, not that one";
  EXPECT_NE(search.why_not.find("/tmp/dotnet-diagnostic-" + std::to_string(own) + "-*-socket"), std::string::npos)
      << search.why_not;
  EXPECT_EQ(find_diagnostics_port(2147483640, 2147483640, {}).why_not, "there is no process 2147483640");
}

TEST(DiagnosticsPort, OlderRuntimesKnowLess) {
  FakePort fake([](Bytes request) {
    if (FakePort::command_of(request) != DiagnosticsCommand{4, 0})
      return FakePort::error(DiagnosticsReply::unknown_command);
    DiagnosticsPayload payload;
    payload.put(u64{4711});
    payload.put(u64{0});
    payload.put(u64{0});
    payload.put(std::string_view("shop"));
    return FakePort::ok(payload.bytes());
  });
  DiagnosticsPort port(fake.path());
  const PortProcess process = ask_for_process(port, short_patience);
  EXPECT_EQ(process.pid, 4711u);
  EXPECT_EQ(process.command_line, "shop");
  EXPECT_EQ(process.version, "");
}

} // namespace
} // namespace dnheap
