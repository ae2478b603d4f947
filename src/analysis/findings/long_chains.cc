// Dictionaries and sets whose keys have bad hash codes, so that each look-up compares very many keys.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/type_called.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/shapes/collections/hash_chains.h"
#include "analysis/shapes/held_by.h"
#include "base/text.h"
#include "objects/object_index.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_table_entries = 1000;
// Of ten million keys that are spread well, no more than a dozen share a bucket.
constexpr u64 least_longest = 100;
constexpr double least_usual = 16;
constexpr u64 most_tables = 3; // the worst

bool is_hash_table(const std::string &type) {
  return is_type_called(type, "System.Collections.Generic.Dictionary") ||
         is_type_called(type, "System.Collections.Generic.HashSet");
}

struct BadTable {
  Address address = 0, method_table = 0;
  HashChains chains;
};

std::vector<BadTable> bad_tables(const Snapshot &snapshot) {
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  FieldReader fields(snapshot.runtime());
  std::vector<BadTable> out;
  for (const TypedObject &one :
       objects_that(snapshot, [&](Address mt) { return is_hash_table(snapshot.runtime().types().name(mt)); })) {
    if (fields.number<u32>(one.address, "_count").value_or(0) < least_table_entries)
      continue;
    snapshot.watch().check();
    const ObjectId id = snapshot.index().find(one.address);
    if (id == no_object || !ranked->tree.place(id))
      continue;
    if (!may_have_long_chains(snapshot.runtime(), fields, one.address, least_usual))
      continue;
    std::optional<HashChains> chains = hash_chains(snapshot.runtime(), fields, one.address, least_table_entries);
    if (chains && chains->longest >= least_longest && chains->usual() >= least_usual)
      out.push_back({one.address, one.method_table, std::move(*chains)});
  }
  std::ranges::stable_sort(out, [](const BadTable &a, const BadTable &b) { return a.chains.steps > b.chains.steps; });
  out.resize(std::min<u64>(out.size(), most_tables));
  return out;
}

// Returns the type whose GetHashCode made the codes: that of a comparer of the program's, or the keys'.
std::string maker_of_codes(const Snapshot &snapshot, FieldReader &fields, const BadTable &of) {
  TypeSystem &types = snapshot.runtime().types();
  const Address comparer = fields.type_of(fields.reference_or_null(of.address, "_comparer")); // 0: the default one
  if (comparer && !types.name(comparer).starts_with("System."))
    return types.name(comparer);
  const Address key = fields.type_of(of.chains.key);
  return key ? types.name(key) : of.chains.key_type;
}

std::string reason_of(const HashChains &chains) {
  if (chains.codes == 1)
    return "all keys have the same hash code";
  return chains.codes * 2 < chains.entries
             ? fmt::format("the keys have only {} different hash codes", count_text(chains.codes))
             : "the keys' hash codes are multiples of one another and share few buckets";
}

} // namespace

void find_long_chains(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const std::vector<BadTable> tables = bad_tables(snapshot);
  if (tables.empty())
    return;
  std::vector<HeldObject> asked;
  for (const BadTable &one : tables)
    asked.push_back({one.address, 1});
  HeldBy holders(snapshot, asked);
  FieldReader fields(snapshot.runtime());
  for (const BadTable &one : tables) {
    const std::string maker = maker_of_codes(snapshot, fields, one);
    const std::string held_by = holders.of(one.address);
    out.push_back(
        {.kind = "long_chains",
         .harm = Harm::slow,
         .sureness = Sureness::certain,
         .text = fmt::format("Each look-up in a {} of {} entries, held by {}, compares {} of them on average: {}. "
                             "{} has to return values that differ.",
                             brief_type_name(snapshot.runtime().types().name(one.method_table)),
                             count_text(one.chains.entries), holder_in_words(snapshot, held_by, one.address),
                             count_text(static_cast<u64>(one.chains.usual() + 0.5)), reason_of(one.chains),
                             maker.empty() ? "The keys' GetHashCode" : "GetHashCode of " + maker),
         .count = one.chains.entries,
         .example = one.address,
         .verb = "path",
         .options = " " + hex(one.address)});
  }
}

} // namespace dnheap
