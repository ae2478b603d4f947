#include "analysis/verbs/tables/account_table.h"

#include "base/text.h"
#include "objects/live.h"
#include "report/columns_of.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

// Returns the number of the class's pieces in words, such as " (3 regions)"; empty if there are none.
std::string pieces_text(MemoryClass memory, const AccountMap &map) {
  const u64 pieces = map.of(memory).pieces;
  auto of = [&](const char *one, const char *many) {
    return pieces ? fmt::format(" ({} {})", count_text(pieces), pieces == 1 ? one : many) : std::string();
  };
  switch (memory) {
  case MemoryClass::gc_free_regions:
  case MemoryClass::gc_to_decommit: return of("region", "regions");
  case MemoryClass::stacks_in_use: return of("thread", "threads");
  case MemoryClass::images: return of("file", "files");
  case MemoryClass::mapped_files: return of("file", "files");
  case MemoryClass::not_identified: return of("stretch", "stretches");
  case MemoryClass::malloc_large: return of("block", "blocks");
  case MemoryClass::malloc_not_walked: return of("segment of mimalloc", "segments of mimalloc");
  case MemoryClass::malloc_in_use:
    return fmt::format(" ({} blocks, {} arena{})", count_text(pieces), count_text(map.malloc.arenas.size()),
                       map.malloc.arenas.size() == 1 ? "" : "s");
  default: return "";
  }
}

} // namespace

report::Table account_table(const AccountMap &map, bool is_process, bool in_text) {
  const Shown of_dumps = is_process ? Shown::in_data : Shown::everywhere,
              of_processes = map.resident ? Shown::everywhere : Shown::in_data;
  const u64 accessible = map.mapped - map.of(MemoryClass::reserved).bytes;
  auto resident = [&](u64 ClassSum::*member) {
    return [&map, member](const MemoryClass &memory) {
      return map.resident && !(map.is_estimate && is_of_files(memory)) ? Cell(map.of(memory).*member) : Cell();
    };
  };
  auto stored = [&](u64 bytes) { return is_process ? Cell() : Cell(bytes); };
  auto share = [&](u64 bytes) {
    return accessible ? Cell(static_cast<double>(bytes) / static_cast<double>(accessible)) : Cell();
  };
  std::vector<MemoryClass> classes;
  for (u32 i = 0; i < memory_class_count; ++i)
    if (const auto memory = static_cast<MemoryClass>(i); map.of(memory).bytes)
      classes.push_back(memory);
  using C = MemoryClass;
  report::Table table = report::ColumnsOf<C>{
      {{"class", "Class", Kind::text, Shown::in_data}, [](C c) { return name_of(c); }},
      {{"group", "Group", Kind::text, Shown::in_data}, [](C c) { return group_of(c); }},
      {{"bytes", "Mapped", Kind::bytes}, [&](C c) { return map.of(c).bytes; }},
      {{"dump_bytes", "In dump", Kind::bytes, of_dumps}, [&](C c) { return stored(map.of(c).stored); }},
      {{"resident_low", "Resident", Kind::bytes, of_processes}, resident(&ClassSum::resident_low)},
      {{"resident_high", "at most", Kind::bytes, of_processes}, resident(&ClassSum::resident_high)},
      {{"share", "Share", Kind::percent}, [&](C c) { return c == C::reserved ? Cell() : share(map.of(c).bytes); }},
      {{"pieces", "", Kind::count, Shown::in_data}, [&](C c) { return map.of(c).pieces; }},
      {{"what", "What", Kind::text, Shown::everywhere, true}, [&](C c) {
         return text_of(c) + pieces_text(c, map);
       }}}.table("account", "", classes);
  table.shown = in_text ? Shown::everywhere : Shown::in_data;
  table.total = total_row(table, {{"bytes", accessible},
                                  {"dump_bytes", stored(map.stored)},
                                  {"resident_low", map.resident ? Cell(map.resident->first) : Cell()},
                                  {"resident_high", map.resident ? Cell(map.resident->second) : Cell()},
                                  {"share", share(accessible)},
                                  {"what", map.of(C::reserved).bytes ? "total, excluding reserved memory" : "total"}});
  table.whole = true;
  return table;
}

HeapTally tally_of_live(const Snapshot &snapshot) {
  ObjectFilter filter;
  filter.among = &snapshot.live().objects;
  filter.not_frozen = &snapshot.heap();
  return snapshot.tally(filter);
}

} // namespace dnheap
