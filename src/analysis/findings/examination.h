// Examination: the facts behind `report`, each worked out once: suspects, the account of memory, waste, hangs. Costs as
// much as suspects.h, account_map.h, waste.h and hangs.h say. Not for several threads at once.
#pragma once
#include "analysis/findings/finding.h"
#include "analysis/native/native_owners.h"
#include "analysis/plan.h"
#include "analysis/process/account_map.h"
#include "analysis/process/fragmentation.h"
#include "analysis/suspects/other_owners.h"
#include "analysis/suspects/suspects.h"
#include "analysis/threads/standing.h"
#include "analysis/verdict/crash.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waste/waste.h"
#include "base/notes.h"
#include "snapshot/source_lines.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct Examination {
  Suspects suspects;
  AccountMap map;
  std::optional<NativeOwners> native; // absent: malloc's blocks are too few to be looked at
  Waste waste;
  std::optional<Fragmentation> holes; // absent: the holes are few
  VerdictFacts facts;
  HangFacts hangs;
  Standing standing;
  std::unique_ptr<SourceLines> lines; // its notes() say which lines are unknown, of all that were asked for
  Notes notes;
  std::vector<OtherOwners> others; // who else holds each of the suspects
};

// `hubs`: full names of further types whose objects are hubs.
Examination examine(const Snapshot &snapshot, std::span<const std::string> hubs);
Plan plan_examination();

// Returns what is wrong, the most harmful first. `memory`, `hangs`: the results of judge() and judge_hangs() for the
// facts. `crash`: what ended the process; nullopt: it did not crash.
std::vector<Finding> findings_of(const Snapshot &snapshot, const Examination &examined,
                                 std::span<const MemoryVerdict> memory, std::span<const HangVerdict> hangs,
                                 const std::optional<Crash> &crash);

// Returns the crash as the first of the findings.
Finding finding_of(const Crash &crash);

// Memory of the runtime itself: the GC's tables, loader heaps, code.
inline constexpr EnumSet<MemoryClass> classes_of_runtime = {
    MemoryClass::gc_bookkeeping, MemoryClass::gc_other,     MemoryClass::handle_tables, MemoryClass::jit_code,
    MemoryClass::runtime_stubs,  MemoryClass::loader_heaps, MemoryClass::runtime_other};

// "374,936 × Int32[], duplicates, in Graph.Node.Payload"
std::string waste_text(const WasteRow &row);
// "1,500 holes beside Byte[], pinned (handle:pinned)"
std::string beside_text(const Snapshot &snapshot, const BesideHoles &one);

} // namespace dnheap
