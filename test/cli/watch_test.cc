// `watch` on synthetic processes: lines, files and exit codes; and what cannot be is said before anything is waited
// for.
#include "support/places.h"
#include "support/random_heap.h"
#include "support/run.h"
#include "support/sanitized.h"
#include "support/synthetic_process.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace dnheap::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class WatchProgram : public testing::Test {
protected:
  test::TemporaryFolder folder, side;
  std::unique_ptr<test::SyntheticProcess> process;
  std::string pid;

  bool start() {
    test::HeapBuilder heap({.net = test::Net::net10});
    std::mt19937_64 random(5);
    test::add_random_heap(heap, 20000, random);
    process = test::SyntheticProcess::start(*heap.target());
    if (process)
      pid = std::to_string(process->pid());
    return process != nullptr;
  }
  std::string command(const std::string &arguments) const { return "'" + test::program() + "' watch " + arguments; }
  // While it runs: `meanwhile`, once it has said something. The exit code is what `meanwhile` ends with.
  test::RunResult run_beside(const std::string &arguments, const std::string &meanwhile) const {
    const std::string said = side.path("said");
    return test::run(command(arguments) + " >" + said + " & watch=$!; while ! [ -s " + said +
                     " ]; do sleep 0.1; done; " + meanwhile);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder.path()))
      out.push_back(entry.path().string());
    std::ranges::sort(out);
    return out;
  }
};

std::vector<Json> lines(const std::string &text) {
  std::vector<Json> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    out.push_back(Json::parse(line));
  return out;
}

constexpr const char *taken = "the test program's own memory lies where the process's should: chance";

TEST_F(WatchProgram, TakesCoresThatCanBeRead) {
  if (!start())
    GTEST_SKIP() << taken;
  // It ends when nobody reads what it says any more.
  const test::RunResult result =
      test::run(command("-p " + pid + " --when 'rss>1k|gen2>1T' --every 1 --again 1s --keep 2 --format ndjson -o " +
                        folder.path()) +
                " | head -4");
  EXPECT_EQ(result.err, "");
  const std::vector<Json> events = lines(result.out);
  ASSERT_EQ(events.size(), 4u) << result.out;
  EXPECT_EQ(events[0]["event"], "began");
  EXPECT_GT(events[0]["figures"]["gen2"], 0);
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["event"], "taken");
    EXPECT_EQ(events[i]["conditions"], Json::array({"rss>1k"}));
    EXPECT_GT(events[i]["paused_ms"], 0);
  }
  EXPECT_EQ(events[3]["removed"], Json::array({events[1]["file"]}));
  const std::vector<std::string> kept = files();
  ASSERT_EQ(kept.size(), 2u);
  const test::RunResult live = test::run("'" + test::program() + "' stat --format csv -p " + pid),
                        core = test::run("'" + test::program() + "' stat --format csv " + kept[1]);
  EXPECT_EQ(core.exit_code, 0) << core.err;
  EXPECT_EQ(core.out, live.out);
  EXPECT_EQ(fs::status(kept[1]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(process->goes_on());
}

TEST_F(WatchProgram, EndsWithTheProcess) {
  if (!start())
    GTEST_SKIP() << taken;
  const test::RunResult result =
      run_beside("-p " + pid + " --when 'rss>1T' --every 1 -o " + folder.path(), "kill -9 " + pid + "; wait $watch");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  const std::string out = test::read_file(side.path("said"));
  EXPECT_NE(out.find(" process " + pid + " has ended; 0 cores were written\n"), out.npos) << out;
  EXPECT_TRUE(files().empty());
}

TEST_F(WatchProgram, CtrlCEndsItCleanly) {
  if (!start())
    GTEST_SKIP() << taken;
  for (const int signal : {SIGINT, SIGTERM}) {
    test::Child child({"watch", "-p", pid, "--when", "oom", "-o", folder.path()});
    child.wait_for_output();
    child.signal(signal);
    const test::RunResult result = child.wait();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
  }
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(process->goes_on());
}

TEST_F(WatchProgram, TwoDoNotShareAFolder) {
  if (!start())
    GTEST_SKIP() << taken;
  const std::string arguments = "-p " + pid + " --when oom -o " + folder.path();
  const test::RunResult result =
      run_beside(arguments, command(arguments) + "; code=$?; kill $watch; wait $watch; exit $code");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "dnheap: another dnheap watch writes to " + folder.path() + ": each needs a folder of its own\n");
}

TEST_F(WatchProgram, WhatCannotBeIsSaidAtOnce) {
  const std::string own = std::to_string(::getpid()), to = " -o " + folder.path();
  struct {
    std::string arguments;
    int code;
    std::string error;
  } const cases[] = {
      {"-p 1 --when 'rss>1G'", 2, "missing -o: usage: dnheap watch [-p PID] -o DIR [options]"},
      {"-p 1" + to, 2, "missing --when CONDITION, such as --when 'rss>1.5G' or --when oom"},
      {"-p 1 --when 'rss>1G' -o " + folder.path("none"), 2,
       "--output: '" + folder.path("none") + "' is not a folder: cores go there, so make it first"},
      {"-p 1 --when rss" + to, 2, "--when: 'rss' is not a condition: the name needs > and a size, as in rss>1.5G"},
      {"core.1 --when oom" + to, 2, "watch needs -p PID: it looks at a running process, not at a file"},
      {"-p 1 --when oom --keep 0" + to, 2, "--keep: '0' is not a number from 1 to 10000"},
      {"-p 1 --when oom --every 0" + to, 2, "--every: '0' is not a time such as 90s, 30m, 1.5h or 2d"},
      {"-p 1 --when oom --format csv" + to, 2, "--format: 'csv' is none of text, ndjson"},
      {"-p 4194305 --when oom" + to, 3, "there is no process 4194305"},
      {"-p " + own + " --when oom" + to, 3, "no .NET runtime found"},
  };
  for (const auto &[arguments, code, error] : cases) {
    if (test::thread_sanitized && arguments.starts_with("-p " + own))
      continue; // the test program has more address space than can be mapped
    const test::RunResult result = test::run(command(arguments));
    EXPECT_EQ(result.exit_code, code) << arguments;
    EXPECT_NE(result.err.find(error), result.err.npos) << arguments << ": " << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(files().empty());
}

} // namespace
} // namespace dnheap::cli
