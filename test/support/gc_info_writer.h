// GcInfoWriter: GC info as a JIT writes it, from a plain account of what is alive where: the twin of runtime/compiled's
// reader. Which of the ways to write something is taken (runs or bits, pointers or not, chunks left out or not), a
// random number decides.
#pragma once
#include "runtime/compiled/gc_info.h"

#include <random>

namespace dnheap::test {

class BitWriter {
public:
  void bits(u64 value, unsigned count);
  void number(u64 value, unsigned base);
  void signed_number(i64 value, unsigned base);
  void align_to_byte() { position_ = align_up(position_, 8); }
  void append(const BitWriter &other);
  u64 position() const { return position_; }
  std::vector<std::byte> bytes() const;

private:
  std::vector<bool> set_;
  u64 position_ = 0;
};

// What GC info says. Offsets are in code units: instructions of arm64 from version 4 on, else bytes.
struct GcInfoModel {
  Architecture architecture = Architecture::x64;
  u32 version = 4;
  u64 length = 100; // of the code, in bytes
  u32 flags = 0;    // of a fat header
  bool slim = false;
  std::optional<u8> base;    // stack base register
  u64 scratch_area = 0;      // bytes
  std::vector<GcSlot> slots; // tracked ones first; registers in front of them
  u32 tracked = 0;
  std::vector<std::pair<u64, std::vector<bool>>> safe_points; // ascending; which tracked slots are alive
  std::vector<std::pair<u64, u64>> ranges;
  std::vector<std::vector<bool>> alive; // by offset into all ranges together, by tracked slot

  const GcInfoEncoding &encoding() const { return *gc_info_encoding(architecture); }
  u64 unit() const { return version < 4 ? 1 : encoding().instruction_size; }
  u64 units() const { return length / unit(); }
  // What lives there, by the account.
  std::vector<GcSlot> live_slots(const CodePoint &point) const;
};

GcInfoModel random_gc_info(Architecture architecture, u32 version, std::mt19937_64 &random);
std::vector<std::byte> write_gc_info(const GcInfoModel &model, std::mt19937_64 &random);

} // namespace dnheap::test
