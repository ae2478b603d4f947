// The answer functions, and plans that depend on the question, each in the file named after its verb. For the tables in
// groups/ only.
#pragma once
#include "analysis/verb.h"

namespace dnheap {

// The parts of `gc`'s answer; its own table shows missing values.
inline constexpr AnswerParts gc_answer_parts = {AnswerPart::gc, AnswerPart::contexts, AnswerPart::thread_ids};

report::Answer answer_report(const Snapshot &snapshot, const Question &question);
report::Answer answer_stat(const Snapshot &snapshot, const Question &question);
report::Answer answer_account(const Snapshot &snapshot, const Question &question);
report::Answer answer_show(const Snapshot &snapshot, const Question &question);
report::Answer answer_path(const Snapshot &snapshot, const Question &question);
report::Answer answer_retained(const Snapshot &snapshot, const Question &question);
report::Answer answer_segments(const Snapshot &snapshot, const Question &question);
report::Answer answer_objects(const Snapshot &snapshot, const Question &question);
report::Answer answer_lookup(const Snapshot &snapshot, const Question &question);
report::Answer answer_memory(const Snapshot &snapshot, const Question &question);
report::Answer answer_handles(const Snapshot &snapshot, const Question &question);
report::Answer answer_gc(const Snapshot &snapshot, const Question &question);
report::Answer answer_info(const Snapshot &snapshot, const Question &question);
report::Answer answer_roots(const Snapshot &snapshot, const Question &question);
report::Answer answer_exceptions(const Snapshot &snapshot, const Question &question);
report::Answer answer_locks(const Snapshot &snapshot, const Question &question);
report::Answer answer_async(const Snapshot &snapshot, const Question &question);
report::Answer answer_threads(const Snapshot &snapshot, const Question &question);
report::Answer answer_stack(const Snapshot &snapshot, const Question &question);
report::Answer answer_strings(const Snapshot &snapshot, const Question &question);
report::Answer answer_frag(const Snapshot &snapshot, const Question &question);
report::Answer answer_inspect(const Snapshot &snapshot, const Question &question);
report::Answer answer_waste(const Snapshot &snapshot, const Question &question);
report::Answer answer_verify(const Snapshot &snapshot, const Question &question);
report::Answer answer_contract(const Snapshot &snapshot, const Question &question);
report::Answer answer_summary(const Snapshot &snapshot, const Question &question);
report::Answer answer_extract(const Snapshot &snapshot, const Question &question);
report::Answer answer_query(const Snapshot &snapshot, const Question &question);
report::Answer answer_export(const Snapshot &snapshot, const Question &question);
report::Answer answer_check(std::span<const Record> records, const Question &question);
report::Answer answer_diff(std::span<const Record> records, const Question &question);
Plan plan_report(const Question &question);
Plan plan_summary(const Question &question);
Plan plan_account(const Question &question);
Plan plan_check(const Question &question);
Plan plan_stat(const Question &question);
Plan plan_objects(const Question &question);
Plan plan_show(const Question &question);
Plan plan_stack(const Question &question);
Plan plan_threads(const Question &question);
Plan plan_path(const Question &question);
Plan plan_retained(const Question &question);
Plan plan_verify(const Question &question);
Plan plan_async(const Question &question);
Plan plan_inspect(const Question &question);
Plan plan_strings(const Question &question);
Plan plan_frag(const Question &question);
Plan plan_waste(const Question &question);
Plan plan_extract(const Question &question);
Plan plan_query(const Question &question);
Plan plan_export(const Question &question);

report::Answer answer_inspect_alone(const Question &question, const Watch &watch);
report::Answer answer_ps(const Question &question, const Watch &watch);

} // namespace dnheap
