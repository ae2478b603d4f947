#include "analysis/verbs/tables/native_table.h"

#include "base/share.h"
#include "report/columns_of.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

Cell example_of(const NativeOwner &owner) { return owner.example ? Cell(owner.example) : Cell(); }

} // namespace

report::Table native_table(const NativeOwners &native, bool in_text) {
  using O = NativeOwner;
  report::Table table = report::ColumnsOf<O>{
      {{"bytes", "Bytes", Kind::bytes}, &O::bytes},
      {{"share", "Share", Kind::percent}, [&](const O &o) { return share_of(o.bytes, native.bytes); }},
      {{"blocks", "Blocks", Kind::count, Shown::in_data}, &O::blocks},
      {{"behind_bytes", "Through others", Kind::bytes, Shown::in_data}, &O::behind_bytes},
      {{"behind_blocks", "Through others", Kind::count, Shown::in_data}, &O::behind_blocks},
      {{"kind", "Kind", Kind::text, Shown::in_data}, [](const O &o) { return name_of(o.kind); }},
      {{"name", "Name", Kind::text, Shown::in_data}, [](const O &o) { return report::text_cell(o.name); }},
      {{"holders", "Objects", Kind::count, Shown::in_data},
       [](const O &o) { return o.kind == O::Kind::field ? Cell(o.holders) : Cell(); }},
      {{"example", "Example", Kind::address}, example_of},
      {{"sizes", "Blocks", Kind::text, Shown::in_text}, [](const O &o) { return sizes_text(o); }},
      {{"held_by", "Who has their addresses", Kind::text, Shown::in_text, true}, [](const O &o) {
         return text_of(o);
       }}}.table("native", "Blocks of malloc by owner", native.owners);
  table.shown = in_text ? Shown::everywhere : Shown::in_data;
  return table;
}

report::Table sizes_table(const NativeOwners &native, bool in_text) {
  struct SizeOf {
    NativeSize size;
    const NativeOwner *owner;
  };
  using S = SizeOf;
  std::vector<SizeOf> sizes;
  for (const NativeOwner &owner : native.owners)
    for (const NativeSize &size : owner.sizes)
      sizes.push_back({size, &owner});
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const SizeOf &a, const SizeOf &b) { return a.size.bytes() > b.size.bytes(); });
  report::Table table = report::ColumnsOf<S>{
      {{"bytes", "Bytes", Kind::bytes}, [](const S &s) { return s.size.bytes(); }},
      {{"blocks", "Blocks", Kind::count}, [](const S &s) { return s.size.blocks; }},
      {{"size", "Of", Kind::bytes}, [](const S &s) { return s.size.size; }},
      {{"kind", "Kind", Kind::text, Shown::in_data}, [](const S &s) { return name_of(s.owner->kind); }},
      {{"name", "Name", Kind::text, Shown::in_data}, [](const S &s) { return report::text_cell(s.owner->name); }},
      {{"held_by", "Who has their addresses", Kind::text, Shown::in_text, true}, [](const S &s) {
         return text_of(*s.owner);
       }}}.table("malloc", "Blocks of malloc by size", sizes);
  table.shown = in_text ? Shown::everywhere : Shown::in_data;
  return table;
}

} // namespace dnheap
