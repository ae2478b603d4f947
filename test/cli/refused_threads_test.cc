// A system that refuses threads, as containers' security profiles and limits on processes do: every answer is the same,
// only later.
#include "base/parallel.h"
#include "cli/progress.h"
#include "support/core_file.h"
#include "support/places.h"
#include "support/random_graph.h"
#include "support/run.h"
#include "support/sanitized.h"

#include <gtest/gtest.h>
#include <iterator>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <cstddef>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace dnheap::cli {
namespace {

#ifdef __linux__

// From now on this process starts no thread: clone3 is answered with EPERM, clone for a thread with EAGAIN.
bool refuse_threads() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int not_possible = 77;

// What a child ends with in which no thread can be started.
int in_child_without_threads(const std::function<int()> &call) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(refuse_threads() ? call() : not_possible);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class RefusedThreads : public testing::Test {
protected:
  void SetUp() override {
    if (test::sanitized)
      GTEST_SKIP() << "sanitizers start threads of their own";
    if (in_child_without_threads([] { return 0; }) == not_possible)
      GTEST_SKIP() << "filters of system calls are not to be had here";
  }
};

TEST_F(RefusedThreads, OneThreadDoesAll) {
  EXPECT_EQ(in_child_without_threads([] {
              std::vector<u64> squares(1000);
              parallel_for(squares.size(), 4, [&](u64 i, unsigned) { squares[i] = i * i; });
              return std::accumulate(squares.begin(), squares.end(), u64{0}) == 332833500 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(in_child_without_threads([] { // and an exception still comes out
              try {
                parallel_for(10, 4, [&](u64 i, unsigned) {
                  if (i == 5)
                    throw Error("five");
                });
              } catch (const Error &error) {
                return std::string(error.what()) == "five" ? 0 : 1;
              }
              return 2;
            }),
            0);
}

TEST_F(RefusedThreads, NoProgressIsShown) {
  EXPECT_EQ(in_child_without_threads([] {
              Progress progress;
              ProgressLine line(progress, {}, true);
              line.stop();
              return 0;
            }),
            0);
}

TEST_F(RefusedThreads, EveryVerbAnswersTheSame) {
  std::mt19937_64 random(9);
  test::RandomGraph graph({}, random, 0, 3000);
  for (int i = 0; i < 20; ++i)
    graph.heap.gc.handles.push_back({.type = HandleType::strong, .object = graph.random_object()});
  test::TemporaryFolder folder;
  const std::string program = test::program(), core = folder.write("a.core", test::core_file(graph.heap)),
                    out = folder.path("out");
  for (std::vector<std::string> words : {std::vector<std::string>{"stat"},
                                         {"stat", "--live"},
                                         {"retained"},
                                         {"path", ".*"},
                                         {"verify", "--all"},
                                         {"objects"}}) {
    SCOPED_TRACE(words[0]);
    words.insert(words.begin() + 1, core);
    std::string command = "'" + program + "'";
    std::vector<const char *> arguments = {program.c_str()};
    for (const std::string &word : words) {
      command += " '" + word + "'";
      arguments.push_back(word.c_str());
    }
    arguments.insert(arguments.end(), {"--threads", "4", nullptr});
    const test::RunResult with = test::run(command + " --threads 4");
    ASSERT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(in_child_without_threads([&] {
                const int file = ::open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
                ::dup2(file, 1);
                ::execv(program.c_str(), const_cast<char *const *>(arguments.data()));
                return 1;
              }),
              0);
    EXPECT_EQ(test::read_file(out), with.out);
  }
}

#endif

} // namespace
} // namespace dnheap::cli
