#include "image/elf_format.h"

#include <algorithm>

namespace dnheap {

bool has_elf_magic(Bytes file) {
  return as_text(slice(file, 0, 4)) == "\x7f"
                                       "ELF";
}

std::optional<ElfHeader> ElfHeader::parse(Bytes file) {
  if (!has_elf_magic(file) || file.size() < 52)
    return std::nullopt;
  u8 word_class = static_cast<u8>(file[4]), order = static_cast<u8>(file[5]);
  if (word_class < 1 || word_class > 2 || order < 1 || order > 2)
    return std::nullopt;
  bool wide = word_class == 2;
  if (wide && file.size() < 64)
    return std::nullopt;

  ElfHeader header;
  header.format = {static_cast<u8>(wide ? 8 : 4), order == 1 ? ByteOrder::little : ByteOrder::big};
  const std::byte *p = file.data();
  auto half = [&](u64 at) { return load<u16>(p + at, header.format.byte_order); };
  header.type = half(16);
  header.machine = half(18);
  header.program_headers = load_pointer(p + (wide ? 32 : 28), header.format);
  header.section_headers = load_pointer(p + (wide ? 40 : 32), header.format);
  header.program_header_size = half(wide ? 54 : 42);
  header.program_header_count = half(wide ? 56 : 44);
  return header;
}

std::optional<u64> program_header_count(const ElfHeader &header, Bytes file) {
  constexpr u16 overflowed = 0xffff; // PN_XNUM
  if (header.program_header_count != overflowed)
    return header.program_header_count;
  if (header.section_headers == 0)
    return std::nullopt;
  u64 sh_info = header.format.pointer_size == 8 ? 44 : 28;
  return load_at<u32>(file, add_clamped(header.section_headers, sh_info), header.format.byte_order);
}

std::vector<ElfSegment> parse_program_headers(Bytes table, u64 count, const ElfHeader &header) {
  Format format = header.format;
  bool wide = format.pointer_size == 8;
  u64 stride = header.program_header_size;
  if (stride < (wide ? 56 : 32))
    return {};
  std::vector<ElfSegment> out(std::min<u64>(count, table.size() / stride));
  for (u64 i = 0; i < out.size(); ++i) {
    const std::byte *p = table.data() + i * stride;
    auto word = [&](u64 at) { return load<u32>(p + at, format.byte_order); };
    auto pointer = [&](u64 index) { return load_pointer(p + index * format.pointer_size, format); };
    ElfSegment &segment = out[i];
    segment.type = word(0);
    segment.flags = word(wide ? 4 : 24);
    segment.offset = pointer(1);
    segment.address = pointer(2); // word 3 is the physical address
    segment.file_size = pointer(4);
    segment.memory_size = pointer(5);
    segment.alignment = pointer(wide ? 6 : 7);
  }
  return out;
}

std::optional<u64> load_bias(const std::vector<ElfSegment> &segments, Address base, Format format) {
  const ElfSegment *first = nullptr, *lowest = nullptr;
  for (const ElfSegment &segment : segments) {
    if (segment.type != elf::segment_load)
      continue;
    if (!first && segment.offset == 0)
      first = &segment;
    if (!lowest || segment.address < lowest->address)
      lowest = &segment;
  }
  if (!lowest)
    return std::nullopt;
  return narrow(base - (first ? first->address : lowest->address & ~u64{0xfff}), format);
}

std::optional<ElfNote> next_note(Bytes &notes, u64 alignment, ByteOrder order) {
  if (notes.size() < 12)
    return std::nullopt;
  u64 unit = alignment == 8 ? 8 : 4;
  u64 owner_size = load<u32>(notes.data(), order), content_size = load<u32>(notes.data() + 4, order);
  u64 content_at = align_up(12 + owner_size, unit);
  if (content_at > notes.size() || content_size > notes.size() - content_at)
    return std::nullopt;
  ElfNote note;
  note.type = load<u32>(notes.data() + 8, order);
  note.owner = text_at(notes.subspan(12, owner_size), 0);
  note.content = notes.subspan(content_at, content_size);
  notes = notes.subspan(std::min<u64>(align_up(content_at + content_size, unit), notes.size()));
  return note;
}

std::vector<u8> find_build_id(Bytes notes, u64 alignment, ByteOrder order) {
  constexpr u32 gnu_build_id = 3;
  while (std::optional<ElfNote> note = next_note(notes, alignment, order))
    if (note->type == gnu_build_id && note->owner == "GNU") {
      const u8 *id = reinterpret_cast<const u8 *>(note->content.data());
      return {id, id + note->content.size()};
    }
  return {};
}

} // namespace dnheap
