// A program that stands still for a large part of its time while the GC collects.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/source_line_text.h"
#include "analysis/shapes/gc_memory_info.h"
#include "analysis/shapes/gc_records.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr double least_pause_share = 0.15; // programs that are well stand still for 5 % at most
// Programs that fill their caches when they start have some collections, which are all that they have done so far.
constexpr u64 least_collections = 20;
constexpr double nearly_full = 0.7;   // of the limit
constexpr double little_freed = 0.01; // of the heap

// Returns the largest group of threads that run in the program's methods; null: none does. A program that is idle did
// its work some time ago, however long that took.
const ThreadGroup *running_group(const Evidence &evidence) {
  const ThreadGroup *out = nullptr;
  for (const ThreadGroup &group : evidence.threads)
    if (group.waits_for.empty() && !group.is_in_native && (!out || group.count > out->count))
      out = &group;
  return out;
}

bool is_collecting(const Runtime &runtime) {
  Notes ignored;
  return runtime.gc_structures_valid(ignored) == false;
}

std::string running_text(const Evidence &evidence, const ThreadGroup &group) {
  const SourceLine line = evidence.lines.find(group.method_desc, group.ip, !group.is_active).at;
  return fmt::format(" {} run{} in {}{}.", group.count == 1 ? "1 thread" : count_text(group.count) + " threads",
                     group.count == 1 ? "s" : "", group.method, line_in_brackets(line));
}

// Returns what the last collection did: "Collection 30 (gen2, compacting) took 60.3 ms, …".
std::string last_in_words(const GcRecord &last) {
  return fmt::format("Collection {} (gen{}{}{}) took {:.1f} ms, freed {} and left {}.", last.collection,
                     last.generation, last.is_concurrent ? ", in the background" : "",
                     last.is_compacting ? ", compacting" : "", static_cast<double>(last.pause_us) / 1000,
                     bytes_text(last.freed()), bytes_text(last.heap - last.holes));
}

u64 limit_of(const Snapshot &snapshot, const GCSettings &settings) {
  const std::optional<GCMemoryInfo> info = find_gc_memory_info(snapshot).newest;
  if (info && info->has_own_limit())
    return info->limit;
  const GCSetting *setting = settings.hard_limit();
  return setting ? setting->hard_limit.value_or(0) : 0;
}

std::string gc_advice(const Snapshot &snapshot, const GcRecord &last) {
  constexpr u64 large = 3; // the generation of large objects
  const u64 limit = limit_of(snapshot, find_gc_settings(snapshot));
  const bool is_full = limit && share_of(last.heap, limit) >= nearly_full;
  std::string out;
  if (last.generation == 2 && !is_full && share_of(last.freed(), last.heap) < little_freed)
    out = " It freed little, so nothing was the reason to collect: perhaps the program calls GC.Collect.";
  else if (share_of(last.generations[large].freed(), last.freed()) >= 0.5)
    out = " Most of what it freed were objects of 85,000 bytes or more, for which the GC collects all generations: "
          "allocate such arrays once and use them again (ArrayPool).";
  else
    out = " Allocate less in each step: use buffers again, and avoid copies.";
  if (is_full)
    out += fmt::format(" The heap may have {}, so each collection makes little room: keep less, or raise the limit.",
                       bytes_text(limit));
  return out;
}

} // namespace

void find_gc_time(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const GcRecords records = find_gc_records(snapshot);
  const GcRecord *last = records.newest();
  if (!last || last->collection < least_collections || last->pause_share < least_pause_share)
    return;
  const ThreadGroup *running = running_group(evidence);
  if (!running && !is_collecting(snapshot.runtime()))
    return;
  out.push_back(
      {.kind = "gc_time",
       .harm = Harm::slow,
       .sureness = Sureness::certain, // the GC's own figure
       .text = fmt::format("The program has stood still for {:.0f} % of its time so far, in {} garbage collections. "
                           "{}{}{}",
                           100 * last->pause_share, count_text(last->collection), last_in_words(*last),
                           gc_advice(snapshot, *last), running ? running_text(evidence, *running) : ""),
       .verb = "gc"});
}

} // namespace dnheap
