#include "analysis/live_filter.h"

#include "base/text.h"
#include "graph/live.h"
#include "graph/root_stages.h"

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
  if (!question.live && !question.dead)
    return;
  u64 objects = 0, bytes = 0;
  for (const LiveStage &stage : snapshot.live().stages) {
    objects += stage.objects;
    bytes += stage.bytes;
  }
  answer.headline += "; " + count_text(objects) + " objects alive, " + bytes_text(bytes);
  answer.completeness->notes.push_back("alive is what handles and due finalizers reach; what only a thread's stack or "
                                       "registers hold counts as dead");
  for (const std::string &problem : snapshot.roots().problems) {
    answer.completeness->complete = false;
    answer.completeness->notes.push_back(problem);
  }
}

} // namespace dnheap
