// `account`: where is all of the process's memory? Every mapped byte has one class, and the classes add up.
#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/native/native_owners.h"
#include "analysis/verbs/tables/account_table.h"
#include "analysis/verbs/tables/loaders_table.h"
#include "analysis/verbs/tables/native_table.h"
#include "analysis/verbs/tables/views_table.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "objects/live.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Row;
using report::Shown;
using report::Table;

bool asks_for_life(const Question &question) { return question.life != Life::any; }
bool asks_for_blocks(const Question &question) { return question.table == "native" || question.table == "malloc"; }

Table arenas_table(const MallocArenas &malloc, bool is_shown) {
  struct Sum {
    const MallocArena &arena;
    u64 heaps = 0, bytes = 0, in_use = 0, cached = 0, free = 0, top = 0, chunks = 0;
  };
  std::vector<Sum> sums;
  for (const MallocArena &arena : malloc.arenas)
    sums.push_back({arena});
  for (const MallocHeap &heap : malloc.heaps) {
    Sum &sum = sums[heap.arena];
    ++sum.heaps;
    sum.bytes += heap.end - heap.start;
    sum.in_use += heap.in_use;
    sum.cached += heap.cached;
    sum.free += heap.free;
    sum.top += heap.top;
    sum.chunks += heap.chunks;
  }
  using S = Sum;
  Table table = report::ColumnsOf<S>{
      {{"arena", "Arena", Kind::address}, [](const S &s) { return s.arena.address ? Cell(s.arena.address) : Cell(); }},
      {{"main", "Main", Kind::boolean}, [](const S &s) { return s.arena.is_main; }},
      {{"heaps", "Heaps", Kind::count}, &S::heaps},
      {{"bytes", "Bytes", Kind::bytes}, &S::bytes},
      {{"blocks", "Blocks", Kind::count}, &S::chunks},
      {{"in_use", "In use", Kind::bytes}, &S::in_use},
      {{"cached", "Kept", Kind::bytes}, &S::cached},
      {{"free", "Free", Kind::bytes}, &S::free},
      {{"top", "Not handed out", Kind::bytes},
       &S::top}}.table("arenas", "Arenas of malloc", sums);
  table.shown = is_shown ? Shown::everywhere : Shown::in_data;
  return table;
}

// Lists the largest stretches first.
Table unknown_table(std::vector<UnknownStretch> stretches, bool is_process, bool is_shown) {
  constexpr u64 most = 10000;
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const UnknownStretch &a, const UnknownStretch &b) { return a.end - a.start > b.end - b.start; });
  stretches.resize(std::min<u64>(stretches.size(), most));
  using S = UnknownStretch;
  Table table = report::ColumnsOf<S>{
      {{"start", "Start", Kind::address}, &S::start},
      {{"end", "End", Kind::address}, &S::end},
      {{"bytes", "Bytes", Kind::bytes}, [](const S &s) { return s.end - s.start; }},
      {{"dump_bytes", "In dump", Kind::bytes, Shown::in_data},
       [=](const S &s) { return is_process ? Cell() : Cell(s.stored); }},
      {{"access", "Access", Kind::text},
       [](const S &s) {
         return std::string(s.readable ? "r" : "-") + (s.writable ? "w" : "-") + (s.executable ? "x" : "-");
       }},
      {{"name", "Name", Kind::text}, [](const S &s) {
         return s.name.empty() ? Cell() : Cell(printable(s.name));
       }}}.table("not_identified", "Not identified", stretches);
  table.shown = is_shown ? Shown::everywhere : Shown::in_data;
  return table;
}

// Adds a note about mapped memory that is not in the dump: "1.5 MiB of images, 20 KiB of …".
void note_what_is_missing(const AccountMap &map, const Target &target, report::Answer &answer) {
  std::vector<std::string> missing;
  for (u32 i = 0; i < memory_class_count; ++i) {
    const auto memory = static_cast<MemoryClass>(i);
    const ClassSum &sum = map.of(memory);
    if (memory != MemoryClass::reserved && sum.stored < sum.bytes)
      missing.push_back(fmt::format("{} of {}", bytes_text(sum.bytes - sum.stored), name_of(memory)));
  }
  Notes &notes = answer.completeness->notes;
  if (!missing.empty())
    notes.add(fmt::format("mapped, but not in this dump: {}", fmt::join(missing, ", ")));
  if (target.extraction)
    notes.add("this core has only memory that dnheap took out of " + target.extraction->from +
              ": the account covers only that");
  else if (target.container == "minidump")
    notes.add("memory that this dump does not list is not in the account");
}

void add_notes_of_blocks(const NativeOwners &native, const AccountMap &map, bool are_asked_for, bool is_extract,
                         Notes &notes) {
  notes.add_all(native.notes);
  if (are_asked_for && map.malloc.heaps.empty())
    notes.add(is_extract ? "an extracted core has no memory of malloc's"
                         : "blocks of malloc are known on 64-bit Linux only, of glibc and musl; none were found here");
  const bool has_lost = std::any_of(native.owners.begin(), native.owners.end(),
                                    [](const NativeOwner &owner) { return owner.kind == NativeOwner::Kind::nobody; });
  if (const std::string unread = unread_text(native); has_lost && !unread.empty())
    notes.add("blocks of nobody may be held by " + unread);
}

} // namespace

Plan plan_account(const Question &question) {
  Plan plan(Pass::tally);
  if (asks_for_life(question)) // the first walk is for the index; for a process that is copied first, residency is
                               // unknown
    plan.then("walk").then(Pass::live).then("walk");
  foresee_native_owners(plan);
  foresee_views(plan);
  return plan;
}

report::Answer answer_account(const Snapshot &snapshot, const Question &question) {
  const Target &target = snapshot.target();
  const bool is_process = target.container == "process";
  const std::optional<ResidentPages> resident = resident_pages(snapshot);
  report::Answer answer = begin_answer(snapshot, "account");
  std::optional<HeapTally> live;
  if (asks_for_life(question))
    live = tally_of_live(snapshot);
  const AccountMap map = make_account_map(snapshot, resident, live);
  answer.tables.push_back(account_table(map, is_process));
  Notes &notes = answer.completeness->notes;
  auto is_shown = [&](const char *table) { return question.verbose || question.table == table; };
  // A running process would have to be copied.
  const bool looks_at_blocks = asks_for_blocks(question) || (!is_process && are_blocks_worth_a_look(map));
  const NativeOwners native = looks_at_blocks ? find_native_owners(snapshot, map) : NativeOwners();
  answer.tables.push_back(native_table(native, looks_at_blocks));
  answer.tables.push_back(sizes_table(native, is_shown("malloc")));
  const bool asks_for_views = question.table == "views";
  std::vector<MappedView> views =
      asks_for_views || !is_process ? find_mapped_views(snapshot) : std::vector<MappedView>();
  const bool shows_views = asks_for_views || are_views_worth_a_look(views, map.mapped);
  answer.tables.push_back(views_table(snapshot, shows_views ? views : std::vector<MappedView>(), shows_views));
  answer.tables.push_back(arenas_table(map.malloc, is_shown("arenas")));
  answer.tables.push_back(loaders_table(snapshot, map, is_shown("loaders")));
  answer.tables.push_back(unknown_table(map.unknown, is_process, is_shown("not_identified")));
  add_notes_of_blocks(native, map, asks_for_blocks(question), target.extraction.has_value(), notes);
  notes.add_all(map.notes);
  if (map.is_estimate)
    notes.add("Resident is an estimate: it counts pages that are not zero ('at most' adds pages that the GC may have "
              "touched); a dump does not show which pages of files are resident");
  if (!is_process)
    note_what_is_missing(map, target, answer);
  if (live) {
    add_root_notes(snapshot, answer);
    add_reference_notes(snapshot.live().bad_references(), answer);
  }
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
