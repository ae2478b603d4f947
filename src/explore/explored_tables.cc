#include "explore/explored_tables.h"

#include "base/not_found.h"
#include "base/text.h"
#include "report/encoding.h"
#include "report/headline.h"
#include "report/write.h"

#include <algorithm>

namespace dnheap::explore {

namespace {

constexpr u64 most_answers = 3;
constexpr u64 most_cells = u64{4} << 20; // of one table: 36 MiB, and its texts
constexpr u64 most_gaps = 50;

std::string safe_text(std::string_view text) {
  std::string out;
  report::append_named(out, text);
  return out;
}

ordered_json gaps_json(const report::Completeness &completeness) {
  ordered_json out = ordered_json::array();
  for (const report::Completeness::Gap &gap : completeness.gaps) {
    if (out.size() == most_gaps)
      break;
    out.push_back({{"start", hex(gap.start)}, {"bytes", gap.end - gap.start}, {"reason", safe_text(gap.reason)}});
  }
  return out;
}

ordered_json head_of(const report::Answer &answer) {
  ordered_json lead = ordered_json::array(), notes = ordered_json::array();
  for (std::string_view paragraph : report::paragraphs_of(answer.lead))
    lead.push_back(safe_text(paragraph));
  if (answer.completeness)
    for (const std::string &sentence : answer.completeness->notes.sentences())
      notes.push_back(safe_text(sentence));
  if (const u64 all = answer.completeness ? answer.completeness->gaps.size() + answer.completeness->more_gaps : 0;
      all > most_gaps)
    notes.push_back(count_text(all - most_gaps) + (all == most_gaps + 1 ? " more gap is" : " more gaps are") +
                    " not listed here");
  return {{"command", answer.command},
          {"headline", safe_text(report::headline_text(answer))},
          {"lead", lead},
          {"next", answer.next_command},
          {"complete", !answer.completeness || answer.completeness->complete()},
          {"notes", notes},
          {"gaps", answer.completeness ? gaps_json(*answer.completeness) : ordered_json::array()}};
}

} // namespace

ExploredTables::Kept &ExploredTables::kept(const std::string &key, const std::string &table, const Watch &watch,
                                           const Answering &answering) {
  const auto known = std::ranges::find(recent_, key, &Kept::key);
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
    return recent_.front();
  }
  const report::Answer answer = answering();
  report::WriteOptions how;
  if (std::ranges::any_of(answer.tables, [&](const report::Table &each) { return each.name == table; }))
    how.table = table;
  Kept made{key, head_of(answer), {}};
  if (table.empty() || !how.table.empty())
    for (const report::Table *each : report::tables_to_write(answer, how, report::Shown::in_text))
      made.tables.emplace_back(each->name, KeptRows(*each, most_cells, watch));
  recent_.push_front(std::move(made));
  if (recent_.size() > most_answers)
    recent_.pop_back();
  return recent_.front();
}

ordered_json ExploredTables::answer(const std::string &key, const std::string &table, u64 count, const Watch &watch,
                                    const Answering &answering) {
  Kept &of = kept(key, table, watch, answering);
  ordered_json out = of.head;
  out["tables"] = ordered_json::array();
  for (auto &[name, rows] : of.tables) {
    ordered_json each = rows.head();
    each["rows"] = rows.rows({0, count, "", ""})["rows"];
    out["tables"].push_back(std::move(each));
  }
  return out;
}

ordered_json ExploredTables::rows(const std::string &key, const std::string &table, const RowsWanted &wanted,
                                  const Watch &watch, const Answering &answering) {
  Kept &of = kept(key, table, watch, answering);
  for (auto &[name, rows] : of.tables)
    if (name == table)
      return rows.rows(wanted);
  throw NotFound("the answer has no table '" + printable(table, 100) + "'");
}

} // namespace dnheap::explore
