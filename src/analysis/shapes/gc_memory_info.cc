#include "analysis/shapes/gc_memory_info.h"

#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr const char *info_type = "System.GCMemoryInfoData";
constexpr u64 most_memory_bytes = u64{1} << 52;
constexpr u64 most_collections = u64{1} << 48;
constexpr u64 most_young_bytes = u64{512} << 20; // a walk of so much takes a second at most
constexpr u64 most_pause_share = 10'000;         // hundredths of a percent
constexpr u64 ns_per_tick = 100;

bool is_memory_info(const Snapshot &snapshot, Address method_table) {
  return snapshot.runtime().types().name(method_table) == info_type;
}

// An object that was not filled yet has zeros, and garbage may have been overwritten.
bool is_plausible(const GCMemoryInfo &info) {
  auto is_size = [](u64 bytes) { return bytes < most_memory_bytes; };
  if (!info.limit || !is_size(info.limit) || !info.high_load || !is_size(info.high_load))
    return false;
  if (!info.collection)
    return !info.load && !info.heap && !info.committed && !info.generation;
  return info.collection < most_collections && info.generation <= 2 && (!info.is_concurrent || info.generation == 2) &&
         is_size(info.load) && is_size(info.heap) && is_size(info.committed) && is_size(info.promoted) &&
         info.fragmented <= info.heap;
}

class MemoryInfoReader {
public:
  explicit MemoryInfoReader(const Runtime &runtime) : fields_(runtime) {}

  // Nullopt: a field is missing, or not in the dump.
  std::optional<u64> collection_of(Address object) { return fields_.number<u64>(object, "_index"); }

  std::optional<GCMemoryInfo> read(Address object) {
    GCMemoryInfo out;
    out.object = object;
    bool is_known = true;
    auto read_to = [&]<class T>(T &to, const char *name) {
      const std::optional<T> found = fields_.number<T>(object, name);
      is_known &= found.has_value();
      to = found.value_or(0);
    };
    u8 compacted = 0, concurrent = 0;
    read_to(out.collection, "_index");
    read_to(out.generation, "_generation");
    read_to(compacted, "_compacted");
    read_to(concurrent, "_concurrent");
    read_to(out.limit, "_totalAvailableMemoryBytes");
    read_to(out.high_load, "_highMemoryLoadThresholdBytes");
    read_to(out.load, "_memoryLoadBytes");
    read_to(out.heap, "_heapSizeBytes");
    read_to(out.fragmented, "_fragmentedBytes");
    read_to(out.committed, "_totalCommittedBytes");
    read_to(out.promoted, "_promotedBytes");
    read_to(out.pinned_objects, "_pinnedObjectsCount");
    read_to(out.finalization_pending, "_finalizationPendingCount");
    out.is_compacting = compacted == 1;
    out.is_concurrent = concurrent == 1;
    if (!is_known || compacted > 1 || concurrent > 1)
      return std::nullopt;
    add_pauses(out);
    return out;
  }

private:
  // .NET 11 has both pauses in an inline array; older versions have a field for each.
  void add_pauses(GCMemoryInfo &to) {
    constexpr u64 most_ticks = u64{1} << 50; // a TimeSpan is a number of ticks
    const Address type = fields_.type_of(to.object);
    const std::optional<u64> array = fields_.offset(type, "_pauseDurations");
    const std::optional<u64> first = array ? array : fields_.offset(type, "_pauseDuration0");
    const std::optional<u64> second = array ? *array + sizeof(u64) : fields_.offset(type, "_pauseDuration1");
    if (first && second) {
      const std::optional<u64> one = fields_.memory().try_load<u64>(to.object + *first);
      const std::optional<u64> other = fields_.memory().try_load<u64>(to.object + *second);
      if (one && other && *one < most_ticks && *other < most_ticks)
        to.pause_ns = (*one + *other) * ns_per_tick;
    }
    const std::optional<u32> share = fields_.number<u32>(to.object, "_pauseTimePercentage");
    if (share && *share <= most_pause_share)
      to.pause_share = *share;
  }

  FieldReader fields_;
};

// True if all objects of these types are in gen0 or gen1.
bool are_all_young(const Snapshot &snapshot, const std::vector<Address> &method_tables) {
  for (const TypeTally &type : snapshot.tally().types)
    if (std::ranges::binary_search(method_tables, type.method_table))
      for (u64 i = 0; i < generation_count; ++i)
        if (type.generations[i].count && !is_young_generation(static_cast<GCSegmentGeneration>(i)))
          return false;
  return true;
}

} // namespace

bool GCMemoryInfo::has_own_limit() const { return limit < high_load / 100 * 99; }

// By default the threshold is 90 % of a container's memory, and the heap's limit 75 % (GCHeapHardLimitPercent): the
// two figures agree by chance only if somebody chose them so.
std::optional<u64> GCMemoryInfo::container() const {
  const u64 expected = high_load / 6 * 5;
  const u64 apart = expected > limit ? expected - limit : limit - expected;
  return apart <= limit / 1000 ? std::optional(limit * 4 / 3) : std::nullopt;
}

FoundMemoryInfo newest_gc_memory_info(const Snapshot &snapshot, std::span<const Address> objects) {
  FoundMemoryInfo out;
  MemoryInfoReader reader(snapshot.runtime());
  for (const Address object : objects) {
    snapshot.watch().check();
    const std::optional<u64> collection = reader.collection_of(object);
    if (collection && out.newest && *collection <= out.newest->collection)
      continue;
    const std::optional<GCMemoryInfo> info = collection ? reader.read(object) : std::nullopt;
    if (!info)
      ++out.unknown;
    else if (is_plausible(*info))
      out.newest = info;
  }
  return out;
}

FoundMemoryInfo find_recent_gc_memory_info(const Snapshot &snapshot) {
  const YoungObjects young = young_objects_that(
      snapshot, [&](Address mt) { return is_memory_info(snapshot, mt); }, most_young_bytes);
  FoundMemoryInfo out = newest_gc_memory_info(snapshot, addresses_of(young.list));
  out.is_everything = young.is_everything;
  return out;
}

FoundMemoryInfo find_gc_memory_info(const Snapshot &snapshot) {
  return *snapshot.kept<FoundMemoryInfo>([&] {
    const std::vector<Address> types = types_that(snapshot, [&](Address mt) { return is_memory_info(snapshot, mt); });
    FoundMemoryInfo found;
    if (!types.empty() && are_all_young(snapshot, types))
      found = find_recent_gc_memory_info(snapshot);
    if (!types.empty() && !found.newest)
      found = newest_gc_memory_info(snapshot, addresses_of(objects_of(snapshot, types)));
    return std::make_shared<const FoundMemoryInfo>(found);
  });
}

std::string origin_of_limit(const GCMemoryInfo &info, const GCSettings &settings) {
  constexpr u64 longest_setting_text = 200;
  for (const GCSetting &one : settings.list)
    if (one.hard_limit == info.limit)
      return printable(one.name, longest_setting_text) + "=" + printable(one.value, longest_setting_text);
  if (const std::optional<u64> container = info.container())
    return fmt::format("75 % of a container's {}", bytes_text(*container));
  return info.has_own_limit() ? "a limit for the heap" : "the memory of the machine or container";
}

} // namespace dnheap
