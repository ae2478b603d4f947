// `frag`: how large are the holes of the heap, where are they, and are their neighbours pinned objects or survivors?
#include "analysis/answer_head.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/holding.h"
#include "analysis/process/fragmentation.h"
#include "analysis/verbs/verbs.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/roots.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 most_shown_holes = 10000; // of the largest ones

const char *generation_text(u64 generation) { return name_of(static_cast<GCSegmentGeneration>(generation)); }

std::string class_text(u64 of) {
  if (of + 1 == hole_classes.size())
    return bytes_text(hole_classes[of]) + " and more";
  return (of ? bytes_text(hole_classes[of]) + " to " : "less than ") + bytes_text(hole_classes[of + 1]);
}

// The largest class comes first in each generation, because the largest holes matter most.
report::Table holes_table(const Fragmentation &holes) {
  report::Table table;
  table.name = "holes";
  table.title = "Holes by generation and size";
  table.whole = true;
  table.columns = {{"generation", "Gen", Kind::text},
                   {"size", "Size", Kind::text, Shown::in_text},
                   {"from", "", Kind::bytes, Shown::in_data},
                   {"to", "", Kind::bytes, Shown::in_data},
                   {"count", "Count", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},
                   {"share", "Share", Kind::percent, Shown::in_text},
                   {"largest", "Largest", Kind::bytes},
                   {"pinned_bytes", "Beside pins", Kind::bytes}};
  const HoleSum all = holes.total();
  std::vector<report::Row> rows;
  for (u64 g = 0; g < generation_count; ++g)
    for (u64 c = hole_classes.size(); c-- > 0;)
      if (const HoleSum &sum = holes.generations[g].classes[c]; sum.count)
        rows.push_back({generation_text(g), class_text(c), hole_classes[c],
                        c + 1 < hole_classes.size() ? Cell(hole_classes[c + 1]) : Cell(), sum.count, sum.bytes,
                        share_of(sum.bytes, all.bytes), sum.largest, sum.pinned_bytes});
  report::Row total(table.columns.size());
  total[0] = "total";
  total[4] = all.count;
  total[5] = all.bytes;
  total[7] = all.largest;
  total[8] = all.pinned_bytes;
  table.total = std::move(total);
  table.set_rows(std::move(rows));
  return table;
}

report::Table hole_generations_table(const Fragmentation &holes) {
  report::Table table;
  table.name = "generations";
  table.title = "Holes by generation";
  table.whole = true;
  table.columns = {{"generation", "Gen", Kind::text},      {"count", "Holes", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},        {"segment_bytes", "Total", Kind::bytes},
                   {"share", "Share", Kind::percent},      {"largest", "Largest", Kind::bytes},
                   {"pinned", "Beside pins", Kind::count}, {"pinned_bytes", "Bytes beside pins", Kind::bytes}};
  std::vector<report::Row> rows;
  u64 segments = 0;
  for (u64 g = 0; g < generation_count; ++g) {
    const GenerationHoles &generation = holes.generations[g];
    const HoleSum sum = generation.total();
    segments += generation.segment_bytes;
    if (generation.segment_bytes)
      rows.push_back({generation_text(g), sum.count, sum.bytes, generation.segment_bytes, generation.share(),
                      sum.largest, sum.pinned, sum.pinned_bytes});
  }
  const HoleSum all = holes.total();
  table.total = report::Row{"total",     all.count,  all.bytes,       segments, share_of(all.bytes, segments),
                            all.largest, all.pinned, all.pinned_bytes};
  table.set_rows(std::move(rows));
  return table;
}

report::Table beside_table(const Fragmentation &holes, Snapshot &snapshot) {
  report::Table table;
  table.name = "beside";
  table.title = "Who sits beside the holes, each hole once";
  table.columns = {{"count", "Holes", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},
                   {"largest", "Largest", Kind::bytes},
                   {"pin", "Pinned by", Kind::text},
                   {"type", "Type", Kind::text}};
  std::vector<report::Row> rows;
  for (const BesideHoles &one : holes.beside)
    rows.push_back({one.holes.count, one.holes.bytes, one.holes.largest, report::text_cell(one.pin),
                    one.method_table ? Cell(snapshot.runtime().types().name(one.method_table)) : Cell()});
  const HoleSum all = holes.total();
  table.total = report::Row{
      all.count, all.bytes, all.largest, {}, "total of " + count_text(rows.size()) + " kinds of neighbours"};
  table.set_rows(std::move(rows));
  table.notes.push_back("a hole is charged to a pinned neighbour if it has one, preferably to the one after it: a "
                        "pinned object keeps the GC from closing the hole in front of it");
  return table;
}

// Makes the cells for a neighbour of a hole, with or without its retained size and owner.
class HoleNeighbours {
public:
  HoleNeighbours(Snapshot &snapshot, const Pins &pins, bool retained)
      : snapshot_(snapshot), pins_(pins), view_(snapshot) {
    if (retained)
      holding_.emplace(snapshot, Question());
  }

  // address, type, pinned by, retained, owner
  void add(Address object, report::Row &to) {
    const ObjectId id = object ? snapshot_.index().find(object) : no_object;
    if (id == no_object) {
      to.insert(to.end(), holding_ ? 5 : 3, Cell());
      return;
    }
    const std::string &pin = pins_.text(object);
    to.insert(to.end(), {object, view_.type_name(id), report::text_cell(pin)});
    if (!holding_)
      return;
    const std::optional<TreePlace> place = holding_->tree().place(id);
    to.push_back(place ? Cell(holding_->tree().retained(*place).bytes) : Cell());
    to.push_back(place ? Cell(holding_->owner_above(*place)) : Cell("(unreachable)"));
  }

private:
  Snapshot &snapshot_;
  const Pins &pins_;
  ObjectView view_;
  std::optional<Holding> holding_;
};

report::Table largest_table(const Fragmentation &holes, Snapshot &snapshot, const Pins &pins, bool retained) {
  report::Table table;
  table.name = "largest";
  table.title = "The largest holes, and the objects in front of them and behind";
  table.columns = {{"bytes", "Bytes", Kind::bytes},
                   {"generation", "Gen", Kind::text},
                   {"address", "Address", Kind::address, Shown::in_data}};
  struct Side {
    const char *key, *title;
  };
  for (const Side &side : {Side{"after", "Behind"}, Side{"before", "In front"}}) {
    const std::string key = side.key, title = side.title;
    table.columns.push_back({key, title, Kind::address});
    table.columns.push_back({key + "_type", title + ": type", Kind::text});
    table.columns.push_back({key + "_pin", "Pinned by", Kind::text});
    if (retained) {
      table.columns.push_back({key + "_retained", "Retained", Kind::bytes});
      table.columns.push_back({key + "_owner", "Owner", Kind::text});
    }
  }
  HoleNeighbours neighbours(snapshot, pins, retained);
  std::vector<report::Row> rows;
  for (const Hole &hole : holes.largest) {
    report::Row row = {hole.bytes, name_of(hole.generation), hole.address};
    neighbours.add(hole.after, row);
    neighbours.add(hole.before, row);
    rows.push_back(std::move(row));
  }
  table.set_rows(std::move(rows), std::max<u64>(holes.largest.size(), holes.total().count));
  if (!retained)
    table.notes.push_back("--by retained adds what these alone hold, and who owns them");
  return table;
}

bool wants_retained(const Question &question) { return question.by == "retained"; }

} // namespace

Plan plan_frag(const Question &question) {
  Plan plan(passes_of_fragmentation | Pass::references);
  plan.then("walk");
  if (wants_retained(question))
    foresee_ranked(plan);
  return plan;
}

report::Answer answer_frag(Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "frag");
  const Pins pins(snapshot);
  const u64 most = question.top && question.top_is_asked ? question.top + 1 : most_shown_holes;
  const Fragmentation holes = find_holes(snapshot, pins, std::min(most, most_shown_holes));
  answer.tables = {holes_table(holes), hole_generations_table(holes), beside_table(holes, snapshot),
                   largest_table(holes, snapshot, pins, wants_retained(question))};
  if (wants_retained(question)) {
    add_root_notes(snapshot, answer);
    add_reference_notes(snapshot, answer);
  }
  add_name_notes(snapshot, answer);
  if (!holes.largest.empty()) {
    const Hole &hole = holes.largest.front();
    if (const Address beside = hole.after && (pins.number(hole.after) || !hole.before) ? hole.after : hole.before)
      answer.next_command = "dnheap path " + shell_word(question.target) + " " + hex(beside);
  }
  return answer;
}

} // namespace dnheap
