#include "cli/help.h"
#include "cli/options/options.h"
#include "cli/options/values.h"
#include "dnheap/error.h"

#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

// Verbs of our own, so that these tests say nothing about those that exist.
const Verb fake_verbs[] = {
    {.name = "stat",
     .question = "which types?",
     .details = "One row per type.",
     .takes = {Takes::type, Takes::generation, Takes::min_bytes, Takes::range},
     .sort_columns = {"bytes", "count"},
     .tables = {"types"}},
    {.name = "segments", .question = "where?", .tables = {"segments", "generations"}},
    {.name = "objects",
     .question = "which objects?",
     .takes = {Takes::type, Takes::generation},
     .sort_columns = {"address"},
     .tables = {"objects"}},
    {.name = "contract", .question = "what is published?"},
    {.name = "diff",
     .question = "what grew?",
     .takes = {Takes::interval},
     .takes_records = true,
     .takes_several = true},
    {.name = "check",
     .question = "within limits?",
     .takes = {Takes::limits},
     .tables = {"checks"},
     .takes_records = true},
    {.name = "inspect",
     .question = "what is seen?",
     .subject = "NAME",
     .subject_asked = "which inspector?",
     .subject_is_optional = true,
     .subjects = {"timers", "events", "list"},
     .answers_alone = true},
};

Options parse_line(std::string_view line) {
  std::vector<std::string_view> words = words_of(line);
  return parse_options(words, fake_verbs);
}

std::string error_of(std::string_view line) {
  try {
    parse_line(line);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

TEST(Options, VerbAndTarget) {
  Options options = parse_line("segments core");
  EXPECT_EQ(options.verb->name, "segments");
  EXPECT_EQ(options.target, "core");
  EXPECT_EQ(options.question.target, "core");
  EXPECT_STREQ(options.format->name, "text");
  EXPECT_EQ(options.question.top, 20u);
  EXPECT_TRUE(options.progress);
  EXPECT_EQ(options.threads, 0u);
}

TEST(Options, SeveralTargets) {
  Options o = parse_line("diff a b c --interval 90m");
  EXPECT_EQ(o.targets, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(o.question.target, "c");
  EXPECT_EQ(o.question.interval, 5400u);
  o = parse_line("diff a -p 12");
  EXPECT_EQ(o.targets, (std::vector<std::string>{"a"}));
  EXPECT_EQ(o.process, 12u);
  EXPECT_EQ(o.question.target, "--pid=12");
  EXPECT_EQ(parse_line("stat a").targets, (std::vector<std::string>{"a"}));
  EXPECT_TRUE(parse_line("stat -p 12").targets.empty());
}

TEST(Options, SqlThatBeginsWithAComment) {
  for (const std::string_view sql : {"--how many?\nselect 1", "-- how many?\nselect 1"})
    try {
      parse_options(std::vector<std::string_view>{"stat", "core", sql}, fake_verbs);
      FAIL() << "stat takes no subject";
    } catch (const UsageError &error) {
      EXPECT_NE(std::string(error.what()).find("unexpected '--"), std::string::npos) << error.what();
    }
}

// The subject is one of some words: where it stands does not matter, and without one no target is needed.
TEST(Options, SubjectsThatAreWords) {
  for (const char *line : {"inspect timers core", "inspect core timers"}) {
    EXPECT_EQ(parse_line(line).question.subject, "timers") << line;
    EXPECT_EQ(parse_line(line).target, "core") << line;
  }
  EXPECT_EQ(parse_line("inspect events -p 12").target, "--pid=12");
  EXPECT_EQ(parse_line("inspect -p 12").target, "--pid=12");
  EXPECT_EQ(parse_line("inspect timers timers").target, "timers");
  EXPECT_EQ(parse_line("inspect list core").target, "core");
  for (const char *line : {"inspect", "inspect list"})
    EXPECT_EQ(parse_line(line).target, "") << line;
  const std::string usage = "usage: dnheap inspect [NAME] [TARGET] [options]";
  EXPECT_EQ(error_of("inspect core"), "which inspector? 'core' is none of timers, events, list; " + usage);
  EXPECT_EQ(error_of("inspect event core"),
            "which inspector? 'event' is none of timers, events, list, did you mean 'events'?");
  EXPECT_EQ(error_of("inspect shop.core event"),
            "which inspector? 'event' is none of timers, events, list, did you mean 'events'?");
  EXPECT_EQ(error_of("inspect timers"), "which dump? " + usage);
  EXPECT_EQ(error_of("inspect timers a b"), "unexpected 'b'; " + usage);
}

TEST(Options, SubjectsThatMayBeLeftOut) {
  auto parse = [&](const std::vector<std::string_view> &words) { return parse_options(words, fake_verbs); };
  EXPECT_EQ(parse({"inspect", "some/core"}).target, "some/core");
  EXPECT_EQ(parse({"inspect", "some/core"}).question.subject, "");
  EXPECT_EQ(parse({"inspect", "-p", "12"}).target, "--pid=12");
  EXPECT_EQ(parse({"inspect"}).target, "");
  EXPECT_THROW(parse({"inspect", "tmers"}), UsageError); // neither an inspector nor a file
  EXPECT_THROW(parse({"inspect", "tmers", "some/core"}), UsageError);
}

TEST(Options, SubjectsWhereAProcessIsNeeded) {
  std::vector<Verb> verbs(std::begin(fake_verbs), std::end(fake_verbs));
  verbs[0].needs_process = true;
  verbs[0].subject = "TIME", verbs[0].subject_is_optional = true;
  const std::string name(verbs[0].name);
  EXPECT_EQ(parse_options(std::vector<std::string_view>{name, "-p", "12", "10s"}, verbs).question.subject, "10s");
  EXPECT_EQ(parse_options(std::vector<std::string_view>{name, "-p", "12"}, verbs).target, "--pid=12");
  EXPECT_THROW(parse_options(std::vector<std::string_view>{name, "core"}, verbs), UsageError);
  EXPECT_THROW(parse_options(std::vector<std::string_view>{name}, verbs), UsageError);
}

TEST(Options, AnEmptyNameIsNoFiles) {
  for (const std::vector<std::string_view> &words :
       {std::vector<std::string_view>{"stat", ""}, {"diff", "a", ""}, {"inspect", "timers", ""}})
    EXPECT_THROW(parse_options(words, fake_verbs), UsageError) << words[0];
}

TEST(Options, AFileAloneIsTheFirstVerb) {
  EXPECT_EQ(parse_line("core.1234").verb->name, "stat");
  EXPECT_EQ(parse_line("some/core --top 3").verb->name, "stat");
  EXPECT_EQ(parse_line("-p 12").verb->name, "stat");
}

TEST(Options, EveryOptionReachesItsPlace) {
  Options o =
      parse_line("stat --type ^A\\.B --type-exact C --gen gen2 --min 10k --range 0x10-20 --sort count --table types "
                 "--top 7 --format csv --exact -o out --modules / --modules=/tmp --runtime 1 --threads 3 "
                 "--max-memory 1G --temp-dir /t --strict --perf --no-progress -v core");
  EXPECT_EQ(o.question.type_regex, "^A\\.B");
  EXPECT_EQ(o.question.type_exact, "C");
  EXPECT_EQ(o.question.generation, Generation::gen2);
  EXPECT_EQ(o.question.min_bytes, 10240u);
  EXPECT_EQ(o.question.range, std::pair(Address(0x10), Address(0x20)));
  EXPECT_EQ(o.question.sort, "count");
  EXPECT_TRUE(o.question.verbose);
  EXPECT_EQ(o.question.table, "types");
  EXPECT_EQ(o.question.top, 7u);
  EXPECT_STREQ(o.format->name, "csv");
  EXPECT_TRUE(o.exact);
  EXPECT_EQ(o.output, "out");
  EXPECT_EQ(o.module_folders, (std::vector<std::string>{"/", "/tmp"}));
  EXPECT_EQ(o.runtime, 1u);
  EXPECT_EQ(o.threads, 3u);
  EXPECT_EQ(o.max_memory, u64{1} << 30);
  EXPECT_EQ(o.temp_dir, "/t");
  EXPECT_TRUE(o.strict);
  EXPECT_TRUE(o.perf);
  EXPECT_FALSE(o.progress);
}

TEST(Options, FormsOfWriting) {
  for (const char *word : {"gen2", "2", "GEN2"})
    EXPECT_EQ(parse_line(std::string("stat core --gen ") + word).question.generation, Generation::gen2);
  EXPECT_EQ(parse_line("stat core --gen LOH").question.generation, Generation::loh);
  EXPECT_EQ(parse_line("stat core --type byte[]").question.type_regex, "byte[]"); // no expression, but a name in C#
  EXPECT_EQ(parse_line("stat core --range 00007ff3`ad1a15d8-7ff4`00000000").question.range,
            std::pair(Address(0x7ff3ad1a15d8), Address(0x7ff400000000)));
  EXPECT_EQ(parse_line("stat core --top=7").question.top, 7u);
  EXPECT_EQ(parse_line("--top 7 stat core").question.top, 7u);
  EXPECT_EQ(parse_line("stat -oout core").output, "out");
  EXPECT_EQ(parse_line("stat -vo out core").output, "out");
  EXPECT_EQ(parse_line("stat -- -odd-name").target, "-odd-name");
  EXPECT_EQ(parse_line("stat core --top 1 --top 2").question.top, 2u);
  EXPECT_EQ(parse_line("stat core --format json").question.top, 0u);
  EXPECT_EQ(parse_line("stat core --top 0").question.top, 0u);
}

TEST(Options, Checks) {
  Options o =
      parse_line("check a --budget b --baseline c --record d --no-instances-of E --no-instances-of F --format junit");
  EXPECT_EQ(o.question.budget, "b");
  EXPECT_EQ(o.question.baseline, "c");
  EXPECT_EQ(o.question.record, "d");
  EXPECT_EQ(o.question.no_instances_of, (std::vector<std::string>{"E", "F"}));
  EXPECT_STREQ(o.format->name, "junit");
}

TEST(Options, HelpAndVersionNeedNoTarget) {
  EXPECT_EQ(parse_line("--help").verb, nullptr);
  EXPECT_TRUE(parse_line("stat --help").help);
  EXPECT_EQ(parse_line("help stat").verb->name, "stat");
  EXPECT_TRUE(parse_line("-h").help);
  EXPECT_TRUE(parse_line("--version").version);
}

TEST(Options, WrongUsageNamesTheWordAndTheNearestRightOne) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "which dump? usage: dnheap VERB TARGET [options]; dnheap --help lists the verbs"},
      {"stat", "which dump? usage: dnheap stat TARGET [options]"},
      {"stta core", "unknown verb 'stta', did you mean 'stat'?"},
      {"seg core", "unknown verb 'seg', did you mean 'segments'?"},
      {"frobnicate core",
       "unknown verb 'frobnicate'; the verbs are: stat, segments, objects, contract, diff, check, inspect"},
      {"objcts", "'objcts' is neither a verb nor a file, did you mean 'objects'?"},
      {"core stat", "'core' is not a verb; the verb comes first: dnheap stat core"},
      {"stat --man", "--man shows one page for all verbs: dnheap help --man"},
      {"help stat --man", "--man shows one page for all verbs: dnheap help --man"},
      {"help stta", "'stta' is neither a verb nor a file, did you mean 'stat'?"},
      {"stat a b", "unexpected 'b'; usage: dnheap stat TARGET [options]"},
      {"stat -p 1 b", "either --pid or a file, not both: 'b'"},
      {"stat core --sotr x", "unknown option '--sotr', did you mean '--sort'?"},
      {"stat core --json", "unknown option '--json', did you mean '--format json'?"},
      {"stat core --xyzzy=1", "unknown option '--xyzzy'; dnheap --help lists all"},
      {"stat core -x", "unknown option '-x'; dnheap --help lists all"},
      {"stat core --top", "--top needs a value: --top N"},
      {"stat core --top=", "--top needs a value: --top N"},
      {"stat core -o", "--output needs a value: --output FILE"},
      {"stat core --perf=yes", "--perf takes no value"},
      {"stat core --top -1", "--top: '-1' is not a number"},
      {"stat core --threads 0", "--threads: '0' is not a number from 1 to 1024"},
      {"stat core --threads 4294967297", "--threads: '4294967297' is not a number from 1 to 1024"},
      {"stat core --min 1z", "--min: '1z' is not a size such as 4096, 10k or 1.5GiB"},
      {"stat core --range 5", "--range: '5' is not a range such as 0x7f00-0x8000"},
      {"stat core --gen 3", "--gen: '3' is none of gen0, gen1, gen2, loh, poh, frozen"},
      {"stat core --gen gen3", "--gen: 'gen3' is none of gen0, gen1, gen2, loh, poh, frozen, did you mean 'gen0'?"},
      {"stat core --format xml",
       "--format: 'xml' is none of text, json, csv, markdown, junit, github, ndjson, addresses, folded, speedscope"},
      {"stat core --sort byts", "--sort: 'byts' is none of bytes, count, did you mean 'bytes'?"},
      {"segments core --table types", "--table: 'types' is none of segments, generations"},
      {"contract core --gen gen0", "'contract' does not take --gen; these verbs do: stat, objects"},
      {"objects core --min 1", "'objects' does not take --min; these verbs do: stat"},
      {"contract core --table x", "'contract' does not take --table; these verbs do: stat, segments, objects, check"},
      {"stat core --type A --type B", "--type is given twice"},
      {"stat core --modules /no/such", "--modules: '/no/such' is not a folder"},
      {"diff", "which dumps? usage: dnheap diff TARGET TARGET… [options]"},
      {"diff a", "which dumps? usage: dnheap diff TARGET TARGET… [options]"},
      {"diff -p 1", "which dumps? usage: dnheap diff TARGET TARGET… [options]"},
      {"diff a b --interval 1x", "--interval: '1x' is not a time such as 90s, 30m, 1.5h or 2d"},
      {"stat a --interval 1h", "'stat' does not take --interval; these verbs do: diff"},
      {"stat a --format junit", "--format junit works with verbs that have a table 'checks': check"},
      {"stat a --budget b", "'stat' does not take --budget; these verbs do: check"},
      {"check a b", "unexpected 'b'; usage: dnheap check TARGET [options]"},
      {"check a --budget b --budget c", "--budget is given twice"},
      {"stat core --type (",
       "--type: '(' is not a regular expression: missing ): (; --type-exact takes a name as it is"},
  };
  for (auto [line, expected] : cases)
    EXPECT_EQ(error_of(line), expected) << line;
}

TEST(Help, NamesEveryVerbAndEveryOptionThatItTakes) {
  std::string general = general_help(fake_verbs), stat = verb_help(fake_verbs[0]), contract = verb_help(fake_verbs[3]);
  for (const Verb &verb : fake_verbs)
    EXPECT_NE(general.find("\n  " + std::string(verb.name) + " "), std::string::npos);
  for (const Option &option : option_table()) {
    std::string name = std::string("--") + option.name + (option.value ? std::string(" ") + option.value : "");
    EXPECT_NE(general.find(name), std::string::npos) << name;
    EXPECT_EQ(stat.find(name) != std::string::npos, takes(fake_verbs[0], option)) << name;
    EXPECT_EQ(contract.find(name) != std::string::npos, takes(fake_verbs[3], option)) << name;
  }
  EXPECT_NE(stat.find("columns to sort by (--sort): bytes, count\n"), std::string::npos);
}

TEST(Help, FitsAHundredColumns) {
  std::string text = general_help(fake_verbs) + verb_help(fake_verbs[0]);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
    at = end + 1;
  }
}

} // namespace
} // namespace dnheap::cli
