#include "support/elf_writer.h"

#include <algorithm>
#include <stdexcept>

namespace dnheap::test {

namespace {

bool wide(Format format) { return format.pointer_size == 8; }

u64 header_size(Format format) { return wide(format) ? 64 : 52; }
u64 program_header_size(Format format) { return wide(format) ? 56 : 32; }
u64 section_header_size(Format format) { return wide(format) ? 64 : 40; }

struct ProgramHeader {
  u32 type = 1, flags = 4;
  u64 offset = 0, address = 0, file_size = 0, memory_size = 0, alignment = 4;
};

void write_header(FormatWriter &out, u16 type, u16 machine, u64 section_headers, u64 count, bool extended) {
  Format format = out.format();
  out.text("\x7f"
           "ELF");
  out.put(wide(format) ? 2 : 1, 1);
  out.put(format.byte_order == ByteOrder::little ? 1 : 2, 1);
  out.put(1, 1);
  out.fill_to(16);
  out.half(type);
  out.half(machine);
  out.word(1);
  out.pointer(0);
  out.pointer(header_size(format));
  out.pointer(section_headers);
  out.word(0);
  out.half(header_size(format));
  out.half(program_header_size(format));
  out.half(extended ? 0xffff : count);
  out.half(section_header_size(format));
  out.half(extended ? 1 : 0);
  out.half(0);
}

void write_program_header(FormatWriter &out, const ProgramHeader &header) {
  out.word(header.type);
  if (wide(out.format()))
    out.word(header.flags);
  for (u64 value : {header.offset, header.address, header.address, header.file_size, header.memory_size})
    out.pointer(value);
  if (!wide(out.format()))
    out.word(header.flags);
  out.pointer(header.alignment);
}

void write_note(FormatWriter &out, u32 type, std::string_view owner, Bytes content) {
  out.word(owner.size() + 1);
  out.word(content.size());
  out.word(type);
  out.text_with_nul(owner);
  out.align(4);
  out.append(content);
  out.align(4);
}

u32 hash_gnu(const std::string &name) {
  u32 h = 5381;
  for (unsigned char c : name)
    h = (h << 5) + h + c;
  return h;
}

u32 hash_sysv(const std::string &name) {
  u32 h = 0;
  for (unsigned char c : name) {
    h = (h << 4) + c;
    u32 top = h & 0xf0000000;
    if (top)
      h ^= top >> 24;
    h &= ~top;
  }
  return h;
}

} // namespace

std::string name_of(Format format) {
  return std::to_string(format.pointer_size * 8) + (format.byte_order == ByteOrder::little ? "le" : "be");
}

void FormatWriter::put_at(u64 offset, u64 value, u64 size) {
  for (u64 i = 0; i < size; ++i) {
    u64 shift = 8 * (format_.byte_order == ByteOrder::little ? i : size - 1 - i);
    bytes_.at(offset + i) = static_cast<std::byte>(value >> shift);
  }
}

u16 machine_of(Format format) {
  if (wide(format))
    return format.byte_order == ByteOrder::little ? 62 : 22;
  return format.byte_order == ByteOrder::little ? 3 : 40;
}

std::vector<ElfCoreWriter::Note> ElfCoreWriter::all_notes() const {
  std::vector<Note> out;
  u64 id_at = wide(format) ? 32 : 24, registers_at = wide(format) ? 112 : 72;
  for (const Thread &thread : threads) {
    FormatWriter status(format);
    status.fill_to(12);
    status.half(thread.signal); // pr_cursig
    status.fill_to(id_at);
    status.word(thread.id);
    status.fill_to(registers_at);
    for (u64 value : thread.registers)
      status.pointer(value);
    status.pointer(0); // pr_fpvalid
    out.push_back({1, status.bytes()});
    if (!thread.siginfo.empty())
      out.push_back({0x53494749, thread.siginfo});
  }
  if (pid || !name.empty()) {
    FormatWriter info(format);
    u64 pid_at = wide(format) ? 24 : 12;
    info.fill_to(pid_at);
    info.word(pid);
    info.fill_to(pid_at + 16);
    info.text(name.substr(0, 16));
    info.fill_to(pid_at + 32);
    info.text(arguments.substr(0, 80));
    info.fill_to(pid_at + 112);
    out.push_back({3, info.bytes()});
  }
  if (!auxv.empty()) {
    FormatWriter vector(format);
    for (auto [type, value] : auxv) {
      vector.pointer(type);
      vector.pointer(value);
    }
    vector.pointer(0);
    vector.pointer(0);
    out.push_back({6, vector.bytes()});
  }
  if (!files.empty()) {
    FormatWriter list(format);
    list.pointer(files.size());
    list.pointer(page_size);
    for (const File &file : files) {
      list.pointer(file.start);
      list.pointer(file.end);
      list.pointer(file.file_offset / page_size);
    }
    for (const File &file : files)
      list.text_with_nul(file.path);
    out.push_back({0x46494c45, list.bytes()});
  }
  out.insert(out.end(), more_notes.begin(), more_notes.end());
  return out;
}

std::vector<std::byte> ElfCoreWriter::write() const {
  // Notes: one blob each, or one for all.
  std::vector<std::vector<std::byte>> blobs;
  for (const Note &note : all_notes()) {
    FormatWriter blob(format);
    write_note(blob, note.type, note.owner, note.content);
    if (split_notes || blobs.empty())
      blobs.push_back(blob.bytes());
    else
      blobs.back().insert(blobs.back().end(), blob.bytes().begin(), blob.bytes().end());
  }

  u64 count = blobs.size() + segments.size();
  u64 section_header = header_size(format) + count * program_header_size(format);
  u64 at = section_header + (extended_count ? section_header_size(format) : 0);
  std::vector<ProgramHeader> headers;
  auto place = [&](ProgramHeader header) {
    header.offset = at;
    at += header.file_size;
    headers.push_back(header);
  };
  auto place_notes = [&] {
    for (const std::vector<std::byte> &blob : blobs)
      place({4, 0, 0, 0, blob.size(), 0, 4});
  };
  if (!notes_at_end)
    place_notes();
  for (const Segment &segment : segments)
    place({1, segment.flags, 0, segment.address, segment.bytes.size(),
           std::max<u64>(segment.memory_size, segment.bytes.size()), 4096});
  if (notes_at_end)
    place_notes();

  FormatWriter out(format);
  write_header(out, type, machine, extended_count ? section_header : 0, count, extended_count);
  for (const ProgramHeader &header : headers)
    write_program_header(out, header);
  if (extended_count) {
    u64 start = out.size();
    out.fill_to(start + section_header_size(format));
    out.put_at(start + (wide(format) ? 44 : 28), count, 4); // sh_info
  }
  auto append_notes = [&] {
    for (const std::vector<std::byte> &blob : blobs)
      out.append(blob);
  };
  if (!notes_at_end)
    append_notes();
  for (const Segment &segment : segments)
    out.append(segment.bytes);
  if (notes_at_end)
    append_notes();
  return out.bytes();
}

// Everything in the first segment, and where its parts are.
struct ElfLibraryWriter::Tables {
  FormatWriter bytes;
  u64 note = 0, note_size = 0, symbols = 0, strings = 0, strings_size = 0, gnu_hash = 0, sysv_hash = 0;
  u64 relocations = 0, relocations_size = 0, compact = 0, compact_size = 0;
};

std::vector<std::byte> ElfLibraryWriter::write_gnu_hash(const std::vector<Symbol> &sorted, u64 first) const {
  constexpr u64 buckets = 3;
  FormatWriter out(format);
  out.word(buckets);
  out.word(first);
  out.word(1); // bloom filter: one word, all ones
  out.word(0);
  out.pointer(~u64{0});
  for (u64 bucket = 0; bucket < buckets; ++bucket) {
    u64 index = first;
    while (index < sorted.size() && hash_gnu(sorted[index].name) % buckets != bucket)
      ++index;
    out.word(index < sorted.size() ? index : 0);
  }
  for (u64 i = first; i < sorted.size(); ++i) {
    u32 hash = hash_gnu(sorted[i].name);
    bool last = i + 1 == sorted.size() || hash_gnu(sorted[i + 1].name) % buckets != hash % buckets;
    out.word((hash & ~u32{1}) | (last ? 1 : 0));
  }
  return out.bytes();
}

std::vector<std::byte> ElfLibraryWriter::write_sysv_hash(const std::vector<Symbol> &sorted) const {
  constexpr u64 bucket_count = 2;
  std::vector<u64> buckets(bucket_count), chains(sorted.size());
  for (u64 i = 1; i < sorted.size(); ++i) {
    u64 &bucket = buckets[hash_sysv(sorted[i].name) % bucket_count];
    chains[i] = bucket;
    bucket = i;
  }
  FormatWriter out(format);
  out.word(bucket_count);
  out.word(sorted.size());
  for (u64 index : buckets)
    out.word(index);
  for (u64 index : chains)
    out.word(index);
  return out.bytes();
}

ElfLibraryWriter::Tables ElfLibraryWriter::write_tables() const {
  // Symbol 0 is empty; the GNU hash wants undefined ones first and the others sorted by bucket.
  std::vector<Symbol> sorted = symbols;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Symbol &a, const Symbol &b) {
    auto key = [](const Symbol &s) { return s.section == 0 ? 0 : 1 + hash_gnu(s.name) % 3; };
    return key(a) < key(b);
  });
  sorted.insert(sorted.begin(), Symbol{"", 0, 0, 0});
  u64 first = 1;
  while (first < sorted.size() && sorted[first].section == 0)
    ++first;

  Tables out{FormatWriter(format)};
  FormatWriter &bytes = out.bytes;
  bytes.fill_to(header_size(format) + 6 * program_header_size(format));
  if (!build_id.empty()) {
    out.note = bytes.size();
    write_note(bytes, 3, "GNU", std::as_bytes(std::span(build_id)));
    out.note_size = bytes.size() - out.note;
  }
  std::string strings(1, '\0');
  bytes.align(16);
  out.symbols = bytes.size();
  for (const Symbol &symbol : sorted) {
    u64 name = symbol.name.empty() ? 0 : strings.size();
    if (name)
      strings += symbol.name + '\0';
    bytes.word(name);
    if (!wide(format)) {
      bytes.word(symbol.value);
      bytes.word(8);
    }
    bytes.put(0x10 | symbol.type, 1);
    bytes.put(0, 1);
    bytes.half(symbol.section);
    if (wide(format)) {
      bytes.pointer(symbol.value);
      bytes.pointer(8);
    }
  }
  out.strings = bytes.size();
  out.strings_size = strings.size();
  bytes.text(strings);
  bytes.align(16);
  if (gnu_hash) {
    out.gnu_hash = bytes.size();
    bytes.append(write_gnu_hash(sorted, first));
  }
  bytes.align(16);
  if (sysv_hash) {
    out.sysv_hash = bytes.size();
    bytes.append(write_sysv_hash(sorted));
  }

  const std::map<u16, u64> relative_types = {{62, 8}, {22, 12}, {3, 8}, {40, 23}, {183, 1027}};
  bytes.align(16);
  out.relocations = bytes.size();
  for (const Relocation &relocation : relocations) {
    if (relocation.kind == Relocation::compact)
      continue;
    u64 kind = relocation.kind == Relocation::relative ? relative_types.at(machine) : 1;
    bytes.pointer(relocation.address);
    bytes.pointer(relocation.kind == Relocation::relative ? kind : kind | u64{1} << (wide(format) ? 32 : 8));
    if (wide(format))
      bytes.pointer(relocation.addend);
  }
  out.relocations_size = bytes.size() - out.relocations;

  // RELR: an address, then bitmaps of the words that follow it.
  out.compact = bytes.size();
  u64 size = format.pointer_size, bits = 8 * size - 1, next = 0, bitmap = 0;
  for (const Relocation &relocation : relocations) {
    if (relocation.kind != Relocation::compact)
      continue;
    while (next && bitmap && relocation.address >= next + bits * size) {
      bytes.pointer(bitmap << 1 | 1);
      bitmap = 0;
      next += bits * size;
    }
    if (next && relocation.address >= next && relocation.address < next + bits * size) {
      bitmap |= u64{1} << (relocation.address - next) / size;
      continue;
    }
    bytes.pointer(relocation.address);
    next = relocation.address + size;
  }
  if (bitmap)
    bytes.pointer(bitmap << 1 | 1);
  out.compact_size = bytes.size() - out.compact;
  if (bytes.size() > read_only_at)
    throw std::logic_error("ElfLibraryWriter: too many symbols or relocations");
  return out;
}

std::vector<std::byte> ElfLibraryWriter::write_dynamic(const Tables &tables) const {
  FormatWriter out(format);
  auto entry = [&](u64 tag, u64 value) {
    out.pointer(tag);
    out.pointer(value);
  };
  entry(6, tables.symbols + pointer_bias);
  entry(5, tables.strings + pointer_bias);
  entry(10, tables.strings_size);
  if (tables.gnu_hash)
    entry(0x6ffffef5, tables.gnu_hash + pointer_bias);
  if (tables.sysv_hash)
    entry(4, tables.sysv_hash + pointer_bias);
  if (tables.relocations_size) {
    entry(wide(format) ? 7 : 17, tables.relocations + pointer_bias);
    entry(wide(format) ? 8 : 18, tables.relocations_size);
  }
  if (tables.compact_size) {
    entry(36, tables.compact + pointer_bias);
    entry(35, tables.compact_size);
  }
  entry(0, 0);
  return out.bytes();
}

u64 ElfLibraryWriter::end() const {
  u64 dynamic_at = align_up(writable_at + writable.size(), 16);
  return dynamic_at + write_dynamic(write_tables()).size() + bss;
}

std::vector<std::byte> ElfLibraryWriter::write() const {
  Tables tables = write_tables();
  FormatWriter data(format);
  data.append(writable);
  for (const Relocation &relocation : relocations)
    if (relocation.kind == Relocation::compact || (relocation.kind == Relocation::relative && !wide(format)))
      data.put_at(relocation.address - writable_at, relocation.addend, format.pointer_size);
  data.align(16);
  u64 dynamic_at = data.size();
  std::vector<std::byte> dynamic = write_dynamic(tables);
  data.append(dynamic);

  u64 read_only_offset = align_up(tables.bytes.size(), 4096);
  u64 writable_offset = align_up(read_only_offset + read_only.size(), 4096);
  std::vector<ProgramHeader> headers = {
      {1, 4, 0, 0, tables.bytes.size(), tables.bytes.size(), 4096},
      {1, 5, read_only_offset, read_only_at, read_only.size(), read_only.size(), 4096},
      {1, 6, writable_offset, writable_at, data.size(), data.size() + bss, 4096},
      {2, 6, writable_offset + dynamic_at, writable_at + dynamic_at, dynamic.size(), dynamic.size(), 8},
      {4, 4, tables.note, tables.note, tables.note_size, tables.note_size, 4},
      {0x6474e552, 4, writable_offset, writable_at, data.size(), data.size(), 1}, // PT_GNU_RELRO
  };
  FormatWriter start(format);
  write_header(start, type, machine, 0, headers.size(), false);
  for (const ProgramHeader &header : headers)
    write_program_header(start, header);

  FormatWriter out(format);
  out.append(start.bytes());
  out.append(Bytes(tables.bytes.bytes()).subspan(start.size()));
  out.fill_to(read_only_offset);
  out.append(read_only);
  out.fill_to(writable_offset);
  out.append(data.bytes());
  return out.bytes();
}

} // namespace dnheap::test
