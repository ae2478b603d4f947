#include "dnheap/verb.h"

#include "analysis/verb.h"
#include "api/answer_parts.h"
#include "api/record_parts.h"
#include "api/state.h"
#include "base/host/host.h"
#include "base/nearest.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap::v0 {

namespace {

std::vector<std::string_view> outer(const Words &words) { return {words.begin(), words.end()}; }

Verb outer(const dnheap::Verb &of) {
  Verb out;
  out.name = of.name;
  out.group = of.group;
  out.question = of.question;
  out.details = of.details;
  if (of.subject) {
    out.subject = of.subject.name;
    out.subject_asked = of.subject.asked;
    out.subject_is_optional = of.subject.is_optional;
    if (of.subject.among)
      out.subjects = outer(of.subject.among());
  }
  for (const QuestionOption &option : question_options())
    if (of.takes.has(option.takes) && std::ranges::find(out.takes, option.takes) == out.takes.end())
      out.takes.push_back(option.takes);
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
  out.needs_memory = of.needs_process;
  return out;
}

const dnheap::Verb &inner(const Verb &verb) {
  for (const dnheap::Verb &of : dnheap::verbs())
    if (verb.name == of.name)
      return of;
  throw UsageError("there is no verb '" + std::string(verb.name) + "'");
}

// Throws UsageError for the same questions for which the command line throws it before it opens anything.
void check(const Verb &verb, const Question &question) {
  const std::string name = "'" + std::string(verb.name) + "'";
  for (const QuestionOption &option : question_options())
    if (option.is_asked(question) && std::ranges::find(verb.takes, option.takes) == verb.takes.end())
      throw UsageError(name + " does not take the option '" + option.name + "'");
  if (verb.subject.empty() && !question.subject.empty())
    throw UsageError(name + " takes no subject");
  if (verb.makes_file && question.output.empty())
    throw UsageError(name + " needs Question::output, the name of the file to make");
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
    throw UsageError("'" + std::string(name) + "' takes no target: use ask_alone()");
  if (verb.takes_records)
    throw UsageError("'" + std::string(name) + "' needs records: use ask_records()");
  if (verb.records_reads && !State::of(snapshot).inside().reads())
    throw UsageError("'" + std::string(name) + "' needs OpenOptions::record_reads");
  Question asked = question;
  if (asked.target.empty())
    asked.target = State::of(snapshot).inside().target().path;
  return AnswerParts::answer(State::of(snapshot).ask(inner(verb), asked));
}

Answer ask_alone(std::string_view name, const Question &question, Progress *progress) {
  const Verb &verb = verb_called(name);
  check(verb, question);
  if (!verb.answers_alone)
    throw UsageError("'" + std::string(name) + "' needs a Snapshot: use ask()");
  return AnswerParts::answer(inner(verb).answer_alone(question, State::watch(progress)));
}

Answer ask_records(std::string_view name, std::span<const Record> records, const Question &question) {
  const Verb &verb = verb_called(name);
  check(verb, question);
  if (!verb.takes_records)
    throw UsageError("'" + std::string(name) + "' takes no records: use ask()");
  check_words(inner(verb), question);
  std::vector<dnheap::Record> inside;
  for (const Record &record : records)
    inside.push_back(RecordParts::inside(record));
  return AnswerParts::answer(inner(verb).answer_records(inside, question));
}

Answer no_answer(std::string_view verb, const std::string &target, const std::string &error) {
  report::Answer answer;
  answer.command = verb_called(verb).name;
  answer.target = {{"path", target}};
  answer.headline.what = answer.error = error;
  return AnswerParts::answer(std::move(answer));
}

std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process) {
  return dnheap::passes_of(inner(verb), question, of_process);
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
