#include "image/macho_format.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_slices = 64;
constexpr u32 universal = 0xcafebabe, universal_wide = 0xcafebabf;

} // namespace

bool has_macho_magic(Bytes file) { return load_at<u32>(file, 0, ByteOrder::little) == 0xfeedfacfu; }

bool is_macho_file(Bytes file) {
  const std::optional<u32> magic = load_at<u32>(file, 0, ByteOrder::big);
  return has_macho_magic(file) || magic == universal || magic == universal_wide;
}

// Headers of universal files are big-endian: {cpu, subtype, offset, size, alignment}, of wide ones offset and size have
// 64 bits, and a word follows.
std::vector<Bytes> macho_slices(Bytes file) {
  const std::optional<u32> magic = load_at<u32>(file, 0, ByteOrder::big);
  if (magic != universal && magic != universal_wide)
    return {file};
  const bool wide = magic == universal_wide;
  const u64 row = wide ? 32 : 20, count = load_at<u32>(file, 4, ByteOrder::big).value_or(0);
  std::vector<Bytes> out;
  for (u64 i = 0; i < std::min(count, most_slices); ++i) {
    const Bytes at = slice(file, 8 + i * row, row);
    if (at.empty())
      break;
    const u64 offset = wide ? load<u64>(at.data() + 8, ByteOrder::big) : load<u32>(at.data() + 8, ByteOrder::big),
              size = wide ? load<u64>(at.data() + 16, ByteOrder::big) : load<u32>(at.data() + 12, ByteOrder::big);
    if (const Bytes found = slice(file, offset, size); has_macho_magic(found))
      out.push_back(found);
  }
  return out;
}

std::optional<MachoHeader> MachoHeader::parse(Bytes file) {
  if (!has_macho_magic(file) || file.size() < size)
    return std::nullopt;
  auto word = [&](u64 at) { return load<u32>(file.data() + at, ByteOrder::little); };
  return MachoHeader{word(4), word(12), word(16), word(20), word(24)};
}

std::optional<MachoCommand> next_command(Bytes &commands) {
  const std::optional<u32> kind = load_at<u32>(commands, 0, ByteOrder::little),
                           size = load_at<u32>(commands, 4, ByteOrder::little);
  if (!kind || !size || *size < 8 || *size > commands.size())
    return std::nullopt;
  MachoCommand out{*kind, commands.first(*size)};
  commands = commands.subspan(*size);
  return out;
}

std::optional<MachoSegment> parse_macho_segment(Bytes command) {
  constexpr u64 size = 72, section_size = 80;
  if (command.size() < size)
    return std::nullopt;
  auto word = [&](u64 at) { return load<u32>(command.data() + at, ByteOrder::little); };
  auto wide = [&](u64 at) { return load<u64>(command.data() + at, ByteOrder::little); };
  MachoSegment out{text_at(command, 8, 16), wide(24), wide(32), wide(40), wide(48), word(60), word(68), {}};
  out.sections = slice(command, size, u64{word(64)} * section_size);
  return out;
}

std::vector<u8> parse_macho_uuid(Bytes command) {
  std::vector<u8> out;
  for (std::byte b : slice(command, 8, 16))
    out.push_back(static_cast<u8>(b));
  return out;
}

} // namespace dnheap
