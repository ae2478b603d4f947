#include "explore/asked.h"

#include "analysis/names/subject.h"
#include "base/nearest.h"
#include "base/not_found.h"
#include "base/sizes.h"
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

GCSegmentGeneration generation(const std::string &name, const std::string &value) {
  const std::string word = value.size() == 1 ? "gen" + value : lower_case(value);
  for (u8 g = 0; g < generation_count; ++g)
    if (word == name_of(static_cast<GCSegmentGeneration>(g)))
      return static_cast<GCSegmentGeneration>(g);
  refuse(name, value, "gen0, gen1, gen2, loh, poh or frozen");
}

std::pair<Address, Address> range(const std::string &name, const std::string &value) {
  const std::size_t dash = value.find('-');
  const std::optional<Address> start = written_address(std::string_view(value).substr(0, dash));
  const std::optional<Address> end =
      dash == value.npos ? std::nullopt : written_address(std::string_view(value).substr(dash + 1));
  if (!start || !end || *start >= *end)
    refuse(name, value, "a range such as 0x7f00-0x8000");
  return {*start, *end};
}

Address address(const std::string &name, const std::string &value) {
  const std::optional<Address> out = written_address(value);
  if (!out)
    refuse(name, value, "an address");
  return *out;
}

u64 asked_size(const std::string &name, const std::string &value) {
  const std::optional<u64> out = parse_size(value);
  if (!out)
    refuse(name, value, "a size such as 4096, 10k or 1.5GiB");
  return *out;
}

using Set = void (*)(Question &question, const std::string &name, const std::string &value);
struct Parameter {
  const char *name;
  std::optional<Takes> needs; // nullopt: any verb
  Set set;
};

constexpr auto each_parameter = [] {
  using Q = Question;
  using Text = const std::string;
  return std::to_array<Parameter>({
      {"subject", {}, [](Q &q, Text &, Text &v) { q.subject = v; }},
      {"by", {}, [](Q &q, Text &, Text &v) { q.by = v; }},
      {"sort", {}, [](Q &q, Text &, Text &v) { q.sort = v; }},
      {"table", {}, [](Q &q, Text &, Text &v) { q.table = v; }},
      {"top", {}, [](Q &q, Text &n, Text &v) { q.top = number(n, v), q.top_is_asked = true; }},
      {"verbose", {}, [](Q &q, Text &n, Text &v) { q.verbose = flag(n, v); }},
      {"type", Takes::type, [](Q &q, Text &, Text &v) { q.type_regex = v; }},
      {"type-exact", Takes::type, [](Q &q, Text &, Text &v) { q.type_exact = v; }},
      {"gen", Takes::generation, [](Q &q, Text &n, Text &v) { q.generation = generation(n, v); }},
      {"min", Takes::min_bytes, [](Q &q, Text &n, Text &v) { q.min_bytes = asked_size(n, v); }},
      {"max", Takes::max_bytes, [](Q &q, Text &n, Text &v) { q.max_bytes = asked_size(n, v); }},
      {"refers-to", Takes::refers_to,
       [](Q &q, Text &n, Text &v) { q.refers_to = v == "younger" ? v : name_of(generation(n, v)); }},
      {"near", Takes::near, [](Q &q, Text &n, Text &v) { q.near = address(n, v); }},
      {"from", Takes::from, [](Q &q, Text &n, Text &v) { q.from = address(n, v); }},
      {"struct", Takes::struct_type, [](Q &q, Text &, Text &v) { q.struct_type = v; }},
      {"no-stacks", Takes::no_stacks, [](Q &q, Text &n, Text &v) { q.no_stacks = flag(n, v); }},
      {"limit", Takes::limit, [](Q &q, Text &n, Text &v) { q.limit = number(n, v); }},
      {"range", Takes::range, [](Q &q, Text &n, Text &v) { q.range = range(n, v); }},
      {"live", Takes::life, [](Q &q, Text &n, Text &v) { q.life = flag(n, v) ? Life::live : q.life; }},
      {"dead", Takes::life, [](Q &q, Text &n, Text &v) { q.life = flag(n, v) ? Life::dead : q.life; }},
      {"all", Takes::all, [](Q &q, Text &n, Text &v) { q.all = flag(n, v); }},
      {"closure", Takes::closure, [](Q &q, Text &n, Text &v) { q.closure = flag(n, v); }},
      {"tree", Takes::tree, [](Q &q, Text &n, Text &v) { q.tree = flag(n, v); }},
      {"depth", Takes::tree, [](Q &q, Text &n, Text &v) { q.depth = number(n, v); }},
      {"merge", Takes::merge, [](Q &q, Text &n, Text &v) { q.merge = flag(n, v); }},
      {"roots", Takes::roots, [](Q &q, Text &n, Text &v) { q.references = flag(n, v); }},
      {"values", Takes::values, [](Q &q, Text &n, Text &v) { q.values = flag(n, v); }},
      {"plain", Takes::plain, [](Q &q, Text &n, Text &v) { q.plain = flag(n, v); }},
      {"raw", Takes::raw, [](Q &q, Text &n, Text &v) { q.raw = flag(n, v); }},
      {"timeout", Takes::timeout,
       [](Q &q, Text &n, Text &v) { q.timeout = std::clamp<u64>(number(n, v), 1, most_seconds); }},
      {"hub", Takes::hubs, [](Q &q, Text &, Text &v) { q.hubs.push_back(v); }},
  });
}();

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
    throw NotFound("'" + printable(name, 100) + "' is no question that can be asked here" + did_you_mean(name, names));

  Question &question = out.question;
  question.top = default_top;
  if (out.verb->takes.has(Takes::timeout))
    question.timeout = most_seconds;
  for (const auto &[key, value] : parameters) {
    const auto at = std::ranges::find(each_parameter, std::string_view(key), &Parameter::name);
    if (at == each_parameter.end())
      throw UsageError("there is no parameter '" + printable(key, 100) + "'");
    if (at->needs && !out.verb->takes.has(*at->needs))
      throw UsageError("'" + name + "' does not take " + key);
    if (key != "hub" && parameters.count(key) > 1)
      throw UsageError(key + " is given twice");
    at->set(question, key, value);
  }
  auto is_set = [&](const char *flag_name) {
    const auto at = parameters.find(flag_name);
    return at != parameters.end() && flag(flag_name, at->second);
  };
  if (is_set("live") && is_set("dead"))
    throw UsageError("live and dead exclude each other");
  if (!question.table.empty() && std::ranges::find(out.verb->tables, question.table) == out.verb->tables.end())
    throw UsageError("table: '" + printable(question.table, 100) + "' is no table of '" + name + "'" +
                     did_you_mean(question.table, {out.verb->tables.begin(), out.verb->tables.end()}));
  if (question.subject.empty() && out.verb->subject && !out.verb->subject.is_optional)
    throw UsageError(std::string(out.verb->subject.asked) + " subject=" + out.verb->subject.name);
  if (!question.subject.empty() && !out.verb->subject)
    throw UsageError("'" + name + "' does not take a subject");
  return out;
}

std::vector<std::string_view> parameters_of(const Verb &verb) {
  std::vector<std::string_view> out;
  for (const Parameter &one : each_parameter)
    if (one.needs && verb.takes.has(*one.needs))
      out.push_back(one.name);
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
