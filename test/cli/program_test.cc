// The program as a user meets it: exact lines and exit codes.
#include "support/core_file.h"
#include "support/places.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dnheap::cli {
namespace {

test::RunResult dnheap_(const std::string &arguments) { return test::run("'" + test::program() + "' " + arguments); }

void expect_error(const std::string &arguments, int exit_code, const std::string &line) {
  test::RunResult result = dnheap_(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments;
  EXPECT_EQ(result.err, "dnheap: " + line + "\n") << arguments;
  EXPECT_EQ(result.out, "") << arguments;
}

TEST(Program, HelpAndVersionGoToStandardOutput) {
  for (const char *arguments : {"--help", "-h", "help", "stat --help", "help stat", "--version"}) {
    test::RunResult result = dnheap_(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments;
    EXPECT_TRUE(result.out.starts_with("dnheap ")) << result.out;
    EXPECT_EQ(result.err, "") << arguments;
  }
}

TEST(Program, WrongUsageIsOneLineAndExitCodeTwo) {
  expect_error("", 2, "which dump? usage: dnheap VERB TARGET [options]; dnheap --help lists the verbs");
  expect_error("stta core", 2, "unknown verb 'stta', did you mean 'stat'?");
  expect_error("stat core --sotr x", 2, "unknown option '--sotr', did you mean '--sort'?");
  expect_error(
      "stat core --format xml", 2,
      "--format: 'xml' is none of text, json, csv, markdown, junit, github, ndjson, addresses, folded, speedscope");
  expect_error("stat core --no-pause", 2, "--no-pause needs a live process: --pid PID");
  expect_error("stat core --by-port", 2, "--by-port needs a live process: --pid PID");
  expect_error("stat -p 2147483640 --by-port --no-pause", 2,
               "--by-port and --no-pause exclude each other: the process collects, and stands still meanwhile");
  expect_error("threads -p 2147483640 --by-port", 2,
               "'threads' does not take --by-port: the GC lists objects with their types, sizes and references, and "
               "roots, but neither contents of objects nor threads");
  expect_error("ps core", 2, "usage: dnheap ps [options]: it takes no target");
  expect_error("completion", 2, "for which shell? usage: dnheap completion SHELL [options]");
  expect_error("completion tcsh", 2,
               "for which shell? 'tcsh' is none of bash, zsh, fish; usage: dnheap completion SHELL [options]");
  expect_error("completion bash core", 2, "usage: dnheap completion SHELL [options]: it takes no target");
  expect_error("sample core", 2,
               "it looks at a running process, which -p names; usage: dnheap sample -p PID [TIME] [options]");
  expect_error("sample -p 2147483640 --no-pause", 2,
               "--no-pause: sample has to stop the process, for some milliseconds each time");
  for (const std::string time : {"0s", "1y", "nan", "soon"})
    expect_error("sample -p 2147483640 " + time, 2, "'" + time + "' is not a time: write 10s, 500ms or 2m");
  expect_error("collect core", 2,
               "it looks at a running process, which -p names; usage: dnheap collect -p PID [options]");
  expect_error("collect --listen a.sock --connect b.sock", 2, "one of --pid, --listen and --connect names the process");
  expect_error("collect core --connect b.sock", 2, "unexpected 'core'; usage: dnheap collect -p PID [options]");
  expect_error("stat core --listen a.sock", 2, "'stat' does not take --listen; these verbs do: collect");
  const std::string collect = "collect -p 2147483640 ";
  expect_error(collect + "--kind huge", 2, "--kind: 'huge' is none of heap, full, mini, triage");
  expect_error(collect + "--no-pause", 2, "--no-pause: the process itself writes the dump, and stands still meanwhile");
  expect_error(collect + "-o -", 2, "--output: the process writes the dump to a file, not to standard output");
  expect_error(
      collect + "-o a.core.zst", 2,
      "the process writes a dump that is not compressed: give the file a name without .zst, or make a small core "
      "(--extract)");
  expect_error(collect + "--kind mini --extract", 2,
               "a small core is made from the kinds heap and full: a dump of the kind mini has no heap, and is small");
  expect_error(collect + "--no-values", 2,
               "only the small core can be without values: the process itself writes the dump, with all of them");
  expect_error("stat core --kind full", 2,
               "'stat' does not take --kind; these verbs do: threads, locks, handles, roots, collect");
  // A word cannot send control characters to the terminal.
  expect_error("stat core --top \"$(printf '\\033[31mx')\"", 2, "--top: '?[31mx' is not a number");
}

TEST(Program, WhatCannotBeOpenedIsExitCodeThree) {
  expect_error("stat /no/such/core", 3, "/no/such/core: No such file or directory");
  expect_error("stat -p 2147483640", 3, "there is no process 2147483640");
  expect_error("sample -p 2147483640 0.5s", 3, "there is no process 2147483640");
  expect_error("collect -p 2147483640", 3, "there is no process 2147483640");
  expect_error("collect --connect /no/such/socket", 3,
               "no .NET runtime listens on /no/such/socket: No such file or directory");
  const std::string own = std::to_string(::getpid());
  expect_error("collect -p " + own, 3, "process " + own + " is no .NET process: dnheap ps lists those that are");
  test::TemporaryFolder folder;
  std::string file = folder.write("notes.txt", "this is no dump");
  test::RunResult result = dnheap_("'" + file + "'");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.err.starts_with("dnheap: " + file + ": ")) << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  expect_error("stat " + folder.path(), 3, folder.path() + ": its only file is no dump");
}

TEST(Program, InfoShowsWhatTheNameOfAStoredCoreSays) {
  test::HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).string("text");
  test::TemporaryFolder folder;
  const std::string core =
      folder.write("core.shop.1654.0123456789abcdef0123456789abcdef.4711.1764036607000000", test::core_file(heap));
  const test::RunResult info = dnheap_("info '" + core + "'");
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_NE(info.out.find("ended at 2025-11-25T02:10:07Z, shop, process 4711, user 1654; says the file's name"),
            info.out.npos)
      << info.out;
}

TEST(Program, ExtractWritesItsFileAndSaysSo) {
  test::HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).string("text");
  test::TemporaryFolder folder;
  const std::string core = folder.write("a.core", test::core_file(heap)), small = folder.path("small.core");
  expect_error("extract '" + core + "'", 2, "missing -o: usage: dnheap extract TARGET -o FILE [options]");
  expect_error("extract '" + core + "' -o '" + core + "'", 2, "--output: '" + core + "' is the dump itself");
  expect_error("stat '" + core + "' --no-values", 2,
               "'stat' does not take --no-values; these verbs do: extract, collect, watch");
  std::filesystem::create_directory(folder.path("room"));
  folder.write("small.core", "what was there before");
  EXPECT_EQ(dnheap_("extract '" + core + "' --no-values -o '" + small + "'").exit_code, 0);
  EXPECT_EQ(std::filesystem::status(small).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  test::RunResult info = dnheap_("info '" + small + "'");
  EXPECT_NE(info.out.find("by dnheap from a.core, values blanked"), info.out.npos) << info.out;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3); // nothing else is left
}

TEST(Program, AnExceededLimitIsExitCodeOne) {
  test::HeapBuilder heap({});
  heap.gc.handles = {{.type = HandleType::strong, .object = heap.segment(GCSegmentGeneration::gen0).string("text")}};
  test::TemporaryFolder folder;
  const std::string core = folder.write("a.core", test::core_file(heap)), saved = folder.path("old.json");
  const std::string check = "check '" + core + "' ";
  EXPECT_EQ(dnheap_(check + "--record '" + saved + "'").exit_code, 0);
  EXPECT_EQ(dnheap_(check + "--no-instances-of string").exit_code, 1);
  EXPECT_EQ(dnheap_("check '" + saved + "' --no-instances-of System.String").exit_code, 1);
  // The dump lacks its threads' stacks, which may hold some.
  EXPECT_EQ(dnheap_(check + "--no-instances-of Shop.Never").exit_code, 4);
  std::string record = test::read_file(saved);
  const std::string lacks = "\"complete\":false", has = "\"complete\":true";
  ASSERT_NE(record.find(lacks), record.npos) << record;
  record.replace(record.find(lacks), lacks.size(), has);
  const std::string whole = folder.write("whole.json", record);
  EXPECT_EQ(dnheap_("check '" + whole + "' --no-instances-of Shop.Never").exit_code, 0);
  const std::string budget = folder.write("b.json", R"({"types": [{"type": "string", "growth": {"live": 0}}]})");
  EXPECT_EQ(dnheap_("check '" + whole + "' --budget '" + budget + "' --baseline '" + saved + "'").exit_code, 0);
  expect_error(check + "--budget '" + budget + "'", 2,
               budget + ": types[0].growth.live needs --baseline FILE, as it limits growth");
  // Before the dump is opened.
  const std::string odd = folder.write("odd.json", R"({"typos": []})");
  expect_error(
      "check /no/such/core --budget '" + odd + "'", 2,
      odd + ": typos is unknown, did you mean 'types'?; known are $schema, comment, totals, types, owners, account");
  expect_error(check + "--record '" + core + "'", 2, "--record: '" + core + "' is the dump itself");
  const std::string other = folder.write("b.core", test::core_file(heap));
  const std::string rolling = "--baseline '" + other + "' --record '" + other + "'";
  expect_error(check + rolling, 2, "--record: '" + other + "' is the dump itself");
  expect_error(check + "--budget '" + budget + "' --baseline '" + saved + "' --record '" + budget + "'", 2,
               "--record: '" + budget + "' is the budget itself");
  expect_error("explore '" + core + "' --against /no/such", 3, "/no/such: No such file or directory");
  expect_error("explore '" + saved + "' /no/such '" + core + "'", 3, "/no/such: No such file or directory");
  expect_error("stat '" + core + "' --min 2k --max 1k", 2,
               "--min 2048 is more than --max 1024: no object has such a size");
  EXPECT_EQ(dnheap_(check + "--baseline '" + saved + "' --record '" + saved + "'").exit_code,
            0); // a record is replaced
  // An error names the dump that it is of.
  expect_error("diff '" + core + "' /no/such/core", 3, "/no/such/core: No such file or directory");
  expect_error("diff '" + core + "' '" + odd + "'", 3, odd + ": this is not a valid record: it has no \"command\"");
  EXPECT_EQ(dnheap_("diff '" + saved + "' '" + core + "'").exit_code, 0);
}

TEST(Program, TheOutputFileIsNeverTheDump) {
  test::TemporaryFolder folder;
  std::string file = folder.write("core", "precious");
  expect_error("stat '" + file + "' -o '" + file + "'", 2, "--output: '" + file + "' is the dump itself");
  EXPECT_EQ(test::read_file(file), "precious");
}

TEST(Program, AFullDiskIsAnErrorAndAClosedPipeIsNot) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full here";
  expect_error("--help >/dev/full", 3, "cannot write to standard output: No space left on device");
  test::TemporaryFolder folder;
  test::HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).object(heap.type("Shop.Order", 2));
  const std::string core = folder.write("shop.core", test::core_file(heap));
  const test::RunResult mcp = test::run(R"(echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | ')" + test::program() +
                                        "' mcp '" + core + "' >/dev/full");
  EXPECT_EQ(mcp.exit_code, 3);
  EXPECT_EQ(mcp.err, "dnheap: the operating system refused: cannot write answers: No space left on device\n");
  // The reader is gone before the first byte: what `| head` does, without its timing.
  test::RunResult result = test::run("{ sleep 0.2; '" + test::program() + "' --help; echo $? >&2; } | true");
  EXPECT_EQ(result.err, "0\n");
}

// Of what is not in the dump all verbs say so by the same code, whatever word named it.
TEST(Program, NotFoundIsExitCodeFive) {
  test::HeapBuilder heap({});
  Address order = heap.type("Shop.Order", 2);
  heap.segment(GCSegmentGeneration::gen0).object(order);
  test::TemporaryFolder folder;
  const std::string core = "'" + folder.write("a.core", test::core_file(heap)) + "'";
  const std::string line = "no type on this heap is called 'Shop.Ordr', did you mean 'Shop.Order'?";
  for (const char *verb : {"stat", "objects", "handles", "roots", "retained"}) {
    expect_error(verb + (" " + core) + " --type-exact Shop.Ordr", 5, line);
    EXPECT_EQ(dnheap_(verb + (" " + core) + " --type-exact Order").exit_code, 0) << verb; // as C# writes it
  }
  expect_error("path " + core + " Shop.Ordr", 5,
               "no type on this heap is called 'Shop.Ordr' or matches it, did you mean 'Shop.Order'?");
  for (const char *verb : {"show", "path"})
    expect_error(verb + (" " + core) + " 0x10", 5,
                 "0x10 is not an object: it lies outside the managed heap (dnheap segments shows where the heap is)");
  test::RunResult none = dnheap_("stat " + core + " --type Shop.Ordr"); // a filter that leaves nothing
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.out.find("no type matches Shop.Ordr"), std::string::npos) << none.out;
}

// What a format has no place for goes to standard error.
TEST(Program, CsvSaysElsewhereThatItIsIncomplete) {
  test::HeapBuilder heap({});
  test::SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 1000; ++i)
    young.string("text");
  test::TemporaryFolder folder;
  std::string core = test::core_file(heap);
  const std::string whole = folder.write("whole.core", core),
                    cut = folder.write("cut.core", core.substr(0, core.size() - 9000));
  EXPECT_EQ(dnheap_("stat --format csv '" + whole + "'").err, "");
  for (const char *verb : {"stat", "segments", "objects"}) {
    test::RunResult result = dnheap_(verb + (" --format csv '" + cut + "'"));
    EXPECT_EQ(result.exit_code, 0) << verb;
    EXPECT_TRUE(result.err.starts_with("dnheap: INCOMPLETE: ")) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_EQ(result.out.find('\r'), std::string::npos);
    for (const char *format : {"text", "json"})
      EXPECT_EQ(dnheap_(verb + (" --format " + std::string(format)) + " '" + cut + "'").err, "") << verb << format;
  }
}

TEST(Program, ACutDumpIsAnsweredAndStrictSaysSo) {
  test::HeapBuilder heap({});
  test::SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 1000; ++i)
    young.string("text");
  test::TemporaryFolder folder;
  std::string core = test::core_file(heap);
  std::string whole = folder.write("whole.core", core),
              cut = folder.write("cut.core", core.substr(0, core.size() - 9000));
  auto exit_code = [](const std::string &arguments) { return dnheap_("stat " + arguments).exit_code; };
  EXPECT_EQ(exit_code("--strict '" + whole + "'"), 0);
  EXPECT_EQ(exit_code("'" + cut + "'"), 0);
  EXPECT_EQ(exit_code("--strict '" + cut + "'"), 4);
  test::RunResult result = dnheap_("stat '" + cut + "'");
  EXPECT_NE(result.out.find("INCOMPLETE: "), std::string::npos);
  EXPECT_NE(result.out.find("cut off: the file ends at byte "), std::string::npos);
}

} // namespace
} // namespace dnheap::cli
