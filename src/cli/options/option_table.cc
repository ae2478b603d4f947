#include "cli/options/option_table.h"

#include "cli/options/values.h"
#include "dnheap/watch.h"

#include <array>
#include <filesystem>

namespace dnheap::cli {

namespace {

template <class T>
T value_or_usage(std::optional<T> value, const char *option, std::string_view text, const char *want) {
  if (!value)
    throw UsageError(std::string(option) + ": " + in_quotes(text) + " is not " + want);
  return *value;
}

u64 number(const char *option, std::string_view text) {
  return value_or_usage(parse_number(text), option, text, "a number");
}

u64 size_of_option(const char *option, std::string_view text) {
  return value_or_usage(parse_size(text), option, text, "a size such as 4096, 10k or 1.5GiB");
}
void set_format(Options &options, std::string_view value) {
  std::vector<std::string_view> names;
  for (const Format &format : formats()) {
    names.push_back(format.name);
    if (value == format.name)
      options.format = format;
  }
  check_word("--format", value, names);
}

constexpr std::array<std::string_view, 3> colors = {"auto", "always", "never"};
std::vector<std::string_view> color_words(const Verb &) { return {colors.begin(), colors.end()}; }

void set_color(Options &options, std::string_view value) {
  check_word("--color", value, colors);
  options.color = *std::find(colors.begin(), colors.end(), value);
}

// Parses a duration ("90m", "1.5h", "2d", "3600") to seconds.
u64 duration(const char *option, std::string_view value) {
  return value_or_usage(parse_duration(value), option, value, "a time such as 90s, 30m, 1.5h or 2d");
}

void add_condition(Options &options, std::string_view value) {
  if (const std::optional<std::string> problem = condition_problem(value))
    throw UsageError("--when: " + *problem);
  options.when.emplace_back(value);
}

void set_keep(Options &options, std::string_view value) {
  options.keep = number("--keep", value);
  if (options.keep < 1 || options.keep > 10'000)
    throw UsageError("--keep: " + in_quotes(value) + " is not a number from 1 to 10000");
}

void set_port(Options &options, std::string_view value) {
  const u64 port = number("--port", value);
  if (port > 65535)
    throw UsageError("--port: " + in_quotes(value) + " is not a number from 0 to 65535");
  options.port = static_cast<std::uint16_t>(port);
}

void set_threads(Options &options, std::string_view value) {
  options.threads = static_cast<unsigned>(number("--threads", value));
  if (options.threads == 0 || number("--threads", value) > 1024)
    throw UsageError("--threads: " + in_quotes(value) + " is not a number from 1 to 1024");
}

void add_folder(std::vector<std::string> &to, const char *option, std::string_view value) {
  if (std::error_code ignored; !std::filesystem::is_directory(value, ignored))
    throw UsageError(std::string(option) + ": " + in_quotes(value) + " is not a folder");
  to.emplace_back(value);
}

const Option own_options[] = {
    {"against", 0, "FILE", OnlyOf{"explore"},
     "show the growth since this earlier dump, or record; the same as giving it before TARGET",
     [](Options &o, std::string_view v) { o.against = v; }, Several::refused},
    {"port", 0, "N", OnlyOf{"explore"}, "serve on this port (default: any free one)", set_port},
    {"idle", 0, "TIME", OnlyOf{"explore"}, "end after this time without a request: 90s, 30m, 1.5h (default: never)",
     [](Options &o, std::string_view v) { o.idle = duration("--idle", v); }},
    {"when", 0, "CONDITION", OnlyOf{"watch"},
     "take a core when this condition becomes true: rss>1.5G, gen2>800M, container>90%, oom; may be given several "
     "times",
     add_condition, Several::all_count},
    {"every", 0, "TIME", OnlyOf{"watch"}, "interval between checks: 10s, 5m (default: 60s)",
     [](Options &o, std::string_view v) { o.every = duration("--every", v); }, Several::refused},
    {"again", 0, "TIME", OnlyOf{"watch"},
     "take another core after this time if the condition is still true (default: never)",
     [](Options &o, std::string_view v) { o.again = duration("--again", v); }, Several::refused},
    {"keep", 0, "N", OnlyOf{"watch"}, "keep at most this many cores in the folder; the oldest is removed (default: 3)",
     set_keep, Several::refused},
    {"extract", 0, nullptr, OnlyOf{"collect"}, "make a small core of the dump, and remove the dump",
     [](Options &o, std::string_view) { o.extract = true; }},
    {"listen", 0, "SOCKET", OnlyOf{"collect"},
     "make this socket, and take the dump of the first runtime that connects to it "
     "(DOTNET_DiagnosticPorts=SOCKET,nosuspend)",
     [](Options &o, std::string_view v) { o.listen = std::filesystem::absolute(v).string(); }, Several::refused},
    {"connect", 0, "SOCKET", OnlyOf{"collect"},
     "ask the runtime that listens on this socket, such as /tmp/dotnet-diagnostic-1-12345-socket",
     [](Options &o, std::string_view v) { o.connect = v; }, Several::refused},
    {"wait", 0, "TIME", OnlyOf{"collect"}, "with --listen: give up after this time: 90s, 30m, 2h (default: 5m)",
     [](Options &o, std::string_view v) { o.wait = duration("--wait", v); }, Several::refused},
    {"command", 'c', "LINE", OnlyOf{"shell"},
     "run this line instead of reading input, then end; may be given several times: the lines run in order",
     [](Options &o, std::string_view v) { o.commands.emplace_back(v); }, Several::all_count},
    {"html", 0, "FILE", OnlyOf{"report"},
     "write a page for the browser to this file instead of the answer: report, types, map, objects that hold most",
     [](Options &o, std::string_view v) { o.html = v; }, Several::refused},
    {"by", 0, "WHAT", Needs::by, "order or sum the rows by this; the verb's help lists the words",
     [](Options &o, std::string_view v) { o.question.by = v; }, Several::last_counts,
     [](const Verb &verb) { return verb.by; }},
    {"sort", 0, "COLUMN", Needs::sort_columns, "sort the main table by this column",
     [](Options &o, std::string_view v) { o.question.sort = v; }, Several::last_counts,
     [](const Verb &verb) { return verb.sort_columns; }},
    {"table", 0, "NAME", Needs::tables, "write only this table; csv always writes a single table (default: the first)",
     [](Options &o, std::string_view v) { o.question.table = v; }, Several::last_counts,
     [](const Verb &verb) { return verb.tables; }},
    {"top", 0, "N", Needs::answer,
     "at most this many rows of each table, 0 = all (default: text and markdown 20, others all)",
     [](Options &o, std::string_view v) { o.top = number("--top", v); }},
    {"format", 0, "FORMAT", Needs::words,
     "text, json, csv or markdown; for check also junit, github; for objects also addresses; for sample and "
     "merged stacks also folded, speedscope; for summary also ndjson (its default); for watch only text (its default) "
     "or "
     "ndjson",
     set_format, Several::last_counts, format_names},
    {"exact", 0, nullptr, Needs::answer, "text: bytes as digits, not as 861.0 MiB",
     [](Options &o, std::string_view) { o.exact = true; }},
    {"full-names", 0, nullptr, Needs::answer, "text: shorten no name, however long the lines are",
     [](Options &o, std::string_view) { o.full_names = true; }},
    {"color", 0, "WHEN", Needs::answer,
     "text: colour headings and warnings: auto (default: on a terminal, unless $NO_COLOR), always or never", set_color,
     Several::last_counts, color_words},
    {"output", 'o', "FILE", Needs::file,
     "write the answer to this file; for extract, export and collect: the file to make; for watch: the folder for the "
     "cores",
     [](Options &o, std::string_view v) { o.output = v; }},
    {"modules", 0, "DIR", Needs::target,
     "look here for module files that are not in the dump; may be given several times",
     [](Options &o, std::string_view v) { add_folder(o.module_folders, "--modules", v); }, Several::all_count},
    {"runtime", 0, "N", Needs::target, "number of the runtime (from 1), if the process has several",
     [](Options &o, std::string_view v) {
       o.runtime = static_cast<u32>(std::min<u64>(number("--runtime", v), ~u32{0}));
     }},
    {"pid", 'p', "PID", Needs::target, "look at this running process instead of a file; it stands still meanwhile",
     [](Options &o, std::string_view v) { o.process = number("--pid", v); }},
    {"no-pause", 0, nullptr, Needs::target,
     "with --pid: let the process run on; memory that it changes meanwhile may be wrong",
     [](Options &o, std::string_view) { o.pause = false; }},
    {"by-port", 0, nullptr, Needs::target,
     "with --pid: have the process's GC list its objects over the diagnostics port, after a full collection: needs no "
     "right to trace, and copies nothing; contents of objects and threads are unknown",
     [](Options &o, std::string_view) { o.by_port = true; }},
    {"threads", 0, "N", Needs::target, "threads to use (default: one per processor)", set_threads},
    {"max-memory", 0, "SIZE", Needs::nothing, "give up rather than use more memory than this",
     [](Options &o, std::string_view v) { o.max_memory = size_of_option("--max-memory", v); }},
    {"temp-dir", 0, "DIR", Needs::target,
     "decompress dumps into a file in this folder (default: in memory; if memory is too small, the first writable one "
     "of $TMPDIR, /var/tmp, /tmp)",
     [](Options &o, std::string_view v) { o.temp_dir = v; }},
    {"strict", 0, nullptr, Needs::target,
     "exit code 4 if the answer is incomplete, for check also if a limit names something that is not in the dump",
     [](Options &o, std::string_view) { o.strict = true; }},
    {"perf", 0, nullptr, Needs::answer, "print the time of every pass to standard error",
     [](Options &o, std::string_view) { o.perf = true; }},
    {"no-progress", 0, nullptr, Needs::nothing, "no progress line on the terminal",
     [](Options &o, std::string_view) { o.progress = false; }},
    {"verbose", 'v', nullptr, Needs::answer, "more columns and notes",
     [](Options &o, std::string_view) { o.question.verbose = true; }},
    {"man", 0, nullptr, OnlyOf{"help"}, "with help: the manual page, as roff: dnheap help --man | man -l -",
     [](Options &o, std::string_view) { o.manual = true; }},
    {"help", 'h', nullptr, Needs::nothing, "show this text; after a verb, the help of that verb",
     [](Options &o, std::string_view) { o.help = true; }},
    {"version", 0, nullptr, Needs::nothing, "the version", [](Options &o, std::string_view) { o.version = true; }},
};

} // namespace

// Those of questions first.
std::span<const Option> option_table() {
  static const std::vector<Option> all = [] {
    std::vector<Option> out;
    for (const QuestionOption &option : question_options()) {
      Option &row = out.emplace_back(Option{option.name, 0, option.value, option.takes, option.help});
      row.several = option.several;
      row.of_question = &option;
    }
    out.insert(out.end(), std::begin(own_options), std::end(own_options));
    return out;
  }();
  return all;
}

void set(Options &options, const Option &option, std::string_view value) {
  if (option.of_question)
    option.of_question->set(options.question, "--" + std::string(option.name), value);
  else
    option.set(options, value);
}

std::vector<std::string_view> dump_kinds() { return {"heap", "full", "mini", "triage"}; }

std::vector<std::string_view> words_of_value(const Verb &verb, const Option &option) {
  if (option.of_question && option.of_question->takes == Takes::kind && verb.name == "collect")
    return dump_kinds();
  if (option.of_question && option.of_question->takes == Takes::as)
    return verb.as;
  if (option.of_question && option.of_question->words)
    return option.of_question->words();
  return option.words ? option.words(verb) : std::vector<std::string_view>{};
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

bool has_answer(const Verb &verb) {
  return std::ranges::find(dnheap::verbs(), verb.name, &Verb::name) != dnheap::verbs().end();
}

bool gives_answer(const Verb &verb) { return has_answer(verb) || !verb.tables.empty(); }

bool is_written_in(const Verb &verb, const Format &format) {
  if (!gives_answer(verb))
    return format.name == std::string_view("text") || format.name == std::string_view("ndjson");
  return !format.table || std::find(verb.tables.begin(), verb.tables.end(), format.table) != verb.tables.end();
}

std::vector<std::string_view> format_names(const Verb &verb) {
  std::vector<std::string_view> out;
  for (const Format &format : formats())
    if (is_written_in(verb, format))
      out.push_back(format.name);
  return out;
}

bool takes(const Verb &verb, const Option &option) {
  if (const Takes *one = std::get_if<Takes>(&option.needs))
    return std::find(verb.takes.begin(), verb.takes.end(), *one) != verb.takes.end();
  if (const OnlyOf *one = std::get_if<OnlyOf>(&option.needs))
    return one->command == verb.name;
  switch (std::get<Needs>(option.needs)) {
  case Needs::nothing: return true;
  case Needs::answer: return gives_answer(verb);
  case Needs::words: return gives_answer(verb) || !verb.format.empty();
  case Needs::file: return gives_answer(verb) || verb.makes_file;
  case Needs::target: return verb.needs_target;
  case Needs::sort_columns: return !verb.sort_columns.empty();
  case Needs::by: return !verb.by.empty();
  case Needs::tables: return !verb.tables.empty();
  }
  return false;
}

} // namespace dnheap::cli
