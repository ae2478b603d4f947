// `frag`: how large are the holes of the heap, where are they, and are their neighbours pinned objects or survivors?
#include "analysis/answer_head.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/holding.h"
#include "analysis/process/fragmentation.h"
#include "analysis/verbs/verbs.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/roots.h"
#include "report/columns_of.h"

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
  struct Line {
    u64 generation, size; // class of sizes
    HoleSum sum;
  };
  std::vector<Line> lines;
  for (u64 g = 0; g < generation_count; ++g)
    for (u64 c = hole_classes.size(); c-- > 0;)
      if (const HoleSum &sum = holes.generations[g].classes[c]; sum.count)
        lines.push_back({g, c, sum});
  const HoleSum all = holes.total();
  using L = Line;
  report::Table table = report::ColumnsOf<L>{
      {{"generation", "Gen", Kind::text}, [](const L &l) { return generation_text(l.generation); }},
      {{"size", "Size", Kind::text, Shown::in_text}, [](const L &l) { return class_text(l.size); }},
      {{"from", "", Kind::bytes, Shown::in_data}, [](const L &l) { return hole_classes[l.size]; }},
      {{"to", "", Kind::bytes, Shown::in_data},
       [](const L &l) { return l.size + 1 < hole_classes.size() ? Cell(hole_classes[l.size + 1]) : Cell(); }},
      {{"count", "Count", Kind::count}, [](const L &l) { return l.sum.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const L &l) { return l.sum.bytes; }},
      {{"share", "Share", Kind::percent, Shown::in_text}, [&](const L &l) { return share_of(l.sum.bytes, all.bytes); }},
      {{"largest", "Largest", Kind::bytes}, [](const L &l) { return l.sum.largest; }},
      {{"pinned_bytes", "Beside pins", Kind::bytes}, [](const L &l) {
         return l.sum.pinned_bytes;
       }}}.table("holes", "Holes by generation and size", lines);
  table.whole = true;
  table.total = total_row(table, {{"generation", "total"},
                                  {"count", all.count},
                                  {"bytes", all.bytes},
                                  {"largest", all.largest},
                                  {"pinned_bytes", all.pinned_bytes}});
  return table;
}

report::Table hole_generations_table(const Fragmentation &holes) {
  struct Line : HoleSum {
    const char *generation;
    u64 segment_bytes;
    double share;
  };
  std::vector<Line> lines;
  u64 segments = 0;
  for (u64 g = 0; g < generation_count; ++g) {
    const GenerationHoles &generation = holes.generations[g];
    segments += generation.segment_bytes;
    if (generation.segment_bytes)
      lines.push_back({generation.total(), generation_text(g), generation.segment_bytes, generation.share()});
  }
  const report::ColumnsOf<Line> columns = {{{"generation", "Gen", Kind::text}, &Line::generation},
                                           {{"count", "Holes", Kind::count}, &Line::count},
                                           {{"bytes", "Bytes", Kind::bytes}, &Line::bytes},
                                           {{"segment_bytes", "Total", Kind::bytes}, &Line::segment_bytes},
                                           {{"share", "Share", Kind::percent}, &Line::share},
                                           {{"largest", "Largest", Kind::bytes}, &Line::largest},
                                           {{"pinned", "Beside pins", Kind::count}, &Line::pinned},
                                           {{"pinned_bytes", "Bytes beside pins", Kind::bytes}, &Line::pinned_bytes}};
  report::Table table = columns.table("generations", "Holes by generation", lines);
  table.whole = true;
  const HoleSum all = holes.total();
  table.total = columns.row({all, "total", segments, share_of(all.bytes, segments)});
  return table;
}

report::Table beside_table(const Fragmentation &holes, const Snapshot &snapshot) {
  using B = BesideHoles;
  report::Table table = report::ColumnsOf<B>{
      {{"count", "Holes", Kind::count}, [](const B &b) { return b.holes.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const B &b) { return b.holes.bytes; }},
      {{"largest", "Largest", Kind::bytes}, [](const B &b) { return b.holes.largest; }},
      {{"pin", "Pinned by", Kind::text}, [](const B &b) { return report::text_cell(b.pin); }},
      {{"type", "Type", Kind::text}, [&](const B &b) {
         return b.method_table ? Cell(snapshot.runtime().types().name(b.method_table)) : Cell();
       }}}.table("beside", "Neighbours of the holes, each hole once", holes.beside);
  const HoleSum all = holes.total();
  table.total = total_row(table, {{"count", all.count},
                                  {"bytes", all.bytes},
                                  {"largest", all.largest},
                                  {"type", "total of " + count_text(holes.beside.size()) + " kinds of neighbours"}});
  table.notes.push_back("a hole counts for a pinned neighbour if it has one, preferably for the one after it: a pinned "
                        "object keeps the GC from closing the hole in front of it");
  return table;
}

// A neighbour of a hole. All members are absent if the hole has none; the last two also if they were not asked for.
struct HoleNeighbour {
  Cell address, type, pin, retained, owner;
};

class HoleNeighbours {
public:
  HoleNeighbours(const Snapshot &snapshot, const Pins &pins, bool retained)
      : snapshot_(snapshot), pins_(pins), view_(snapshot) {
    if (retained)
      holding_.emplace(snapshot, Question());
  }

  HoleNeighbour read(Address object) {
    const ObjectId id = object ? snapshot_.index().find(object) : no_object;
    if (id == no_object)
      return {};
    HoleNeighbour out{object, view_.type_name(id), report::text_cell(pins_.text(object)), {}, {}};
    if (!holding_)
      return out;
    const std::optional<TreePlace> place = holding_->tree().place(id);
    if (place)
      out.retained = holding_->tree().retained(*place).bytes;
    out.owner = place ? Cell(holding_->owner_above(*place)) : Cell("(unreachable)");
    return out;
  }

private:
  const Snapshot &snapshot_;
  const Pins &pins_;
  ObjectView view_;
  std::optional<Holding> holding_;
};

report::Table largest_table(const Fragmentation &holes, const Snapshot &snapshot, const Pins &pins, bool retained) {
  struct LargeHole : Hole {
    HoleNeighbour behind, in_front;
  };
  HoleNeighbours neighbours(snapshot, pins, retained);
  std::vector<LargeHole> all;
  for (const Hole &hole : holes.largest)
    all.push_back({hole, neighbours.read(hole.after), neighbours.read(hole.before)});
  using H = LargeHole;
  report::ColumnsOf<H> columns = {{{"bytes", "Bytes", Kind::bytes}, &H::bytes},
                                  {{"generation", "Gen", Kind::text}, [](const H &h) { return name_of(h.generation); }},
                                  {{"address", "Address", Kind::address, Shown::in_data}, &H::address}};
  auto add_side = [&](const std::string &key, const std::string &title, HoleNeighbour H::*side) {
    auto of = [side](Cell HoleNeighbour::*member) { return [=](const H &h) { return h.*side.*member; }; };
    columns.add({{key, title, Kind::address}, of(&HoleNeighbour::address)});
    columns.add({{key + "_type", title + ": type", Kind::text}, of(&HoleNeighbour::type)});
    columns.add({{key + "_pin", "Pinned by", Kind::text}, of(&HoleNeighbour::pin)});
    if (!retained)
      return;
    columns.add({{key + "_retained", "Retained", Kind::bytes}, of(&HoleNeighbour::retained)});
    columns.add({{key + "_owner", "Owner", Kind::text}, of(&HoleNeighbour::owner)});
  };
  add_side("after", "Behind", &H::behind);
  add_side("before", "In front", &H::in_front);
  report::Table table = columns.table("largest", "The largest holes, and the objects in front of them and behind", all);
  table.row_count = std::max<u64>(holes.largest.size(), holes.total().count);
  if (!retained)
    table.notes.push_back("--by retained adds what these objects alone hold, and who owns them");
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

report::Answer answer_frag(const Snapshot &snapshot, const Question &question) {
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
