#include "runtime/compiled/debug_info.h"

#include "runtime/compiled/bit_reader.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_bytes = 1 << 24; // limit for a method's boundaries
constexpr u64 header_bytes = 48;    // seven numbers of eleven nibbles
constexpr unsigned nibble = 4, most_nibbles = 11;
constexpr u32 il_bias = IlBoundary::epilog; // is added to all numbers that stand for IL offsets
constexpr u8 patchpoint_flag = 1, rich_flag = 2;
constexpr u64 most_variables = 1 << 16;
constexpr u64 most_awaits = 1 << 16;
constexpr u32 first_variable = 6; // ICorDebugInfo::MAX_ILNUM: lower numbers are variables that the runtime adds
// A PatchpointInfo: the offset of its number of variables, and its size without them.
struct PatchpointLayout {
  u64 count, size;
};
constexpr PatchpointLayout patchpoint_8{8, 32}, patchpoint_10{16, 40}; // 10.0 also has the version of the code

// Reads groups of three bits, the uppermost first, each with a bit that is set if another group follows.
u32 number(BitReader &reader) {
  u64 value = 0;
  for (unsigned i = 0; i < most_nibbles; ++i) {
    const u64 group = reader.bits(nibble);
    value = value << 3 | (group & 7);
    if (!(group & 8))
      return static_cast<u32>(value);
  }
  reader.fail("a number has too many digits");
  return 0;
}

u64 next_byte(const BitReader &reader) { return (reader.position() + 7) / 8; }

// Moves `at` behind the parts that the flags list.
ReadOutcome skip_flags(const Memory &memory, const PatchpointLayout &patchpoint, Address &at) {
  const std::optional<u8> flags = memory.try_load<u8>(at);
  if (!flags)
    return ReadOutcome::missing(at);
  if (*flags & ~(patchpoint_flag | rich_flag))
    return ReadOutcome::malformed("unknown flags");
  ++at;
  if (*flags & patchpoint_flag) {
    const std::optional<u32> count = memory.try_load<u32>(at + patchpoint.count);
    if (!count)
      return ReadOutcome::missing(at + patchpoint.count);
    if (*count > most_variables)
      return ReadOutcome::malformed("too many variables");
    at += patchpoint.size + 4 * u64{*count};
  }
  if (*flags & rich_flag) {
    const std::optional<u32> size = memory.try_load<u32>(at);
    if (!size)
      return ReadOutcome::missing(at);
    if (*size > most_bytes)
      return ReadOutcome::malformed("too long");
    at += 4 + u64{*size};
  }
  return {};
}

struct Part {
  Address at = 0;
  u64 size = 0; // 0: none
};
struct Parts {
  Part stretches, awaits;
};

ReadOutcome find_parts(const Memory &memory, const DebugInfoPlace &place, Parts &out) {
  constexpr u32 has_original = 0xffffffff; // the method also has the debug info of its code before instrumentation
  Address at = place.address;
  if (place.has_flags)
    if (ReadOutcome outcome =
            skip_flags(memory, place.format == DebugInfoFormat::nibbles ? patchpoint_8 : patchpoint_10, at);
        !outcome)
      return outcome;
  BitReader header(memory, at, header_bytes);
  u64 size = number(header);
  if (place.format == DebugInfoFormat::packed && size == has_original) {
    size = number(header);
    (void)number(header);
  }
  const bool says_all_sizes = place.format == DebugInfoFormat::packed_with_sizes && size == 0;
  if (says_all_sizes)
    size = number(header);
  u64 before_awaits = size;
  for (unsigned rest = says_all_sizes ? 4 : 1; rest; --rest)
    before_awaits += number(header);
  const u64 of_awaits = says_all_sizes ? number(header) : 0;
  if (std::max({size, before_awaits, of_awaits}) > most_bytes)
    header.fail("too long");
  const Address begin = at + next_byte(header);
  out = {{begin, size}, {begin + before_awaits, of_awaits}};
  return header.outcome();
}

// The widths of an entry's numbers are stored once for all entries.
void read_packed(BitReader &reader, u32 count, unsigned source_bits, std::vector<IlBoundary> &out) {
  const u32 native_bits = number(reader), il_bits = number(reader);
  if (native_bits > 31 || il_bits > 31)
    return reader.fail("a number has too many bits");
  reader.seek(8 * next_byte(reader));
  u32 native = 0;
  for (u32 i = 0; i < count && reader.ok(); ++i) {
    const u64 source = reader.bits(source_bits);
    native += static_cast<u32>(reader.bits(native_bits + 1));
    out.push_back({native, static_cast<u32>(reader.bits(il_bits + 1)) + il_bias, (source & 1) != 0});
  }
}

void read_nibbles(BitReader &reader, u32 count, std::vector<IlBoundary> &out) {
  constexpr u32 call = 0x10;
  u32 native = 0;
  for (u32 i = 0; i < count && reader.ok(); ++i) {
    native += number(reader);
    const u32 il = number(reader) + il_bias;
    out.push_back({native, il, (number(reader) & call) != 0});
  }
}

} // namespace

ReadOutcome read_il_boundaries(const Memory &memory, const DebugInfoPlace &place, std::vector<IlBoundary> &out) {
  out.clear();
  Parts parts;
  if (!place.address)
    return {};
  if (ReadOutcome outcome = find_parts(memory, place, parts); !outcome || !parts.stretches.size)
    return outcome;
  const Part &stretches = parts.stretches;
  BitReader reader(memory, stretches.at, stretches.size);
  const u32 count = number(reader);
  if (count > stretches.size * 8 / nibble) // each entry takes more than one nibble
    reader.fail("more entries than there is room for");
  if (!reader.ok())
    return reader.outcome();
  if (place.format == DebugInfoFormat::nibbles)
    read_nibbles(reader, count, out);
  else
    read_packed(reader, count, place.format == DebugInfoFormat::packed ? 2 : 3, out);
  if (reader.ok() && !std::is_sorted(out.begin(), out.end(), [](const IlBoundary &a, const IlBoundary &b) {
        return a.native_offset < b.native_offset;
      }))
    reader.fail("not in the order of the code");
  if (!reader.ok())
    out.clear();
  return reader.outcome();
}

// All await points come first; then, in the same order, the variables that each saves.
ReadOutcome read_await_points(const Memory &memory, const DebugInfoPlace &place, std::vector<AwaitPoint> &out) {
  out.clear();
  Parts parts;
  if (!place.address || place.format != DebugInfoFormat::packed_with_sizes)
    return {};
  if (ReadOutcome outcome = find_parts(memory, place, parts); !outcome || !parts.awaits.size)
    return outcome;
  BitReader reader(memory, parts.awaits.at, parts.awaits.size);
  const u64 points = number(reader), saved = number(reader);
  if (points > most_awaits || saved > parts.awaits.size * 8 / nibble) // each number takes at least one nibble
    reader.fail("more entries than there is room for");
  std::vector<u64> counts;
  u64 native = 0, announced = 0;
  for (u64 i = 0; i < points && reader.ok(); ++i) {
    const u32 delta = number(reader); // bit 0: the sign; the other bits: the difference
    if (delta & 1)
      reader.fail("not in the order of the code");
    native += delta / 2;
    out.push_back({static_cast<u32>(native), {}});
    counts.push_back(number(reader));
    announced += counts.back();
  }
  if (reader.ok() && announced != saved)
    reader.fail("await points that keep more or fewer variables than there are");
  for (u64 i = 0; i < counts.size() && reader.ok(); ++i)
    for (u64 k = 0; k < counts[i] && reader.ok(); ++k) {
      const u32 variable = number(reader), offset = number(reader);
      if (variable >= first_variable) // else the runtime added the variable
        out[i].saved.push_back({variable - first_variable, offset});
    }
  if (!reader.ok())
    out.clear();
  return reader.outcome();
}

std::optional<u32> il_offset_at(std::span<const IlBoundary> boundaries, u64 native_offset) {
  const IlBoundary *found = nullptr;
  u32 last = 0; // the largest IL offset
  for (const IlBoundary &one : boundaries) {
    if (one.il_offset < IlBoundary::epilog)
      last = std::max(last, one.il_offset);
    if (!one.is_call && one.native_offset <= native_offset)
      found = &one;
  }
  if (!found)
    return std::nullopt;
  if (found->il_offset == IlBoundary::prolog || found->il_offset == IlBoundary::none)
    return 0;
  return found->il_offset == IlBoundary::epilog ? last : found->il_offset;
}

} // namespace dnheap
