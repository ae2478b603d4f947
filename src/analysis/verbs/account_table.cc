#include "analysis/verbs/account_table.h"

#include "base/text.h"
#include "objects/live.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Row;
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
  report::Table table;
  table.name = "account";
  table.shown = in_text ? Shown::everywhere : Shown::in_data;
  table.columns = {{"class", "Class", Kind::text, Shown::in_data},
                   {"group", "Group", Kind::text, Shown::in_data},
                   {"bytes", "Mapped", Kind::bytes},
                   {"dump_bytes", "In dump", Kind::bytes, of_dumps},
                   {"resident_low", "Resident", Kind::bytes, of_processes},
                   {"resident_high", "at most", Kind::bytes, of_processes},
                   {"share", "Share", Kind::percent},
                   {"pieces", "", Kind::count, Shown::in_data},
                   {"what", "What", Kind::text, Shown::everywhere, true}};
  const u64 accessible = map.mapped - map.of(MemoryClass::reserved).bytes;
  auto resident = [&](MemoryClass memory, u64 bytes) {
    return map.resident && !(map.is_estimate && is_of_files(memory)) ? Cell(bytes) : Cell();
  };
  auto stored = [&](u64 bytes) { return is_process ? Cell() : Cell(bytes); };
  auto share = [&](u64 bytes) {
    return accessible ? Cell(static_cast<double>(bytes) / static_cast<double>(accessible)) : Cell();
  };
  std::vector<Row> rows;
  for (u32 i = 0; i < memory_class_count; ++i) {
    const auto memory = static_cast<MemoryClass>(i);
    const ClassSum &sum = map.of(memory);
    const bool is_reserved = memory == MemoryClass::reserved;
    if (sum.bytes == 0)
      continue;
    rows.push_back({name_of(memory), group_of(memory), sum.bytes, stored(sum.stored),
                    resident(memory, sum.resident_low), resident(memory, sum.resident_high),
                    is_reserved ? Cell() : share(sum.bytes), sum.pieces, text_of(memory) + pieces_text(memory, map)});
  }
  const u64 reserved = map.of(MemoryClass::reserved).bytes;
  table.total = Row{Cell(),
                    Cell(),
                    accessible,
                    stored(map.stored),
                    map.resident ? Cell(map.resident->first) : Cell(),
                    map.resident ? Cell(map.resident->second) : Cell(),
                    share(accessible),
                    Cell(),
                    reserved ? "total, without what is only reserved" : "total"};
  table.whole = true;
  table.set_rows(std::move(rows));
  return table;
}

HeapTally tally_of_live(Snapshot &snapshot) {
  ObjectFilter filter;
  filter.among = &snapshot.live().objects;
  filter.not_frozen = &snapshot.heap();
  return snapshot.tally(filter);
}

} // namespace dnheap
