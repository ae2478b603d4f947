#include "runtime/compiled/x86/gc_header_x86.h"

namespace dnheap {

namespace {

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

} // namespace

GcHeaderX86 read_gc_header_x86(GcBytesX86 &bytes, u32 version) {
  GcHeaderX86 out;
  out.code_length = bytes.number();
  u32 code = bytes.byte();
  const u32 common = frequent_headers[code & 0x7f];
  auto bits = [&](u32 from, u32 count) { return common >> from & ((u32{1} << count) - 1); };
  out.prolog_size = bits(0, 6);
  out.epilog_size = bits(6, 4);
  u32 epilogs = bits(10, 2);
  bool is_at_end = bits(12, 1);
  out.saved = static_cast<u8>(bits(13, 4));
  out.has_frame_pointer = bits(17, 1);
  out.is_interruptible = bits(18, 1);
  out.has_handlers = bits(20, 1);
  out.arguments = bits(21, 4);
  out.locals = bits(25, 4);
  out.untracked = bits(29, 2);
  out.tracked = bits(31, 1) ? follows : 0;
  u32 cookie = 0, sync = 0, reverse_call = unsaid;

  constexpr u32 arguments = 0x08, prolog = 0x11, epilog = 0x22, epilog_count = 0x2d, untracked = 0x37, flips = 0x3b,
                next_set = 0x4f;
  while (code & 0x80 && bytes.is_done()) {
    code = bytes.byte();
    const u32 what = code & 0x7f;
    if (what < arguments)
      out.locals = what;
    else if (what < prolog)
      out.arguments = what - arguments;
    else if (what < epilog)
      out.prolog_size = what - prolog;
    else if (what < epilog_count)
      out.epilog_size = what - epilog;
    else if (what < untracked) {
      epilogs = (what - epilog_count) / 2;
      is_at_end = (what - epilog_count) & 1;
    } else if (what < flips)
      out.untracked = what - untracked;
    else if (what < next_set)
      switch (what) {
      case 0x3b:
      case 0x3c:
      case 0x3d:
      case 0x3e: out.saved ^= static_cast<u8>(1 << (what - flips)); break;
      case 0x3f: out.has_frame_pointer ^= true; break;
      case 0x40: out.is_interruptible ^= true; break;
      case 0x41: out.is_double_aligned ^= true; break;
      case 0x43: out.has_handlers ^= true; break;
      case 0x44: out.has_localloc ^= true; break;
      case 0x46: out.tracked = out.tracked ? 0 : follows; break;
      case 0x47: out.untracked = follows; break;
      case 0x48: out.is_vararg ^= true; break;
      case 0x4a: cookie ^= follows; break;
      case 0x4b: sync ^= follows; break;
      case 0x4e: reverse_call = reverse_call == unsaid ? follows : unsaid; break;
      default: break; // data on generic contexts, profilers, Edit and Continue, which does not affect places
      }
    else if (what == next_set) {
      const u32 kinds_of_return = version >= 5 ? 8 : 4, most_regions = 4;
      code = bytes.byte();
      const u32 second = code & 0x7f;
      if (second == kinds_of_return + most_regions + 1)
        out.no_gc_regions = follows;
      else if (second >= kinds_of_return && second <= kinds_of_return + most_regions)
        out.no_gc_regions = second - kinds_of_return;
      else if (second >= kinds_of_return)
        bytes.fail("an unknown header");
    } else if (what < 0x60)
      out.locals = out.locals << 4 | (what & 15);
    else if (what < 0x70)
      out.arguments = out.arguments << 4 | (what & 15);
    else if (what < 0x78)
      out.prolog_size = out.prolog_size << 3 | (what & 7);
    else
      out.epilog_size = out.epilog_size << 3 | (what & 7);
  }
  bool has_place =
      out.untracked == follows || out.tracked == follows || out.no_gc_regions != 0; // place of the last table
  if (out.untracked == follows)
    out.untracked = bytes.number();
  if (out.tracked == follows)
    out.tracked = bytes.number();
  if (cookie)
    bytes.number();
  if (sync)
    bytes.skip_numbers(2);
  if (reverse_call == follows)
    bytes.number();
  if (out.no_gc_regions == follows)
    out.no_gc_regions = bytes.number();
  if (epilogs > 1 || (epilogs && !is_at_end)) {
    u32 at = 0;
    for (u32 i = 0; i < epilogs; ++i)
      out.epilogs.push_back(at += bytes.number());
  } else if (epilogs && out.code_length >= out.epilog_size) {
    out.epilogs.push_back(out.code_length - out.epilog_size);
  }
  out.arguments_at = has_place ? bytes.number() : 0;
  out.tables = bytes.at();
  constexpr u32 most_words = 1 << 20; // words of a frame
  if (out.code_length > GcBytesX86::most * 64 || out.prolog_size > out.code_length || out.locals > most_words ||
      out.arguments > most_words || out.untracked > most_entries || out.tracked > most_entries ||
      out.no_gc_regions > most_entries)
    bytes.fail("a header with impossible sizes");
  if (out.has_frame_pointer && !(out.saved & 8))
    bytes.fail("a frame pointer that is not saved");
  return out;
}

} // namespace dnheap
