#include "analysis/process/mallocng.h"

#include "base/text.h"

#include <algorithm>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 page = 4096, unit = 16; // as on all 64-bit systems
constexpr u64 most_pages = 1 << 20;   // limit of the search for the first area
constexpr u64 most_areas = 1 << 16;
constexpr u32 slots_of_area = 101;
constexpr u64 first_record = 24, record_size = 40;
constexpr u8 own_mapping = 63; // the class of a separately mapped block
constexpr u16 size_classes[] = {1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   12,   15,
                                18,   20,   25,   31,   36,   42,   50,   63,   72,   84,   102,  127,
                                146,  170,  204,  255,  292,  340,  409,  511,  584,  682,  818,  1023,
                                1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191};

// From struct meta of musl's src/malloc/mallocng/meta.h.
struct Group {
  Address start = 0; // begins with the record's address
  u32 free_slots = 0;
  u8 last_slot = 0, size_class = 0;
  u64 pages = 0; // of its own mapping; 0: it lies inside of another group

  u64 stride() const {
    if (last_slot == 0 && pages)
      return pages * page - unit;
    return size_class < std::size(size_classes) ? unit * size_classes[size_class] : 0;
  }
};

class MallocngReader {
public:
  MallocngReader(const Target &target, u64 most_blocks)
      : target_(target), memory_(target.memory), most_blocks_(most_blocks) {}

  std::optional<MallocArenas> read() {
    constexpr u64 at_random = 25; // elf.h
    const auto random = target_.auxv.find(at_random);
    const std::optional<u64> secret =
        random == target_.auxv.end() ? std::nullopt : memory_.try_load<u64>(random->second + 8);
    if (!secret || *secret == 0)
      return std::nullopt;
    secret_ = *secret;
    find_areas();
    if (areas_.empty())
      return std::nullopt;
    for (Address area : areas_)
      read_records(area);
    return arenas();
  }

private:
  // True if a page begins like an area: {secret, next, number of records, records}.
  bool is_area(Address at) const {
    if (at % page || memory_.try_load<u64>(at) != secret_ || memory_.try_load<u32>(at + 16) != slots_of_area)
      return false;
    const std::optional<u64> next = memory_.try_load<u64>(at + 8);
    return next && (*next == 0 || (*next % page == 0 && memory_.try_load<u64>(*next) == secret_));
  }
  // Finds the oldest area by a search from where the program's own heap begins; areas form a chain from there on.
  void find_areas() {
    u64 looked_at = 0;
    for (const Mapping &mapping : target_.mappings) {
      if (!mapping.writable || mapping.executable)
        continue;
      for (Address at = align_up(mapping.start, page); at < mapping.stored_end && looked_at < most_pages;
           at += page, ++looked_at)
        if (is_area(at))
          follow(at);
      if (!areas_.empty())
        return;
    }
  }
  void follow(Address at) {
    for (; at && areas_.size() < most_areas && is_area(at) && seen_.insert(at).second;
         at = memory_.try_load<u64>(at + 8).value_or(0))
      areas_.push_back(at);
  }

  void read_records(Address area) {
    for (u32 i = 0; i < slots_of_area; ++i) {
      const Address record = area + first_record + i * record_size;
      const std::optional<u64> start = memory_.try_load<u64>(record + 16), bits = memory_.try_load<u64>(record + 32);
      const std::optional<u32> available = memory_.try_load<u32>(record + 24),
                               freed = memory_.try_load<u32>(record + 28);
      if (!start || *start == 0 || !bits || !available || !freed || memory_.try_load<u64>(*start) != record)
        continue;
      Group group{.start = *start,
                  .free_slots = *available | *freed,
                  .last_slot = static_cast<u8>(*bits & 31),
                  .size_class = static_cast<u8>(*bits >> 6 & 63),
                  .pages = *bits >> 12};
      if (group.stride() && group.pages < u64{1} << 40)
        groups_.push_back(group);
    }
  }

  // True if the slot holds a group rather than an allocated block. The slot's header before it has its number and a
  // code for the unused bytes: 6 means a group, and 7 that the block begins at a larger offset.
  bool holds_group(Address slot) const {
    const u8 head = memory_.try_load<u8>(slot - 3).value_or(0);
    if (head != 7 << 5)
      return head >> 5 == 6;
    const u64 offset = unit * memory_.try_load<u16>(slot - 2).value_or(0);
    return memory_.try_load<u8>(slot + offset - 3).value_or(0) >> 5 == 6;
  }

  std::optional<MallocArenas> arenas() {
    std::sort(groups_.begin(), groups_.end(), [](const Group &a, const Group &b) { return a.start < b.start; });
    MallocArenas out;
    out.lists_blocks = true;
    out.arenas.push_back({areas_.front(), true});
    for (Address area : areas_) // malloc's own records
      out.heaps.push_back({.start = area, .end = area + page, .first_chunk = area, .is_whole = true});
    Address end = 0;
    for (const Group &group : groups_) { // mapped groups, which contain others
      if (!group.pages || group.start < end)
        continue;
      end = add_clamped(group.start, group.pages * page);
      if (group.size_class == own_mapping)
        out.blocks.push_back({group.start, end});
      else
        out.heaps.push_back({.start = group.start, .end = end, .first_chunk = group.start + unit, .is_whole = true});
    }
    std::sort(out.heaps.begin(), out.heaps.end(),
              [](const MallocHeap &a, const MallocHeap &b) { return a.start < b.start; });
    for (const Group &group : groups_) {
      auto heap = std::upper_bound(out.heaps.begin(), out.heaps.end(), group.start,
                                   [](Address at, const MallocHeap &one) { return at < one.start; });
      if (heap == out.heaps.begin() || group.start >= (--heap)->end)
        continue; // the loader donated the unused ends of a library's pages
      count(group, *heap, out);
    }
    if (most_blocks_)
      for (const Group &group : groups_)
        if (group.size_class == own_mapping && out.in_use.size() < most_blocks_)
          add_block(group.start + unit, group.stride(), out);
    for (MallocHeap &heap : out.heaps) {
      heap.free = std::min(heap.free, heap.end - heap.start);
      heap.in_use = heap.end - heap.start - heap.free; // includes malloc's own records
    }
    return out;
  }
  void count(const Group &group, MallocHeap &heap, MallocArenas &out) const {
    for (u32 i = 0; i <= group.last_slot; ++i) {
      const Address slot = group.start + unit + i * group.stride();
      if (slot >= heap.end)
        return;
      if (group.free_slots >> i & 1)
        heap.free += group.stride();
      else if (!holds_group(slot)) {
        ++heap.chunks;
        if (out.in_use.size() < most_blocks_)
          add_block(slot, group.stride(), out);
      }
    }
  }
  // Adds the block in a slot, of the size that was asked for: the rest of the slot is counted at its end, or in the
  // header if it is small.
  void add_block(Address slot, u64 stride, MallocArenas &out) const {
    constexpr u64 header = 4, counted_at_end = 5, begins_later = 7;
    Address start = slot;
    if (memory_.try_load<u8>(slot - 3).value_or(0) >> 5 == begins_later)
      start += unit * memory_.try_load<u16>(slot - 2).value_or(0);
    const Address end = slot + stride - header;
    u64 rest = memory_.try_load<u8>(start - 3).value_or(0) >> 5;
    if (rest >= counted_at_end)
      rest = memory_.try_load<u32>(end - 4).value_or(0);
    if (start < end && rest < end - start)
      out.in_use.push_back({start, end - rest});
  }

  const Target &target_;
  const Memory &memory_;
  const u64 most_blocks_;
  u64 secret_ = 0;
  std::vector<Address> areas_;
  std::unordered_set<Address> seen_;
  std::vector<Group> groups_;
};

} // namespace

std::optional<MallocArenas> find_mallocng(const Target &target, u64 most_blocks) {
  const bool has_musl = std::any_of(target.modules.begin(), target.modules.end(), is_musl);
  if (!has_musl || target.os != OperatingSystem::linux_os || target.format().pointer_size != 8)
    return std::nullopt; // other targets also have the kernel's random bytes, but no areas to search for
  return MallocngReader(target, most_blocks).read();
}

} // namespace dnheap
