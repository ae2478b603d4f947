// `dnheap shell` as a user meets it: lines in, answers and exit codes out.
#include "base/text.h"
#include "support/core_file.h"
#include "support/places.h"
#include "support/run.h"

#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace dnheap::cli {
namespace {

using Strings = std::vector<std::string>;

class ShellProgram : public testing::Test {
protected:
  ShellProgram() {
    test::HeapBuilder heap({});
    auto &segment = heap.segment(GCSegmentGeneration::gen0);
    segment.string("text");
    segment.string("more");
    core_ = folder_.write("a.core", test::core_file(heap));
  }
  test::RunResult run(const std::string &more) {
    return test::run("'" + test::program() + "' shell '" + core_ + "' " + more);
  }
  // Asks of another heap from now on: a handle's array, and the string in it.
  std::pair<u64, u64> take_string_in_array() {
    test::HeapBuilder heap({});
    auto &segment = heap.segment(GCSegmentGeneration::gen2);
    const auto array = segment.object(heap.object_array_type, 1), held = segment.string("held");
    segment.store(array + 2 * heap.p, held, static_cast<u32>(heap.p));
    heap.gc.handles = {{.type = HandleType::strong, .object = array}};
    core_ = folder_.write("b.core", test::core_file(heap));
    return {array, held};
  }
  std::string read(const std::string &name) {
    std::ostringstream out;
    out << std::ifstream(folder_.path(name)).rdbuf();
    return out.str();
  }
  test::TemporaryFolder folder_;
  std::string core_;
};

TEST_F(ShellProgram, AnswersAsTheCommandLineDoes) {
  const test::RunResult alone = test::run("'" + test::program() + "' stat '" + core_ + "'");
  EXPECT_EQ(run("-c stat").out, alone.out);
  EXPECT_EQ(run("-c 'dumpheap -stat'").out, alone.out);
  EXPECT_EQ(run("-c stat -c quit -c stat").out, alone.out);
}

TEST_F(ShellProgram, TakesTheNextCommandAsAnswersNameIt) {
  const test::RunResult plain = run("-c 'stat --top 1'");
  EXPECT_EQ(run("-c 'dnheap stat " + core_ + " --top 1'").out, plain.out);
  EXPECT_EQ(plain.exit_code, 0);
}

TEST_F(ShellProgram, RowsOfTheLastAnswerAreSubjects) {
  const test::RunResult result = run("-c objects -c 'show @2' -c 'show @99'");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_NE(result.out.find("System.String"), std::string::npos);
  EXPECT_NE(result.err.find("@99: the last answer, of 'show', has no such row"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("@2"), std::string::npos) << result.err;
}

// A row is what the word in front of it asks for: of a root or a handle the object, of an object its address or its
// type.
TEST_F(ShellProgram, ARowIsWhatTheWordBeforeItWants) {
  const auto [array, held] = take_string_in_array();
  for (const char *asks : {"handles", "'roots --table roots'", "objects"}) {
    const test::RunResult result = run(std::string("-c ") + asks + " -c 'show @1 --table object'");
    EXPECT_NE(result.out.find("object       " + hex(array)), std::string::npos) << asks << result.out << result.err;
  }
  const test::RunResult from = run("-c objects -c 'path " + hex(held) + " --from @1'");
  EXPECT_EQ(from.exit_code, 0) << from.err;
  EXPECT_EQ(from.out.find("no way leads"), std::string::npos) << from.out;
  EXPECT_EQ(run("-c objects -c 'objects --type @1'").out,
            run("-c objects -c 'objects --type-exact System.Object[]'").out);
  EXPECT_NE(run("-c objects -c 'show @1x'").err.find("'@1x'"), std::string::npos);
}

// A type may be called as an option is; it must not become one.
TEST_F(ShellProgram, ARowThatLooksLikeAnOptionIsNone) {
  test::HeapBuilder heap({});
  const std::string made = folder_.path("made");
  const Address type = heap.method_table(
      {.base_size = static_cast<u32>(3 * heap.p), .rid = heap.app().metadata.type("", "--output=" + made)});
  auto &segment = heap.segment(GCSegmentGeneration::gen2);
  for (int i = 0; i < 99; ++i)
    segment.object(type);
  core_ = folder_.write("c.core", test::core_file(heap));
  const test::RunResult result = run("-c 'stat --sort count --table types' -c 'path @1'");
  EXPECT_NE(result.out.find("--output="), std::string::npos) << result.out;
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("@1: "), std::string::npos) << result.err;
  EXPECT_EQ(read("made"), "");
}

TEST_F(ShellProgram, TheProgramBehindALineSaysHowItEnds) {
  EXPECT_EQ(run("-c 'stat | true'").exit_code, 0);
  EXPECT_EQ(run("-c 'stat | false'").exit_code, 1);
  EXPECT_EQ(run("-c 'stat | exit 7'").exit_code, 7);
  EXPECT_EQ(run("-c 'help | exit 7'").exit_code, 7);
}

TEST_F(ShellProgram, StepsOfAPathAreRows) {
  const u64 held = take_string_in_array().second;
  const std::string address = hex(held);
  const test::RunResult result =
      run("-c 'path " + address + "' -c 'show @2 --table object' -c 'path " + address + "' -c 'show @3'");
  EXPECT_NE(result.out.find("object       " + address), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("@3: the last answer, of 'path', has no such row"), std::string::npos) << result.err;
}

TEST_F(ShellProgram, GoesOnAfterErrorsAndTellsTheWorst) {
  const test::RunResult result = run("-c nonsense -c 'diff x y' -c stat");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.out.find("System.String"), std::string::npos);
  const test::RunResult lines =
      test::run("printf 'stat\\nstat --sotr x\\nquit\\n' | '" + test::program() + "' shell '" + core_ + "'");
  EXPECT_EQ(lines.exit_code, 2);
  EXPECT_NE(lines.out.find("System.String"), std::string::npos);
  EXPECT_EQ(lines.out.find("dnheap>"), std::string::npos);
}

TEST_F(ShellProgram, AnswersGoToFilesAndPrograms) {
  const std::string file = folder_.path("out.txt");
  const test::RunResult result =
      run("-c 'stat > " + file + "' -c 'stat >> " + file + "' -c 'stat | head -n 1 | wc -l'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "1\n");
  const std::string once = run("-c stat").out;
  EXPECT_EQ(read("out.txt"), once + once);
  const test::RunResult itself = run("-c 'stat > " + core_ + "' -c 'stat > /dev/full' -c 'stat | true'");
  EXPECT_EQ(itself.exit_code, 3);
  EXPECT_NE(itself.err.find("is the dump itself"), std::string::npos) << itself.err;
}

TEST_F(ShellProgram, RandomLinesEndNothing) {
  std::mt19937 random(17);
  const Strings parts = {"stat",     "show",  "@1",    "@",    "0x10",  "'", "|true",
                         "dumpheap", "-type", "--top", "help", "\x1b[", "--"};
  std::string lines;
  for (int i = 0; i < 300; ++i) {
    for (unsigned n = random() % 5; n; --n)
      lines += parts[random() % parts.size()] + " ";
    lines += "\n";
  }
  const std::string file = folder_.write("lines", lines + "stat | sed 's/^/last: /'\n");
  const test::RunResult result = run("< '" + file + "'");
  EXPECT_LE(result.exit_code, 5);
  EXPECT_NE(result.out.find("last: "), std::string::npos);
}

} // namespace
} // namespace dnheap::cli
