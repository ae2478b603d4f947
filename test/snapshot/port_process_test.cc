#include "base/error.h"
#include "snapshot/port_process.h"
#include "support/fake_runtime.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dnheap {
namespace {

using test::FakePort;
using test::FakeRuntime;

class PortProcesses : public testing::Test {
protected:
  std::filesystem::path folder;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "dnheap-arrive-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path() const { return (folder / "x.sock").string(); }
};

// Answers as a runtime that waits to be resumed, and whose program begins only then.
FakePort::Answer waiting_runtime(int &resumed) {
  return [&resumed](Bytes request) {
    const DiagnosticsCommand command = FakePort::command_of(request);
    if (command == DiagnosticsCommand{4, 1})
      ++resumed;
    if (command != DiagnosticsCommand{4, 8})
      return FakePort::ok();
    DiagnosticsPayload payload;
    payload.put(u32{1});
    payload.put(u64{4711});
    payload.put(u64{1});
    payload.put(u64{1});
    for (const char *text : {resumed ? "/app/shop /app/shop.dll" : "/app/shop", "Linux", "x64", "shop", "10.0.15"})
      payload.put(std::string_view(text));
    return FakePort::ok(payload.bytes());
  };
}

TEST_F(PortProcesses, ARuntimeThatConnectsIsResumed) {
  int resumed = 0;
  const auto listener = std::make_shared<DiagnosticsListener>(path());
  const FakeRuntime runtime(path(), waiting_runtime(resumed));
  const PortArrival arrival = wait_for_runtime(listener, 30, {});
  EXPECT_EQ(resumed, 1);
  EXPECT_TRUE(arrival.was_starting);
  EXPECT_EQ(arrival.process.pid, static_cast<u64>(::getpid())) << "the system's number, not what it says of itself";
  EXPECT_EQ(arrival.process.described.command_line, "/app/shop /app/shop.dll");
}

TEST_F(PortProcesses, DumpsItselfOverItsNextConnection) {
  std::string asked;
  const auto listener = std::make_shared<DiagnosticsListener>(path());
  int resumed = 1;
  const FakePort::Answer others = waiting_runtime(resumed);
  const FakeRuntime runtime(path(), [&](Bytes request) {
    if (FakePort::command_of(request) != DiagnosticsCommand{1, 3})
      return others(request);
    asked = DiagnosticsReader(request.subspan(diagnostics_header_size)).text().value_or("");
    std::ofstream(asked) << "a core";
    return std::optional(FakePort::ok());
  });
  PortArrival arrival = wait_for_runtime(listener, 30, {});
  EXPECT_FALSE(arrival.was_starting);
  const std::string core = (folder / "x.core").string();
  { SelfDump(arrival.process, core, SelfDumpKind::mini, {}).commit(); }
  EXPECT_TRUE(asked.starts_with(core)) << asked;
  EXPECT_EQ(std::filesystem::file_size(core), 6u);
}

// As in another container: the dump goes through the socket's folder.
TEST_F(PortProcesses, WithoutANumber) {
  FakePort fake([&](Bytes request) {
    const std::string path = DiagnosticsReader(request.subspan(diagnostics_header_size)).text().value_or("");
    EXPECT_EQ(std::filesystem::path(path).parent_path(), folder);
    std::ofstream(path) << "a core";
    return FakePort::ok();
  });
  ListeningProcess process{0, DiagnosticsPort(fake.path(), {folder.string(), folder.string()}), {}};
  process.described.pid = 17;
  EXPECT_EQ(process.shown_pid(), 17u);
  const std::string core = (folder / "x.core").string();
  { SelfDump(process, core, SelfDumpKind::mini, {}).commit(); }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "only the dump stays";
}

TEST_F(PortProcesses, NobodyConnects) {
  const auto listener = std::make_shared<DiagnosticsListener>(path());
  EXPECT_THROW(wait_for_runtime(listener, 0.1, {}), Error);
  Progress progress;
  progress.cancel = true;
  EXPECT_THROW(wait_for_runtime(listener, 30, {&progress, nullptr}), Interrupted);
  EXPECT_THROW(connect_to_process((folder / "missing").string(), {}), Error);
}

TEST_F(PortProcesses, OthersThatConnectArePassedOver) {
  int resumed = 1;
  const auto listener = std::make_shared<DiagnosticsListener>(path());
  std::error_code error;
  std::optional<LocalSocket> stranger = LocalSocket::connect(path(), 1, error);
  ASSERT_TRUE(stranger);
  stranger->send(std::vector<std::byte>(advertisement_size, std::byte{'x'}), 1);
  const FakeRuntime runtime(path(), waiting_runtime(resumed));
  EXPECT_EQ(wait_for_runtime(listener, 30, {}).process.described.pid, 4711u);
}

TEST(Advertisement, IsRead) {
  const std::vector<std::byte> bytes = FakeRuntime::advertisement(9, 0x1234567890);
  const std::optional<Advertisement> read = parse_advertisement(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pid, 0x1234567890u);
  EXPECT_EQ(read->cookie[15], std::byte{9});
  EXPECT_FALSE(parse_advertisement(Bytes(bytes).first(bytes.size() - 1)));
  std::vector<std::byte> other = bytes;
  other[7] = std::byte{'x'};
  EXPECT_FALSE(parse_advertisement(other));
}

} // namespace
} // namespace dnheap
