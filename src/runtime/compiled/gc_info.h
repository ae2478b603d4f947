// GcInfo: the JIT's data on where a method keeps references: at which code offsets, in which registers and stack slots.
// Versions 2 to 5, of x64 and arm64. The constructor reads the header (some 20 bytes), the functions read the rest:
// O(slots + safe points / 32) per question. Nothing is kept. Any thread. Format: dotnet/runtime
// src/coreclr/vm/gcinfodecoder.cpp; see doc/contracts.md, GCInfo.
#pragma once
#include "runtime/compiled/bit_reader.h"
#include "runtime/compiled/gc_info_encoding.h"

#include <optional>
#include <vector>

namespace dnheap {

// A register or stack slot that may hold a reference.
struct GcSlot {
  enum class Base : u8 { caller_sp, sp, frame_register, none };
  Base base = Base::none; // base of `offset`; none: a register
  u8 reg = 0;             // number of the register
  bool interior = false;  // the reference may point into an object
  bool pinned = false;
  bool tracked = true; // else it counts everywhere in the method, and may hold a stale value
  i32 offset = 0;

  bool operator==(const GcSlot &) const = default;
};

// A position in a method's code.
struct CodePoint {
  u64 offset = 0;
  bool active = false;  // the code continues there; else the offset is a return address
  bool aborted = false; // an exception left the method there, so the method does not continue
  bool filter = false;  // in a filter: the enclosing method's frame reports the untracked slots
};

class GcInfo {
public:
  // Nothing is read at or after address + `most`.
  static constexpr u64 most_bytes = 1 << 20;
  GcInfo(const Memory &memory, Address address, const GcInfoEncoding &encoding, u32 version, u64 most = most_bytes);

  // The outcome of reading the header. If it is not done, no other function may be called.
  const ReadOutcome &outcome() const { return reader_.outcome(); }

  enum Flag : u32 {
    is_vararg = 0x1,
    has_gs_cookie = 0x4,
    has_psp_symbol = 0x8,
    generics_context = 0x30,
    has_stack_base_register = 0x40,
    wants_report_only_leaf = 0x80,
    has_edit_and_continue = 0x100,
    is_reverse_pinvoke = 0x200,
  };
  u32 flags() const { return flags_; }
  u64 code_length() const { return code_length_; }
  // Bytes from the stack pointer on that belong to the methods that this one calls.
  u64 scratch_area() const { return scratch_area_; }
  std::optional<u8> stack_base_register() const { return stack_base_; }
  // Sorted ranges of offsets, [first, second), in which the method can be stopped anywhere.
  const std::vector<std::pair<u64, u64>> &ranges() const { return ranges_; }

  // Lists them as stored: before version 4, one less than the return address.
  ReadOutcome safe_points(std::vector<u64> &out) const;
  // True if a call can return to this offset, as far as the safe points and ranges show.
  bool is_return_point(u64 offset) const;
  // True if the GC info lists what is live at that point. Between calls, it does so only for code that can be stopped
  // anywhere.
  bool tells(const CodePoint &point) const;
  // Lists all slots: tracked registers, tracked stack slots, untracked stack slots.
  ReadOutcome slots(std::vector<GcSlot> &out) const;
  // Lists the slots that hold references at that point. Scratch registers and the scratch area count only for active
  // frames: the caller has to leave them out for others.
  ReadOutcome live_slots(const CodePoint &point, std::vector<GcSlot> &out) const;

private:
  void read_header();
  void read_slim_header();
  void read_fat_header();
  void read_ranges();
  u32 normal_offset(u64 offset) const;
  u64 offset_of(u64 normal) const;
  unsigned safe_point_bits() const;
  std::optional<u32> find_safe_point(BitReader &reader, u32 normal) const;
  // The offset under which a point is stored.
  u64 offset_told(const CodePoint &point) const;
  // Returns the offset within all ranges joined; nullopt: it is in none.
  std::optional<u64> find_in_ranges(u64 offset) const;

  void read_slots(BitReader &reader, std::vector<GcSlot> &out, u32 &tracked) const;
  void read_register_slots(BitReader &reader, u32 count, std::vector<GcSlot> &out) const;
  void read_stack_slots(BitReader &reader, u32 count, bool tracked, std::vector<GcSlot> &out) const;
  void read_set(BitReader &reader, u32 size, bool is_runs, std::vector<u32> &out) const;
  void live_at_safe_point(BitReader &reader, u32 safe_point, unsigned pointer_bits, u32 tracked,
                          std::vector<u32> &out) const;
  void live_in_ranges(BitReader &reader, u64 offset, u32 tracked, std::vector<u32> &out) const;

  const GcInfoEncoding *encoding_;
  u32 version_;
  BitReader reader_; // state after reading the header; then only its outcome matters
  bool is_slim_ = false;
  u32 flags_ = 0;
  u64 code_length_ = 0, normal_length_ = 0, scratch_area_ = 0; // `normal_length_`: in units of code offsets
  std::optional<u8> stack_base_;
  u32 safe_points_ = 0;
  std::vector<std::pair<u64, u64>> ranges_;
  u64 safe_points_at_ = 0, slots_at_ = 0; // positions in bits
};

} // namespace dnheap
