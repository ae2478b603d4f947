#include "analysis/filters/live_filter.h"

#include "analysis/answer_head.h"
#include "analysis/filters/referring.h"
#include "base/text.h"
#include "objects/frozen_objects.h"
#include "objects/live.h"
#include "objects/references.h"
#include "objects/roots.h"

namespace dnheap {

namespace {

// Returns a note about frozen objects, which are neither alive nor dead.
std::string frozen_note(const Snapshot &snapshot) {
  const ObjectIndex &index = snapshot.index();
  ReferenceReader reader(snapshot.references());
  const FrozenObjects alone = frozen_alone(
      snapshot.heap(), index, [&](ObjectId object) { return snapshot.live().objects.test(index.address(object)); },
      [&](ObjectId object) {
        OpenedObject opened;
        return reader.open(index.address(object), opened) ? opened.size : 0;
      });
  if (alone.objects == 0)
    return {};
  const bool one = alone.objects == 1;
  return count_text(alone.objects) + (one ? " object (" : " objects (") + bytes_text(alone.bytes) +
         (one ? ") lies in a frozen segment, " : ") lie in frozen segments, ") + never_freed +
         ", and no known root holds " + (one ? "it: it counts" : "them: they count") + " as neither alive nor dead";
}

bool is_about_life(const Question &question) { return question.life != Life::any || question.table == "stages"; }

} // namespace

Passes passes_of_life(const Question &question) {
  return (is_about_life(question) ? Pass::live : Passes()) |
         (question.refers_to.empty() ? Passes() : Passes(Pass::references));
}

ObjectFilter filter_of(const Snapshot &snapshot, const Question &question) {
  if (question.min_bytes > question.max_bytes)
    throw UsageError("--min " + std::to_string(question.min_bytes) + " is more than --max " +
                     std::to_string(question.max_bytes) + ": no object has such a size");
  ObjectFilter out{question.min_bytes, question.max_bytes, {}};
  if (question.range)
    out.range = {question.range->first.value(), question.range->second.value()};
  if (!question.refers_to.empty())
    out.referring = std::make_shared<const HeapBits>(objects_referring_to(snapshot, question.refers_to));
  if (question.life == Life::live)
    out.among = &snapshot.live().objects;
  if (question.life == Life::dead) {
    out.without = &snapshot.live().objects;
    out.among = &snapshot.index().starts();
    out.not_frozen = &snapshot.heap();
  }
  return out;
}

void add_live_notes(const Snapshot &snapshot, const Question &question, report::Answer &answer) {
  if (!is_about_life(question))
    return;
  u64 objects = 0, bytes = 0;
  report::Table table;
  table.name = "stages";
  table.title = "Alive by kind of root: objects that no earlier line reaches";
  table.columns = {{"kind", "Kind of root", report::Kind::text},
                   {"objects", "Objects", report::Kind::count},
                   {"bytes", "Bytes", report::Kind::bytes}};
  std::vector<report::Row> rows;
  for (const LiveStage &stage : snapshot.live().stages) {
    rows.push_back({stage.name, stage.objects, stage.bytes});
    objects += stage.objects;
    bytes += stage.bytes;
  }
  table.whole = true;
  table.set_rows(std::move(rows));
  table.total = report::Row{"total", objects, bytes};
  if (std::string note = frozen_note(snapshot); !note.empty())
    table.notes.push_back(std::move(note));
  answer.tables.push_back(std::move(table));
  answer.headline.facts += "; " + count_text(objects) + " objects alive, " + bytes_text(bytes);
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot.live().bad_references(), answer);
}

} // namespace dnheap
