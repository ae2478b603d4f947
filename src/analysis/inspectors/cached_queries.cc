#include "analysis/inspectors/cached_queries.h"

#include "analysis/shapes/expression_text.h"
#include "analysis/shapes/typed_objects.h"
#include "objects/live.h"
#include "objects/roots.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr const char *cache_entry = "Microsoft.Extensions.Caching.Memory.CacheEntry";
constexpr std::string_view query_key = "CompiledQueryCacheKey"; // of each kind of database, with a prefix of its own
// The key of a relational database has the general key inside, and those of some databases have that one inside.
constexpr std::string_view ways_to_query[] = {"_query", "_compiledQueryCacheKey._query",
                                              "_relationalCompiledQueryCacheKey._compiledQueryCacheKey._query"};

bool is_entry(const Snapshot &snapshot, Address method_table) {
  return snapshot.runtime().types().name(method_table) == cache_entry;
}

} // namespace

u64 count_cache_entries(const Snapshot &snapshot) {
  return count_that(snapshot, [&](Address mt) { return is_entry(snapshot, mt); });
}

std::vector<CachedQueries> find_cached_queries(const Snapshot &snapshot, u64 &unknown) {
  if (snapshot.target().has_blanked_values())
    return {};
  FieldReader fields(snapshot.runtime());
  ExpressionText texts(snapshot.runtime());
  std::map<std::string, CachedQueries> by_text;
  const bool knows_roots = !snapshot.roots().roots.empty();
  for (const TypedObject &entry : objects_that(snapshot, [&](Address mt) { return is_entry(snapshot, mt); })) {
    snapshot.watch().check();
    if (knows_roots && !snapshot.live().objects.test(entry.address))
      continue;
    const Address key = fields.reference_or_null(entry.address, "<Key>k__BackingField");
    if (!key || !snapshot.runtime().types().name(fields.type_of(key)).ends_with(query_key))
      continue;
    Address query = 0;
    for (const std::string_view way : ways_to_query)
      if (!query)
        query = fields.reference_or_null(key, way);
    if (!query) {
      ++unknown;
      continue;
    }
    ExpressionText::Written written = texts.write(query);
    CachedQueries &queries = by_text[written.text];
    if (queries.count++ == 0) {
      queries.query = std::move(written.text);
      queries.example = entry.address;
    }
    queries.has_constants |= written.has_constants;
  }
  std::vector<CachedQueries> out;
  for (auto &[text, queries] : by_text)
    out.push_back(std::move(queries));
  std::ranges::stable_sort(out, std::greater(), &CachedQueries::count);
  return out;
}

} // namespace dnheap
