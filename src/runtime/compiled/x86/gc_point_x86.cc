#include "runtime/compiled/x86/gc_point_x86.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 most_pushed = 1024; // words, the JIT's limit

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

// Converts the bits edi, esi, ebx, ebp to bits by register number.
constexpr u32 by_number(u32 bits) {
  u32 out = 0;
  for (u32 i = 0; i < 4; ++i)
    if (bits >> i & 1)
      out |= u32{1} << static_cast<u8>(x86_register_of_bit[i]);
  return out;
}

// For methods that can be stopped anywhere, the table lists when registers begin and cease to hold references, and all
// pushes. At a return address, the registers that hold references during the call count: behind a call that does not
// return, other registers may begin to hold some.
GcPointX86 in_interruptible_code(GcBytesX86 &bytes, const GcHeaderX86 &header, const CodePoint &point,
                                 bool is_funclet) {
  GcPointX86 out;
  std::vector<u8> pushed; // per word: 0: no reference, 1: a reference, 2: a reference into an object
  const u64 of_registers = point.active || point.offset == 0 ? point.offset : point.offset - 1;
  u64 at = 0;
  bool is_interior = false;
  auto push = [&](u8 what) {
    if (pushed.size() < most_pushed)
      pushed.push_back(what);
    else
      bytes.fail("more arguments than there can be");
    is_interior = false;
  };
  auto pop = [&](u32 count) {
    if (count > pushed.size())
      bytes.fail("more arguments are removed than there are");
    else
      pushed.erase(pushed.end() - count, pushed.end());
  };
  while (at <= point.offset && bytes.is_done()) {
    const u32 code = bytes.byte();
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
      at += bytes.number();
    } else if (code == 0xbc) { // only marks that the next reference is `this`
    } else if (code == 0xbf) {
      is_interior = true;
    } else if (code == 0xf8) {
      bytes.number(); // the reference's offset, which is always behind the others
      push(is_interior ? 2 : 1);
    } else if (code == 0xf9) {
      for (u32 i = bytes.number(); i && bytes.is_done(); --i)
        push(0);
    } else if (code == 0xfc) {
      pop(bytes.number());
    } else if (code == 0xfd) { // these arguments stay on the stack, but are no references any more
      u32 dead = bytes.number();
      for (auto it = pushed.rbegin(); it != pushed.rend() && dead; ++it)
        if (*it)
          *it = 0, --dead;
    } else {
      bytes.fail("an unknown code");
    }
  }
  out.pushed = static_cast<u32>(pushed.size());
  if (header.has_localloc && !is_funclet && header.has_frame_pointer &&
      std::any_of(pushed.begin(), pushed.end(), [](u8 what) { return what != 0; }))
    bytes.fail("arguments behind memory that was taken from the stack");
  u32 saved = 0;
  for (u32 i = 0; i < 4; ++i)
    saved += header.saved >> i & 1;
  for (u32 i = 0; i < out.pushed; ++i)
    if (pushed[i]) {
      const bool by_frame = header.has_frame_pointer && !is_funclet;
      const i64 first = by_frame ? -4 * i64(header.locals + saved) : 4 * i64(out.pushed) - 4;
      out.arguments.push_back(stack_slot_x86(by_frame ? GcSlot::Base::frame_register : GcSlot::Base::sp,
                                             first - 4 * i64(i), pushed[i] == 2));
    }
  return out;
}

// For other methods, the table lists for each call that is not trivial the registers, and the words from the stack
// pointer on, that hold references.
GcPointX86 at_call_with_frame(GcBytesX86 &bytes, u64 offset) {
  u64 at = 0;
  GcPointX86 out;
  u32 mask = 0, interior_mask = 0, registers = 0, interior = 0;
  std::vector<GcSlot> listed;
  while (at < offset && bytes.is_done()) {
    const u32 code = bytes.byte();
    mask = interior_mask = interior = 0;
    listed.clear();
    if (code == 0xff)
      return out; // end of the table: it does not list trivial calls, so this is one
    if (code == 0xfd) {
      mask = bytes.byte();
      const u32 second = bytes.byte(), third = bytes.byte();
      mask |= (second & 0xf0) << 4;
      at += (second & 15) + ((third & 31) << 4);
      registers = third >> 5;
    } else if (code == 0xf9) {
      at += bytes.byte();
      const u32 second = bytes.byte(), third = bytes.byte();
      mask = second & 31, registers = second >> 5;
      interior_mask = third & 31, interior = third >> 5;
    } else if (code == 0xfe || code == 0xfa) {
      const u32 both = bytes.byte();
      registers = both & 7, interior = both >> 4;
      at += bytes.word();
      mask = bytes.word();
      interior_mask = code == 0xfa ? bytes.word() : 0;
    } else if (code == 0xfb) {
      const u32 both = bytes.byte();
      registers = both & 7, interior = both >> 4;
      at += bytes.word();
      const u32 count = bytes.word();
      bytes.word(); // size in bytes
      if (count > most_pushed)
        bytes.fail("more arguments than there can be");
      for (u32 i = 0; i < count && bytes.is_done(); ++i) {
        const u32 place = bytes.number();
        listed.push_back(stack_slot_x86(GcSlot::Base::sp, place & ~u32{3}, place & 3));
      }
    } else if (code & 0x80) {
      at += code & 0x7f;
      const u32 second = bytes.byte();
      registers = second >> 5, mask = second & 31;
    } else if (code & 15) {
      at += code & 15;
      registers = code >> 4 & 7;
    } else if (code == 0) {
      bytes.fail("an unknown code");
    } // else the place of `this`
  }
  if (at != offset)
    return out;
  out.registers = by_number(registers);
  out.interior = by_number(interior);
  out.arguments = std::move(listed);
  for (u32 i = 0; mask >> i; ++i) {
    if (mask >> i & 1)
      out.arguments.push_back(stack_slot_x86(GcSlot::Base::sp, 4 * i64(i), interior_mask >> i & 1));
    if (i == 31)
      break;
  }
  return out;
}

GcPointX86 at_call_without_frame(GcBytesX86 &bytes, u64 offset) {
  u64 at = 0;
  GcPointX86 out;
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
  while (at <= offset && goes_on && bytes.is_done()) {
    const u32 code = bytes.byte();
    const bool is_pointed = pointed != 0;
    if (!(code & 0x80)) {
      u32 distance = 0;
      i64 change = 0;
      if (!(code & 0x40)) {
        distance = code & 0x20 ? 0 : code & 31;
        change = code & 0x20 ? i64(bytes.number()) : 1;
      } else if (code & 0x3f) {
        distance = code & 15;
        change = -i64(code >> 4 & 3);
      } else if (at < offset) {
        at += bytes.number();
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
      const u32 second = bytes.byte();
      goes_on = call(frequent_distances[second >> 6], second >> 3 & 7, code & 15, second & 7);
      break;
    }
    case 6: {
      const u32 count = bytes.number();
      goes_on = call(0, count, code & 15, bytes.number());
      break;
    }
    case 7:
      if ((code & 12) == 0) {
        pointed = bytes.number();
        continue;
      } else if ((code & 12) == 8) {
        const u32 both = bytes.byte(), distance = bytes.word(), count = bytes.word(), places = bytes.word();
        bytes.word(); // size in bytes
        if (places > most_pushed)
          bytes.fail("more arguments than there can be");
        goes_on = call(distance, count, both & 15, 0);
        interior = goes_on ? both >> 4 : interior;
        for (u32 i = 0; i < places && bytes.is_done(); ++i) {
          const u32 place = bytes.number();
          if (goes_on)
            listed.push_back(stack_slot_x86(GcSlot::Base::sp, place & ~u32{3}, place & 3));
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
    bytes.fail("more arguments are removed than there are");
  out.pushed = static_cast<u32>(std::clamp<i64>(depth, 0, most_pushed));
  if (at != offset)
    return out;
  out.registers = by_number(registers);
  out.interior = by_number(interior);
  out.arguments = std::move(listed);
  for (u32 i = 0; i < 32 && mask >> i; ++i)
    if (mask >> i & 1)
      out.arguments.push_back(stack_slot_x86(GcSlot::Base::sp, 4 * i64(i), interior_mask >> i & 1));
  return out;
}

} // namespace

GcSlot stack_slot_x86(GcSlot::Base base, i64 offset, u32 flags) {
  GcSlot out;
  out.base = base;
  out.interior = flags & 1;
  out.pinned = flags & 2;
  out.offset = static_cast<i32>(offset);
  return out;
}

GcPointX86 find_gc_point_x86(GcBytesX86 &bytes, const GcHeaderX86 &header, const CodePoint &point, bool is_funclet) {
  if (header.arguments_at) {
    bytes.move_to(header.tables + header.arguments_at);
  } else {
    bytes.skip_numbers(2 * u64{header.no_gc_regions} + header.untracked + 3 * u64{header.tracked});
  }
  return header.is_interruptible    ? in_interruptible_code(bytes, header, point, is_funclet)
         : header.has_frame_pointer ? at_call_with_frame(bytes, point.offset)
                                    : at_call_without_frame(bytes, point.offset);
}

} // namespace dnheap
