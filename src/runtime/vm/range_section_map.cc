#include "runtime/vm/range_section_map.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 entries = 256;
constexpr unsigned bits_per_level = 8;
constexpr u64 max_fragments = 4096;   // limit for one piece of the address space
constexpr u64 max_sections = 1 << 20; // of a map
constexpr u64 max_tables = 1 << 16;   // visited tables of a map
constexpr u64 collectible_flag = 1;   // in every pointer: its target may be unloaded

} // namespace

// The lowest bits are ignored: a piece has 128 KiB, in 32-bit targets 64 KiB.
RangeSectionMap::RangeSectionMap(const Memory &memory, const ContractDescriptor &d, Address top)
    : memory_(&memory), p_(memory.format().pointer_size), levels_(p_ == 8 ? 5 : 2), top_(top) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    return static_cast<u64>(d.try_offset(type, field).value_or(static_cast<i64>(otherwise)));
  };
  at_.next = offset("RangeSectionFragment", "Next", 0);
  at_.begin = offset("RangeSectionFragment", "RangeBegin", p_);
  at_.end = offset("RangeSectionFragment", "RangeEndOpen", 2 * p_);
  at_.section = offset("RangeSectionFragment", "RangeSection", 3 * p_);
  at_.section_begin = offset("RangeSection", "RangeBegin", 0);
  at_.section_end = offset("RangeSection", "RangeEndOpen", p_);
  at_.flags = offset("RangeSection", "Flags", 2 * p_);
  at_.module = offset("RangeSection", "R2RModule", 4 * p_);
  at_.heap_list = offset("RangeSection", "HeapList", 5 * p_);
}

u64 RangeSectionMap::index(Address ip, unsigned level) const {
  const unsigned lowest = p_ == 8 ? 17 : 16;
  return ip >> (lowest + (levels_ - 1 - level) * bits_per_level) & (entries - 1);
}

std::optional<RangeSection> RangeSectionMap::section_at(Address section) const {
  RangeSection out;
  out.begin = memory_->pointer(section + at_.section_begin, "a range section");
  out.end = memory_->pointer(section + at_.section_end, "a range section");
  out.flags = memory_->u32_at(section + at_.flags, "a range section");
  out.ready_to_run_module = memory_->pointer(section + at_.module, "a range section");
  out.heap_list = memory_->pointer(section + at_.heap_list, "a range section");
  return out.begin < out.end ? std::optional(out) : std::nullopt;
}

std::optional<RangeSection> RangeSectionMap::in_fragments(Address fragment, Address ip) const {
  for (u64 i = 0; fragment && i < max_fragments; ++i) {
    const Address begin = memory_->pointer(fragment + at_.begin, "a fragment of the code map"),
                  end = memory_->pointer(fragment + at_.end, "a fragment of the code map");
    if (begin <= ip && ip < end)
      return section_at(memory_->pointer(fragment + at_.section, "a fragment of the code map") & ~collectible_flag);
    fragment = memory_->pointer(fragment + at_.next, "a fragment of the code map") & ~collectible_flag;
  }
  return std::nullopt;
}

std::optional<RangeSection> RangeSectionMap::find(Address ip) const {
  Address table = top_;
  for (unsigned level = 0; table && level < levels_; ++level)
    table = memory_->pointer(table + index(ip, level) * p_, "the code map") & ~collectible_flag;
  return table ? in_fragments(table, ip) : std::nullopt;
}

std::vector<RangeSection> RangeSectionMap::sections() const {
  std::vector<Address> tables{top_}, fragments;
  for (unsigned level = 0; top_ && level < levels_; ++level) {
    std::vector<Address> next;
    for (Address table : tables)
      for (u64 i = 0; i < entries && next.size() < max_tables; ++i)
        if (Address below = memory_->try_pointer(table + i * p_).value_or(0) & ~collectible_flag)
          next.push_back(below);
    tables = std::move(next);
  }
  std::vector<Address> found;
  for (Address fragment : top_ ? tables : std::vector<Address>())
    for (u64 i = 0; fragment && i < max_fragments && found.size() < max_sections; ++i) {
      found.push_back(memory_->try_pointer(fragment + at_.section).value_or(0) & ~collectible_flag);
      fragment = memory_->try_pointer(fragment + at_.next).value_or(0) & ~collectible_flag;
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<RangeSection> out;
  for (Address section : found)
    if (section && memory_->try_pointer(section) && memory_->try_pointer(section + at_.heap_list))
      if (std::optional<RangeSection> read = section_at(section))
        out.push_back(*read);
  std::sort(out.begin(), out.end(), [](const RangeSection &a, const RangeSection &b) { return a.begin < b.begin; });
  return out;
}

} // namespace dnheap
