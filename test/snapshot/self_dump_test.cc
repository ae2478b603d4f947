#include "base/error.h"
#include "snapshot/self_dump.h"
#include "support/fake_port.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace dnheap {
namespace {

using test::FakePort;

// Returns the path that a command for a dump names.
std::string path_in_command(Bytes request) {
  DiagnosticsReader reader(request.subspan(diagnostics_header_size));
  return reader.text().value_or("");
}

class SelfDumps : public testing::Test {
protected:
  std::filesystem::path folder;
  Progress progress;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "dnheap-self-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static ListeningProcess process_at(const FakePort &fake) {
    ListeningProcess out{
        static_cast<u64>(::getpid()), DiagnosticsPort(fake.path(), {fake.folder(), fake.folder()}), {}};
    out.described.version = "10.0.15+abc";
    return out;
  }
  // Returns the error of a dump that is answered so; afterwards the folder has to be empty.
  std::string error_of(FakePort::Answer answer) {
    FakePort fake(std::move(answer));
    ListeningProcess process = process_at(fake);
    std::string out;
    try {
      SelfDump dump(process, (folder / "x.core").string(), SelfDumpKind::mini, {&progress, nullptr});
    } catch (const Error &error) {
      out = error.what();
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    return out;
  }
  std::string content(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(SelfDumps, IsWrittenByTheProcess) {
  u32 kind = 0;
  FakePort fake([&](Bytes request) {
    EXPECT_EQ(FakePort::command_of(request), (DiagnosticsCommand{1, 3}));
    DiagnosticsReader reader(request.subspan(diagnostics_header_size));
    const std::string path = reader.text().value_or("");
    kind = reader.number().value_or(0);
    EXPECT_NE(path.find("/100%%p.core."), path.npos) << "createdump replaces %p, and not %%p: " << path;
    std::string name = path;
    name.replace(name.find("%%"), 2, "%");
    std::ofstream(name, std::ios::trunc) << "a core";
    return FakePort::ok(std::vector<std::byte>(4));
  });
  ListeningProcess process = process_at(fake);
  const std::filesystem::path path = folder / "100%p.core";
  {
    SelfDump dump(process, path.string(), SelfDumpKind::full, {});
    EXPECT_EQ(kind, 4u);
    EXPECT_EQ(dump.size(), 6u);
    EXPECT_EQ(content(dump.path_for_now()), "a core");
    EXPECT_FALSE(std::filesystem::exists(path));
    dump.commit();
  }
  EXPECT_EQ(content(path), "a core");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

// As somebody may name it who knows where the container's files are.
TEST_F(SelfDumps, UnderTheRootOfTheProcess) {
  std::string asked;
  FakePort fake([&](Bytes request) {
    asked = path_in_command(request);
    std::ofstream(asked) << "a core";
    return FakePort::ok();
  });
  ListeningProcess process = process_at(fake);
  const std::string root = "/proc/" + std::to_string(::getpid()) + "/root";
  { SelfDump(process, root + (folder / "x.core").string(), SelfDumpKind::mini, {}).commit(); }
  EXPECT_TRUE(asked.starts_with((folder / "x.core.").string())) << asked;
  EXPECT_EQ(content(folder / "x.core"), "a core");
}

TEST_F(SelfDumps, WithoutCommitNothingStays) {
  FakePort fake([&](Bytes request) {
    std::ofstream(path_in_command(request)) << "a core";
    return FakePort::ok();
  });
  ListeningProcess process = process_at(fake);
  { SelfDump dump(process, (folder / "x.core").string(), SelfDumpKind::mini, {}); }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// The socket's folder is not where this process sees it, as in another container.
TEST_F(SelfDumps, IsCopiedFromWhereTheProcessCanWrite) {
  std::string asked;
  const std::filesystem::path there = folder / "there";
  std::filesystem::create_directory(there);
  FakePort fake([&](Bytes request) {
    asked = path_in_command(request);
    std::ofstream(there / std::filesystem::path(asked).lexically_relative("/inside")) << "a core";
    return FakePort::ok();
  });
  constexpr u64 no_such = 2147483640; // nothing is known of it
  ListeningProcess process{no_such, DiagnosticsPort(fake.path(), {there.string(), "/inside"}), {}};
  SelfDump dump(process, (folder / "x.core").string(), SelfDumpKind::mini, {});
  EXPECT_TRUE(asked.starts_with("/inside/dnheap-")) << asked;
  EXPECT_EQ(content(dump.path_for_now()), "a core");
  EXPECT_TRUE(std::filesystem::is_empty(there));
}

TEST_F(SelfDumps, Failures) {
  auto says = [&](u32 code, const std::string &message, const std::string &words) {
    const std::string error = error_of([&](Bytes) { return FakePort::error(code, message); });
    EXPECT_NE(error.find(words), error.npos) << error;
  };
  says(
      0x80004005,
      "[createdump] Error writing data to dump file: No space left on device (28)\n[createdump] Writing dump FAILED\n"
      "[createdump] Failure took 98ms\n",
      "could not dump itself: Error writing data to dump file: No space left on device (28); Writing dump FAILED: name "
      "a file elsewhere with -o");
  says(0x80004005, "Problem launching createdump: execve(/app/createdump) FAILED No such file or directory (2)\n",
       "put createdump of .NET 10.0.15 beside libcoreclr.so");
  says(0x80004005, "[createdump] Could not create output file 'x': Read-only file system (30)\n",
       "name a folder that it may write to with -o");
  says(0x80004005, "[createdump] ptrace(ATTACH, 7) FAILED Operation not permitted (1)\n", "createdump may not trace");
  says(0x80070005, "", "error 0x80070005");
  says(0x80004005, "", "its runtime writes no dumps (NativeAOT's does not)"); // of a process without libcoreclr.so
  says(DiagnosticsReply::not_supported, "", "its runtime writes no dumps");
  EXPECT_NE(error_of([](Bytes) { return FakePort::ok(); }).find("but there is no dump"), std::string::npos);
  EXPECT_NE(error_of([](Bytes) { return std::vector<std::byte>(40); }).find("does not speak"), std::string::npos);
}

TEST_F(SelfDumps, OlderCommandsForOlderRuntimes) {
  std::vector<int> commands;
  EXPECT_NE(error_of([&](Bytes request) {
              commands.push_back(FakePort::command_of(request).number);
              return FakePort::error(DiagnosticsReply::unknown_command);
            }),
            "");
  EXPECT_EQ(commands, (std::vector<int>{3, 2, 1}));
}

TEST_F(SelfDumps, Interrupting) {
  std::string later;
  const std::string error = error_of([&](Bytes request) {
    later = path_in_command(request);
    progress.cancel = true;
    return std::nullopt;
  });
  EXPECT_EQ(error, "interrupted");
  EXPECT_FALSE(std::ofstream(later).is_open()) << "a writer that comes too late finds no folder";
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SelfDumps, WhetherAProcessListens) {
  EXPECT_EQ(look_at_port(2147483640).state, PortState::none);
  EXPECT_THROW(find_listening_process(2147483640, {}), Error);
}

} // namespace
} // namespace dnheap
