#include "base/error.h"
#include "base/host/host.h"
#include "base/process/process.h"
#include "base/process/process_identity.h"
#include "support/child_process.h"
#include "support/sanitized.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dnheap {
namespace {

// Letter of the thread's state: 't' is stopped by a tracer.
char state_of(u64 pid, u64 thread) {
  std::string stat = process_text(pid, "task/" + std::to_string(thread) + "/stat").value_or("");
  std::size_t end = stat.rfind(") ");
  return end == std::string::npos ? '?' : stat[end + 2];
}

TEST(Processes, FilesWithCode) {
  ChildProcess child(1);
  const std::vector<std::string> files = loaded_files(child.pid()).value();
  const std::string program = std::filesystem::read_symlink(program_file(child.pid())).string();
  EXPECT_EQ(std::ranges::count(files, program), 1) << "its pages are mapped with several rights, and one is for code";
  EXPECT_TRUE(std::ranges::all_of(files, [](const std::string &file) { return file.starts_with('/'); }));
  EXPECT_EQ(loaded_files(999'999'999), std::nullopt);
  EXPECT_NE(command_line_of(child.pid()).find(file_name_of(program)), std::string::npos);
}

TEST(ProcessMemory, ReadsUntilSomethingCannotBeRead) {
  ChildProcess child(1);
  ProcessMemory memory(child.pid());
  std::vector<std::byte> out(3 * ChildProcess::page);
  EXPECT_EQ(memory.read(child.pattern(), out), 2 * ChildProcess::page) << "the third page may not be read";
  for (u64 i = 0; i < 2 * ChildProcess::page; ++i)
    ASSERT_EQ(out[i], ChildProcess::pattern_at(i));
  EXPECT_EQ(memory.read(16, out), 0u);
}

TEST(ProcessMemory, KnowsWhatWasTouched) {
  ChildProcess child(1);
  ProcessMemory memory(child.pid());
  ProcessMemory::Page pages[2];
  memory.find_pages(child.pattern(), pages);
  EXPECT_EQ(pages[0], ProcessMemory::Page::present);
  EXPECT_EQ(pages[1], ProcessMemory::Page::present);
  memory.find_pages(16, pages);
  EXPECT_NE(pages[0], ProcessMemory::Page::of_file);
  EXPECT_GT(private_memory(child.pid()).value(), 2 * ChildProcess::page);
}

// The kernel has one page of zeros for all that was only read: pagemap calls it present, but it takes no memory.
TEST(ProcessMemory, WhatWasOnlyReadTakesNone) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "NOT TESTED: only root sees which page is the one of zeros";
  const u64 size = page_size();
  auto *memory =
      static_cast<std::byte *>(::mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  [[maybe_unused]] const std::byte read = *const_cast<const volatile std::byte *>(memory);
  memory[size] = std::byte{1};
  ProcessMemory::Page pages[2];
  ProcessMemory(static_cast<u64>(::getpid())).find_pages(reinterpret_cast<Address>(memory), pages);
  EXPECT_EQ(pages[0], ProcessMemory::Page::absent);
  EXPECT_EQ(pages[1], ProcessMemory::Page::present);
  ::munmap(memory, 2 * size);
}

TEST(ProcessFiles, TheOneThatWasMappedOrNone) {
  struct stat status = {};
  ASSERT_EQ(::stat("/proc/self/exe", &status), 0);
  MappedPath program{std::filesystem::read_symlink("/proc/self/exe"), status.st_dev, status.st_ino};
  ProcessFiles files(static_cast<u64>(::getpid()));
  EXPECT_TRUE(files.has(program));
  std::byte magic[4];
  EXPECT_EQ(files.read(program, 0, magic), 4u);
  EXPECT_EQ(magic[1], std::byte{'E'});
  EXPECT_EQ(files.read(program, static_cast<u64>(status.st_size) - 1, magic), 1u);
  MappedPath another = program;
  ++another.inode;
  EXPECT_FALSE(files.has(another));
  EXPECT_EQ(files.read(another, 0, magic), 0u);
  EXPECT_FALSE(files.has({"/memfd:doublemapper (deleted)", 1, 2}));
  EXPECT_FALSE(files.has({"/dev/null", status.st_dev, 1}));
}

TEST(ProcessMemory, SaysWhatIsWrong) {
  u64 gone;
  {
    ChildProcess child(1);
    gone = child.pid();
  }
  try {
    ProcessMemory memory(gone);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), "there is no process " + std::to_string(gone));
  }
}

// Without rights: only root can give them up, and then it is the user that differs.
TEST(ProcessMemory, ForeignProcess) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root to become somebody else";
  ChildProcess child(1);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t other = ::fork();
  if (other == 0) {
    std::string said = "no error";
    if (::setuid(65534) == 0)
      try {
        ProcessMemory memory(child.pid());
      } catch (const Error &error) {
        said = error.what();
      }
    [[maybe_unused]] ssize_t n = ::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[2000];
  ssize_t n = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  ::waitpid(other, nullptr, 0);
  std::string said(text, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  EXPECT_NE(said.find("may not be read: it belongs to user 0, this is user 65534: run as that user, or with "
                      "CAP_SYS_PTRACE"),
            said.npos)
      << said;
  EXPECT_EQ(said.find('\n'), said.npos);
}

TEST(StoppedProcess, StopsEveryThreadAndLetsThemGo) {
  ChildProcess child(5);
  {
    StoppedProcess stopped(child.pid(), nullptr, nullptr);
    const u64 others = test::thread_sanitized ? stopped.threads().size() - 6 : 0; // the sanitizer's own
    EXPECT_EQ(stopped.threads().size(), 6u + others);                             // the main thread as well
    for (u64 thread : list_threads(child.pid()))
      EXPECT_EQ(state_of(child.pid(), thread), 't');
    u64 before = child.work();
    ::usleep(20000);
    EXPECT_EQ(child.work(), before);
    EXPECT_GT(stopped.seconds(), 0.0);
    for (const StoppedProcess::Thread &thread : stopped.threads())
      EXPECT_GE(stopped.registers(thread).size(), 17u * 4);
    stopped.release();
    EXPECT_TRUE(child.goes_on());
    double seconds = stopped.seconds();
    EXPECT_EQ(stopped.seconds(), seconds);
    EXPECT_TRUE(stopped.registers(stopped.threads()[0]).empty());
  }
  EXPECT_TRUE(child.goes_on());
}

TEST(StoppedProcess, ThreadsThatComeAndGo) {
  ChildProcess child(2, ChildProcess::starts_threads);
  for (int round = 0; round < 50; ++round) {
    StoppedProcess stopped(child.pid(), nullptr, nullptr);
    for (u64 thread : list_threads(child.pid()))
      ASSERT_NE(std::string("tZX").find(state_of(child.pid(), thread)), std::string::npos) << thread;
  }
  EXPECT_TRUE(child.goes_on());
}

TEST(StoppedProcess, LetsGoOnAnException) {
  ChildProcess child(3);
  try {
    StoppedProcess stopped(child.pid(), nullptr, nullptr);
    throw Error("something else went wrong");
  } catch (const Error &) {
  }
  EXPECT_TRUE(child.goes_on());
  auto at_once = [](const void *) { return true; };
  for (int round = 0; round < 20; ++round)
    try {
      StoppedProcess stopped(child.pid(), at_once, nullptr); // in the midst of stopping, if not done by then
    } catch (const Interrupted &) {
    }
  EXPECT_TRUE(child.goes_on());
}

TEST(StoppedProcess, LetsGoWhenTheTracerIsKilled) {
  ChildProcess child(3);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t tracer = ::fork();
  if (tracer == 0) {
    StoppedProcess stopped(child.pid(), nullptr, nullptr);
    [[maybe_unused]] ssize_t n = ::write(ends[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char letter;
  ASSERT_EQ(::read(ends[0], &letter, 1), 1);
  u64 before = child.work();
  ::usleep(20000);
  EXPECT_EQ(child.work(), before);
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_TRUE(child.goes_on());
}

TEST(StoppedProcess, NoSignalIsLost) {
  if (test::thread_sanitized)
    GTEST_SKIP() << "signals of the same number become one while the sanitizer holds them back";
  ChildProcess child(2);
  constexpr u64 rounds = 200;
  for (u64 i = 0; i < rounds; ++i) {
    child.send_signal();
    StoppedProcess stopped(child.pid(), nullptr, nullptr);
    child.send_signal();
  }
  for (int tries = 0; tries < 1000 && child.signals() < 2 * rounds; ++tries)
    ::usleep(5000);
  EXPECT_EQ(child.signals(), 2 * rounds);
  EXPECT_TRUE(child.goes_on());
}

TEST(ProcessStart, TellsProcessesOfOneNumberApart) {
  std::optional<u64> own = process_start(static_cast<u64>(::getpid()));
  ASSERT_TRUE(own);
  EXPECT_EQ(process_start(static_cast<u64>(::getpid())), own);
  EXPECT_GE(process_age(static_cast<u64>(::getpid())).value_or(-1), 0.0);
  u64 pid = 0;
  {
    ChildProcess child(1);
    pid = child.pid();
    EXPECT_GE(process_start(pid).value_or(0), *own);
    const std::optional<double> age = process_age(pid);
    EXPECT_LE(age.value_or(1e9), process_age(static_cast<u64>(::getpid())).value_or(-1));
    EXPECT_GT(resident_memory(pid).value_or(0), 0u);
  }
  EXPECT_FALSE(process_start(pid));
  EXPECT_FALSE(process_age(pid));
  EXPECT_FALSE(resident_memory(pid));
}

TEST(ProcessStart, OneThatHasEndedHasNoneThoughNobodyNoticed) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(process_start(static_cast<u64>(child)));
  ::waitpid(child, nullptr, 0);
}

} // namespace
} // namespace dnheap
