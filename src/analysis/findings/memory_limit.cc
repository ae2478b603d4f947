// A heap that is nearly as large as the GC allows, or a machine or container whose memory is nearly used up by it. The
// limit is known only if the program, or the runtime's own code for it, called GC.GetGCMemoryInfo().
#include "analysis/findings/finding_rule.h"
#include "analysis/shapes/gc_memory_info.h"
#include "base/share.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

// Programs that are well keep room for what they allocate between two collections; what is alive is then less.
constexpr double least_live_share = 0.85;
// What a blocking collection of all generations leaves. It is higher, as the program may have let go of much since.
constexpr double least_left_share = 0.9;

std::string percent_of(u64 part, u64 whole) { return fmt::format("{:.0f} %", 100 * share_of(part, whole)); }

std::string advice_for(const GCMemoryInfo &info, const GCSettings &settings) {
  const GCSetting *setting = settings.hard_limit();
  if (setting && setting->hard_limit == info.limit)
    return "Let go of objects, or raise that setting.";
  if (info.container())
    return "Let go of objects, or give the container more memory; GCHeapHardLimitPercent raises the share of the heap.";
  return info.has_own_limit() ? "Let go of objects, or raise the limit (GCHeapHardLimit, GCHeapHardLimitPercent)."
                              : "Let go of objects, or give the process more memory.";
}

// What comes next, if it has not come yet.
const char *end_of(const GCMemoryInfo &info) {
  return info.has_own_limit() ? "an OutOfMemoryException is near" : "the system may soon end the process";
}

// "collection 4 (gen2) the heap had …": what comes after "after".
std::string heap_words(const GCMemoryInfo &info) {
  return fmt::format("collection {} (gen{}) the heap had {}, {} of it holes", info.collection, info.generation,
                     bytes_text(info.heap), bytes_text(info.fragmented));
}

// True if the GC cannot free enough: most of what it may use is alive.
bool is_live_near_limit(const GCMemoryInfo &info, const VerdictFacts &facts) {
  return share_of(facts.live, info.limit) >= least_live_share;
}

// True if a blocking collection of all generations left too much, and it is there still.
bool is_left_near_limit(const GCMemoryInfo &info, const VerdictFacts &facts) {
  return info.is_full_blocking() && share_of(info.heap, info.limit) >= least_left_share &&
         share_of(facts.live + facts.free_inside, info.limit) >= least_live_share;
}

// True if the memory of the machine or container is scarce, and this program's live objects are at least half of what
// is in use: other programs may use up a machine's memory, too.
bool is_load_high(const GCMemoryInfo &info, const VerdictFacts &facts) {
  return info.collection && info.load >= info.high_load && facts.live >= info.load / 2;
}

std::string limit_words(const GCMemoryInfo &info, const GCSettings &settings) {
  return fmt::format("The GC may use {} ({})", bytes_text(info.limit), origin_of_limit(info, settings));
}

std::string live_text(const GCMemoryInfo &info, const VerdictFacts &facts, const GCSettings &settings) {
  return fmt::format("{}, and {} of that ({}) is alive, which no collection can free: {}.{} {}",
                     limit_words(info, settings), bytes_text(facts.live), percent_of(facts.live, info.limit),
                     end_of(info), info.collection ? " After " + heap_words(info) + "." : "",
                     advice_for(info, settings));
}

std::string left_text(const GCMemoryInfo &info, const GCSettings &settings) {
  return fmt::format("{}, and after {} ({} of that): {}. {}", limit_words(info, settings), heap_words(info),
                     percent_of(info.heap, info.limit), end_of(info), advice_for(info, settings));
}

std::string load_text(const GCMemoryInfo &info, const VerdictFacts &facts) {
  return fmt::format("At collection {}, {} were in use in the machine or container. From {} on the GC collects all "
                     "generations more often, and the system may end the process. Live objects are {}. Let go of "
                     "objects, or give the process more memory.",
                     info.collection, bytes_text(info.load), bytes_text(info.high_load), bytes_text(facts.live));
}

} // namespace

void find_memory_limit(const Evidence &evidence, std::vector<Finding> &out) {
  const std::optional<GCMemoryInfo> info = find_gc_memory_info(evidence.snapshot).newest;
  const VerdictFacts &facts = evidence.facts;
  auto add = [&](Sureness sureness, std::string text) {
    out.push_back({.kind = "memory_limit",
                   .harm = Harm::memory,
                   .sureness = sureness,
                   .text = std::move(text),
                   .bytes = facts.live,
                   .verb = "gc",
                   .options = " --table memory_info"});
  };
  if (info && is_live_near_limit(*info, facts))
    add(Sureness::certain, live_text(*info, facts, find_gc_settings(evidence.snapshot)));
  else if (info && is_left_near_limit(*info, facts))
    add(Sureness::probable, left_text(*info, find_gc_settings(evidence.snapshot)));
  else if (info && is_load_high(*info, facts))
    add(Sureness::possible, load_text(*info, facts));
}

} // namespace dnheap
