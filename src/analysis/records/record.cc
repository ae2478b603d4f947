#include "analysis/records/record.h"

#include "algorithms/retained_by_group.h"
#include "analysis/answer_head.h"
#include "analysis/owners/first_owners.h"
#include "analysis/owners/owner_parts.h"
#include "analysis/owners/reached_objects.h"
#include "analysis/owners/signature.h"
#include "analysis/process/account_map.h"
#include "analysis/verb.h"
#include "analysis/waste/waste.h"
#include "base/host/host.h"
#include "base/text.h"
#include "objects/object_graph.h"
#include "objects/references.h"
#include "objects/roots.h"
#include "report/write.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

using report::Cell;

// Returns one row per name, largest first.
std::vector<Record::Type> types_of(const Snapshot &snapshot, const DominatorTree &tree, const ReachedObjects &live) {
  TypeSystem &system = snapshot.runtime().types();
  std::map<std::string, u32> numbers;
  std::vector<Record::Type> out;
  for (const TypeTally &tally : snapshot.tally().types)
    if (const Tally total = tally.total(); total.count && tally.method_table != system.free_object_method_table()) {
      auto [at, is_new] = numbers.emplace(system.name(tally.method_table), static_cast<u32>(out.size()));
      if (is_new)
        out.push_back({at->first, 0, 0, 0, 0});
      out[at->second].count += total.count;
      out[at->second].bytes += total.bytes;
    }
  const HeapTypes &all = snapshot.references().types();
  const ObjectGraph &graph = snapshot.graph();
  std::vector<u32> group_of(all.size(), ~u32{0});
  for (u32 i = 0; i < all.size(); ++i)
    if (auto at = numbers.find(system.name(all[TypeId{i}].method_table)); at != numbers.end()) {
      group_of[i] = at->second;
      out[at->second].live += live.by_type[i];
    }
  const std::vector<GroupRetained> sums =
      retained_by_group(tree, static_cast<u32>(out.size()), snapshot.threads(), snapshot.watch(), [&](ObjectId object) {
        const u32 type = static_cast<u32>(graph.type(object));
        return type < group_of.size() ? group_of[type] : ~u32{0};
      });
  for (u32 i = 0; i < out.size(); ++i)
    out[i].retained = sums[i].retained.bytes;
  std::sort(out.begin(), out.end(), [](const Record::Type &a, const Record::Type &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  return out;
}

std::vector<Record::Class> classes_of(const AccountMap &map) {
  std::vector<Record::Class> out;
  for (u32 i = 0; i < memory_class_count; ++i)
    if (const auto memory = static_cast<MemoryClass>(i); map.of(memory).bytes && memory != MemoryClass::reserved)
      out.push_back({name_of(memory), group_of(memory), text_of(memory), map.of(memory).bytes});
  return out;
}

std::vector<Record::Owner> owners_of(Holding &holding) {
  std::vector<Record::Owner> out;
  for (OwnerPart &part : owner_parts(holding))
    out.push_back({signature(part.source, {}), std::move(part.kind), part.source, part.retained.bytes,
                   part.retained.objects, std::move(part.part)});
  return out;
}

std::vector<Record::Waste> waste_of(const Waste &waste) {
  std::vector<Record::Waste> out;
  for (const WasteRow &row : waste.rows)
    out.push_back({name_of(row.kind), row.what, row.field, row.bytes, row.count});
  return out;
}

std::vector<report::Fact> facts_of(const Snapshot &snapshot, Retained reached) {
  const Target &target = snapshot.target();
  return {{"name", target.path},
          {"description", runtime_headline(target, snapshot.runtime())},
          {"container", target.container},
          {"version", snapshot.runtime().version()},
          {"extract", target.extraction.has_value()},
          {"pid", target.pid ? Cell(target.pid) : Cell()},
          {"taken", target.taken ? Cell(target.taken->seconds) : Cell()},
          {"clock", target.taken ? Cell(name_of(target.taken->clock)) : Cell()},
          {"live_objects", reached.objects},
          {"live_bytes", reached.bytes}};
}

report::Answer answer_record(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "record");
  Record record;
  Holding holding(snapshot, question);
  const ReachedObjects live(snapshot, holding.tree());
  record.types = types_of(snapshot, holding.tree(), live);
  record.owners = owners_of(holding);
  const AccountMap map = make_account_map(snapshot, std::nullopt, live.by_segment);
  record.classes = classes_of(map);
  const Waste waste = find_live_waste(snapshot, live.all);
  record.waste = waste_of(waste);
  record.has_waste = !snapshot.target().has_blanked_values();
  answer.target = facts_of(snapshot, holding.tree().reached());
  answer.tables = tables_of(record);
  Notes &notes = answer.completeness->notes;
  notes.add_all(map.notes);
  notes.add_all(waste.notes.up_to(Effect::none)); // waste is one of several tables, so its notes have no effect
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot, answer);
  add_name_notes(snapshot, answer);
  return answer;
}

constexpr Verb record_verb = {
    .name = "record",
    .parts = AnswerPart::contexts | AnswerPart::names | life_parts | AnswerPart::thread_ids | AnswerPart::segments |
             AnswerPart::gc,
    .plan = [](const Question &) { return plan_record(); },
    .answer = answer_record,
};

} // namespace

Plan plan_record() {
  Plan plan(Pass::graph | Pass::owned_roots | passes_of_waste);
  foresee_ranked(plan);
  return plan.then("live objects")
      .then("retained by group")
      .perhaps("breadth-first search")
      .then("waste")
      .then("holders")
      .perhaps(Pass::live);
}

bool Record::Owner::is_shared() const { return kind == OwnerPart::shared; }

std::string Record::Owner::full_name() const {
  return is_shared() && name != all_shared ? name + and_others : dnheap::full_name(name, part);
}

void add_findings(Record &record, const report::Answer &report) {
  for (const report::Table &table : report.tables) {
    if (table.name != "findings")
      continue;
    auto text = [&](const report::Row &row, std::string_view key) {
      return std::string(row[table.column(key)].text().value_or(""));
    };
    const report::WriteOptions all;
    report::Rows rows(table, all);
    while (const report::Row *row = rows.next())
      record.findings.push_back({text(*row, "kind"), text(*row, "harm"), text(*row, "sureness"), text(*row, "text")});
  }
  record.has_findings = true;
}

// Goes through JSON, as a saved record does: so the same code reads both.
Record take_record(Snapshot &snapshot) {
  report::Answer answer = ask(record_verb, snapshot, {});
  report::Completeness &completeness = *answer.completeness;
  if (!completeness.gaps.empty()) { // addresses of gaps are useless in a record
    u64 bytes = completeness.more_gap_bytes;
    for (const report::Completeness::Gap &gap : completeness.gaps)
      bytes += gap.end - gap.start;
    completeness.notes.add_first(
        {Subject::heap, Effect::numbers,
         bytes_text(bytes) + " of the heap could not be walked: " + completeness.gaps.front().reason});
    completeness.gaps.clear();
  }
  std::string json;
  report::Sink sink(json);
  report::write_json(answer, {}, sink);
  Record out = parse_record(json, snapshot.target().path);
  out.is_saved = false;
  return out;
}

} // namespace dnheap
