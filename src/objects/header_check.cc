#include "objects/header_check.h"

#include "runtime/contract_versions.h"

namespace dnheap {

HeaderCheck::HeaderCheck(const Runtime &runtime)
    : memory_(runtime.memory()), sync_blocks_(runtime.memory(), runtime.descriptor()) {
  if (!sync_blocks_.has_table())
    not_checked_.push_back("objects' sync blocks: this runtime does not publish where their table lies");
  else if (!sync_blocks_.count())
    not_checked_.push_back(
        "sync blocks whose object is gone: this runtime does not publish how many sync blocks there are");
  read_threads(runtime);
}

void HeaderCheck::read_threads(const Runtime &runtime) {
  Notes notes;
  std::vector<ThreadData> threads;
  try {
    threads = runtime.threads(notes);
  } catch (const Error &e) {
    notes.add(Subject::references, Effect::none, "", e);
  }
  if (notes.empty() && threads.empty())
    notes.add(Subject::references, Effect::none, "the runtime lists no threads");
  if (const std::string *why = why_not_read(runtime.descriptor(), "SyncBlock"))
    notes.add(Subject::references, Effect::none, "the contract SyncBlock " + *why);
  std::vector<bool> ids(ObjectHeader::thread_mask + 1);
  for (const ThreadData &thread : threads)
    if (!thread.managed_id)
      notes.add(Subject::references, Effect::none, "the runtime does not publish the numbers of its threads");
    else if (*thread.managed_id < ids.size())
      ids[*thread.managed_id] = true;
  // .NET 8 has one of two thin-lock layouts, and does not publish which one (ClrMD reads both, ThinLockLayout).
  // Runtimes that publish Thread.Id have one.
  const Field *id = runtime.descriptor().find_field("Thread", "Id");
  may_be_old_ = id && id->origin != Origin::published;
  if (notes.empty())
    thread_ids_ = std::move(ids);
  else
    not_checked_.push_back("whether the threads exist that hold objects' locks: " + notes.front().text);
}

std::optional<BadHeader> HeaderCheck::look(Address object, ObjectHeader header) const {
  auto bad = [&](HeaderProblem problem, Address other = 0) {
    return BadHeader{object, problem, header.word, other, header.has_index() ? header.index() : 0};
  };
  if (header.has_index()) {
    if (!sync_blocks_.has_table())
      return std::nullopt;
    if (header.index() == 0)
      return bad(HeaderProblem::index_zero);
    std::optional<SyncTableEntry> entry = sync_blocks_.entry(header.index());
    if (!entry)
      return bad(HeaderProblem::no_sync_block);
    return entry->object == object ? std::nullopt : std::optional(bad(HeaderProblem::not_its_own, entry->object));
  }
  if (thread_ids_.empty() || !header.has_thin_lock())
    return std::nullopt;
  u32 thread = header.word & ObjectHeader::thread_mask;
  if (thread == 0)
    return bad(HeaderProblem::recursion_unheld);
  if (thread_ids_[thread] || (may_be_old_ && thread_ids_[thread & ObjectHeader::old_thread_mask]))
    return std::nullopt;
  return bad(HeaderProblem::no_thread);
}

std::vector<BadHeader> HeaderCheck::check_table(const ObjectIndex &index,
                                                const std::function<bool(Address)> &is_walked) const {
  std::vector<BadHeader> out;
  for (u32 i = 1; i <= sync_blocks_.count().value_or(0); ++i) {
    std::optional<SyncTableEntry> entry = sync_blocks_.entry(i);
    if (!entry)
      break; // the rest is not in the dump
    if (!entry->object || !is_walked(entry->object))
      continue;
    if (!index.is_object(entry->object)) {
      out.push_back({entry->object, HeaderProblem::no_object, 0, 0, i});
      continue;
    }
    // Headers that name another sync block are reported by find_problem().
    std::optional<u32> word = memory_.try_load<u32>(entry->object - ObjectHeader::offset);
    if (word && !ObjectHeader{*word}.has_index() && !(*word & ObjectHeader::spin_lock))
      out.push_back({entry->object, HeaderProblem::not_named, *word, 0, i});
  }
  return out;
}

} // namespace dnheap
