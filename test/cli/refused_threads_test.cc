// A system that refuses threads, as containers' security profiles and limits on processes do: every answer is the same,
// only later.
#include "base/parallel.h"
#include "support/core_file.h"
#include "support/places.h"
#include "support/random_graph.h"
#include "support/refused_threads.h"
#include "support/run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

namespace dnheap::cli {
namespace {

class RefusedThreads : public testing::Test {
protected:
  void SetUp() override {
    if (!test::can_refuse_threads())
      GTEST_SKIP() << "filters of system calls are not to be had here, or sanitizers start threads of their own";
  }
};

TEST_F(RefusedThreads, OneThreadDoesAll) {
  EXPECT_EQ(test::in_child_without_threads([] {
              std::vector<u64> squares(1000);
              parallel_for(squares.size(), 4, [&](u64 i, unsigned) { squares[i] = i * i; });
              return std::accumulate(squares.begin(), squares.end(), u64{0}) == 332833500 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(test::in_child_without_threads([] { // and an exception still comes out
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
    EXPECT_EQ(test::in_child_without_threads([&] {
                const int file = ::open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
                ::dup2(file, 1);
                ::execv(program.c_str(), const_cast<char *const *>(arguments.data()));
                return 1;
              }),
              0);
    EXPECT_EQ(test::read_file(out), with.out);
  }
}

} // namespace
} // namespace dnheap::cli
