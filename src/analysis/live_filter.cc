#include "analysis/live_filter.h"

#include "analysis/answer_head.h"
#include "base/text.h"
#include "graph/live.h"
#include "graph/roots.h"

namespace dnheap {

ObjectFilter filter_of(Snapshot &snapshot, const Question &question) {
  ObjectFilter out{question.min_bytes, question.range};
  if (question.live)
    out.among = &snapshot.live().objects;
  if (question.dead) {
    out.without = &snapshot.live().objects;
    out.among = &snapshot.index().starts();
  }
  return out;
}

void add_live_notes(Snapshot &snapshot, const Question &question, report::Answer &answer) {
  if (!question.live && !question.dead && question.table != "stages")
    return;
  u64 objects = 0, bytes = 0;
  report::Table table;
  table.name = "stages";
  table.title = "Alive by kind of root: what none of the lines above it reaches";
  table.columns = {{"kind", "Kind of root", report::Kind::text},
                   {"objects", "Objects", report::Kind::count},
                   {"bytes", "Bytes", report::Kind::bytes}};
  std::vector<report::Row> rows;
  for (const LiveStage &stage : snapshot.live().stages) {
    rows.push_back({stage.name, stage.objects, stage.bytes});
    objects += stage.objects;
    bytes += stage.bytes;
  }
  table.row_count = rows.size();
  table.whole = true;
  table.rows = report::rows_of(std::move(rows));
  table.total = report::Row{"total", objects, bytes};
  answer.tables.push_back(std::move(table));
  answer.headline += "; " + count_text(objects) + " objects alive, " + bytes_text(bytes);
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot.live().bad_references(), answer);
}

} // namespace dnheap
