#include "analysis/verbs/tables/loaders_table.h"

#include "analysis/inspectors/emitted_assemblies.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr const char *core_library = "System.Private.CoreLib.dll";

struct LoaderMemory {
  u64 blocks = 0, bytes = 0, reserved = 0;
};
struct LoaderRow {
  std::string assemblies;
  std::optional<bool> is_collectible;
  u64 count = 0;
  LoaderMemory memory;
  Address allocator = 0;
};

// Returns how much of [start, end) is accessible. `stretches`: by address.
u64 accessible_bytes(const std::vector<ClassStretch> &stretches, Address start, Address end) {
  u64 out = 0;
  for (auto it = std::ranges::upper_bound(stretches, start, {}, &ClassStretch::end);
       it != stretches.end() && it->start < end; ++it)
    out += std::min(it->end, end) - std::max(it->start, start);
  return out;
}

std::map<Address, LoaderMemory> memory_of_loaders(const AccountMap &map) {
  std::map<Address, LoaderMemory> out;
  for (const RuntimeBlock &block : map.loader_blocks) {
    LoaderMemory &sum = out[block.allocator];
    ++sum.blocks;
    sum.reserved += block.end - block.start;
    sum.bytes += accessible_bytes(map.stretches, block.start, block.end);
  }
  return out;
}

struct LoadedNames {
  // By LoaderAllocator: the program's own first.
  std::map<Address, std::set<std::pair<bool, std::string>>> of;
  Address never_unloaded = 0; // that of the core library
};

LoadedNames names_of_loaders(const Snapshot &snapshot) {
  const std::vector<LoadedAssembly> &assemblies = snapshot.assemblies();
  std::vector<Address> modules;
  for (const LoadedAssembly &one : assemblies)
    modules.push_back(one.module);
  const std::unordered_map<Address, Address> allocators = snapshot.runtime().loader_allocators(modules);
  LoadedNames out;
  for (const LoadedAssembly &one : assemblies)
    if (const auto found = allocators.find(one.module); found != allocators.end()) {
      out.of[found->second].emplace(one.is_framework, one.is_emitted ? name_pattern(one.name) : one.name);
      if (one.name == core_library)
        out.never_unloaded = found->second;
    }
  return out;
}

// "a.dll, b.dll, c.dll" or "a.dll, b.dll and 7 more".
std::string names_text(const std::set<std::pair<bool, std::string>> &names) {
  constexpr u64 most = 3;
  std::vector<std::string> shown;
  for (const auto &[is_framework, name] : names)
    shown.push_back(name);
  if (names.size() <= most)
    return fmt::format("{}", fmt::join(shown, ", "));
  shown.resize(most - 1);
  return fmt::format("{} and {} more", fmt::join(shown, ", "), count_text(names.size() - shown.size()));
}

std::vector<LoaderRow> loader_rows(const Snapshot &snapshot, const AccountMap &map) {
  const std::map<Address, LoaderMemory> memory = memory_of_loaders(map);
  if (memory.empty())
    return {};
  const LoadedNames names = names_of_loaders(snapshot);
  std::map<std::pair<std::string, std::optional<bool>>, LoaderRow> groups;
  for (const auto &[allocator, of] : memory) {
    const auto found = names.of.find(allocator);
    const std::string text = found == names.of.end() ? "" : names_text(found->second);
    const std::optional<bool> is_collectible =
        names.never_unloaded ? std::optional(allocator != names.never_unloaded) : std::nullopt;
    LoaderRow &group = groups[{text, is_collectible}];
    group.assemblies = text;
    group.is_collectible = is_collectible;
    group.allocator = group.count++ ? group.allocator : allocator;
    group.memory.blocks += of.blocks;
    group.memory.bytes += of.bytes;
    group.memory.reserved += of.reserved;
  }
  std::vector<LoaderRow> out;
  for (auto &[key, group] : groups)
    out.push_back(std::move(group));
  std::ranges::stable_sort(out, std::greater(), [](const LoaderRow &row) { return row.memory.bytes; });
  return out;
}

} // namespace

report::Table loaders_table(const Snapshot &snapshot, const AccountMap &map, bool in_text) {
  const std::vector<LoaderRow> rows = loader_rows(snapshot, map);
  using L = LoaderRow;
  report::Table table = report::ColumnsOf<L>{
      {{"count", "Count", Kind::count}, &L::count},
      {{"assemblies", "Assemblies", Kind::text}, [](const L &l) { return report::text_cell(printable(l.assemblies)); }},
      {{"collectible", "Collectible", Kind::boolean},
       [](const L &l) { return l.is_collectible ? Cell(*l.is_collectible) : Cell(); }},
      {{"blocks", "Blocks", Kind::count}, [](const L &l) { return l.memory.blocks; }},
      {{"bytes", "Mapped", Kind::bytes}, [](const L &l) { return l.memory.bytes; }},
      {{"reserved_bytes", "Reserved", Kind::bytes}, [](const L &l) { return l.memory.reserved; }},
      {{"allocator", "Allocator", Kind::address, Shown::in_data},
       &L::allocator}}.table("loaders", "Loader heaps, by what is unloaded together", rows);
  LoaderMemory sum;
  u64 count = 0;
  bool is_any_collectible = false;
  for (const LoaderRow &row : rows) {
    count += row.count;
    sum.blocks += row.memory.blocks;
    sum.bytes += row.memory.bytes;
    sum.reserved += row.memory.reserved;
    is_any_collectible |= row.is_collectible == true;
  }
  table.total = total_row(table, {{"count", count},
                                  {"assemblies", total_of(rows.size(), "row")},
                                  {"blocks", sum.blocks},
                                  {"bytes", sum.bytes},
                                  {"reserved_bytes", sum.reserved}});
  if (!rows.empty())
    table.notes.push_back("Mapped: of what is reserved; precode in it counts as stubs in the first table");
  table.shown = in_text || is_any_collectible ? Shown::everywhere : Shown::in_data;
  return table;
}

} // namespace dnheap
