#include "analysis/shapes/gc_records.h"

#include "image/module_image.h"
#include "runtime/library_names.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

constexpr u64 most_record_bytes = u64{1} << 50;
constexpr u64 most_pause_us = u64{1} << 40;
constexpr u64 numbers_before = 7, generations_end = numbers_before + 20; // words; a float takes one, too
constexpr u64 most_records = 4;                                          // in the GC
constexpr u64 record_span = 4096;                                        // they lie side by side

class RecordReader {
public:
  RecordReader(Bytes bytes, Format format) : bytes_(bytes), format_(format) {}

  // The size of a record: numbers, a float, sizes of generations, two sums, a number of 4 bytes and three bytes.
  static u64 size(u64 pointer_size) { return (generations_end + 3) * pointer_size + 8; }

  // Nullopt: no record begins there.
  std::optional<GcRecord> read(u64 at) const {
    GcRecord out;
    out.collection = word(at, 0);
    out.committed = word(at, 1);
    if (!out.collection || out.collection >= u64{1} << 32 || !is_size(out.committed))
      return std::nullopt;
    const u64 sums = at + (generations_end + 1) * format_.pointer_size;
    out.heap = word(sums, 0), out.holes = word(sums, 1);
    if (!is_size(out.heap) || out.heap / 2 > out.committed || out.holes > out.heap || !add_generations(at, out))
      return std::nullopt;
    out.promoted = word(at, 2), out.pinned_objects = word(at, 3), out.finalized = word(at, 4);
    const u64 first = word(at, 5), second = word(at, 6);
    out.pause_us = first + second;
    out.pause_share = percentage(at) / 100.0;
    const std::byte *last = bytes_.data() + sums + 2 * format_.pointer_size;
    out.load = load<u32>(last, format_.byte_order);
    out.generation = static_cast<u32>(last[4]);
    out.is_compacting = last[5] == std::byte{1}, out.is_concurrent = last[6] == std::byte{1};
    const bool are_flags = last[5] <= std::byte{1} && last[6] <= std::byte{1};
    const bool is_plausible = out.promoted < most_record_bytes && first && first < most_pause_us &&
                              second < most_pause_us && out.pinned_objects < most_record_bytes &&
                              out.pause_share >= 0 && out.pause_share <= 1 && out.load <= 100 && out.generation <= 2 &&
                              are_flags && (!out.is_concurrent || out.generation == 2);
    return is_plausible ? std::optional(out) : std::nullopt;
  }

private:
  u64 word(u64 at, u64 number) const {
    return load_pointer(bytes_.data() + at + number * format_.pointer_size, format_);
  }
  // Sizes of segments are multiples of a word, and none is as small as one.
  bool is_size(u64 bytes) const {
    return bytes > format_.pointer_size && bytes < most_record_bytes && bytes % format_.pointer_size == 0;
  }
  float percentage(u64 at) const {
    const float value =
        std::bit_cast<float>(load<u32>(bytes_.data() + at + numbers_before * format_.pointer_size, format_.byte_order));
    return value >= 0 ? value : -1; // not a number, too
  }
  bool add_generations(u64 at, GcRecord &to) const {
    u64 sizes = 0, holes = 0;
    for (u64 i = 0; i < to.generations.size(); ++i) {
      const u64 first = numbers_before + 1 + 4 * i;
      GcRecord::Generation &one = to.generations[i];
      one = {word(at, first), word(at, first + 1), word(at, first + 2), word(at, first + 3)};
      if (one.size_before >= most_record_bytes || one.size_after >= most_record_bytes ||
          one.holes_before > one.size_before || one.holes_after > one.size_after)
        return false;
      sizes += one.size_after, holes += one.holes_after;
    }
    return sizes == to.heap && holes == to.holes;
  }

  const Bytes bytes_;
  const Format format_;
};

// Returns the variables of the library: its writable sections. Heap dumps of Windows lack its headers: then all that
// they have of the library, since they have its variables.
std::vector<Range> variables_of(const Memory &memory, const Module &module) {
  const std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
  if (image && image->has_writable_sections())
    return image->writable_bytes(memory);
  std::vector<Range> out;
  for (const Range &range : memory.ranges()) {
    const Address from = std::max(module.base, range.address), to = std::min(module.end(), range.end());
    if (from < to)
      out.push_back({from, memory.fetched(range.bytes.subspan(from - range.address, to - from))});
  }
  return out;
}

void find_records(const Memory &memory, const Module &module, std::vector<GcRecord> &to) {
  const u64 step = memory.format().pointer_size, size = RecordReader::size(step);
  for (const Range &range : variables_of(memory, module)) {
    const RecordReader reader(range.bytes, memory.format());
    for (u64 at = align_up(range.address, step) - range.address; at + size <= range.bytes.size(); at += step)
      if (std::optional<GcRecord> one = reader.read(at)) {
        one->address = range.address + at;
        memory.note_read(one->address, size);
        to.push_back(*one);
      }
  }
}

// Several groups would contradict each other, and show nothing.
bool are_one_group(const std::vector<GcRecord> &found) {
  if (found.size() > most_records)
    return false;
  const auto [first, last] = std::ranges::minmax_element(found, {}, &GcRecord::address);
  return found.empty() || last->address - first->address < record_span;
}

GcRecords read_records(const Snapshot &snapshot) {
  GcRecords out;
  const Runtime &runtime = snapshot.runtime();
  for (const Module &module : snapshot.target().modules)
    if (module.base == runtime.module().base || is_runtime_library(module.file_name()))
      find_records(runtime.memory(), module, out.list);
  if (!are_one_group(out.list))
    out.list.clear();
  std::ranges::sort(out.list, std::greater(), &GcRecord::collection);
  return out;
}

} // namespace

u64 GcRecord::Generation::freed() const {
  const u64 before = size_before - holes_before, after = size_after - holes_after;
  return before - std::min(before, after);
}

u64 GcRecord::freed() const {
  u64 before = 0, after = 0;
  for (const Generation &one : generations)
    before += one.size_before - one.holes_before, after += one.size_after - one.holes_after;
  return before - std::min(before, after);
}

GcRecords find_gc_records(const Snapshot &snapshot) {
  return *snapshot.kept<GcRecords>([&] { return std::make_shared<const GcRecords>(read_records(snapshot)); });
}

} // namespace dnheap
