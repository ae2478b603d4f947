// The answer functions, each in the file named after its verb. For verbs.cc only.
#pragma once
#include "analysis/verb.h"

namespace dnheap {

report::Answer answer_stat(Snapshot &snapshot, const Question &question);
report::Answer answer_show(Snapshot &snapshot, const Question &question);
report::Answer answer_path(Snapshot &snapshot, const Question &question);
report::Answer answer_retained(Snapshot &snapshot, const Question &question);
report::Answer answer_segments(Snapshot &snapshot, const Question &question);
report::Answer answer_objects(Snapshot &snapshot, const Question &question);
report::Answer answer_handles(Snapshot &snapshot, const Question &question);
report::Answer answer_gc(Snapshot &snapshot, const Question &question);
report::Answer answer_info(Snapshot &snapshot, const Question &question);
report::Answer answer_roots(Snapshot &snapshot, const Question &question);
report::Answer answer_exceptions(Snapshot &snapshot, const Question &question);
report::Answer answer_locks(Snapshot &snapshot, const Question &question);
report::Answer answer_async(Snapshot &snapshot, const Question &question);
report::Answer answer_verify(Snapshot &snapshot, const Question &question);
report::Answer answer_contract(Snapshot &snapshot, const Question &question);
report::Answer answer_extract(Snapshot &snapshot, const Question &question);
report::Answer answer_ps(const Question &question, const Watch &watch);

} // namespace dnheap
