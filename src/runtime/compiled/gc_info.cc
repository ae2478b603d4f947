#include "runtime/compiled/gc_info.h"

#include <bit>

namespace dnheap {

namespace {

constexpr u32 first_version = 2, last_version = 5;
constexpr unsigned flag_bits = 10, slim_return_kind_bits = 2,
                   fat_return_kind_bits = 4; // return kinds exist in versions 2 and 3
constexpr u64 most_code = u64{1} << 30;      // limit of one method's bytes
constexpr u32 most_ranges = 1 << 20;

// Returns the number of bits for a number below `count`.
unsigned bits_below(u64 count) { return count > 1 ? 64u - static_cast<unsigned>(std::countl_zero(count - 1)) : 0; }

} // namespace

GcInfo::GcInfo(const Memory &memory, Address address, const GcInfoEncoding &encoding, u32 version, u64 most)
    : encoding_(&encoding), version_(version), reader_(memory, address, most) {
  read_header();
}

void GcInfo::read_header() {
  if (version_ < first_version || version_ > last_version)
    return reader_.fail("an unknown version of GC info");
  is_slim_ = !reader_.bit();
  is_slim_ ? read_slim_header() : read_fat_header();
  safe_points_ = reader_.number32(encoding_->safe_points);
  const u32 range_count = is_slim_ ? 0 : reader_.number32(encoding_->ranges);
  if (code_length_ == 0 || code_length_ > most_code)
    return reader_.fail("a method whose size is 0 or impossible");
  normal_length_ = version_ < 4 ? code_length_ : code_length_ / encoding_->instruction_size;
  if (safe_points_ > normal_length_)
    return reader_.fail("more safe points than instructions");
  safe_points_at_ = reader_.position();
  reader_.skip(safe_points_, safe_point_bits());
  if (range_count > most_ranges)
    return reader_.fail("too many interruptible ranges");
  ranges_.resize(reader_.ok() ? range_count : 0);
  read_ranges();
  slots_at_ = reader_.position();
}

void GcInfo::read_slim_header() {
  if (reader_.bit())
    stack_base_ = encoding_->frame_pointer;
  flags_ = stack_base_ ? u32{has_stack_base_register} : 0;
  if (version_ < 4)
    reader_.bits(slim_return_kind_bits);
  code_length_ = u64{reader_.number32(encoding_->code_length)} * encoding_->instruction_size;
}

// Most fields are for other readers, and are only skipped.
void GcInfo::read_fat_header() {
  const GcInfoEncoding &e = *encoding_;
  flags_ = static_cast<u32>(reader_.bits(flag_bits));
  if (version_ < 4)
    reader_.bits(fat_return_kind_bits);
  code_length_ = u64{reader_.number32(e.code_length)} * e.instruction_size;
  const bool has_cookie = flags_ & has_gs_cookie, has_context = flags_ & generics_context;
  if (has_cookie || has_context)
    reader_.number(e.prolog_size);
  if (has_cookie) {
    reader_.number(e.epilog_size);
    reader_.signed_number(e.stack_slot_of_header);
  }
  if (version_ < 4 && (flags_ & has_psp_symbol))
    reader_.signed_number(e.stack_slot_of_header);
  if (has_context)
    reader_.signed_number(e.stack_slot_of_header);
  if (flags_ & has_stack_base_register) {
    const u64 number = reader_.number(e.stack_base_register) ^ e.frame_pointer;
    if (number >= e.register_count && number != e.stack_pointer)
      return reader_.fail("a stack base register that does not exist");
    stack_base_ = static_cast<u8>(number);
  }
  if (flags_ & has_edit_and_continue) {
    reader_.number(e.preserved_area);
    if (e.has_fixed_frame)
      reader_.number(e.preserved_area);
  }
  if (flags_ & is_reverse_pinvoke)
    reader_.signed_number(e.stack_slot_of_header);
  scratch_area_ = u64{reader_.number32(e.stack_area)} * e.stack_unit;
}

void GcInfo::read_ranges() {
  u64 last = 0;
  for (auto &[start, end] : ranges_) {
    const u64 first = last + reader_.number32(encoding_->range_delta);
    last = first + reader_.number32(encoding_->range_delta) + 1;
    if (!reader_.ok())
      break;
    if (last > normal_length_)
      return reader_.fail("an interruptible range beyond the method's end");
    start = offset_of(first);
    end = offset_of(last);
  }
}

u32 GcInfo::normal_offset(u64 offset) const {
  return static_cast<u32>(version_ < 4 ? offset : offset / encoding_->instruction_size);
}

u64 GcInfo::offset_of(u64 normal) const { return version_ < 4 ? normal : normal * encoding_->instruction_size; }

unsigned GcInfo::safe_point_bits() const { return bits_below(normal_length_); }

ReadOutcome GcInfo::safe_points(std::vector<u64> &out) const {
  out.clear();
  BitReader reader = reader_;
  reader.seek(safe_points_at_);
  for (u32 i = 0; i < safe_points_ && reader.ok(); ++i)
    out.push_back(offset_of(reader.bits(safe_point_bits())));
  return reader.outcome();
}

// Searches exactly as the runtime does: a dump may hold only the pages that this search touches.
std::optional<u32> GcInfo::find_safe_point(BitReader &reader, u32 normal) const {
  constexpr u32 few = 32;
  const unsigned width = safe_point_bits();
  u32 low = 0, high = safe_points_;
  while (high - low > few && reader.ok()) {
    const u32 middle = low + (high - low) / 2;
    reader.seek(safe_points_at_ + u64{middle} * width);
    (normal < reader.bits(width) ? high : low) = middle;
  }
  reader.seek(safe_points_at_ + u64{low} * width);
  for (; low < high && reader.ok(); ++low) {
    const u64 at = reader.bits(width);
    if (at == normal && reader.ok())
      return low;
    if (at > normal)
      break;
  }
  return std::nullopt;
}

std::optional<u64> GcInfo::find_in_ranges(u64 offset) const {
  u64 before = 0;
  for (auto [start, end] : ranges_) {
    if (offset >= start && offset < end)
      return before + normal_offset(offset - start);
    before += normal_offset(end - start);
  }
  return std::nullopt;
}

bool GcInfo::is_return_point(u64 offset) const {
  if (!outcome() || offset == 0)
    return false;
  offset -= version_ < 4 ? 1 : 0;
  BitReader reader = reader_;
  return find_safe_point(reader, normal_offset(offset)) || find_in_ranges(offset);
}

// Before version 4, a return point is stored as the return address minus one.
u64 GcInfo::offset_told(const CodePoint &point) const {
  const bool is_return = !point.active && !point.aborted && point.offset;
  return point.offset - (version_ < 4 && is_return ? 1 : 0);
}

bool GcInfo::tells(const CodePoint &point) const {
  if (!outcome())
    return false;
  const u64 offset = offset_told(point);
  BitReader reader = reader_;
  return (!point.aborted && find_safe_point(reader, normal_offset(offset))) || find_in_ranges(offset);
}

ReadOutcome GcInfo::live_slots(const CodePoint &point, std::vector<GcSlot> &out) const {
  out.clear();
  if (!outcome())
    return outcome();
  const u64 offset = offset_told(point);
  BitReader reader = reader_;
  std::optional<u32> safe_point;
  if (!point.aborted)
    safe_point = find_safe_point(reader, normal_offset(offset));
  const std::optional<u64> in_ranges = safe_point ? std::nullopt : find_in_ranges(offset);
  if (point.aborted && !in_ranges)
    return reader.outcome(); // the method does not continue, so it needs no slot any more
  reader.seek(slots_at_);
  std::vector<GcSlot> slots;
  u32 tracked = 0;
  read_slots(reader, slots, tracked);
  std::vector<u32> live;
  if (reader.ok() && tracked && (safe_point || in_ranges)) {
    unsigned pointer_bits = 0;
    if (safe_points_ && reader.bit())
      pointer_bits = reader.number32(encoding_->pointer_size) + 1;
    if (safe_point) {
      live_at_safe_point(reader, *safe_point, pointer_bits, tracked, live);
    } else {
      reader.skip(safe_points_, tracked);
      live_in_ranges(reader, *in_ranges, tracked, live);
    }
  }
  if (!reader.ok())
    return reader.outcome();
  for (u32 index : live)
    out.push_back(slots[index]);
  if (!point.filter)
    out.insert(out.end(), slots.begin() + tracked, slots.end());
  return {};
}

// Each safe point has its set inline; or it has an offset into the list of sets, where equal sets are shared.
void GcInfo::live_at_safe_point(BitReader &reader, u32 safe_point, unsigned pointer_bits, u32 tracked,
                                std::vector<u32> &out) const {
  if (!pointer_bits) {
    reader.skip(safe_point, tracked);
    return read_set(reader, tracked, false, out);
  }
  if (pointer_bits > 32)
    return reader.fail("a pointer that is too wide");
  const u64 places = reader.position();
  reader.skip(safe_point, pointer_bits);
  const u64 place = reader.bits(pointer_bits);
  reader.seek(places);
  reader.skip(safe_points_, pointer_bits);
  reader.seek(align_up(reader.position(), 8) + place);
  const bool is_runs = reader.bit();
  read_set(reader, tracked, is_runs, out);
}

// All ranges, joined, are cut into chunks. Each chunk lists the slots that live in it at some time, those that live at
// its end, and the changes. A chunk that would repeat the state at the end of the one before is left out.
void GcInfo::live_in_ranges(BitReader &reader, u64 offset, u32 tracked, std::vector<u32> &out) const {
  u64 length = 0;
  for (auto [start, end] : ranges_)
    length += normal_offset(end - start);
  const unsigned chunk_bits = encoding_->chunk_bits;
  const u64 chunk_size = u64{1} << chunk_bits, chunks = (length + chunk_size - 1) >> chunk_bits;
  const u32 pointer_bits = reader.number32(encoding_->pointer_size);
  if (!reader.ok() || !pointer_bits)
    return;
  if (pointer_bits > 32)
    return reader.fail("a pointer that is too wide");
  const u64 pointers = reader.position();
  reader.skip(chunks, pointer_bits);
  const u64 first_chunk = align_up(reader.position(), 8), of_offset = offset >> chunk_bits;
  u64 pointer = 0, chunk = of_offset + 1;
  while (!pointer && chunk && reader.ok()) {
    reader.seek(pointers + --chunk * pointer_bits);
    pointer = reader.bits(pointer_bits);
  }
  if (!pointer || !reader.ok())
    return;
  reader.seek(first_chunk + pointer - 1);
  std::vector<u32> some_time;
  const bool is_runs = reader.bit();
  read_set(reader, tracked, is_runs, some_time);
  if (!reader.ok())
    return;
  BitReader at_end = reader;
  reader.skip(some_time.size(), 1);
  for (u32 slot : some_time) {
    bool is_live = at_end.bit();
    if (chunk == of_offset)
      while (reader.bit())
        if (reader.bits(chunk_bits) > offset % chunk_size)
          is_live = !is_live;
    if (is_live)
      out.push_back(slot);
  }
  if (!at_end.ok())
    reader = at_end;
}

// A set is stored as one bit per slot, or as alternating runs: of slots in the set, and of slots not in it.
void GcInfo::read_set(BitReader &reader, u32 size, bool is_runs, std::vector<u32> &out) const {
  if (!is_runs) {
    for (u32 i = 0; i < size && reader.ok(); ++i)
      if (reader.bit())
        out.push_back(i);
    return;
  }
  bool is_skip_number = !reader.bit(); // two kinds of numbers alternate; the first counts slots not in the set
  u64 at = reader.number32(is_skip_number ? encoding_->skip : encoding_->run);
  for (bool is_in = true; at < size && reader.ok(); is_in = !is_in) {
    is_skip_number = !is_skip_number;
    const u64 end = at + reader.number32(is_skip_number ? encoding_->skip : encoding_->run) + 1;
    if (end > size)
      return reader.fail("a run of slots beyond the last one");
    for (; at < end; ++at)
      if (is_in)
        out.push_back(static_cast<u32>(at));
  }
}

ReadOutcome GcInfo::slots(std::vector<GcSlot> &out) const {
  out.clear();
  if (!outcome())
    return outcome();
  BitReader reader = reader_;
  reader.seek(slots_at_);
  u32 tracked = 0;
  read_slots(reader, out, tracked);
  return reader.outcome();
}

void GcInfo::read_slots(BitReader &reader, std::vector<GcSlot> &out, u32 &tracked) const {
  constexpr u64 most_slots = 1 << 20;
  u32 registers = 0, on_stack = 0, untracked = 0;
  if (reader.bit())
    registers = reader.number32(encoding_->registers);
  if (reader.bit()) {
    on_stack = reader.number32(encoding_->stack_slots);
    untracked = reader.number32(encoding_->untracked_slots);
  }
  if (u64{registers} + on_stack + untracked > most_slots)
    return reader.fail("too many slots");
  tracked = registers + on_stack;
  read_register_slots(reader, registers, out);
  read_stack_slots(reader, on_stack, true, out);
  read_stack_slots(reader, untracked, false, out);
}

namespace {

void read_flags(BitReader &reader, GcSlot &slot) {
  const u64 flags = reader.bits(2);
  slot.interior = flags & 1;
  slot.pinned = flags & 2;
}

} // namespace

// After a slot without flags, the next one's flags are left out, and its number is stored as a difference.
void GcInfo::read_register_slots(BitReader &reader, u32 count, std::vector<GcSlot> &out) const {
  GcSlot slot;
  u64 number = 0;
  for (u32 i = 0; i < count && reader.ok(); ++i) {
    if (i == 0 || slot.interior || slot.pinned) {
      number = reader.number32(encoding_->register_number);
      read_flags(reader, slot);
    } else {
      number += u64{reader.number32(encoding_->register_delta)} + 1;
    }
    if (number >= encoding_->register_count || number == encoding_->stack_pointer)
      return reader.fail("a register that does not exist");
    slot.reg = static_cast<u8>(number);
    out.push_back(slot);
  }
}

void GcInfo::read_stack_slots(BitReader &reader, u32 count, bool tracked, std::vector<GcSlot> &out) const {
  constexpr i64 most_units = i64{1} << 27;
  GcSlot slot;
  slot.tracked = tracked;
  i64 units = 0;
  for (u32 i = 0; i < count && reader.ok(); ++i) {
    slot.base = static_cast<GcSlot::Base>(reader.bits(2));
    if (i == 0 || slot.interior || slot.pinned) {
      units = reader.signed_number(encoding_->stack_slot);
      read_flags(reader, slot);
    } else {
      units += reader.number32(encoding_->stack_slot_delta);
    }
    if (slot.base == GcSlot::Base::none)
      return reader.fail("a stack slot without a base");
    if (slot.base == GcSlot::Base::frame_register && !stack_base_)
      return reader.fail("a slot relative to a register that the method does not have");
    if (units < -most_units || units > most_units)
      return reader.fail("a stack slot that is too far away");
    slot.offset = static_cast<i32>(units * encoding_->stack_unit);
    out.push_back(slot);
  }
}

} // namespace dnheap
