#include "runtime/layout/coreclr/sync_blocks.h"

#include "runtime/layout/coreclr/dac_table.h"
#include "runtime/object_header.h"

#include <algorithm>
#include <map>
#include <set>

namespace dnheap {

namespace {

// Bounds of the variables' places in g_dacTable (inc/dacvars.h), wider than in any version: the table counted from
// g_gcDacGlobals, the cache counted from the table.
constexpr i64 first_table = 40, last_table = 80, last_cache = 4;
constexpr u32 looked_at = 64, most_looked_at = 1 << 16; // entries of a candidate table
constexpr u32 least_size = 128, most_free_blocks = 4096;

class SyncBlocksDerivation {
public:
  SyncBlocksDerivation(Derivation &derivation, Address gc_variable)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), variables_(derivation, gc_variable) {}

  void run() {
    Address variable = find_table();
    if (!variable)
      return;
    table_ = d_.word(variable).value_or(0);
    // {SyncBlock, Object}
    i64 sync_block = d_.descriptor.try_offset("SyncTableEntry", "SyncBlock").value_or(0);
    if (!d_.descriptor.find_field("SyncTableEntry", "SyncBlock"))
      d_.descriptor.set_field("SyncTableEntry", "SyncBlock", sync_block, Origin::discovered);
    // Entries that were never used hold garbage: one object that leads back to its entry is proof enough.
    auto is_object = [&](i64 x) -> Verdict {
      return x != sync_block && (links(table_, static_cast<u64>(x), most_looked_at, 1).there ||
                                 is_plausible(links(table_, static_cast<u64>(x), looked_at)));
    };
    if (!d_.choose(
            "SyncTableEntry", "Object",
            [&] {
              return std::vector<i64>{0, p_};
            },
            is_object,
            "it is the other word of an entry; one object's header names its entry, or at least half of the entries "
            "are free or lead to something that can be an object"))
      return;
    object_ = static_cast<u64>(d_.descriptor.offset("SyncTableEntry", "Object"));
    find_count(variable);
  }

private:
  // Counts of entries by what they refer to: an object whose header has their index, an object whose header does not
  // have it, nothing (free), or something that cannot be an object. Headers may be damaged, and a later step finds that
  // out, so the test does not require all to be sound.
  struct Links {
    u32 there = 0, not_there = 0, free = 0, wrong = 0;
  };
  static bool is_plausible(const Links &links) { return links.wrong <= links.there + links.not_there + links.free; }
  // Counts these entries, or stops once `enough` are linked both ways.
  Links links(Address table, u64 object_at, u32 entries, u32 enough = ~u32{0}) const {
    const DataType *type = d_.descriptor.find_type("SyncTableEntry");
    const u64 size = type ? type->size.value_or(2 * d_.pointer_size) : 2 * d_.pointer_size;
    const u64 end = d_.room(table, (entries + u64{1}) * size) / size;
    Links out;
    for (u64 i = 1; i < end && out.there < enough; ++i) {
      std::optional<u64> object = d_.word(table + i * size + object_at);
      if (!object)
        break;
      std::optional<u32> word = d_.memory.try_load<u32>(*object - ObjectHeader::offset);
      ObjectHeader header{word.value_or(0)};
      ++(*object == 0 || *object & 1                 ? out.free
         : *object % d_.pointer_size || !word        ? out.wrong
         : header.has_index() && header.index() == i ? out.there
                                                     : out.not_there);
    }
    return out;
  }

  Address find_table() const {
    if (std::optional<u64> published = d_.descriptor.try_number("SyncTableEntries"))
      return *published;
    // A table in use is usually found by its first entries; if all of these are free again, by later ones.
    std::set<Address> found;
    u32 entries = looked_at;
    d_.memory.as_searched([&] {
      found = linked_tables(entries);
      if (found.empty())
        found = linked_tables(entries = most_looked_at);
    });
    if (found.size() == 1) {
      d_.memory.as_found([&] { links(d_.word(*found.begin()).value_or(0), d_.pointer_size, entries); });
      d_.descriptor.set_number("SyncTableEntries", *found.begin(), true, Origin::discovered);
      return *found.begin();
    }
    d_.descriptor.missing["SyncTableEntries"] =
        std::to_string(found.size()) +
        " candidates in g_dacTable; exactly one must pass: it leads to a table, and no other table has more entries "
        "with an object whose header names the entry";
    return 0;
  }

  // Returns the variables that lead to the most entries whose object has a header that refers back: only the table of
  // sync blocks has such entries.
  std::set<Address> linked_tables(u32 entries) const {
    std::map<u32, std::set<Address>> by_links;
    for (i64 i = first_table; i <= last_table; ++i)
      if (std::optional<Address> variable = variables_.variable(i)) {
        const Address table = d_.word(*variable).value_or(0);
        if (table < 0x10000 || table % d_.pointer_size)
          continue;
        if (u32 there = links(table, d_.pointer_size, entries).there)
          by_links[there].insert(*variable);
      }
    return by_links.empty() ? std::set<Address>() : by_links.rbegin()->second;
  }

  // True if the number at that offset can be the count of the table's used entries: so many entries look used. The
  // neighbouring words do not matter.
  bool counts_entries(Address cache, i64 x) const {
    u32 count = d_.memory.try_load<u32>(cache + static_cast<u64>(x)).value_or(0);
    return count && count - 1 <= ObjectHeader::index_mask &&
           is_plausible(links(table_, object_, std::min(count - 1, looked_at)));
  }
  // vm/syncblk.h, SyncBlockCache: …, SyncBlockArray*, u32 free block, u32 FreeSyncTableIndex, list of free entries
  // (their number, doubled), u32 size of the table, old tables, …
  bool is_count(Address cache, i64 x) const {
    const Address at = cache + static_cast<u64>(x), p = d_.pointer_size;
    std::optional<u32> count = d_.memory.try_load<u32>(at), free_block = d_.memory.try_load<u32>(at - 4),
                       size = d_.memory.try_load<u32>(at + 4 + p);
    std::optional<u64> blocks = d_.word(at - 4 - p), free = d_.word(at + 4), old = d_.word(at + 4 + 2 * p);
    if (!count || !free_block || !size || !blocks || !free || !old)
      return false;
    auto leads = [&](u64 pointer) { return pointer % p == 0 && (pointer == 0 || d_.word(pointer)); };
    return *count && *count - 1 <= *size && *size >= least_size && *size <= ObjectHeader::index_mask &&
           *free_block <= most_free_blocks && *free % 2 == 0 && *free / 2 < *count && leads(*blocks) && leads(*old) &&
           counts_entries(cache, x);
  }
  std::vector<i64> counts(Address cache) const {
    return d_.search(16 + 4, 64 * p_, p_, [&](i64 x) { return is_count(cache, x); });
  }
  // Returns the variables that lead to a count of the table's entries. They lie behind the table's own variable, which
  // has the index `of_table`.
  std::set<Address> caches(i64 of_table) const {
    std::set<Address> out;
    for (i64 behind = 1; behind <= last_cache; ++behind)
      if (std::optional<Address> variable = variables_.variable(of_table + behind))
        if (Address cache = d_.word(*variable).value_or(0); cache >= 0x10000 && counts(cache).size() == 1)
          out.insert(*variable);
    return out;
  }

  void find_count(Address table_variable) {
    if (!d_.descriptor.try_number("SyncBlockCache")) {
      std::set<Address> found;
      d_.memory.as_searched([&] {
        for (i64 i = first_table; i <= last_table && found.empty(); ++i)
          if (variables_.variable(i) == table_variable)
            found = caches(i);
      });
      if (found.size() != 1) {
        d_.descriptor.missing["SyncBlockCache"] = std::to_string(found.size()) +
                                                  " candidates behind the table's variable in g_dacTable; exactly one "
                                                  "must pass: it leads to data that counts the entries of the table";
        return;
      }
      d_.descriptor.set_number("SyncBlockCache", *found.begin(), true, Origin::discovered);
    }
    Address cache = d_.word(d_.descriptor.number("SyncBlockCache")).value_or(0);
    d_.choose(
        "SyncBlockCache", "FreeSyncTableIndex", [&] { return counts(cache); },
        [&](i64 x) { return cache && counts_entries(cache, x); },
        "it is at least 1, and at least half of the entries up to it are free or lead to something that can be an "
        "object");
  }

  Derivation &d_;
  const i64 p_;
  const DacTable variables_;
  Address table_ = 0;
  u64 object_ = 0;
};

} // namespace

void derive_sync_blocks(Derivation &derivation, Address gc_variable) {
  SyncBlocksDerivation(derivation, gc_variable).run();
}

} // namespace dnheap
