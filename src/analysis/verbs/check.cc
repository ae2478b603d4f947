// `check`: does a dump stay within the limits of a budget (budget.h), or of a baseline, and have no objects of types
// that must have none?
#include "analysis/answer_head.h"
#include "analysis/findings/find_findings.h"
#include "analysis/names/csharp_name.h"
#include "analysis/owners/first_owners.h"
#include "analysis/owners/owner_parts.h"
#include "analysis/records/budget.h"
#include "analysis/records/record.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/verdict.h"
#include "base/host/host.h"
#include "base/nearest.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <re2/re2.h>

namespace dnheap {

namespace {

using report::Kind;
using report::Shown;

u64 capped_sum(u64 a, u64 b) { return a + b < a ? ~u64{0} : a + b; }

// The result for one limit.
struct Outcome {
  const Limit *limit = nullptr;
  std::string name; // the name of the limited thing
  u64 value = 0;
  std::optional<u64> before; // in the baseline
  u64 most = 0;              // the limit for `value`
  bool is_known = true;      // false: unknown whether it is within the limit
  bool is_certain = true;    // false: within the limit as far as could be read, or unknown
  bool is_matched = true;    // false: neither dump has anything with that name
  bool is_exceeded() const { return is_known && value > most; }
};

const char *kind_of(const Limit &limit) {
  constexpr const char *names[] = {"total", "type", "owner", "owner", "class", "group", "finding"};
  return names[static_cast<u8>(limit.of)];
}

u64 sum_of_metric(const Record &record, const std::string &metric) {
  if (metric == "heap_bytes")
    return record.bytes;
  if (metric == "live_bytes")
    return record.live_bytes;
  if (metric == "objects")
    return record.objects;
  if (metric == "live_objects")
    return record.live_objects;
  u64 mapped = 0;
  for (const Record::Class &one : record.classes)
    mapped = capped_sum(mapped, one.bytes);
  return mapped;
}

u64 figure_of(const Record::Type &type, const std::string &metric) {
  return metric == "count" ? type.count : metric == "live" ? type.live : metric == "bytes" ? type.bytes : type.retained;
}
u64 figure_of(const Record::Owner &owner, const std::string &metric) {
  return metric == "objects" ? owner.objects : owner.retained;
}
u64 figure_of(const Record::Class &one, const std::string &) { return one.bytes; }

// The rows that a limit is for. A type's name may be a C# name if no type has exactly that name.
class LimitedRows {
public:
  LimitedRows(const Limit &limit, std::span<const Record> records) : limit_(limit) {
    if (!limit.pattern.empty())
      expression_ = std::make_unique<RE2>(limit.pattern, RE2::Quiet);
    if (limit.of != Limit::Of::type || limit.name.empty())
      return;
    for (const Record &record : records)
      for (const Record::Type &type : record.types)
        if (type.name == limit.name)
          return;
    written_ = CSharpName::read(limit.name);
  }
  bool has(const Record::Type &type) const {
    return expression_ ? RE2::PartialMatch(type.name, *expression_)
                       : type.name == limit_.name || (written_ && written_->means(type.name));
  }
  bool has(const Record::Owner &owner) const {
    if (expression_)
      return RE2::PartialMatch(owner.full_name(), *expression_);
    if (limit_.of == Limit::Of::signature)
      return owner.signature.starts_with(limit_.name);
    // Either name stands for all objects that the owner holds alone, and for the shared objects of which it is the
    // first owner. Objects that it holds alone become shared as soon as a second owner refers to them.
    return owner.name == limit_.name || owner.full_name() == limit_.name || owner.name + and_others == limit_.name ||
           (owner.is_shared() && limit_.name == Record::Owner::all_shared);
  }
  bool has(const Record::Class &one) const {
    return (limit_.of == Limit::Of::group ? one.group : one.name) == limit_.name;
  }

private:
  const Limit &limit_;
  std::unique_ptr<RE2> expression_;
  std::optional<CSharpName> written_;
};

std::string name_in(const Record::Type &type) { return type.name; }
std::string name_in(const Record::Owner &owner) { return full_name(owner.name, owner.part); }
std::string name_in(const Record::Class &one) { return one.name; }

// The limited figures, now and in the baseline: all under the limit's own name, or each under its own.
using FiguresOfRows = std::map<std::string, std::array<u64, 2>>;

// `is_matched` becomes true if the limit applies to some row.
template <class Rows>
FiguresOfRows figures_of(const Limit &limit, const LimitedRows &chosen, std::span<const Record> records,
                         bool &is_matched, Rows rows_of) {
  FiguresOfRows out;
  is_matched = false;
  if (!limit.each)
    out[limit.pattern.empty() ? limit.name : "/" + limit.pattern + "/"] = {0, 0};
  for (u64 i = 0; i < std::min<u64>(records.size(), 2); ++i)
    for (const auto &row : rows_of(records[i]))
      if (chosen.has(row)) {
        is_matched = true;
        u64 &to = (limit.each ? out[name_in(row)] : out.begin()->second)[i];
        to = capped_sum(to, figure_of(row, limit.metric));
      }
  return out;
}

FiguresOfRows figures_of(const Limit &limit, std::span<const Record> records, bool &is_matched) {
  is_matched = true;
  if (limit.of == Limit::Of::total) {
    FiguresOfRows out;
    for (u64 i = 0; i < std::min<u64>(records.size(), 2); ++i)
      out[limit.metric][i] = sum_of_metric(records[i], limit.metric);
    return out;
  }
  if (limit.of == Limit::Of::finding) {
    FiguresOfRows out;
    for (u64 i = 0; i < std::min<u64>(records.size(), 2); ++i)
      for (const Record::Finding &one : records[i].findings)
        if (limit.name == any_kind ? !is_harmless_rule(one.kind) : one.kind == limit.name)
          ++out[one.kind + ": " + one.text][i];
    return out;
  }
  const LimitedRows chosen(limit, records);
  if (limit.of == Limit::Of::type)
    return figures_of(
        limit, chosen, records, is_matched, [](const Record &r) -> auto & { return r.types; });
  if (limit.of == Limit::Of::owner || limit.of == Limit::Of::signature)
    return figures_of(
        limit, chosen, records, is_matched, [](const Record &r) -> auto & { return r.owners; });
  const FiguresOfRows out = figures_of(
      limit, chosen, records, is_matched, [](const Record &r) -> auto & { return r.classes; });
  is_matched = true; // the budget's reader checks names of classes
  return out;
}

// Returns the limit for a value that was `before` in the baseline.
u64 most_of(const Limit &limit, u64 before) {
  if (!limit.is_growth)
    return limit.most;
  if (!limit.is_percent)
    return capped_sum(before, limit.most);
  const double more = static_cast<double>(before) * static_cast<double>(limit.most) / 100000;
  return more >= 0x1p63 ? ~u64{0} : capped_sum(before, static_cast<u64>(more));
}

// Returns an outcome for each figure that exceeds the limit; if no figure does, an outcome for the one that comes
// nearest.
std::vector<Outcome> outcomes_of(const Limit &limit, std::span<const Record> records) {
  std::vector<Outcome> exceeded;
  Outcome nearest{&limit, limit.pattern.empty() ? limit.name : "/" + limit.pattern + "/", 0, {}, most_of(limit, 0)};
  if (records.size() > 1)
    nearest.before = 0;
  bool is_first = true;
  bool is_matched = true;
  const FiguresOfRows all = figures_of(limit, records, is_matched);
  for (const auto &[name, figures] : all) {
    Outcome one{&limit, name, figures[0], {}, most_of(limit, figures[1])};
    if (records.size() > 1)
      one.before = figures[1];
    if (one.is_exceeded())
      exceeded.push_back(std::move(one));
    else if (is_first || nearest.most - nearest.value > one.most - one.value) {
      nearest = std::move(one);
      is_first = false;
    }
  }
  std::stable_sort(exceeded.begin(), exceeded.end(),
                   [](const Outcome &a, const Outcome &b) { return a.value - a.most > b.value - b.most; });
  nearest.is_matched = is_matched;
  return exceeded.empty() ? std::vector{nearest} : exceeded;
}

std::string figure_text(const Limit &limit, u64 value) {
  if (counts_bytes(limit))
    return bytes_text(value);
  const char *what = limit.metric == "findings" ? "finding"
                     : limit.metric == "count"  ? "instance"
                     : limit.metric == "live"   ? "live instance"
                                                : "object";
  return count_text(value) + " " + (limit.metric == "live_objects" ? "live " : "") + what + (value == 1 ? "" : "s");
}

// Returns "12.0 MiB retained", "7 live instances, 2 more than before".
std::string found_text(const Outcome &of) {
  std::string out = figure_text(*of.limit, of.value);
  if (of.limit->metric == "retained")
    out += " retained";
  if (!of.limit->is_growth || !of.before)
    return out;
  const bool more = of.value >= *of.before;
  const u64 change = more ? of.value - *of.before : *of.before - of.value;
  const std::string text = counts_bytes(*of.limit) ? bytes_text(change) : count_text(change);
  return out + ", " + text + (more ? " more" : " less") + " than before";
}

std::string allowed_text(const Outcome &of) {
  if (!of.limit->is_growth)
    return figure_text(*of.limit, of.most);
  if (of.limit->is_percent)
    return fmt::format("{:g}% more", static_cast<double>(of.limit->most) / 1000);
  return (counts_bytes(*of.limit) ? bytes_text(of.limit->most) : count_text(of.limit->most)) + " more";
}

std::string sentence_of(const Outcome &of) {
  return std::string(kind_of(*of.limit)) + " " + of.name + ": " + found_text(of) +
         (of.is_exceeded() ? "; the limit is "
          : !of.is_known   ? "; unknown, because the baseline is an extract; the limit is "
          : of.is_certain  ? "; within "
                           : "; as far as could be read within ") +
         allowed_text(of);
}

// True for figures from the target's own list of memory; all others come from the heap and its roots.
bool is_of_memory(const Limit &limit) {
  return limit.of == Limit::Of::memory_class || limit.of == Limit::Of::group || limit.metric == "mapped";
}

bool is_by_name(const Limit &limit) {
  return limit.of != Limit::Of::total && limit.of != Limit::Of::finding && !is_of_memory(limit);
}

// True if some types are only known by a row number or an address, because the metadata with their names is not in the
// dump. Any of them may be a limited one, and the owners of fields are unknown too.
bool lacks_names(const Record &record) {
  auto is_no_name = [](const Record::Type &type) {
    return type.name.find("!0x") != type.name.npos || type.name.find("<type 0x") != type.name.npos ||
           type.name.find("<unknown type 0x") != type.name.npos;
  };
  return std::ranges::any_of(record.types, is_no_name);
}

report::Table checks_table(const std::vector<Outcome> &outcomes) {
  using O = Outcome;
  report::Table table = report::ColumnsOf<O>{
      {{"state", "", Kind::text, Shown::in_text},
       [](const O &o) { return o.is_exceeded() ? "FAIL"
                               : o.is_certain  ? "ok"
                                               : "UNSURE"; }},
      {{"exceeded", "", Kind::boolean, Shown::in_data}, &O::is_exceeded},
      {{"certain", "", Kind::boolean, Shown::in_data}, &O::is_certain},
      {{"kind", "", Kind::text, Shown::in_data}, [](const O &o) { return kind_of(*o.limit); }},
      {{"metric", "", Kind::text, Shown::in_data}, [](const O &o) { return o.limit->metric; }},
      {{"growth", "", Kind::boolean, Shown::in_data}, [](const O &o) { return o.limit->is_growth; }},
      {{"value", "", Kind::number, Shown::in_data}, &O::value},
      {{"before", "", Kind::number, Shown::in_data}, &O::before},
      {{"limit", "", Kind::number, Shown::in_data}, &O::most},
      {{"place", "", Kind::text, Shown::in_data}, [](const O &o) { return o.limit->place; }},
      {{"text", "", Kind::text, Shown::in_data}, sentence_of},
      {{"found", "Found", Kind::text, Shown::in_text}, found_text},
      {{"allowed", "Limit", Kind::text, Shown::in_text}, allowed_text},
      {{"name", "Name", Kind::text},
       &O::name}}.table("checks", "", outcomes);
  table.whole = true;
  return table;
}

Budget limits_of(const Question &question) {
  Budget out;
  if (!question.budget.empty())
    out = read_budget(question.budget);
  for (const std::string &type : question.no_instances_of) {
    Limit limit;
    limit.of = Limit::Of::type;
    limit.name = type;
    limit.metric = "live";
    limit.place = "--no-instances-of";
    out.limits.push_back(std::move(limit));
  }
  for (const std::string &kind : question.no_findings_of) {
    const std::vector<std::string_view> kinds = finding_kinds();
    if (std::ranges::find(kinds, kind) == kinds.end())
      throw UsageError(fmt::format("--no-findings-of: '{}' is none of {}{}", kind, fmt::join(kinds, ", "),
                                   did_you_mean(kind, kinds)));
    Limit limit;
    limit.of = Limit::Of::finding;
    limit.name = kind;
    limit.metric = "findings";
    limit.place = "--no-findings-of";
    out.limits.push_back(std::move(limit));
  }
  if (out.needs_baseline() && question.baseline.empty())
    for (const Limit &limit : out.limits)
      if (limit.is_growth)
        throw UsageError(question.budget + ": " + limit.place + " needs --baseline FILE, as it limits growth");
  if (out.limits.empty() && question.record.empty())
    throw UsageError("nothing to check: give --budget FILE, --no-instances-of TYPE or --no-findings-of KIND; "
                     "--record FILE saves the present figures for later");
  return out;
}

// Returns an error text: a limit with a misspelled name would never be exceeded.
std::string unmatched_text(const Outcome &of) {
  const std::string kind = of.limit->of == Limit::Of::type ? "type" : "owner";
  return of.limit->place + ": no " + kind +
         (of.limit->of == Limit::Of::signature ? " here has the signature "
          : of.limit->of == Limit::Of::owner && of.limit->pattern.empty()
              ? " of that name holds anything in this dump: "
          : of.limit->pattern.empty() ? " of that name is known in this dump: "
                                      : "'s name in this dump matches ") +
         of.name;
}

void add_notes(std::span<const Record> records, const Question &question, const Budget &budget,
               const std::vector<Outcome> &outcomes, bool is_nameless, report::Completeness &to) {
  to.notes.add_all(records[0].notes);
  for (const Outcome &one : outcomes)
    if (!one.is_matched)
      to.notes.add(unmatched_text(one));
  if (is_nameless && std::ranges::any_of(budget.limits, is_by_name))
    to.notes.add(
        "some types have no names in this dump, and a limit may be for one of them; give the folder of their files "
        "with --modules");
  for (const Record &record : records)
    if (record.is_extract && std::ranges::any_of(budget.limits, is_of_memory))
      to.notes.add(file_name_of(record.name) + " is an extract: it has the heap's memory and little else, so limits on "
                                               "memory classes, groups and mapped memory cannot be checked");
  if (!records[0].complete && !budget.limits.empty())
    to.notes.add("not all of the heap could be read: a figure that is within its limit here may exceed it");
  if (records.size() > 1) {
    if (!records[1].complete)
      to.notes.add(file_name_of(records[1].name) +
                   " is of a heap that could not be read in full, so growth may seem larger than it is");
    if (!budget.needs_baseline())
      to.notes.add("nothing was compared with " + file_name_of(records[1].name) + ": no limit is about \"growth\"");
  }
  if (!question.record.empty())
    to.notes.add("the record is in " + question.record);
}

std::string next_of(const std::vector<Outcome> &outcomes, const Record &record, const Question &question) {
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome &o) { return o.is_exceeded(); });
  if (first == outcomes.end() || record.is_saved)
    return "";
  const Limit &limit = *first->limit;
  const std::string target = shell_word(question.target);
  if (limit.of == Limit::Of::finding)
    return "dnheap report " + target;
  if (limit.of == Limit::Of::type && (limit.pattern.empty() || limit.each))
    return "dnheap path " + target + " " + shell_word(first->name);
  return is_of_memory(limit) ? "dnheap account " + target : "dnheap retained " + target;
}

} // namespace

Plan plan_check(const Question &question) {
  limits_of(question);
  return plan_record();
}

report::Answer answer_check(std::span<const Record> records, const Question &question) {
  const Budget budget = limits_of(question);
  if (records.empty() || records.size() > 2 || (budget.needs_baseline() && records.size() == 1))
    throw UsageError("'check' takes one record, and a second one as its baseline");
  if (!question.no_findings_of.empty() && !records[0].has_findings)
    throw UsageError(file_name_of(records[0].name) +
                     " is a record without findings: give the dump, or a record that was taken with --no-findings-of");
  // Data missing in the baseline make growth larger, never smaller.
  const bool is_nameless = lacks_names(records[0]);
  std::vector<Outcome> outcomes;
  for (const Limit &limit : budget.limits)
    for (Outcome &one : outcomes_of(limit, records)) {
      // An extract has little of the memory outside of the heap; as a baseline it would show growth where there is
      // none.
      one.is_known = !(is_of_memory(limit) && limit.is_growth && records[1].is_extract);
      one.is_certain =
          one.is_exceeded() || (is_of_memory(limit) ? one.is_known && !records[0].is_extract
                                                    : records[0].complete && !(is_nameless && is_by_name(limit)));
      outcomes.push_back(std::move(one));
    }
  std::stable_partition(outcomes.begin(), outcomes.end(), [](const Outcome &one) { return one.is_exceeded(); });
  const Record &record = records[0];
  report::Answer answer;
  answer.command = "check";
  answer.exceeded = static_cast<u64>(
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome &one) { return one.is_exceeded(); }));
  answer.uncertain =
      static_cast<u64>(std::ranges::count_if(outcomes, [](const Outcome &one) { return !one.is_certain; }));
  answer.unmatched =
      static_cast<u64>(std::ranges::count_if(outcomes, [](const Outcome &one) { return !one.is_matched; }));
  report::Completeness &completeness = answer.completeness.emplace();
  completeness.objects = record.objects;
  completeness.bytes = record.bytes;
  completeness.bad_objects = record.bad_objects;
  for (const Record &one : records)
    completeness.incomplete_records += !one.complete;
  add_notes(records, question, budget, outcomes, is_nameless, completeness);
  answer.headline = {.what = printable(file_name_of(record.name), 200) + ": " + printable(record.description, 200),
                     .shows_completeness = true,
                     .place = {},
                     .facts = {}};
  if (!outcomes.empty())
    answer.lead =
        !answer.exceeded && answer.uncertain
            ? "UNSURE: " + count_text(answer.uncertain) + " of " + count_text(outcomes.size()) +
                  (outcomes.size() == 1 ? " limit" : " limits") +
                  " may be exceeded: all that could be read is within them, but part of the heap, of its roots, of the "
                  "types' names or (in an extract) of the process's memory is missing"
        : answer.exceeded
            ? "FAIL: " + count_text(answer.exceeded) + " of " + count_text(outcomes.size()) +
                  (outcomes.size() == 1 ? " limit is exceeded" : " limits are exceeded")
            : "ok: " + count_text(outcomes.size()) + (outcomes.size() == 1 ? " limit is kept" : " limits are kept");
  answer.tables.push_back(checks_table(outcomes));
  answer.next_command = next_of(outcomes, record, question);
  return answer;
}

} // namespace dnheap
