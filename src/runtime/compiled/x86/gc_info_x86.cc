#include "runtime/compiled/x86/gc_info_x86.h"

#include "runtime/compiled/x86/gc_point_x86.h"

#include <algorithm>

namespace dnheap {

GcInfoX86::GcInfoX86(const Memory &memory, Address address, u32 version) : memory_(&memory) {
  GcBytesX86 bytes(memory, address);
  if (version < 4)
    bytes.fail("GC info of x86 before version 4");
  header_ = read_gc_header_x86(bytes, version);
  outcome_ = bytes.outcome();
}

std::vector<X86Register> GcInfoX86::saved() const {
  std::vector<X86Register> out;
  for (u32 i = 0; i < 4; ++i)
    if (header_.saved >> i & 1)
      out.push_back(x86_register_of_bit[i]);
  return out;
}

bool GcInfoX86::is_in_epilog(u64 offset) const {
  return std::any_of(header_.epilogs.begin(), header_.epilogs.end(),
                     [&](u32 start) { return offset > start && offset < u64{start} + header_.epilog_size; });
}

ReadOutcome GcInfoX86::pushed_bytes(u64 offset, u64 &out) const {
  GcBytesX86 bytes(*memory_, header_.tables);
  CodePoint point;
  point.offset = offset;
  point.active = true;
  const GcPointX86 found = find_gc_point_x86(bytes, header_, point, true);
  if (bytes.is_done())
    out = 4 * u64{found.pushed};
  return bytes.outcome();
}

// Adds slots that hold a reference, or a stale one, all the time.
void GcInfoX86::add_untracked(GcBytesX86 &bytes, bool are_wanted, GcSlot::Base base, u32 pushed,
                              std::vector<GcSlot> &out) const {
  i64 at = 0;
  for (u32 i = 0; i < header_.untracked && bytes.is_done(); ++i) {
    at -= bytes.signed_number();
    GcSlot slot = stack_slot_x86(base, (at & ~i64{3}) + (base == GcSlot::Base::sp ? 4 * i64(pushed) : 0),
                                 static_cast<u32>(at) & 3);
    slot.tracked = false;
    if (are_wanted)
      out.push_back(slot);
  }
}

// The table has {place, begin, end}, sorted by begin.
void GcInfoX86::add_tracked(GcBytesX86 &bytes, u64 offset, GcSlot::Base base, u32 pushed,
                            std::vector<GcSlot> &out) const {
  u64 begin = 0;
  for (u32 i = 0; i < header_.tracked && bytes.is_done(); ++i) {
    const u32 place = bytes.number();
    begin += bytes.number();
    const u64 end = begin + bytes.number();
    const i64 at = place & ~u32{3};
    if (offset >= begin && offset < end)
      out.push_back(stack_slot_x86(base, base == GcSlot::Base::sp ? at + 4 * i64(pushed) : -at, place & 3));
  }
}

ReadOutcome GcInfoX86::live_slots(const CodePoint &point, bool is_funclet, std::vector<GcSlot> &out) const {
  out.clear();
  if (is_in_prolog(point.offset) || is_in_epilog(point.offset))
    return {};
  if (header_.is_double_aligned || header_.is_vararg)
    return ReadOutcome::malformed("frames of this kind are not understood");
  GcBytesX86 of_point(*memory_, header_.tables);
  const GcPointX86 found = find_gc_point_x86(of_point, header_, point, is_funclet);
  if (!of_point.is_done())
    return of_point.outcome();
  if (!point.aborted) {
    for (u8 i = 0; i < 8; ++i)
      if (found.registers >> i & 1) {
        GcSlot slot;
        slot.reg = i;
        slot.interior = found.interior >> i & 1;
        out.push_back(slot);
      }
    out.insert(out.end(), found.arguments.begin(), found.arguments.end());
  }
  const GcSlot::Base base = header_.has_frame_pointer ? GcSlot::Base::frame_register : GcSlot::Base::sp;
  GcBytesX86 bytes(*memory_, header_.tables);
  bytes.skip_numbers(2 * u64{header_.no_gc_regions});
  add_untracked(bytes, !point.filter, base, found.pushed, out);
  // At a return address, the slots that live during the call count.
  const bool is_inside = !point.aborted && !point.active && point.offset;
  add_tracked(bytes, point.offset - is_inside, base, found.pushed, out);
  return bytes.outcome();
}

} // namespace dnheap
