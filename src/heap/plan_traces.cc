#include "heap/plan_traces.h"

#include "heap/plug_words.h"

#include <array>

namespace dnheap {

namespace {

using G = GCSegmentGeneration;

// True if adjacent objects lead exactly from one address to the other.
bool leads_to(Address from, Address to, const ObjectRange &range, const Memory &memory, TypeTable &types) {
  const Format format = memory.format();
  while (from < to) {
    std::optional<u64> word = memory.try_pointer(from);
    std::optional<u32> components = memory.try_load<u32>(from + format.pointer_size);
    const TypeRow *type = word && components ? types.find(method_table_in(*word, format)) : nullptr;
    if (!type)
      return false;
    const u64 size = object_size(type->base_size, type->component_size, *components, format);
    const u64 aligned = align_up(size, range.alignment);
    if (aligned > to - from)
      return false;
    from += aligned;
  }
  return true;
}

// True if the gap is where a collection has written before a plug. `previous`: the end of the gap before it.
bool is_planned(const Gap &gap, Address previous, const ObjectRange &range, const Memory &memory, TypeTable &types) {
  const Format format = memory.format();
  const u64 p = format.pointer_size;
  std::array<std::byte, 8 * PlugWords::words> bytes;
  if (gap.end >= range.end() || gap.end - range.address < PlugWords::words * p ||
      !memory.peek(gap.end - PlugWords::words * p, std::span(bytes).first(PlugWords::words * p)))
    return false;
  const PlugWords words = PlugWords::read(bytes.data(), format);
  if (!words.are_sound(3 * p, format) || words.gap > gap.end - range.address)
    return false;
  const Address start = gap.end - words.gap;
  return start <= gap.start && start >= previous && leads_to(start, gap.start, range, memory, types);
}

} // namespace

std::optional<GCSegmentGeneration> planned_generation(const Heap &heap, const GapList &gaps, const Memory &memory,
                                                      TypeTable &types) {
  std::optional<G> oldest;
  auto range = heap.ranges().begin();
  Address previous = 0;
  for (const Gap &gap : gaps.listed()) {
    while (range != heap.ranges().end() && range->end() <= gap.start)
      ++range;
    if (range == heap.ranges().end())
      break;
    const bool may_be_older = range->generation <= G::gen2 && (!oldest || *oldest < range->generation);
    if (gap.reason == no_sound_object && may_be_older && is_planned(gap, previous, *range, memory, types))
      oldest = range->generation;
    previous = gap.end;
  }
  return oldest;
}

} // namespace dnheap
