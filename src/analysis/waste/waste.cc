#include "analysis/process/fragmentation.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/waste/waste_scan.h"
#include "base/parallel.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dnheap {

namespace {

struct WasteSum {
  u64 count = 0, bytes = 0;
};

// The key of a row: kind, type, field. Numbers, because there are millions of objects.
struct WasteKey {
  WasteKind kind{};
  TypeId type{};
  u32 field = 0;
  bool operator==(const WasteKey &) const = default;
};
struct WasteKeyHash {
  u64 operator()(const WasteKey &key) const {
    return ((u64{static_cast<u32>(key.type)} << 32 | key.field) * 0x9e3779b97f4a7c15) ^ static_cast<u64>(key.kind);
  }
};

// The same by texts: types with the same name are one row.
using RowsByText = std::map<std::tuple<WasteKind, std::string, std::string>, WasteSum>;

bool is_static_box(WasteKind kind, const std::string &field) {
  return kind == WasteKind::boxes && (field.starts_with("static ") || field.starts_with("thread static "));
}

// True for arrays of pools, of readers and writers, and of pinned handles. The contents of a MemoryStream are its own.
bool is_buffer(WasteKind kind, const std::string &field) {
  if (kind != WasteKind::duplicate_arrays && kind != WasteKind::mostly_zero_arrays && kind != WasteKind::zero_arrays)
    return false;
  constexpr std::string_view begins[] = {"System.Buffers.", "System.IO.", "System.Net.", "Microsoft.AspNetCore.",
                                         "System.Array[]"}; // the last one: a part of the shared pool
  return (std::ranges::any_of(begins, [&](std::string_view begin) { return field.starts_with(begin); }) &&
          !field.starts_with("System.IO.MemoryStream.")) ||
         field.starts_with("static System.Buffers.") || field.starts_with("thread static System.Buffers.") ||
         field.find(":pinned") != field.npos;
}

using WasteSums = std::unordered_map<WasteKey, WasteSum, WasteKeyHash>;

// Calls visit(object, place, thread) for all objects; each stretch is visited by one thread.
template <class Visit> void for_each_wasted(const WasteScan &scan, const Snapshot &snapshot, Visit visit) {
  parallel_for(scan.stretches(), snapshot.threads(), [&](u64 stretch, unsigned thread) {
    snapshot.watch().check();
    scan.for_each(stretch, [&](const WastedObject &object, u64 place) { visit(object, place, thread); });
  });
}

ObjectIndex index_of(const WasteScan &scan, const Snapshot &snapshot) {
  HeapBits bits(snapshot.index().starts().shared_places());
  for_each_wasted(scan, snapshot, [&](const WastedObject &, u64 place, unsigned) {
    bits.words()[place / 64] |= u64{1} << (place % 64);
  });
  return ObjectIndex(std::move(bits));
}

// Adds rows of objects, each by its holder. `graph`: given by find_live_waste().
void add_objects(const Snapshot &snapshot, const ObjectFilter &filter, Waste &waste, RowsByText &rows,
                 const ObjectGraph *graph) {
  WasteScan scan(snapshot, filter);
  waste.notes = scan.notes();
  const ObjectIndex wasted = index_of(scan, snapshot);
  LargeArray<u64> bytes(wasted.count());
  for_each_wasted(scan, snapshot, [&](const WastedObject &object, u64 place, unsigned) {
    bytes[static_cast<u32>(wasted.at_place(place))] = object.bytes;
  });
  HoldingFields holders(
      snapshot, wasted, [&](u32 number) { return bytes[number]; }, filter.among, graph);
  const unsigned threads = std::max(snapshot.threads(), 1u);
  std::vector<WasteSums> sums_of(threads);
  for_each_wasted(scan, snapshot, [&](const WastedObject &object, u64 place, unsigned thread) {
    const u32 field = holders[static_cast<u32>(wasted.at_place(place))];
    WasteSum &sum = sums_of[thread][{object.kind, object.type, field}];
    ++sum.count;
    sum.bytes += object.bytes;
  });
  WasteSums &sums = sums_of[0];
  for (u64 i = 1; i < threads; ++i)
    for (const auto &[key, sum] : sums_of[i]) {
      sums[key].count += sum.count;
      sums[key].bytes += sum.bytes;
    }
  for (const auto &[key, sum] : sums) {
    const std::string &field = holders.text(key.field);
    if (is_static_box(key.kind, field) || is_buffer(key.kind, field))
      continue;
    const Address type = snapshot.references().types()[key.type].method_table;
    WasteSum &to = rows[{key.kind, snapshot.runtime().types().name(type), field}];
    to.count += sum.count;
    to.bytes += sum.bytes;
  }
}

void add_holes(const Snapshot &snapshot, RowsByText &rows) {
  for (const BesideHoles &one : find_holes(snapshot).beside) {
    if (one.pin.empty() || one.pin == pinned_by_place)
      continue;
    WasteSum &to = rows[{WasteKind::free_beside_pins,
                         one.method_table ? snapshot.runtime().types().name(one.method_table) : "", one.pin}];
    to.count += one.holes.count;
    to.bytes += one.holes.bytes;
  }
}

} // namespace

const char *name_of(WasteKind kind) {
  switch (kind) {
  case WasteKind::duplicate_strings: return "duplicate_strings";
  case WasteKind::duplicate_arrays: return "duplicate_arrays";
  case WasteKind::duplicate_objects: return "duplicate_objects";
  case WasteKind::mostly_zero_arrays: return "mostly_zero_arrays";
  case WasteKind::empty_collections: return "empty_collections";
  case WasteKind::one_element_collections: return "one_element_collections";
  case WasteKind::over_allocated_collections: return "over_allocated_collections";
  case WasteKind::boxes: return "boxes";
  case WasteKind::free_beside_pins: return "free_beside_pins";
  case WasteKind::zero_arrays: return "zero_arrays";
  case WasteKind::unused_room: return "unused_room";
  }
  return "";
}

namespace {

Waste waste_of_rows(Waste out, const RowsByText &rows) {
  for (const auto &[key, sum] : rows) {
    out.rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), sum.count, sum.bytes});
    out.bytes += sum.bytes;
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const WasteRow &a, const WasteRow &b) { return a.bytes > b.bytes; });
  return out;
}

} // namespace

Waste find_waste(const Snapshot &snapshot, const ObjectFilter &filter) {
  Waste out;
  RowsByText rows;
  add_objects(snapshot, filter, out, rows, nullptr);
  if (filter.everything())
    add_holes(snapshot, rows);
  return waste_of_rows(std::move(out), rows);
}

Waste find_live_waste(const Snapshot &snapshot, const HeapBits &live) {
  Waste out;
  if (snapshot.target().record) // it takes contents to know waste
    return out;
  RowsByText rows;
  ObjectFilter filter;
  filter.among = &live;
  add_objects(snapshot, filter, out, rows, &snapshot.graph());
  return waste_of_rows(std::move(out), rows);
}

Waste find_waste(const Snapshot &snapshot) { return find_waste(snapshot, ObjectFilter()); }

} // namespace dnheap
