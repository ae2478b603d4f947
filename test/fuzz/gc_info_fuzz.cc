// Any bytes as GC info, of a processor and version that the first byte chooses: what is read of it is sound, and comes
// to an end.
#include "fuzz/check.h"
#include "runtime/compiled/gc_info.h"
#include "runtime/compiled/x86/unwind_x86.h"

using namespace dnheap;
using dnheap::test::check;

namespace {

// Its frames are laid out by it, too. What lies behind the bytes is a stack.
void look_at_x86(const u8 *data, std::size_t size) {
  const std::vector<u32> stack(64, 0x1000);
  const Memory memory({4, ByteOrder::little}, {Range{0x1000, std::as_bytes(std::span(data + 1, size - 1))},
                                               Range{0x200000, std::as_bytes(std::span(stack))}});
  const GcInfoX86 info(memory, 0x1000, 4 + (data[0] >> 1 & 1));
  if (!info.outcome())
    return;
  const u64 step = info.code_length() / 16 + 1;
  std::vector<GcSlot> live;
  for (u64 offset = 0; offset <= info.code_length(); offset += step)
    for (unsigned kind = 0; kind < 4; ++kind) {
      (void)info.live_slots({offset, kind == 1, kind == 2, kind == 3}, kind & 1, live);
      Registers registers;
      registers.set(static_cast<u8>(X86Register::esp), 0x200000);
      registers.set(static_cast<u8>(X86Register::ebp), 0x200040);
      if (unwind_x86(memory, info, offset, kind & 1, registers))
        check(registers.knows(static_cast<u8>(X86Register::esp)));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  if (size == 0)
    return 0;
  if (data[0] & 8) {
    look_at_x86(data, size);
    return 0;
  }
  const GcInfoEncoding &encoding = *gc_info_encoding(data[0] & 1 ? Architecture::x64 : Architecture::arm64);
  const u32 version = 2 + (data[0] >> 1 & 3);
  const Memory memory(Format{}, {Range{0x1000, std::as_bytes(std::span(data + 1, size - 1))}});
  const GcInfo info(memory, 0x1000, encoding, version);
  std::vector<GcSlot> slots, live;
  std::vector<u64> safe_points;
  const ReadOutcome all = info.slots(slots);
  (void)info.safe_points(safe_points);
  const u64 step = info.code_length() / 64 + 1;
  for (u64 offset = 0; offset < info.code_length(); offset += step)
    for (unsigned kind = 0; kind < 4; ++kind) {
      const ReadOutcome outcome = info.live_slots({offset, kind == 1, kind == 2, kind == 3}, live);
      // Where the code can be nowhere, nothing lives, whatever the table of slots is like.
      check(!outcome || live.empty() || (all && live.size() <= slots.size()));
      for (const GcSlot &slot : live)
        check(slot.base != GcSlot::Base::none ||
              (slot.reg < encoding.register_count && slot.reg != encoding.stack_pointer));
      (void)info.is_return_point(offset);
    }
  return 0;
}
