// ConditionalWeakTables whose entries hold much memory because their keys live on; dependent handles of no such table.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/owners/retained_together.h"
#include "analysis/owners/weak_entries.h"
#include "analysis/shapes/held_by.h"
#include "base/most_frequent.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 least_entries = 1000;        // the runtime's own tables have some hundreds, by type or method
constexpr u64 least_entry_bytes = 4 << 20; // that only the entries keep,
constexpr double least_entry_share = 0.1;  // and their share of live memory
constexpr u64 least_dependent = 10'000;    // libraries make such handles by tables only

// Tables that one field holds.
struct WeakTables {
  u64 tables = 0;
  std::vector<WeakEntry> entries;
  Address largest = 0;
  u64 most = 0; // entries of that table
};

class KeptEntries {
public:
  explicit KeptEntries(const Snapshot &snapshot)
      : snapshot_(snapshot), found_(find_weak_entries(snapshot)), ranked_(ranked_tree(snapshot)), tree_(ranked_->tree),
        reader_(snapshot.references()) {}

  void find_tables(std::vector<Finding> &out) {
    u64 entries = 0;
    for (const WeakEntries::Table &table : found_.tables)
      entries += table.entries.size();
    if (entries < least_entries || !is_much(bytes_kept_by_tables()))
      return;
    HeldBy holders = find_holders();
    std::map<std::pair<std::string, std::string>, WeakTables> by_field; // and type
    for (WeakEntries::Table &table : found_.tables) {
      WeakTables &to = by_field[{holders.of(table.object), type_name(table.object)}];
      ++to.tables;
      if (table.entries.size() > to.most)
        to.most = table.entries.size(), to.largest = table.object;
      to.entries.insert(to.entries.end(), table.entries.begin(), table.entries.end());
    }
    for (const auto &[key, tables] : by_field)
      if (tables.entries.size() >= least_entries && key.first != HoldingFields::nobody_text)
        add_table(key.first, key.second, tables, holders, out);
  }

  void find_others(std::vector<Finding> &out) {
    if (found_.is_cut || found_.others.size() < least_dependent)
      return;
    std::map<std::string, u64> types;
    for (const WeakEntry &one : found_.others)
      ++types[type_name(one.value)];
    const auto most = most_frequent(types);
    const u64 bytes = bytes_kept(found_.others);
    out.push_back(
        {.kind = "dependent_handles",
         .harm = Harm::resource,
         .text = fmt::format("{} dependent handles belong to no ConditionalWeakTable: the program has made each as a "
                             "DependentHandle, and not disposed of it. They keep {}; {} of the values are {}. Such a "
                             "handle stays until Dispose, and keeps its value as long as its key lives.",
                             count_text(found_.others.size()), bytes_text(bytes), count_text(most->second),
                             brief_type_name(most->first)),
         .count = found_.others.size(),
         .bytes = bytes,
         .example = found_.others.front().value,
         .verb = "handles"});
  }

private:
  std::string type_name(Address object) {
    OpenedObject opened;
    return reader_.open(object, opened) ? snapshot_.runtime().types().name(opened.type->method_table) : "";
  }

  HeldBy find_holders() {
    std::vector<HeldObject> asked;
    for (const WeakEntries::Table &table : found_.tables) {
      asked.push_back({table.object, 1});
      for (const WeakEntry &one : table.entries)
        asked.push_back({one.key, 1});
    }
    return HeldBy(snapshot_, asked, found_.containers);
  }

  bool refers_to(Address from, Address to) {
    OpenedObject opened;
    bool out = false;
    if (reader_.open(from, opened) && !opened.type->references.empty())
      opened.type->references.for_each_slot(
          opened.bytes, opened.size, snapshot_.references().format(),
          [&](const std::byte *slot) { out |= load_pointer(slot, snapshot_.references().format()) == to; });
    return out;
  }
  std::optional<TreePlace> place(Address object) {
    const ObjectId id = snapshot_.index().find(object);
    return id == no_object ? std::nullopt : tree_.place(id);
  }
  // Returns what the values retain that live because of their keys alone, and are no fields of these.
  u64 bytes_kept(const std::vector<WeakEntry> &entries) {
    std::vector<Address> values;
    for (const WeakEntry &one : entries) {
      const std::optional<TreePlace> value = place(one.value), key = place(one.key);
      if (value && key && tree_.parent(*value) == *key && !refers_to(one.key, one.value))
        values.push_back(one.value);
    }
    return retained_together(snapshot_, tree_, values).bytes;
  }

  u64 bytes_kept_by_tables() {
    u64 out = 0;
    for (const WeakEntries::Table &table : found_.tables)
      out += bytes_kept(table.entries);
    return out;
  }
  bool is_much(u64 bytes) const {
    return bytes >= least_entry_bytes && share_of(bytes, tree_.reached().bytes) >= least_entry_share;
  }

  void add_table(const std::string &field, const std::string &type, const WeakTables &tables, HeldBy &holders,
                 std::vector<Finding> &out) {
    const u64 bytes = bytes_kept(tables.entries);
    if (!is_much(bytes))
      return;
    std::map<u32, u64> by_field;
    for (const WeakEntry &one : tables.entries)
      ++by_field[holders.field(one.key)];
    by_field.erase(HoldingFields::nobody); // these keys are garbage
    const auto most = most_frequent(by_field);
    if (most == by_field.end())
      return;
    const auto key = std::ranges::find_if(tables.entries,
                                          [&](const WeakEntry &one) { return holders.field(one.key) == most->first; });
    const std::string name = brief_type_name(type), holder = holder_in_words(snapshot_, field, tables.largest);
    out.push_back(
        {.kind = "weak_table",
         .harm = Harm::memory,
         .text = fmt::format(
             "{} {}{} entries, and their values keep {} that nothing else holds. An entry lives as long "
             "as its key: {}the keys are held by {}. Let go of the keys, or remove an entry as soon as "
             "its value is not needed any more.",
             tables.tables == 1 ? fmt::format("The {} of {} has", name, holder)
                                : fmt::format("{} × {}, held by {}, have", count_text(tables.tables), name, holder),
             found_.is_cut ? "at least " : "", count_text(tables.entries.size()), bytes_text(bytes),
             most->second == tables.entries.size() ? "" : count_text(most->second) + " of ",
             holder_in_words(snapshot_, holders.text(most->first), key->key)),
         .count = tables.entries.size(),
         .bytes = bytes,
         .example = tables.largest,
         .verb = "path",
         .options = " " + hex(key->key)});
  }

  const Snapshot &snapshot_;
  WeakEntries found_;
  const std::shared_ptr<const RankedTree> ranked_;
  const DominatorTree &tree_;
  ReferenceReader reader_;
};

} // namespace

void find_kept_entries(const Evidence &evidence, std::vector<Finding> &out) {
  if (evidence.snapshot.references().dependents().all().size() < least_entries)
    return;
  KeptEntries kept(evidence.snapshot);
  kept.find_tables(out);
  kept.find_others(out);
}

} // namespace dnheap
