#include "analysis/fragmentation.h"
#include "analysis/inspect/holding_fields.h"
#include "analysis/inspect/waste_scan.h"
#include "base/parallel.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace dnheap {

namespace {

struct WasteSum {
  u64 count = 0, bytes = 0;
  void add(const WasteSum &more) { count += more.count, bytes += more.bytes; }
};

// Of a row: kind, type, field. As numbers, of which there are millions of objects.
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

// The same as texts: types that are called the same are one row.
using RowsByText = std::map<std::tuple<WasteKind, std::string, std::string>, WasteSum>;

bool is_static_box(WasteKind kind, const std::string &field) {
  return kind == WasteKind::boxes && (field.starts_with("static ") || field.starts_with("thread static "));
}

// Of each object its number in the index.
std::vector<u32> numbers_in(const ObjectIndex &index, const std::vector<WastedObject> &objects, Snapshot &snapshot) {
  constexpr u64 piece = 65536, ahead = 16;
  std::vector<u32> out(objects.size());
  parallel_for_parts(objects.size(), piece, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    for (u64 k = begin; k < end; ++k) {
      if (k + ahead < end)
        if (const u64 place = index.places().find(objects[k + ahead].address); place != HeapPlaces::nowhere)
          index.prefetch(place);
      out[k] = static_cast<u32>(index.find(objects[k].address));
    }
  });
  return out;
}

using WasteSums = std::unordered_map<WasteKey, WasteSum, WasteKeyHash>;

// By kind and type, as there are millions of objects and few of these.
class KindsAndTypes {
public:
  explicit KindsAndTypes(u32 types) : types_(types), sums_(waste_kind_count * types) {}
  void add(const KindsAndTypes &more) {
    for (u64 i = 0; i < sums_.size(); ++i)
      sums_[i].add(more.sums_[i]);
  }
  WasteSum &of(WasteKind kind, TypeId type) { return sums_[static_cast<u64>(kind) * types_ + static_cast<u32>(type)]; }

private:
  u32 types_;
  std::vector<WasteSum> sums_;
};

// Of each kind and type about `most`, and one at least: whatever the order of the objects, the same ones.
std::vector<WastedObject> sample_of(const WasteScan::Parts &parts, KindsAndTypes &all, u32 types, u64 most,
                                    unsigned threads) {
  std::vector<KindsAndTypes> sums(std::max(threads, 1u), KindsAndTypes(types));
  parallel_for(parts.size(), threads, [&](u64 part, unsigned worker) {
    for (const WastedObject &object : parts[part])
      sums[worker].of(object.kind, object.type).add({1, object.bytes});
  });
  for (const KindsAndTypes &one : sums)
    all.add(one);
  // Those that chance takes; and of each kind and type the first by address, where it took none.
  struct Chosen {
    std::vector<WastedObject> objects;
    std::map<std::pair<WasteKind, TypeId>, WastedObject> first;
  };
  std::vector<Chosen> found(parts.size());
  parallel_for(parts.size(), threads, [&](u64 part, unsigned) {
    Chosen &to = found[part];
    const WastedObject *lowest = nullptr; // of the run of alike ones that it is in
    auto keep_lowest = [&] {
      if (!lowest)
        return;
      auto [at, is_new] = to.first.try_emplace({lowest->kind, lowest->type}, *lowest);
      if (!is_new && lowest->address < at->second.address)
        at->second = *lowest;
    };
    for (const WastedObject &object : parts[part]) {
      const u64 step = (all.of(object.kind, object.type).count + most - 1) / most;
      if (step <= 1 || (object.address * 0x9e3779b97f4a7c15 >> 32) % step == 0)
        to.objects.push_back(object);
      const bool is_alike = lowest && lowest->kind == object.kind && lowest->type == object.type;
      if (!is_alike) {
        keep_lowest();
        lowest = &object;
      } else if (object.address < lowest->address) {
        lowest = &object;
      }
    }
    keep_lowest();
  });
  std::vector<WastedObject> out;
  KindsAndTypes chosen(types);
  std::map<std::pair<WasteKind, TypeId>, WastedObject> first;
  for (const Chosen &one : found) {
    for (const WastedObject &object : one.objects)
      chosen.of(object.kind, object.type).add({1, 0});
    out.insert(out.end(), one.objects.begin(), one.objects.end());
    for (const auto &[key, object] : one.first) {
      auto [at, is_new] = first.try_emplace(key, object);
      if (!is_new && object.address < at->second.address)
        at->second = object;
    }
  }
  for (const auto &[key, object] : first)
    if (!chosen.of(object.kind, object.type).count)
      out.push_back(object);
  return out;
}

std::vector<WastedObject> all_of(const WasteScan::Parts &parts) {
  u64 count = 0;
  for (const std::vector<WastedObject> &part : parts)
    count += part.size();
  std::vector<WastedObject> out;
  out.reserve(count);
  for (const std::vector<WastedObject> &part : parts)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

// `part` of `whole`, as so much of `all`. Never falls as `part` grows; whole of whole is all.
u64 scaled(u64 part, u64 whole, u64 all) {
  if (part == whole || whole == all)
    return part == whole ? all : part;
  return static_cast<u64>(share_of(part, whole) * static_cast<double>(all));
}

// Sums of a sample by field become those of all objects: what the fields up to one have together is scaled, so that no
// row is wrong by more than one for rounding, and all rows add up.
WasteSums scaled(const WasteSums &sample, KindsAndTypes &all) {
  std::map<std::pair<u8, u32>, std::vector<std::pair<WasteKey, WasteSum>>> groups;
  for (const auto &one : sample)
    groups[{static_cast<u8>(one.first.kind), static_cast<u32>(one.first.type)}].push_back(one);
  WasteSums out;
  for (auto &[group, parts] : groups) {
    std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) { return a.first.field < b.first.field; });
    WasteSum whole;
    for (const auto &[key, sum] : parts)
      whole.add(sum);
    const WasteSum &total = all.of(parts[0].first.kind, parts[0].first.type);
    WasteSum seen, told;
    for (const auto &[key, sum] : parts) {
      seen.add(sum);
      const WasteSum until{scaled(seen.count, whole.count, total.count), scaled(seen.bytes, whole.bytes, total.bytes)};
      out[key] = {until.count - told.count, until.bytes - told.bytes};
      told = until;
    }
  }
  return out;
}

// Whose rows are estimates, and of how many objects.
void note_sample(const WasteSums &sample, KindsAndTypes &all, Snapshot &snapshot, Waste &waste) {
  std::map<std::pair<WasteKind, TypeId>, u64> looked_at;
  for (const auto &[key, sum] : sample)
    looked_at[{key.kind, key.type}] += sum.count;
  for (const auto &[group, count] : looked_at)
    if (const u64 there = all.of(group.first, group.second).count; there > count)
      waste.notes.push_back(fmt::format(
          "waste: what holds the {} {} of {} is estimated from {} of them; dnheap waste --live looks at all",
          count_text(there), name_of(group.first),
          snapshot.runtime().types().name(snapshot.references().types()[group.second].method_table),
          count_text(count)));
}

// Rows of objects, each by what holds it. `graph`: how find_live_waste() does it.
void add_objects(Snapshot &snapshot, const ObjectFilter &filter, Waste &waste, RowsByText &rows, u64 sample,
                 const ObjectGraph *graph) {
  WasteScan scan(snapshot, filter);
  waste.notes = scan.notes();
  waste.lacks_contents = scan.lacks_contents();
  const u32 types = snapshot.references().types().size();
  KindsAndTypes all(types);
  const std::vector<WastedObject> objects =
      sample ? sample_of(scan.parts(), all, types, sample, snapshot.threads()) : all_of(scan.parts());
  HeapBits bits(snapshot.index().starts().shared_places());
  HeapBits::Writer writer(bits);
  for (const WastedObject &object : objects)
    writer.add(object.address);
  writer.flush();
  const ObjectIndex wasted(std::move(bits));
  const std::vector<u32> numbers = numbers_in(wasted, objects, snapshot);
  LargeArray<u64> bytes(wasted.count());
  for (u64 i = 0; i < objects.size(); ++i)
    bytes[numbers[i]] = objects[i].bytes;
  HoldingFields holders(
      snapshot, wasted, [&](u32 number) { return bytes[number]; }, filter.among, graph);
  WasteSums sums;
  for (u64 i = 0; i < objects.size(); ++i) {
    WasteSum &sum = sums[{objects[i].kind, objects[i].type, holders[numbers[i]]}];
    ++sum.count;
    sum.bytes += objects[i].bytes;
  }
  if (sample) {
    note_sample(sums, all, snapshot, waste);
    sums = scaled(sums, all);
  }
  for (const auto &[key, sum] : sums) {
    const std::string &field = holders.text(key.field);
    if (is_static_box(key.kind, field))
      continue;
    const Address type = snapshot.references().types()[key.type].method_table;
    WasteSum &to = rows[{key.kind, snapshot.runtime().types().name(type), field}];
    to.count += sum.count;
    to.bytes += sum.bytes;
  }
}

void add_holes(Snapshot &snapshot, RowsByText &rows) {
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

Waste find_waste(Snapshot &snapshot, const ObjectFilter &filter) {
  Waste out;
  RowsByText rows;
  add_objects(snapshot, filter, out, rows, 0, nullptr);
  if (filter.everything())
    add_holes(snapshot, rows);
  return waste_of_rows(std::move(out), rows);
}

Waste find_live_waste(Snapshot &snapshot, const HeapBits &live, u64 sample) {
  Waste out;
  RowsByText rows;
  ObjectFilter filter;
  filter.among = &live;
  add_objects(snapshot, filter, out, rows, sample, &snapshot.graph());
  return waste_of_rows(std::move(out), rows);
}

Waste find_waste(Snapshot &snapshot) { return find_waste(snapshot, ObjectFilter()); }

} // namespace dnheap
