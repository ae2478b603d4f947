// The options of a question: one row each. A new one is a row here and a member of Question.
#include "analysis/findings/find_findings.h"
#include "analysis/names/csharp_name.h"
#include "analysis/names/subject.h"
#include "analysis/question.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/sizes.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <re2/re2.h>

namespace dnheap::v0 {

namespace {

using Label = const std::string;
using Text = std::string_view;
using enum QuestionOption::Several;

[[noreturn]] void refuse(Label &label, Text value, const char *wanted) {
  throw UsageError(label + ": '" + printable(value, 200) + "' is not " + wanted);
}

u64 number(Label &label, Text value) {
  const std::optional<u64> out = number_of_digits(value);
  if (!out)
    refuse(label, value, "a number");
  return *out;
}

u64 bytes(Label &label, Text value) {
  const std::optional<u64> out = dnheap::parse_size(value);
  if (!out)
    refuse(label, value, "a size such as 4096, 10k or 1.5GiB");
  return *out;
}

// Seconds.
u64 duration(Label &label, Text value) {
  const std::optional<u64> out = dnheap::parse_duration(value);
  if (!out)
    refuse(label, value, "a time such as 90s, 30m, 1.5h or 2d");
  return *out;
}

Address address(Label &label, Text value) {
  const std::optional<dnheap::Address> out = written_address(value);
  if (!out)
    refuse(label, value, "an address such as 0x7ff3ad1a15d8");
  return Address(*out);
}

std::pair<Address, Address> range(Label &label, Text value) {
  const std::size_t dash = value.find('-');
  const std::optional<dnheap::Address> start = written_address(value.substr(0, dash));
  const std::optional<dnheap::Address> end =
      dash == value.npos ? std::nullopt : written_address(value.substr(dash + 1));
  if (!start || !end || *start >= *end)
    refuse(label, value, "a range such as 0x7f00-0x8000");
  return {Address(*start), Address(*end)};
}

// The index of the word among these.
u64 index_of(Label &label, const std::string &word, Text written, const std::vector<Text> &words) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at != words.end())
    return static_cast<u64>(at - words.begin());
  std::string all;
  for (Text one : words)
    all += (all.empty() ? "" : ", ") + std::string(one);
  throw UsageError(label + ": '" + printable(written, 200) + "' is none of " + all +
                   dnheap::did_you_mean(written, words));
}

std::vector<Text> generation_names() {
  std::vector<Text> out;
  for (u8 g = 0; g < generation_count; ++g)
    out.push_back(dnheap::name_of(static_cast<GCSegmentGeneration>(g)));
  return out;
}

std::vector<Text> referred_names() {
  std::vector<Text> out = generation_names();
  out.push_back("younger");
  return out;
}

// "gen2", "2", "LOH".
std::string generation_word(Text value) {
  const std::string word = lower_case(value);
  return word == "0" || word == "1" || word == "2" ? "gen" + word : word;
}

void set_type(Question &q, Label &label, Text value) {
  if (const std::optional<std::string> problem = pattern_problem(value))
    refuse(label, value, ("a regular expression: " + *problem + "; --type-exact takes a name as it is").c_str());
  q.type_regex = value;
}

void set_refers_to(Question &q, Label &label, Text value) {
  q.refers_to = generation_word(value);
  index_of(label, q.refers_to, value, referred_names());
}

void set_life(Question &q, Label &label, Life life) {
  if (q.life != Life::any && q.life != life) {
    const char *dashes = label.starts_with("--") ? "--" : "";
    throw UsageError(std::string(dashes) + "live and " + dashes + "dead exclude each other");
  }
  q.life = life;
}

void add_folder(std::vector<std::string> &to, Label &label, Text value) {
  if (std::error_code ignored; !std::filesystem::is_directory(value, ignored))
    refuse(label, value, "a folder");
  to.emplace_back(value);
}

// Commas within <> are part of a name.
void set_fields(Question &q, Label &label, Text value) {
  i64 depth = 0;
  std::string one;
  auto add = [&] {
    if (one.empty())
      refuse(label, value, "a list of fields such as _state,_customer._name");
    q.fields.push_back(std::exchange(one, {}));
  };
  for (char c : value) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == ',' && depth == 0)
      add();
    else
      one += c;
  }
  add();
}

void set_by_field(Question &q, Label &label, Text value) {
  if (value.empty())
    refuse(label, value, "a field such as _state");
  q.by_field = value;
}

using Q = Question;
constexpr QuestionOption options[] = {
    {"type", "RE", Takes::type,
     "only types whose full name matches this regular expression (RE2); or a name as C# writes it: 'List<Timer>'",
     [](const Q &q) { return !q.type_regex.empty(); }, set_type, refused},
    {"type-exact", "NAME", Takes::type,
     "only the type with exactly this full name; or with a name as C# writes it: 'byte[]'",
     [](const Q &q) { return !q.type_exact.empty(); }, [](Q &q, Label &, Text v) { q.type_exact = v; }, refused},
    {"gen", "GENERATION", Takes::generation, "only objects of gen0, gen1, gen2 (or 0, 1, 2), loh, poh or frozen",
     [](const Q &q) { return q.generation.has_value(); },
     [](Q &q, Label &l, Text v) {
       q.generation = static_cast<Generation>(index_of(l, generation_word(v), v, generation_names()));
     },
     refused, generation_names},
    {"min", "SIZE", Takes::min_bytes, "only objects of at least this size", [](const Q &q) { return q.min_bytes > 0; },
     [](Q &q, Label &l, Text v) { q.min_bytes = bytes(l, v); }, refused},
    {"max", "SIZE", Takes::max_bytes, "only objects of at most this size",
     [](const Q &q) { return q.max_bytes != ~u64{0}; }, [](Q &q, Label &l, Text v) { q.max_bytes = bytes(l, v); },
     refused},
    {"range", "A-B", Takes::range, "only objects at addresses from A up to B (hexadecimal; decimal after 0n)",
     [](const Q &q) { return q.range.has_value(); }, [](Q &q, Label &l, Text v) { q.range = range(l, v); }, refused},
    {"near", "ADDRESS", Takes::near, "the neighbourhood of this address: the object there, and three on each side",
     [](const Q &q) { return q.near.has_value(); }, [](Q &q, Label &l, Text v) { q.near = address(l, v); }, refused},
    {"refers-to", "GENERATION", Takes::refers_to,
     "only objects that refer to an object of that generation; 'younger': to one of a younger generation than their "
     "own",
     [](const Q &q) { return !q.refers_to.empty(); }, set_refers_to, refused, referred_names},
    {"live", nullptr, Takes::life, "only objects that something keeps alive",
     [](const Q &q) { return q.life == Life::live; }, [](Q &q, Label &l, Text) { set_life(q, l, Life::live); }},
    {"dead", nullptr, Takes::life, "only objects that nothing keeps alive",
     [](const Q &q) { return q.life == Life::dead; }, [](Q &q, Label &l, Text) { set_life(q, l, Life::dead); }},
    {"all", nullptr, Takes::all,
     "path: show a path from each owner that reaches the object; verify: check the graph, too; stack: show every "
     "thread",
     [](const Q &q) { return q.all; }, [](Q &q, Label &, Text) { q.all = true; }},
    {"from", "ADDRESS", Takes::from, "the path from this object, instead of from a root",
     [](const Q &q) { return q.from.has_value(); }, [](Q &q, Label &l, Text v) { q.from = address(l, v); }, refused},
    {"no-stacks", nullptr, Takes::no_stacks, "the path from a root that is not on a stack",
     [](const Q &q) { return q.no_stacks; }, [](Q &q, Label &, Text) { q.no_stacks = true; }},
    {"struct", "TYPE", Takes::struct_type,
     "read the address as a struct; TYPE is the address of its MethodTable, or its name if the heap has a boxed one",
     [](const Q &q) { return !q.struct_type.empty(); }, [](Q &q, Label &, Text v) { q.struct_type = v; }, refused},
    {"kind", "KIND", Takes::kind,
     "only those of this kind: handles: pinned, weak, …; roots: static, stack, handle, …; locks: monitor, semaphore, "
     "…; "
     "threads: background, pool worker, …; collect: the dump's (heap, full, mini, triage)",
     [](const Q &q) { return !q.kind.empty(); }, [](Q &q, Label &, Text v) { q.kind = v; }, refused},
    {"closure", nullptr, Takes::closure, "also everything that the object reaches, whoever else holds it",
     [](const Q &q) { return q.closure; }, [](Q &q, Label &, Text) { q.closure = true; }},
    {"tree", nullptr, Takes::tree, "the dominator tree, level by level", [](const Q &q) { return q.tree; },
     [](Q &q, Label &, Text) { q.tree = true; }},
    {"depth", "N", Takes::depth, "retained: levels of the tree (default 4); export: steps from the object (default 2)",
     [](const Q &q) { return q.depth.has_value(); }, [](Q &q, Label &l, Text v) { q.depth = number(l, v); }},
    {"plain", nullptr, Takes::plain,
     "no owner ranking: objects that the runtime's timers or a stack hold, too, are shared",
     [](const Q &q) { return q.plain; }, [](Q &q, Label &, Text) { q.plain = true; }},
    {"raw", nullptr, Takes::raw, "show each step, also those inside collections", [](const Q &q) { return q.raw; },
     [](Q &q, Label &, Text) { q.raw = true; }},
    {"hub", "TYPE", Takes::hubs,
     "treat objects of this type as owners, like the container of services; may be given several times",
     [](const Q &q) { return !q.hubs.empty(); }, [](Q &q, Label &, Text v) { q.hubs.emplace_back(v); }, all_count},
    {"mine", nullptr, Takes::mine, "show the methods of the program alone, not those of .NET, and no native code",
     [](const Q &q) { return q.mine; }, [](Q &q, Label &, Text) { q.mine = true; }},
    {"merge", nullptr, Takes::merge, "show equal stacks once, with their number of threads",
     [](const Q &q) { return q.merge; }, [](Q &q, Label &, Text) { q.merge = true; }},
    {"roots", nullptr, Takes::roots, "also the objects that each frame holds, and where",
     [](const Q &q) { return q.references; }, [](Q &q, Label &, Text) { q.references = true; }},
    {"values", nullptr, Takes::values, "show the contents of strings and fields", [](const Q &q) { return q.values; },
     [](Q &q, Label &, Text) { q.values = true; }},
    {"no-values", nullptr, Takes::no_values, "blank the contents of strings and fields in the file",
     [](const Q &q) { return q.no_values; }, [](Q &q, Label &, Text) { q.no_values = true; }},
    {"fields", "FIELDS", Takes::fields,
     "also these fields of each object, by their names: _state,_customer._name; numbers and texts with --values",
     [](const Q &q) { return !q.fields.empty(); }, set_fields, all_count},
    {"by-field", "FIELD", Takes::fields, "sum the objects up by the value of this field; needs --values",
     [](const Q &q) { return !q.by_field.empty(); }, set_by_field, refused},
    {"symbols", "DIR", Takes::symbols,
     "look here for .pdb files, which contain source lines; may be given several times",
     [](const Q &q) { return !q.symbol_folders.empty(); },
     [](Q &q, Label &l, Text v) { add_folder(q.symbol_folders, l, v); }, all_count, nullptr, true},
    {"interval", "TIME", Takes::interval,
     "time between dumps: 90s, 30m, 1.5h, 2d (default: from the times of the dumps or files)",
     [](const Q &q) { return q.interval > 0; }, [](Q &q, Label &l, Text v) { q.interval = duration(l, v); }},
    {"budget", "FILE", Takes::limits, "the limits, as JSON: doc/budget.md",
     [](const Q &q) { return !q.budget.empty(); }, [](Q &q, Label &, Text v) { q.budget = v; }, refused, nullptr, true},
    {"baseline", "FILE", Takes::limits, "measure growth against this: a saved record, or a dump",
     [](const Q &q) { return !q.baseline.empty(); }, [](Q &q, Label &, Text v) { q.baseline = v; }, refused, nullptr,
     true},
    {"record", "FILE", Takes::limits, "save the present state, as a baseline for later",
     [](const Q &q) { return !q.record.empty(); }, [](Q &q, Label &, Text v) { q.record = v; }, refused, nullptr, true},
    {"no-instances-of", "TYPE", Takes::limits, "allow no live object of this type; may be given several times",
     [](const Q &q) { return !q.no_instances_of.empty(); },
     [](Q &q, Label &, Text v) { q.no_instances_of.emplace_back(v); }, all_count},
    {"no-findings-of", "KIND", Takes::limits,
     "allow no finding of this kind, as report finds them: deadlock, …; any: of all kinds but garbage and memory "
     "that is kept empty; may be given several times",
     [](const Q &q) { return !q.no_findings_of.empty(); },
     [](Q &q, Label &, Text v) { q.no_findings_of.emplace_back(v); }, all_count, finding_kinds},
    {"as", "FILE-FORMAT", Takes::as, "the kind of file to write; the verb's help lists them",
     [](const Q &q) { return !q.as.empty(); }, [](Q &q, Label &, Text v) { q.as = v; }, refused},
    {"around", "ADDRESS", Takes::around, "the object in the middle of a file that shows a neighbourhood",
     [](const Q &q) { return q.around.has_value(); }, [](Q &q, Label &l, Text v) { q.around = address(l, v); },
     refused},
    {"limit", "N", Takes::limit,
     "export: at most this many objects, the nearest first (default 100); query: at most this many rows; memory: "
     "so many words or characters",
     [](const Q &q) { return q.limit.has_value(); }, [](Q &q, Label &l, Text v) { q.limit = number(l, v); }},
    {"timeout", "TIME", Takes::timeout, "give up a question in SQL after this time: 90s, 30m, 1.5h (default: never)",
     [](const Q &q) { return q.timeout > 0; }, [](Q &q, Label &l, Text v) { q.timeout = duration(l, v); }},
};

} // namespace

std::span<const QuestionOption> question_options() { return options; }

std::optional<std::string> pattern_problem(std::string_view pattern) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), quiet);
  if (expression.ok() || CSharpName::read(pattern)) // `byte[]` is a name, but not an expression
    return std::nullopt;
  return expression.error();
}

} // namespace dnheap::v0
