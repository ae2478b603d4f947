// -p and ps on synthetic processes: exact lines and exit codes, and whatever happens to dnheap, the process goes on.
#include "support/places.h"
#include "support/random_heap.h"
#include "support/run.h"
#include "support/sanitized.h"
#include "support/synthetic_process.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dnheap::cli {
namespace {

class LiveProgram : public testing::Test {
protected:
  test::HeapBuilder heap{{.net = test::Net::net10}};
  std::unique_ptr<test::SyntheticProcess> process;
  std::string pid;

  void start(u64 heap_size) {
    std::mt19937_64 random(5);
    test::add_random_heap(heap, heap_size, random);
    process = test::SyntheticProcess::start(*heap.target());
    if (!process)
      GTEST_SKIP() << "the test program's own memory lies where the process's should: chance";
    pid = std::to_string(process->pid());
  }
  static test::RunResult dnheap_(const std::string &arguments) {
    return test::run("'" + test::program() + "' " + arguments);
  }
};

TEST_F(LiveProgram, StatSaysForHowLongItStoodStill) {
  start(20000);
  if (!process)
    return;
  test::RunResult result = dnheap_("stat -p " + pid);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  std::string head = result.out.substr(0, result.out.find('\n'));
  EXPECT_TRUE(head.starts_with("process " + pid + ": .NET 10.0")) << head;
  EXPECT_NE(head.find(", paused "), head.npos) << head;
  EXPECT_NE(result.out.find("\nnext: dnheap objects --pid=" + pid + " "), result.out.npos) << result.out;
  EXPECT_TRUE(process->goes_on());

  result = dnheap_("stat --no-pause --pid=" + pid);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out.find(", paused "), result.out.npos);
  EXPECT_NE(result.out.find("the process ran on while it was read (--no-pause)"), result.out.npos);
  EXPECT_EQ(dnheap_("stat --strict --no-pause --pid=" + pid).exit_code, 4) << "such an answer is never complete";
}

TEST_F(LiveProgram, ACopyNeedsRoom) {
  start(20000);
  if (!process)
    return;
  EXPECT_EQ(dnheap_("retained -p " + pid).exit_code, 0);
  if (test::sanitized)
    return; // which need more memory than any limit
  test::RunResult result = dnheap_("retained --max-memory 1G -p " + pid);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  result = dnheap_("retained --max-memory 1M -p " + pid);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  EXPECT_TRUE(process->goes_on());
}

TEST_F(LiveProgram, PsListsIt) {
  start(2000);
  if (!process)
    return;
  test::RunResult result = dnheap_("ps --format csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("\n" + pid + ",coreclr,10.0"), result.out.npos) << result.out;
  const std::string row = result.out.substr(result.out.find("\n" + pid + ",coreclr,") + 1);
  EXPECT_NE(row.substr(0, row.find('\n')).find(",none,true,"), row.npos) << "it has no port, and may be read: " << row;
  EXPECT_EQ(result.out.find("\n" + std::to_string(::getpid()) + ","), result.out.npos) << "this program is none";
}

// Programs that are no .NET are looked at from outside only, and what cannot be looked at is told.
TEST_F(LiveProgram, WhereThereIsNoProc) {
  if (test::sanitized)
    GTEST_SKIP() << "sanitizers look into /proc themselves";
  const std::string without = "unshare -rm sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"' ";
  if (test::run(without + "true").exit_code != 0)
    GTEST_SKIP() << "/proc cannot be covered here";
  auto run = [&](const std::string &arguments) {
    return test::run(without + "'" + test::program() + "' " + arguments);
  };
  test::RunResult result = run("ps");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "dnheap: the running processes cannot be listed: /proc is not mounted: mount -t proc proc /proc\n");
  result = run("stat -p 1");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "dnheap: process 1 cannot be read: /proc is not mounted: mount -t proc proc /proc\n");
  EXPECT_EQ(run("stat -p 2147483640").err, "dnheap: there is no process 2147483640\n");
}

TEST_F(LiveProgram, AProcessOfSomebodyElse) {
  const std::string nobody = ::geteuid() ? "" : "setpriv --reuid=65534 --regid=65534 --clear-groups ";
  if (test::run(nobody + "test -x '" + test::program() + "'").exit_code != 0)
    GTEST_SKIP() << "nobody may not start this program";
  test::RunResult result = test::run(nobody + "'" + test::program() + "' stat -p 1");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.find("there is no process"), result.err.npos) << result.err;
  EXPECT_TRUE(result.err.starts_with("dnheap: process 1 may not be read: it belongs to user 0") ||
              result.err.starts_with("dnheap: process 1 is there, but /proc hides it (hidepid)"))
      << result.err;
}

TEST_F(LiveProgram, NoRuntimeIsOneLine) {
  if (test::thread_sanitized)
    GTEST_SKIP() << "the child has more address space than can be mapped";
  ChildProcess child(1);
  test::RunResult result = dnheap_("stat -p " + std::to_string(child.pid()));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("dnheap: process " + std::to_string(child.pid()) + ": no .NET runtime found: "))
      << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  EXPECT_TRUE(child.goes_on());
}

TEST_F(LiveProgram, WhateverEndsDnheapTheProcessGoesOn) {
  start(2000000);
  if (!process)
    return;
  for (int signal : {SIGINT, SIGTERM, SIGKILL, SIGSEGV})
    for (const char *verb : {"stat", "retained"})
      for (unsigned wait : {0u, 3000u, 10000u, 30000u, 60000u}) {
        test::Child child({verb, "-p", pid});
        ::usleep(wait);
        child.signal(signal);
        const int code = child.wait().exit_code;
        // Of SIGSEGV sanitizers make an end of their own.
        EXPECT_TRUE(code == 0 || code == 130 || code == 128 + signal || (test::sanitized && signal == SIGSEGV)) << code;
        EXPECT_TRUE(process->goes_on()) << verb << " ended by signal " << signal << " after " << wait << " µs";
      }
}

} // namespace
} // namespace dnheap::cli
