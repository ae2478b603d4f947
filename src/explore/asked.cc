#include "explore/asked.h"

#include "base/nearest.h"
#include "base/not_found.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace dnheap::explore {

namespace {

constexpr u64 most_seconds = 60; // for a question in SQL, which may never end while others wait
constexpr u64 default_top = 200; // rows of each table: enough for a page

[[noreturn]] void refuse(const std::string &name, const std::string &value, const char *wanted) {
  throw UsageError(name + ": '" + printable(value, 100) + "' is not " + wanted);
}

u64 number(const std::string &name, const std::string &value) {
  u64 out = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (value.empty() || error != std::errc() || end != value.data() + value.size())
    refuse(name, value, "a number");
  return out;
}

// True for "live", "live=1", "live=true"; "live=0" counts as missing.
bool flag(const std::string &name, const std::string &value) {
  if (value.empty() || value == "1" || value == "true")
    return true;
  if (value == "0" || value == "false")
    return false;
  refuse(name, value, "1 or 0");
}

// "0,2": numbers that grow.
std::vector<u64> numbers(const std::string &name, const std::string &value) {
  std::vector<u64> out;
  for (u64 begin = 0; begin <= value.size();) {
    const u64 end = std::min(value.find(',', begin), value.size());
    out.push_back(number(name, value.substr(begin, end - begin)));
    if (out.size() > 1 && out[out.size() - 2] >= out.back())
      refuse(name, value, "a list of numbers that grow");
    begin = end + 1;
  }
  return out;
}

using Set = void (*)(Question &question, const std::string &name, const std::string &value);
struct Parameter {
  const char *name;
  Set set;
};

// Parameters that any verb accepts, besides the options of a question.
constexpr auto common_parameters = [] {
  using Q = Question;
  using Text = const std::string;
  return std::to_array<Parameter>({
      {"subject", [](Q &q, Text &, Text &v) { q.subject = v; }},
      {"by", [](Q &q, Text &, Text &v) { q.by = v; }},
      {"sort", [](Q &q, Text &, Text &v) { q.sort = v; }},
      {"table", [](Q &q, Text &, Text &v) { q.table = v; }},
      {"top", [](Q &q, Text &n, Text &v) { q.top = number(n, v), q.top_is_asked = true; }},
      {"verbose", [](Q &q, Text &n, Text &v) { q.verbose = flag(n, v); }},
  });
}();

// Null: there is none, or it names files of this machine, which no request may read.
const v0::QuestionOption *find_option(std::string_view name) {
  const std::span<const v0::QuestionOption> all = v0::question_options();
  const auto at = std::ranges::find(all, name, &v0::QuestionOption::name);
  return at == all.end() || at->names_files ? nullptr : &*at;
}

void set(Asked &asked, const std::string &name, const std::string &value, u64 times) {
  if (name == "dumps" && asked.verb->takes_several && times == 1) {
    asked.dumps = numbers(name, value);
    return;
  }
  const auto common = std::ranges::find(common_parameters, std::string_view(name), &Parameter::name);
  const v0::QuestionOption *option = find_option(name);
  if (common == common_parameters.end() && !option)
    throw UsageError("there is no parameter '" + printable(name, 100) + "'");
  if (option && !asked.verb->takes.has(option->takes))
    throw UsageError("'" + std::string(asked.verb->name) + "' does not take " + name);
  if (times > 1 && !(option && option->several == v0::QuestionOption::Several::all_count))
    throw UsageError(name + " is given twice");
  if (common != common_parameters.end())
    common->set(asked.question, name, value);
  else if (option->value || flag(name, value))
    option->set(asked.question, name, value);
}

} // namespace

bool can_be_asked(const Verb &verb, bool can_compare) {
  return verb.takes_several ? can_compare : verb.answer && !verb.makes_file;
}

Asked asked(const std::string &name, const Parameters &parameters, bool can_compare) {
  Asked out;
  std::vector<std::string_view> names;
  for (const Verb &verb : verbs())
    if (can_be_asked(verb, can_compare)) {
      names.push_back(verb.name);
      if (name == verb.name)
        out.verb = &verb;
    }
  if (!out.verb)
    throw NotFound("'" + printable(name, 100) + "' cannot be asked here" + did_you_mean(name, names));

  Question &question = out.question;
  question.top = default_top;
  if (out.verb->takes.has(Takes::timeout))
    question.timeout = most_seconds;
  for (const auto &[key, value] : parameters)
    set(out, key, value, parameters.count(key));
  question.timeout = std::min(question.timeout, most_seconds);
  if (!question.table.empty() && std::ranges::find(out.verb->tables, question.table) == out.verb->tables.end())
    throw UsageError("table: '" + printable(question.table, 100) + "' is not a table of '" + name + "'" +
                     did_you_mean(question.table, {out.verb->tables.begin(), out.verb->tables.end()}));
  if (question.subject.empty() && out.verb->subject && !out.verb->subject.is_optional)
    throw UsageError(std::string(out.verb->subject.asked) + " subject=" + out.verb->subject.name);
  if (!question.subject.empty() && !out.verb->subject)
    throw UsageError("'" + name + "' does not take a subject");
  return out;
}

std::vector<std::string_view> parameters_of(const Verb &verb) {
  std::vector<std::string_view> out;
  for (const v0::QuestionOption &option : v0::question_options())
    if (verb.takes.has(option.takes) && find_option(option.name))
      out.push_back(option.name);
  return out;
}

u64 number_in(const Parameters &parameters, const std::string &name, u64 otherwise) {
  const auto at = parameters.find(name);
  return at == parameters.end() ? otherwise : number(name, at->second);
}

std::string text_in(const Parameters &parameters, const std::string &name) {
  const auto at = parameters.find(name);
  return at == parameters.end() ? "" : at->second;
}

} // namespace dnheap::explore
