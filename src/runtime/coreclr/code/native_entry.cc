#include "runtime/coreclr/code/native_entry.h"

namespace dnheap {

namespace {

// Reads push rbp; mov rbp, rsp; then pushes of callee-saved registers.
std::optional<NativeEntry> read_x64(const Memory &memory, Address code, u32 preserved) {
  constexpr unsigned most_pushes = 6;
  for (u8 byte : {0x55, 0x48, 0x89, 0xe5})
    if (memory.try_load<u8>(code++) != byte)
      return std::nullopt;
  NativeEntry out;
  for (unsigned pushes = 1; pushes <= most_pushes; ++pushes) {
    std::optional<u8> byte = memory.try_load<u8>(code);
    const bool is_high = byte == 0x41;
    if (is_high)
      byte = memory.try_load<u8>(code + 1);
    if (!byte)
      return std::nullopt;
    const u8 reg = static_cast<u8>((*byte & 7) | (is_high ? 8 : 0));
    if ((*byte & 0xf8) != 0x50 || !(preserved >> reg & 1))
      break;
    out.saved.push_back({reg, -8 * i64{pushes}});
    code += is_high ? 2 : 1;
  }
  return out;
}

i64 sign_extended(u32 value, unsigned bits) {
  const u32 sign = u32{1} << (bits - 1);
  return i64{value ^ sign} - i64{sign};
}

// Follows stores of registers into a frame that grows, until the frame pointer is set. Skips other instructions that
// the compiler has scheduled in between. Arm Architecture Reference Manual, C4.
class Arm64Entry {
public:
  Arm64Entry(const Memory &memory, u32 preserved) : memory_(memory), preserved_(preserved) {}

  std::optional<NativeEntry> read(Address code) {
    constexpr unsigned most_instructions = 32;
    for (unsigned i = 0; i < most_instructions && !frame_pointer_; ++i) {
      const std::optional<u32> word = memory_.try_load<u32>(code + 4 * i);
      if (!word || !follow(*word))
        return std::nullopt;
    }
    if (!frame_pointer_)
      return std::nullopt;
    NativeEntry out;
    out.end = *frame_pointer_;
    for (const Place &place : places_)
      out.saved.push_back({place.reg, *frame_pointer_ - place.depth});
    return out;
  }

private:
  // Distance below the caller's stack pointer.
  struct Place {
    u8 reg;
    i64 depth;
  };

  // False: the stack pointer is unknown from here on.
  bool follow(u32 word) {
    constexpr u32 sp = 31;
    if ((word & 0xfffff01f) == 0xd503201f) // nop, paciasp, bti
      return true;
    if ((word & 0x1c000000) == 0x14000000 || (word & 0xffe003ff) == 0xcb2003ff) // branches; sub sp, sp, x
      return false;
    if ((word >> 5 & 31) != sp)
      return true;
    const i64 immediate = word >> 10 & 0xfff;
    const i64 difference = word >> 22 & 1 ? immediate << 12 : immediate;
    const u8 first = word & 31, second = word >> 10 & 31;
    const i64 of_pair = 8 * sign_extended(word >> 15 & 0x7f, 7);
    const bool is_general = (word >> 26 & 1) == 0;
    const u32 kind = word & 0xffc00000;
    if ((word & 0xff8003ff) == 0xd10003ff) // sub sp, sp, #n
      depth_ += difference;
    else if ((word & 0xff8003ff) == 0x910003fd) // add x29, sp, #n
      frame_pointer_ = depth_ - difference;
    else if (kind == 0xa9000000 || kind == 0x6d000000 || kind == 0xa9800000 || kind == 0x6d800000) { // stp x and d
      const bool moves = word >> 23 & 1;                                                             // stp …!
      depth_ -= moves ? of_pair : 0;
      save(is_general, first, moves ? 0 : of_pair);
      save(is_general, second, (moves ? 0 : of_pair) + 8);
    } else if (kind == 0xf9000000 || kind == 0xfd000000) { // str
      save(is_general, first, 8 * immediate);
    } else if ((word & 0xfbe00c00) == 0xf8000c00) { // str …!
      depth_ -= sign_extended(word >> 12 & 0x1ff, 9);
      save(is_general, first, 0);
    }
    return true;
  }
  void save(bool is_general, u8 reg, i64 at) {
    if (is_general && preserved_ >> reg & 1)
      places_.push_back({reg, depth_ - at});
  }

  const Memory &memory_;
  const u32 preserved_;
  i64 depth_ = 0;                    // distance of the stack pointer below the caller's
  std::optional<i64> frame_pointer_; // its depth
  std::vector<Place> places_;
};

} // namespace

std::optional<NativeEntry> read_native_entry(const Memory &memory, const CallingConvention &convention, Address entry) {
  const u32 preserved = convention.preserved & ~(u32{1} << convention.frame_pointer);
  switch (convention.architecture) {
  case Architecture::x64: return read_x64(memory, entry, preserved);
  case Architecture::arm64: return Arm64Entry(memory, preserved).read(entry);
  default: return std::nullopt;
  }
}

} // namespace dnheap
