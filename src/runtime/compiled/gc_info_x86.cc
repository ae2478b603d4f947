#include "runtime/compiled/gc_info_x86.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_bytes = 1 << 20;   // of GC info
constexpr u32 most_pushed = 1024;     // words, the JIT's limit
constexpr u32 most_entries = 1 << 16; // limit of entries in a table
constexpr u32 follows = ~u32{0};      // the number follows the header
constexpr u32 unsaid = follows - 1;

// Frequent headers, by number, one word each: prolog 6 bits, epilog 4, epilogs 2, one at the end 1, saved registers 4,
// frame pointer 1, interruptible 1, (1), handlers 1, arguments 4, locals 4, untracked slots 2, tracked 1.
constexpr u32 frequent_headers[128] = {
    0x00000440, 0x00001440, 0x00000840, 0x00000c40, 0x002014c0, 0x202014c0, 0x004014c0, 0x204014c0, 0x404014c0,
    0x006014c0, 0x008014c0, 0x208014c0, 0x82000001, 0x82200001, 0x82000481, 0x00004481, 0x02001481, 0x00009481,
    0x00005481, 0x00004881, 0x00004c81, 0x00205501, 0x20205501, 0x00405501, 0x40405501, 0x00204901, 0x820044c2,
    0x0000c4c2, 0x000064c2, 0x000464c2, 0x020054c2, 0x820054c2, 0x0000d4c2, 0x000074c2, 0x000068c2, 0x00006cc2,
    0x00206542, 0x00406542, 0x00207542, 0x20207542, 0x00407542, 0x20407542, 0x40407542, 0x8205f582, 0x8013e5c2,
    0x8213f5c2, 0x02006503, 0x0000e503, 0x02007503, 0x0000f503, 0x02006903, 0x0000e903, 0x0020e583, 0x0040e583,
    0x0020f583, 0x2020f583, 0x0040f583, 0x4040f583, 0x0020e983, 0xd205e603, 0x0200e544, 0x0001e544, 0x0200f544,
    0x0001f544, 0x0001e944, 0x0021e5c4, 0x0041e5c4, 0x0021f5c4, 0x2021f5c4, 0x0041f5c4, 0x0004f505, 0x0201e585,
    0x04007585, 0x08007585, 0x0201f585, 0x8201f585, 0x8221f585, 0x0241f585, 0x0221f605, 0x0003e006, 0x0007e006,
    0x84030506, 0x84031506, 0x02036586, 0x02037586, 0x0400f5c6, 0x0004e507, 0x86034547, 0x8a034547, 0x8601e607,
    0x0401f607, 0x8401f607, 0x8601ea07, 0xac41e687, 0x0421f687, 0xa421f687, 0x0441f687, 0x8641f687, 0x220054c8,
    0x04037588, 0x22007509, 0x0403f5c9, 0x8013f5c9, 0x2800554a, 0x2200f54a, 0x2800758b, 0x020b554c, 0x9205e60d,
    0x2401f60d, 0xac45e68d, 0x8207f5ce, 0x8813e5d0, 0x8013f5d0, 0x8213f5d0, 0x0613f5d0, 0x0813f5d0, 0x8813f5d0,
    0x8a13f5d0, 0x8c13f5d0, 0x8813e9d0, 0xa833f650, 0xa853f650, 0x8a17f5d3, 0x8a13f5d8, 0x0023f66d, 0x9a03e5f3,
    0x8203f5f3, 0x1603f5f3,
};
// Frequent calls: bytes of code since the last one, registers that hold references, words of arguments.
constexpr u16 frequent_calls[80] = {
    0x0a20, 0x0c20, 0x0c21, 0x0a30, 0x0c30, 0x0e20, 0x1020, 0x0b20, 0x0d20, 0x0820, 0x0c31, 0x1120, 0x0e30, 0x1220,
    0x1030, 0x1130, 0x0a21, 0x0a10, 0x0f20, 0x1320, 0x0830, 0x1520, 0x0d21, 0x0c10, 0x0d30, 0x2320, 0x1b20, 0x1420,
    0x0f30, 0x0a70, 0x0920, 0x1230, 0x1620, 0x0720, 0x0930, 0x0c70, 0x0c60, 0x0e10, 0x1a20, 0x1820, 0x1720, 0x1f20,
    0x1330, 0x0a60, 0x0e60, 0x0821, 0x0b30, 0x0a31, 0x0710, 0x1310, 0x0931, 0x1920, 0x1170, 0x2120, 0x0d22, 0x1010,
    0x0f60, 0x1430, 0x0c50, 0x0831, 0x2020, 0x1070, 0x0f10, 0x1e20, 0x0c40, 0x1630, 0x1260, 0x2220, 0x1d20, 0x0cf0,
    0x0e70, 0x0a40, 0x0921, 0x1060, 0x1530, 0x0a11, 0x0ab0, 0x0c61, 0x0970, 0x0730,
};
constexpr u32 frequent_distances[] = {6, 8, 10, 12};

constexpr X86Register by_bit[] = {X86Register::edi, X86Register::esi, X86Register::ebx, X86Register::ebp};

// Converts the bits edi, esi, ebx, ebp to bits by register number.
constexpr u32 by_number(u32 bits) {
  u32 out = 0;
  for (u32 i = 0; i < 4; ++i)
    if (bits >> i & 1)
      out |= u32{1} << static_cast<u8>(by_bit[i]);
  return out;
}

GcSlot on_stack(GcSlot::Base base, i64 offset, u32 flags) {
  GcSlot out;
  out.base = base;
  out.interior = flags & 1;
  out.pinned = flags & 2;
  out.offset = static_cast<i32>(offset);
  return out;
}

} // namespace

class GcInfoX86::Reader {
public:
  Reader(const Memory &memory, Address at) : memory_(memory), at_(at), end_(add_clamped(at, most_bytes)) {}

  const ReadOutcome &outcome() const { return outcome_; }
  bool is_done() const { return static_cast<bool>(outcome_); }
  Address at() const { return at_; }
  void move_to(Address at) { at_ = at; }
  void fail(const char *why) {
    if (outcome_)
      outcome_ = ReadOutcome::malformed(why);
  }

  // Returns 0 after a failure.
  u32 byte() { return take<u8>(); }
  u32 word() { return take<u32>(); }
  // Reads groups of seven bits, the topmost first.
  u32 number() { return rest_of(byte(), 0x7f); }
  i32 signed_number() {
    const u32 first = byte();
    const i32 value = static_cast<i32>(rest_of(first, 0x3f));
    return first & 0x40 ? -value : value;
  }
  void skip_numbers(u64 count) {
    for (u64 i = 0; i < count && outcome_; ++i)
      number();
  }

private:
  template <class T> u32 take() {
    if (!outcome_)
      return 0;
    const std::optional<T> value = at_ < end_ ? memory_.try_load<T>(at_) : std::nullopt;
    if (at_ >= end_)
      fail("it is too long");
    else if (!value)
      outcome_ = ReadOutcome::missing(at_);
    at_ += sizeof(T);
    return value.value_or(0);
  }
  u32 rest_of(u32 byte_read, u32 mask) {
    constexpr u32 most = 5;
    u32 value = byte_read & mask;
    for (u32 i = 1; byte_read & 0x80; ++i) {
      if (i == most)
        fail("a number that is too long");
      if (!outcome_)
        return 0;
      byte_read = byte();
      value = value << 7 | (byte_read & 0x7f);
    }
    return value;
  }

  const Memory &memory_;
  Address at_;
  const Address end_;
  ReadOutcome outcome_;
};

GcInfoX86::GcInfoX86(const Memory &memory, Address address, u32 version) : memory_(&memory), version_(version) {
  Reader reader(memory, address);
  if (version < 4)
    reader.fail("GC info of x86 before version 4");
  read_header(reader);
  outcome_ = reader.outcome();
}

std::vector<X86Register> GcInfoX86::saved() const {
  std::vector<X86Register> out;
  for (u32 i = 0; i < 4; ++i)
    if (saved_ >> i & 1)
      out.push_back(by_bit[i]);
  return out;
}

void GcInfoX86::read_header(Reader &reader) {
  code_length_ = reader.number();
  u32 code = reader.byte();
  const u32 common = frequent_headers[code & 0x7f];
  auto bits = [&](u32 from, u32 count) { return common >> from & ((u32{1} << count) - 1); };
  prolog_size_ = bits(0, 6);
  epilog_size_ = bits(6, 4);
  u32 epilogs = bits(10, 2);
  bool is_at_end = bits(12, 1);
  saved_ = static_cast<u8>(bits(13, 4));
  has_frame_pointer_ = bits(17, 1);
  is_interruptible_ = bits(18, 1);
  has_handlers_ = bits(20, 1);
  arguments_ = bits(21, 4);
  locals_ = bits(25, 4);
  untracked_ = bits(29, 2);
  tracked_ = bits(31, 1) ? follows : 0;
  u32 cookie = 0, sync = 0, reverse_call = unsaid;

  constexpr u32 arguments = 0x08, prolog = 0x11, epilog = 0x22, epilog_count = 0x2d, untracked = 0x37, flips = 0x3b,
                next_set = 0x4f;
  while (code & 0x80 && reader.is_done()) {
    code = reader.byte();
    const u32 what = code & 0x7f;
    if (what < arguments)
      locals_ = what;
    else if (what < prolog)
      arguments_ = what - arguments;
    else if (what < epilog)
      prolog_size_ = what - prolog;
    else if (what < epilog_count)
      epilog_size_ = what - epilog;
    else if (what < untracked) {
      epilogs = (what - epilog_count) / 2;
      is_at_end = (what - epilog_count) & 1;
    } else if (what < flips)
      untracked_ = what - untracked;
    else if (what < next_set)
      switch (what) {
      case 0x3b:
      case 0x3c:
      case 0x3d:
      case 0x3e: saved_ ^= static_cast<u8>(1 << (what - flips)); break;
      case 0x3f: has_frame_pointer_ ^= true; break;
      case 0x40: is_interruptible_ ^= true; break;
      case 0x41: is_double_aligned_ ^= true; break;
      case 0x43: has_handlers_ ^= true; break;
      case 0x44: has_localloc_ ^= true; break;
      case 0x46: tracked_ = tracked_ ? 0 : follows; break;
      case 0x47: untracked_ = follows; break;
      case 0x48: is_vararg_ ^= true; break;
      case 0x4a: cookie ^= follows; break;
      case 0x4b: sync ^= follows; break;
      case 0x4e: reverse_call = reverse_call == unsaid ? follows : unsaid; break;
      default: break; // data on generic contexts, profilers, Edit and Continue, which does not affect places
      }
    else if (what == next_set) {
      const u32 kinds_of_return = version_ >= 5 ? 8 : 4, most_regions = 4;
      code = reader.byte();
      const u32 second = code & 0x7f;
      if (second == kinds_of_return + most_regions + 1)
        no_gc_regions_ = follows;
      else if (second >= kinds_of_return && second <= kinds_of_return + most_regions)
        no_gc_regions_ = second - kinds_of_return;
      else if (second >= kinds_of_return)
        reader.fail("an unknown header");
    } else if (what < 0x60)
      locals_ = locals_ << 4 | (what & 15);
    else if (what < 0x70)
      arguments_ = arguments_ << 4 | (what & 15);
    else if (what < 0x78)
      prolog_size_ = prolog_size_ << 3 | (what & 7);
    else
      epilog_size_ = epilog_size_ << 3 | (what & 7);
  }
  bool has_place = untracked_ == follows || tracked_ == follows || no_gc_regions_ != 0; // place of the last table
  if (untracked_ == follows)
    untracked_ = reader.number();
  if (tracked_ == follows)
    tracked_ = reader.number();
  if (cookie)
    reader.number();
  if (sync)
    reader.skip_numbers(2);
  if (reverse_call == follows)
    reader.number();
  if (no_gc_regions_ == follows)
    no_gc_regions_ = reader.number();
  if (epilogs > 1 || (epilogs && !is_at_end)) {
    u32 at = 0;
    for (u32 i = 0; i < epilogs; ++i)
      epilogs_.push_back(at += reader.number());
  } else if (epilogs && code_length_ >= epilog_size_) {
    epilogs_.push_back(code_length_ - epilog_size_);
  }
  arguments_at_ = has_place ? reader.number() : 0;
  tables_ = reader.at();
  constexpr u32 most_words = 1 << 20; // words of a frame
  if (code_length_ > most_bytes * 64 || prolog_size_ > code_length_ || locals_ > most_words ||
      arguments_ > most_words || untracked_ > most_entries || tracked_ > most_entries || no_gc_regions_ > most_entries)
    reader.fail("a header with impossible sizes");
  if (has_frame_pointer_ && !(saved_ & 8))
    reader.fail("a frame pointer that is not saved");
}

bool GcInfoX86::is_in_epilog(u64 offset) const {
  return std::any_of(epilogs_.begin(), epilogs_.end(),
                     [&](u32 start) { return offset > start && offset < u64{start} + epilog_size_; });
}

// For methods that can be stopped anywhere, the table lists when registers begin and cease to hold references, and all
// pushes. At a return address, the registers that hold references during the call count: behind a call that does not
// return, other registers may begin to hold some.
GcInfoX86::Place GcInfoX86::in_interruptible_code(Reader &reader, const CodePoint &point, bool is_funclet) const {
  Place out;
  std::vector<u8> pushed; // per word: 0: no reference, 1: a reference, 2: a reference into an object
  const u64 of_registers = point.active || point.offset == 0 ? point.offset : point.offset - 1;
  u64 at = 0;
  bool is_interior = false;
  auto push = [&](u8 what) {
    if (pushed.size() < most_pushed)
      pushed.push_back(what);
    else
      reader.fail("more arguments than there can be");
    is_interior = false;
  };
  auto pop = [&](u32 count) {
    if (count > pushed.size())
      reader.fail("more arguments are removed than there are");
    else
      pushed.erase(pushed.end() - count, pushed.end());
  };
  while (at <= point.offset && reader.is_done()) {
    const u32 code = reader.byte();
    if (code == 0xff)
      break;
    if (!(code & 0x80)) { // 0LRRRDDD
      at += code & 7;
      if (at > point.offset)
        break;
      const u32 bit = u32{1} << (code >> 3 & 7);
      if (at <= of_registers) {
        out.registers = code & 0x40 ? out.registers | bit : out.registers & ~bit;
        out.interior = code & 0x40 && is_interior ? out.interior | bit : out.interior & ~bit;
      }
      is_interior = false;
      continue;
    }
    const u32 kind = code >> 3 & 7;
    if (kind < 6) { // 1PSSSDDD
      at += code & 7;
      if (at > point.offset)
        break;
      if (!(code & 0x40))
        push(is_interior ? 2 : 1);
      else
        pop(kind);
    } else if (kind == 6 && code & 0x40) {
      at += ((code & 7) + 1) << 3;
    } else if (kind == 6) {
      at += code & 7;
      if (at > point.offset)
        break;
      push(0);
    } else if (code == 0xb8) {
      at += reader.number();
    } else if (code == 0xbc) { // only marks that the next reference is `this`
    } else if (code == 0xbf) {
      is_interior = true;
    } else if (code == 0xf8) {
      reader.number(); // the reference's offset, which is always behind the others
      push(is_interior ? 2 : 1);
    } else if (code == 0xf9) {
      for (u32 i = reader.number(); i && reader.is_done(); --i)
        push(0);
    } else if (code == 0xfc) {
      pop(reader.number());
    } else if (code == 0xfd) { // these arguments stay on the stack, but are no references any more
      u32 dead = reader.number();
      for (auto it = pushed.rbegin(); it != pushed.rend() && dead; ++it)
        if (*it)
          *it = 0, --dead;
    } else {
      reader.fail("an unknown code");
    }
  }
  out.pushed = static_cast<u32>(pushed.size());
  if (has_localloc_ && !is_funclet && has_frame_pointer_ &&
      std::any_of(pushed.begin(), pushed.end(), [](u8 what) { return what != 0; }))
    reader.fail("arguments behind memory that was taken from the stack");
  u32 saved = 0;
  for (u32 i = 0; i < 4; ++i)
    saved += saved_ >> i & 1;
  for (u32 i = 0; i < out.pushed; ++i)
    if (pushed[i]) {
      const bool by_frame = has_frame_pointer_ && !is_funclet;
      const i64 first = by_frame ? -4 * i64(locals_ + saved) : 4 * i64(out.pushed) - 4;
      out.arguments.push_back(
          on_stack(by_frame ? GcSlot::Base::frame_register : GcSlot::Base::sp, first - 4 * i64(i), pushed[i] == 2));
    }
  return out;
}

// For other methods, the table lists for each call that is not trivial the registers, and the words from the stack
// pointer on, that hold references.
GcInfoX86::Place GcInfoX86::at_call_with_frame(Reader &reader, u64 offset) const {
  u64 at = 0;
  Place out;
  u32 mask = 0, interior_mask = 0, registers = 0, interior = 0;
  std::vector<GcSlot> listed;
  while (at < offset && reader.is_done()) {
    const u32 code = reader.byte();
    mask = interior_mask = interior = 0;
    listed.clear();
    if (code == 0xff)
      return out; // end of the table: it does not list trivial calls, so this is one
    if (code == 0xfd) {
      mask = reader.byte();
      const u32 second = reader.byte(), third = reader.byte();
      mask |= (second & 0xf0) << 4;
      at += (second & 15) + ((third & 31) << 4);
      registers = third >> 5;
    } else if (code == 0xf9) {
      at += reader.byte();
      const u32 second = reader.byte(), third = reader.byte();
      mask = second & 31, registers = second >> 5;
      interior_mask = third & 31, interior = third >> 5;
    } else if (code == 0xfe || code == 0xfa) {
      const u32 both = reader.byte();
      registers = both & 7, interior = both >> 4;
      at += reader.word();
      mask = reader.word();
      interior_mask = code == 0xfa ? reader.word() : 0;
    } else if (code == 0xfb) {
      const u32 both = reader.byte();
      registers = both & 7, interior = both >> 4;
      at += reader.word();
      const u32 count = reader.word();
      reader.word(); // size in bytes
      if (count > most_pushed)
        reader.fail("more arguments than there can be");
      for (u32 i = 0; i < count && reader.is_done(); ++i) {
        const u32 place = reader.number();
        listed.push_back(on_stack(GcSlot::Base::sp, place & ~u32{3}, place & 3));
      }
    } else if (code & 0x80) {
      at += code & 0x7f;
      const u32 second = reader.byte();
      registers = second >> 5, mask = second & 31;
    } else if (code & 15) {
      at += code & 15;
      registers = code >> 4 & 7;
    } else if (code == 0) {
      reader.fail("an unknown code");
    } // else the place of `this`
  }
  if (at != offset)
    return out;
  out.registers = by_number(registers);
  out.interior = by_number(interior);
  out.arguments = std::move(listed);
  for (u32 i = 0; mask >> i; ++i) {
    if (mask >> i & 1)
      out.arguments.push_back(on_stack(GcSlot::Base::sp, 4 * i64(i), interior_mask >> i & 1));
    if (i == 31)
      break;
  }
  return out;
}

GcInfoX86::Place GcInfoX86::at_call_without_frame(Reader &reader, u64 offset) const {
  u64 at = 0;
  Place out;
  u32 mask = 0, interior_mask = 0, registers = 0, interior = 0, pointed = 0;
  i64 depth = 0;
  std::vector<GcSlot> listed;
  // Moves to a call `distance` further on, which removes `count` words. False: that call is behind `offset`.
  auto call = [&](u32 distance, u32 count, u32 new_registers, u32 new_mask) {
    if (at + distance > offset || (at == offset && distance > 0))
      return false;
    at += distance;
    registers = new_registers, mask = new_mask;
    interior = pointed & 15, interior_mask = pointed >> 4;
    depth -= count;
    listed.clear();
    return true;
  };
  bool goes_on = true;
  while (at <= offset && goes_on && reader.is_done()) {
    const u32 code = reader.byte();
    const bool is_pointed = pointed != 0;
    if (!(code & 0x80)) {
      u32 distance = 0;
      i64 change = 0;
      if (!(code & 0x40)) {
        distance = code & 0x20 ? 0 : code & 31;
        change = code & 0x20 ? i64(reader.number()) : 1;
      } else if (code & 0x3f) {
        distance = code & 15;
        change = -i64(code >> 4 & 3);
      } else if (at < offset) {
        at += reader.number();
      } else {
        break;
      }
      if (at + distance > offset && distance)
        break;
      at += distance;
      depth += change;
      registers = interior = mask = interior_mask = 0;
      listed.clear();
      continue;
    }
    switch (code >> 4 & 7) {
    default: {
      const u16 call_of = frequent_calls[code & 0x7f];
      goes_on = call(call_of >> 8, call_of & 15, call_of >> 4 & 15, 0);
      break;
    }
    case 5: {
      const u32 second = reader.byte();
      goes_on = call(frequent_distances[second >> 6], second >> 3 & 7, code & 15, second & 7);
      break;
    }
    case 6: {
      const u32 count = reader.number();
      goes_on = call(0, count, code & 15, reader.number());
      break;
    }
    case 7:
      if ((code & 12) == 0) {
        pointed = reader.number();
        continue;
      } else if ((code & 12) == 8) {
        const u32 both = reader.byte(), distance = reader.word(), count = reader.word(), places = reader.word();
        reader.word(); // size in bytes
        if (places > most_pushed)
          reader.fail("more arguments than there can be");
        goes_on = call(distance, count, both & 15, 0);
        interior = goes_on ? both >> 4 : interior;
        for (u32 i = 0; i < places && reader.is_done(); ++i) {
          const u32 place = reader.number();
          if (goes_on)
            listed.push_back(on_stack(GcSlot::Base::sp, place & ~u32{3}, place & 3));
        }
      } else if ((code & 12) == 12) {
        goes_on = false;
      } // else the place of `this`
      break;
    }
    if (is_pointed)
      pointed = 0;
  }
  if (depth < 0 || depth > most_pushed)
    reader.fail("more arguments are removed than there are");
  out.pushed = static_cast<u32>(std::clamp<i64>(depth, 0, most_pushed));
  if (at != offset)
    return out;
  out.registers = by_number(registers);
  out.interior = by_number(interior);
  out.arguments = std::move(listed);
  for (u32 i = 0; i < 32 && mask >> i; ++i)
    if (mask >> i & 1)
      out.arguments.push_back(on_stack(GcSlot::Base::sp, 4 * i64(i), interior_mask >> i & 1));
  return out;
}

GcInfoX86::Place GcInfoX86::place_at(Reader &reader, const CodePoint &point, bool is_funclet) const {
  if (arguments_at_) {
    reader.move_to(tables_ + arguments_at_);
  } else {
    reader.skip_numbers(2 * u64{no_gc_regions_} + untracked_ + 3 * u64{tracked_});
  }
  return is_interruptible_    ? in_interruptible_code(reader, point, is_funclet)
         : has_frame_pointer_ ? at_call_with_frame(reader, point.offset)
                              : at_call_without_frame(reader, point.offset);
}

ReadOutcome GcInfoX86::pushed_bytes(u64 offset, u64 &out) const {
  Reader reader(*memory_, tables_);
  CodePoint point;
  point.offset = offset;
  point.active = true;
  const Place place = place_at(reader, point, true);
  if (reader.is_done())
    out = 4 * u64{place.pushed};
  return reader.outcome();
}

// Adds slots that hold a reference, or a stale one, all the time.
void GcInfoX86::add_untracked(Reader &reader, bool are_wanted, GcSlot::Base base, u32 pushed,
                              std::vector<GcSlot> &out) const {
  i64 at = 0;
  for (u32 i = 0; i < untracked_ && reader.is_done(); ++i) {
    at -= reader.signed_number();
    GcSlot slot =
        on_stack(base, (at & ~i64{3}) + (base == GcSlot::Base::sp ? 4 * i64(pushed) : 0), static_cast<u32>(at) & 3);
    slot.tracked = false;
    if (are_wanted)
      out.push_back(slot);
  }
}

// The table has {place, begin, end}, sorted by begin.
void GcInfoX86::add_tracked(Reader &reader, u64 offset, GcSlot::Base base, u32 pushed, std::vector<GcSlot> &out) const {
  u64 begin = 0;
  for (u32 i = 0; i < tracked_ && reader.is_done(); ++i) {
    const u32 place = reader.number();
    begin += reader.number();
    const u64 end = begin + reader.number();
    const i64 at = place & ~u32{3};
    if (offset >= begin && offset < end)
      out.push_back(on_stack(base, base == GcSlot::Base::sp ? at + 4 * i64(pushed) : -at, place & 3));
  }
}

ReadOutcome GcInfoX86::live_slots(const CodePoint &point, bool is_funclet, std::vector<GcSlot> &out) const {
  out.clear();
  if (is_in_prolog(point.offset) || is_in_epilog(point.offset))
    return {};
  if (is_double_aligned_ || is_vararg_)
    return ReadOutcome::malformed("frames of this kind are not understood");
  Reader of_place(*memory_, tables_);
  const Place place = place_at(of_place, point, is_funclet);
  if (!of_place.is_done())
    return of_place.outcome();
  if (!point.aborted) {
    for (u8 i = 0; i < 8; ++i)
      if (place.registers >> i & 1) {
        GcSlot slot;
        slot.reg = i;
        slot.interior = place.interior >> i & 1;
        out.push_back(slot);
      }
    out.insert(out.end(), place.arguments.begin(), place.arguments.end());
  }
  const GcSlot::Base base = has_frame_pointer_ ? GcSlot::Base::frame_register : GcSlot::Base::sp;
  Reader reader(*memory_, tables_);
  reader.skip_numbers(2 * u64{no_gc_regions_});
  add_untracked(reader, !point.filter, base, place.pushed, out);
  // At a return address, the slots that live during the call count.
  const bool is_inside = !point.aborted && !point.active && point.offset;
  add_tracked(reader, point.offset - is_inside, base, place.pushed, out);
  return reader.outcome();
}

} // namespace dnheap
