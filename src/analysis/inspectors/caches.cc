// `inspect caches`: instances of Microsoft.Extensions.Caching.Memory.MemoryCache: their entries and limits.
#include "analysis/inspectors/caches.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

constexpr const char *cache_entry = "Microsoft.Extensions.Caching.Memory.CacheEntry";
// Fields of CoherentState for its entries: first one ConcurrentDictionary, since a later patch of 8.0 two.
constexpr const char *entry_tables[] = {"_entries", "_stringEntries", "_nonStringEntries"};
// Fields for the sum of the entries' sizes: since 11.0 it is in a cache line of its own.
constexpr const char *cache_sizes[] = {"_cacheSize", "_cacheSizePadded.Value"};
constexpr u64 most_cache_locks = 1 << 16; // of one table

struct CacheGroup {
  u64 count = 0, entries = 0, most = 0, size = 0;
  Address largest = 0;
};
struct CacheKey {
  std::string type;
  std::optional<u64> limit;
  std::string held_by;
  auto operator<=>(const CacheKey &) const = default;
};

// Returns the number of entries in a ConcurrentDictionary, which counts them by lock.
std::optional<u64> concurrent_count(FieldReader &fields, Address dictionary) {
  const Address tables = fields.reference_or_null(dictionary, "_tables");
  const Address counts = tables ? fields.reference_or_null(tables, "_countPerLock") : 0;
  const std::optional<u32> locks = counts ? fields.length(counts) : std::nullopt;
  if (!locks || *locks > most_cache_locks)
    return std::nullopt;
  u64 out = 0;
  for (u64 i = 0; i < *locks; ++i) {
    const std::optional<u32> count = fields.memory().try_load<u32>(counts + 2 * fields.pointer_size() + 4 * i);
    if (!count)
      return std::nullopt;
    out += *count;
  }
  return out;
}

} // namespace

std::optional<FoundCache> read_cache(FieldReader &fields, Address cache) {
  const Address state = fields.reference_or_null(cache, "_coherentState"),
                options = fields.reference_or_null(cache, "_options");
  std::optional<u64> size;
  for (const char *path : cache_sizes)
    if (state && !size)
      size = fields.number<u64>(state, path);
  const InstanceField *limit = options ? fields.find(fields.type_of(options), "_sizeLimit") : nullptr;
  if (!size || !limit || limit->type != ElementType::I8)
    return std::nullopt;
  FoundCache out;
  out.size = *size;
  const std::optional<u64> most = fields.number<u64>(options, "_sizeLimit");
  if (!most)
    return std::nullopt;
  if (static_cast<i64>(*most) >= 0)
    out.limit = *most;
  bool has_entries = false;
  for (const char *name : entry_tables) {
    const Address table = fields.reference_or_null(state, name);
    if (!table)
      continue;
    const std::optional<u64> entries = concurrent_count(fields, table);
    if (!entries)
      return std::nullopt;
    out.entries += *entries;
    has_entries = true;
  }
  return has_entries ? std::optional(out) : std::nullopt;
}

namespace {

report::Table caches_table(const std::map<CacheKey, CacheGroup> &groups) {
  using G = std::pair<const CacheKey, CacheGroup>;
  const std::vector<const G *> sorted = largest_first(groups, &CacheGroup::entries);
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"entries", "Entries", Kind::count}, [](const G &g) { return g.second.entries; }},
      {{"most", "Most", Kind::count}, [](const G &g) { return g.second.most; }},
      {{"size", "Size", Kind::count}, [](const G &g) { return g.first.limit ? Cell(g.second.size) : Cell(); }},
      {{"size_limit", "Limit", Kind::count}, [](const G &g) { return g.first.limit; }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"example", "Largest", Kind::address}, [](const G &g) {
         return g.second.largest;
       }}}.table("caches", "", sorted);
  CacheGroup sum;
  for (const auto &[key, group] : groups) {
    sum.count += group.count;
    sum.entries += group.entries;
  }
  table.total =
      total_row(table, {{"count", sum.count}, {"entries", sum.entries}, {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(one->first.held_by, table.notes);
  table.notes.insert(table.notes.begin(), "Size and Limit: in the program's own units; empty where a cache has no "
                                          "limit, and so grows as long as entries do not expire");
  return table;
}

} // namespace

void inspect_caches(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const Runtime &runtime = snapshot.runtime();
  const BaseTypes bases(runtime);
  FieldReader fields(runtime);
  const std::vector<TypedObject> objects =
      objects_that(snapshot, [&](Address mt) { return bases.derives(mt, memory_cache); });
  const std::vector<Address> entries = addresses_of( // each entry refers to its cache
      objects_called(snapshot, cache_entry));
  HeldBy holders(snapshot, worth_the_same(objects), entries);
  std::map<CacheKey, CacheGroup> groups;
  u64 unknown = 0;
  for (const TypedObject &object : objects) {
    const std::optional<FoundCache> cache = read_cache(fields, object.address);
    if (!cache) {
      ++unknown;
      continue;
    }
    CacheGroup &group = groups[{runtime.types().name(object.method_table), cache->limit, holders.of(object.address)}];
    ++group.count;
    group.entries += cache->entries;
    group.size += cache->size;
    if (!group.largest || cache->entries > group.most) {
      group.most = cache->entries;
      group.largest = object.address;
    }
  }
  answer.tables.push_back(caches_table(groups));
  if (unknown)
    answer.completeness->notes.add(unknown_shape_note(unknown, memory_cache, "such a cache"));
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const auto &a, const auto &b) { return a.second.most < b.second.most; });
  if (most != groups.end())
    answer.next_command = hex(most->second.largest);
}

} // namespace dnheap
