// MemoryCaches without a SizeLimit that hold much of live memory.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/caches.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/owners/retained_together.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/typed_objects.h"
#include "base/share.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_cache_entries = 10'000; // small caches are bounded by what there is to cache
constexpr double least_cache_share = 0.3;   // of live memory: that of a suspect
constexpr u64 least_cache_bytes = 16 << 20; // too little to matter
constexpr const char *entry_type = "Microsoft.Extensions.Caching.Memory.CacheEntry";

} // namespace

void find_unlimited_caches(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (snapshot.target().has_blanked_values() || count_called(snapshot, entry_type) < least_cache_entries)
    return;
  const BaseTypes bases(snapshot.runtime());
  FieldReader fields(snapshot.runtime());
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  for (const TypedObject &one :
       objects_that(snapshot, [&](Address type) { return bases.derives(type, memory_cache); })) {
    const std::optional<FoundCache> cache = read_cache(fields, one.address);
    if (!cache || cache->limit || cache->entries < least_cache_entries)
      continue;
    const u64 bytes = retained_together(snapshot, ranked->tree, std::span(&one.address, 1)).bytes;
    const double share = share_of(bytes, evidence.facts.live);
    if (bytes < least_cache_bytes || share < least_cache_share)
      continue;
    out.push_back({.kind = "cache_without_limit",
                   .harm = Harm::memory,
                   .text = fmt::format("A MemoryCache has {} entries and no SizeLimit, and holds {} ({:.0f} % of live "
                                       "memory): it grows as long as entries do not expire. Set SizeLimit, and a Size "
                                       "for each entry.",
                                       count_text(cache->entries), bytes_text(bytes), 100 * share),
                   .count = cache->entries,
                   .bytes = bytes,
                   .example = one.address,
                   .verb = "inspect caches"});
  }
}

} // namespace dnheap
