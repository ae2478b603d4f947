#include "dnheap/verb.h"

#include "analysis/names/csharp_name.h"
#include "analysis/verb.h"
#include "api/answer_parts.h"
#include "api/record_parts.h"
#include "api/state.h"
#include "base/host/host.h"
#include "base/nearest.h"
#include "base/text.h"

#include <algorithm>
#include <re2/re2.h>

namespace dnheap::v0 {

namespace {

constexpr Takes all_options[] = {
    Takes::type,      Takes::generation, Takes::min_bytes, Takes::range,       Takes::life,     Takes::all,
    Takes::closure,   Takes::tree,       Takes::merge,     Takes::roots,       Takes::values,   Takes::no_values,
    Takes::symbols,   Takes::interval,   Takes::limits,    Takes::plain,       Takes::hubs,     Takes::raw,
    Takes::as,        Takes::around,     Takes::depth,     Takes::limit,       Takes::timeout,  Takes::max_bytes,
    Takes::refers_to, Takes::near,       Takes::from,      Takes::struct_type, Takes::no_stacks};
constexpr const char *option_names[] = {"a type",
                                        "a generation",
                                        "a least size",
                                        "a range",
                                        "live or dead",
                                        "all",
                                        "closure",
                                        "a tree",
                                        "merge",
                                        "roots",
                                        "values",
                                        "no_values",
                                        "folders of symbols",
                                        "an interval",
                                        "limits",
                                        "plain",
                                        "hubs",
                                        "raw",
                                        "as",
                                        "around",
                                        "a depth",
                                        "a limit",
                                        "a timeout",
                                        "a largest size",
                                        "refers to",
                                        "near",
                                        "from",
                                        "a struct's type",
                                        "no stacks"};
static_assert(static_cast<u8>(Takes::no_stacks) == static_cast<u8>(dnheap::Takes::no_stacks));
static_assert(std::size(all_options) == std::size(option_names));
static_assert(static_cast<u8>(Life::dead) == static_cast<u8>(dnheap::Life::dead));

std::vector<std::string_view> outer(const Words &words) { return {words.begin(), words.end()}; }

Verb outer(const dnheap::Verb &of) {
  Verb out;
  out.name = of.name;
  out.question = of.question;
  out.details = of.details;
  if (of.subject) {
    out.subject = of.subject.name;
    out.subject_asked = of.subject.asked;
    out.subject_is_optional = of.subject.is_optional;
    if (of.subject.among)
      out.subjects = outer(of.subject.among());
  }
  for (Takes one : all_options)
    if (of.takes.has(static_cast<dnheap::Takes>(one)))
      out.takes.push_back(one);
  out.sort_columns = outer(of.sort_columns);
  out.by = outer(of.by);
  out.as = outer(of.as);
  out.tables = outer(of.tables);
  out.needs_target = !of.answer_alone || of.answer;
  out.answers_alone = of.answer_alone != nullptr;
  out.takes_records = of.answer_records != nullptr;
  out.takes_several = of.takes_several;
  out.takes_each = of.takes_each;
  if (of.format)
    out.format = of.format;
  out.makes_file = of.makes_file;
  out.records_reads = of.records_reads;
  return out;
}

dnheap::Question inner(const Question &of) {
  dnheap::Question out;
  out.target = of.target;
  out.subject = of.subject;
  out.type_regex = of.type_regex;
  out.type_exact = of.type_exact;
  if (of.generation)
    out.generation = static_cast<GCSegmentGeneration>(*of.generation);
  out.min_bytes = of.min_bytes;
  out.max_bytes = of.max_bytes;
  if (of.range)
    out.range = std::pair(of.range->first.value(), of.range->second.value());
  out.life = static_cast<dnheap::Life>(of.life);
  out.refers_to = of.refers_to;
  if (of.near)
    out.near = of.near->value();
  if (of.from)
    out.from = of.from->value();
  out.struct_type = of.struct_type;
  out.no_stacks = of.no_stacks;
  out.all = of.all;
  out.closure = of.closure;
  out.tree = of.tree;
  out.merge = of.merge;
  out.references = of.references;
  out.depth = of.depth;
  out.values = of.values;
  out.no_values = of.no_values;
  out.symbol_folders = of.symbol_folders;
  out.output = of.output;
  out.as = of.as;
  if (of.around)
    out.around = of.around->value();
  out.limit = of.limit;
  out.timeout = of.timeout;
  out.interval = of.interval;
  out.budget = of.budget;
  out.baseline = of.baseline;
  out.record = of.record;
  out.no_instances_of = of.no_instances_of;
  out.plain = of.plain;
  out.hubs = of.hubs;
  out.raw = of.raw;
  out.by = of.by;
  out.sort = of.sort;
  out.table = of.table;
  out.top = of.top;
  out.top_is_asked = of.top_is_asked;
  out.verbose = of.verbose;
  return out;
}

bool asks_for(const Question &question, Takes what) {
  switch (what) {
  case Takes::type: return !question.type_regex.empty() || !question.type_exact.empty();
  case Takes::generation: return question.generation.has_value();
  case Takes::min_bytes: return question.min_bytes > 0;
  case Takes::range: return question.range.has_value();
  case Takes::life: return question.life != Life::any;
  case Takes::all: return question.all;
  case Takes::closure: return question.closure;
  case Takes::tree: return question.tree;
  case Takes::merge: return question.merge;
  case Takes::roots: return question.references;
  case Takes::values: return question.values;
  case Takes::no_values: return question.no_values;
  case Takes::symbols: return !question.symbol_folders.empty();
  case Takes::interval: return question.interval > 0;
  case Takes::limits:
    return !question.budget.empty() || !question.baseline.empty() || !question.record.empty() ||
           !question.no_instances_of.empty();
  case Takes::plain: return question.plain;
  case Takes::hubs: return !question.hubs.empty();
  case Takes::raw: return question.raw;
  case Takes::as: return !question.as.empty();
  case Takes::around: return question.around.has_value();
  case Takes::depth: return question.depth.has_value();
  case Takes::limit: return question.limit.has_value();
  case Takes::timeout: return question.timeout > 0;
  case Takes::max_bytes: return question.max_bytes != ~u64{0};
  case Takes::refers_to: return !question.refers_to.empty();
  case Takes::near: return question.near.has_value();
  case Takes::from: return question.from.has_value();
  case Takes::struct_type: return !question.struct_type.empty();
  case Takes::no_stacks: return question.no_stacks;
  }
  return false;
}

const dnheap::Verb &inner(const Verb &verb) {
  for (const dnheap::Verb &of : dnheap::verbs())
    if (verb.name == of.name)
      return of;
  throw UsageError("there is no verb '" + std::string(verb.name) + "'");
}

// Refuses what the command line refuses before it opens anything.
void check(const Verb &verb, const Question &question) {
  const std::string name = "'" + std::string(verb.name) + "'";
  for (Takes what : all_options)
    if (asks_for(question, what) && std::find(verb.takes.begin(), verb.takes.end(), what) == verb.takes.end())
      throw UsageError(name + " does not take " + option_names[static_cast<u8>(what)]);
  if (verb.subject.empty() && !question.subject.empty())
    throw UsageError(name + " is not asked of an object or type");
  if (verb.makes_file && question.output.empty())
    throw UsageError(name + " makes a file: Question::output has to name it");
}

} // namespace

std::span<const Verb> verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> out;
    for (const dnheap::Verb &verb : dnheap::verbs())
      out.push_back(outer(verb));
    return out;
  }();
  return all;
}

const Verb &verb_called(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb &verb : verbs()) {
    if (verb.name == name)
      return verb;
    names.push_back(verb.name);
  }
  throw UsageError("there is no verb '" + std::string(name) + "'" + dnheap::did_you_mean(name, names));
}

Answer ask(Snapshot &snapshot, std::string_view name, const Question &question) {
  const Verb &verb = verb_called(name);
  check(verb, question);
  if (!verb.needs_target)
    throw UsageError("'" + std::string(name) + "' takes no target: ask_alone()");
  if (verb.takes_records)
    throw UsageError("'" + std::string(name) + "' looks at records: ask_records()");
  if (verb.records_reads && !State::of(snapshot).inside().reads())
    throw UsageError("'" + std::string(name) + "' needs OpenOptions::record_reads");
  dnheap::Question asked = inner(question);
  if (asked.target.empty())
    asked.target = State::of(snapshot).inside().target().path;
  return AnswerParts::answer(State::of(snapshot).ask(inner(verb), asked));
}

Answer ask_alone(std::string_view name, const Question &question, Progress *progress) {
  const Verb &verb = verb_called(name);
  check(verb, question);
  if (!verb.answers_alone)
    throw UsageError("'" + std::string(name) + "' is asked of a Snapshot: ask()");
  return AnswerParts::answer(inner(verb).answer_alone(inner(question), State::watch(progress)));
}

Answer ask_records(std::string_view name, std::span<const Record> records, const Question &question) {
  const Verb &verb = verb_called(name);
  check(verb, question);
  if (!verb.takes_records)
    throw UsageError("'" + std::string(name) + "' looks at no records: ask()");
  const dnheap::Question asked = inner(question);
  check_words(inner(verb), asked);
  std::vector<dnheap::Record> inside;
  for (const Record &record : records)
    inside.push_back(RecordParts::inside(record));
  return AnswerParts::answer(inner(verb).answer_records(inside, asked));
}

Answer no_answer(std::string_view verb, const std::string &target, const std::string &error) {
  report::Answer answer;
  answer.command = verb_called(verb).name;
  answer.target = {{"path", target}};
  answer.headline = answer.error = error;
  return AnswerParts::answer(std::move(answer));
}

std::optional<std::string> pattern_problem(std::string_view pattern) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), quiet);
  if (expression.ok() || CSharpName::read(pattern)) // `byte[]` is a valid name, even if no expression
    return std::nullopt;
  return expression.error();
}

std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process) {
  return dnheap::passes_of(inner(verb), inner(question), of_process);
}

Answer answer_times(const Progress &progress) {
  report::Table table;
  table.columns = {{"pass", "Pass", report::Kind::text},
                   {"milliseconds", "ms", report::Kind::number},
                   {"bytes", "Bytes", report::Kind::bytes},
                   {"rate", "GB/s", report::Kind::number}};
  std::vector<report::Row> rows;
  for (const PassTime &time : progress.times()) {
    report::Row row = {time.name, time.seconds * 1000, {}, {}};
    if (time.bytes)
      row[2] = time.bytes;
    if (time.bytes && time.seconds > 0)
      row[3] = static_cast<double>(time.bytes) / time.seconds / 1e9;
    rows.push_back(std::move(row));
  }
  table.set_rows(std::move(rows));
  table.notes = {"peak memory " + dnheap::bytes_text(peak_memory()) + ", pages of mapped files included"};
  report::Answer answer;
  answer.tables.push_back(std::move(table));
  return AnswerParts::answer(std::move(answer));
}

} // namespace dnheap::v0
