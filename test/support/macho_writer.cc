#include "support/macho_writer.h"

#include <algorithm>

namespace dnheap::test {

namespace {

constexpr Format macho_format{8, ByteOrder::little};
constexpr u64 file_alignment = 0x4000;

void put_padded_name(FormatWriter &out, std::string_view name) {
  const u64 start = out.size();
  out.text(name);
  out.fill_to(start + 16);
}

struct LibrarySegment {
  const char *name;
  u64 address, memory_size, offset, file_size;
  u32 protection, flags;
};

void put_library_segment(FormatWriter &out, const LibrarySegment &s, const std::string &section) {
  out.word(0x19);
  out.word(section.empty() ? 72 : 152);
  put_padded_name(out, s.name);
  for (u64 value : {s.address, s.memory_size, s.offset, s.file_size})
    out.put(value, 8);
  for (u32 value : {s.protection, s.protection, u32{!section.empty()}, s.flags})
    out.word(value);
  if (section.empty())
    return;
  put_padded_name(out, section);
  put_padded_name(out, s.name);
  out.put(s.address, 8);
  out.put(s.file_size, 8);
  out.fill_to(out.size() + 32);
}

void put_trie_number(FormatWriter &out, u64 value) {
  for (; value > 0x7f; value >>= 7)
    out.put((value & 0x7f) | 0x80, 1);
  out.put(value, 1);
}

} // namespace

// A root with one edge for each symbol: places have three bytes, so that they are known beforehand.
FormatWriter MachoLibraryWriter::trie() const {
  FormatWriter out(macho_format), nodes(macho_format);
  std::vector<const Symbol *> exported;
  u64 root = 2;
  for (const Symbol &symbol : symbols)
    if (symbol.exported) {
      exported.push_back(&symbol);
      root += symbol.name.size() + 2 + 3;
    }
  out.put(0, 1);
  out.put(exported.size(), 1);
  for (const Symbol *symbol : exported) {
    out.text_with_nul("_" + symbol->name);
    const u64 place = root + nodes.size();
    for (u64 byte : {place | 0x80, place >> 7 | 0x80, place >> 14 & 0x7f})
      out.put(byte, 1);
    FormatWriter content(macho_format);
    put_trie_number(content, symbol->kind | (symbol->re_exported ? 8u : 0u));
    put_trie_number(content, symbol->value);
    put_trie_number(nodes, content.size());
    nodes.append(content.bytes());
    nodes.put(0, 1);
  }
  out.append(nodes.bytes());
  return out;
}

// Header of 28 bytes; {number of segments, where each one's record is}: __DATA is the second.
FormatWriter MachoLibraryWriter::chains() const {
  constexpr u64 page = 0x4000;
  FormatWriter out(macho_format);
  out.word(0);
  out.word(28);
  out.fill_to(28);
  for (u64 word : {3, 0, 16, 0})
    out.word(word);
  const u64 pages = align_up(writable.size(), page) / page;
  out.word(22 + pages * 2);
  out.half(page);
  out.half(pointer_format);
  out.put(writable_at, 8);
  out.word(0);
  out.half(pages);
  for (u64 i = 0; i < pages; ++i) {
    const auto first = std::ranges::find_if(fixups, [&](const Fixup &f) { return f.offset / page == i; });
    out.half(first == fixups.end() ? 0xffff : first->offset % page);
  }
  return out;
}

void MachoLibraryWriter::chain(std::vector<std::byte> &words) const {
  for (u64 i = 0; i < fixups.size(); ++i) {
    const Fixup &fixup = fixups[i];
    const bool more = i + 1 < fixups.size() && fixups[i + 1].offset / 0x4000 == fixup.offset / 0x4000;
    const u64 next = more ? (fixups[i + 1].offset - fixup.offset) / 4 : 0;
    const u64 target = fixup.target + (pointer_format == 2 && !fixup.bound ? preferred : 0);
    const u64 word = target | next << 51 | u64{fixup.bound} << 63;
    for (u64 byte = 0; byte < 8; ++byte)
      words[fixup.offset + byte] = static_cast<std::byte>(word >> 8 * byte);
  }
}

void MachoLibraryWriter::add_symbols(FormatWriter &out, u64 at, FormatWriter &commands, u64 &count) const {
  FormatWriter rows(macho_format), texts(macho_format);
  texts.put(0, 1);
  u64 exported = 0;
  for (bool wanted : {false, true})
    for (const Symbol &symbol : symbols) {
      if (symbol.exported != wanted)
        continue;
      exported += symbol.exported;
      rows.word(texts.size());
      rows.put((symbol.kind == 2 ? 0x02 : 0x0e) | (symbol.exported ? 1 : 0), 1);
      rows.put(1, 1);
      rows.half(0);
      rows.put(symbol.value + (symbol.kind == 2 ? 0 : preferred), 8);
      texts.text_with_nul("_" + symbol.name);
    }
  const u64 rows_at = at + out.size(), all = symbols.size();
  out.append(rows.bytes());
  for (u64 word : {u64{0x2}, u64{24}, rows_at, all, rows_at + rows.size(), texts.size()})
    commands.word(word);
  out.append(texts.bytes());
  const u64 start = commands.size();
  for (u64 word : {u64{0xb}, u64{80}, u64{0}, all - exported, all - exported, exported})
    commands.word(word);
  commands.fill_to(start + 80);
  count += 2;
}

// Writes the commands that say where its parts are, counted from the file's start, where they begin at `at`.
FormatWriter MachoLibraryWriter::link_data(u64 at, FormatWriter &commands, u64 &count) const {
  FormatWriter out(macho_format);
  auto add = [&](const FormatWriter &part, u32 command) {
    for (u64 word : {u64{command}, u64{16}, at + out.size(), part.size()})
      commands.word(word);
    out.append(part.bytes());
    out.align(8);
    ++count;
  };
  if (exports == Exports::trie)
    add(trie(), macho::command_exports);
  if (exports == Exports::trie_of_dyld_info) {
    const FormatWriter part = trie();
    for (u64 word : {u64{macho::command_dyld_info_only}, u64{48}, u64{0}, u64{0}, u64{0}, u64{0}, u64{0}, u64{0},
                     u64{0}, u64{0}, at + out.size(), part.size()})
      commands.word(word);
    out.append(part.bytes());
    out.align(8);
    ++count;
  }
  if (!fixups.empty())
    add(chains(), macho::command_chained_fixups);
  add_symbols(out, at, commands, count);
  return out;
}

std::vector<std::byte> MachoLibraryWriter::write() const {
  const u64 text_end = align_up(read_only_at + read_only.size(), file_alignment),
            link_at = text_end + align_up(writable.size(), file_alignment);
  FormatWriter rest(macho_format);
  u64 count = 3;
  const FormatWriter linked = link_data(link_at, rest, count);
  if (!uuid.empty()) {
    rest.word(0x1b);
    rest.word(24);
    rest.append(std::as_bytes(std::span(uuid)));
    ++count;
  }
  if (!own_name.empty()) {
    const u64 size = align_up(24 + own_name.size() + 1, 8), start = rest.size();
    rest.word(type == macho::type_linker ? 0xf : 0xd);
    rest.word(size);
    rest.word(24);
    rest.fill_to(start + 24);
    rest.text(own_name);
    rest.fill_to(start + size);
    ++count;
  }
  FormatWriter commands(macho_format), out(macho_format);
  put_library_segment(commands, {"__TEXT", preferred, text_end, 0, text_end, 5, 0}, "");
  put_library_segment(commands,
                      {"__DATA", preferred + writable_at, align_up(writable.size() + bss, file_alignment), text_end,
                       writable.size(), 3, writable_flags},
                      section);
  put_library_segment(
      commands,
      {"__LINKEDIT", preferred + link_data_at, align_up(linked.size(), file_alignment), link_at, linked.size(), 1, 0},
      "");
  commands.append(rest.bytes());
  for (u64 word : {u64{0xfeedfacf}, u64{cpu}, u64{0}, u64{type}, count, commands.size(), u64{flags}, u64{0}})
    out.word(word);
  out.append(commands.bytes());
  out.fill_to(read_only_at);
  out.append(read_only);
  out.fill_to(text_end);
  std::vector<std::byte> words = writable;
  chain(words);
  out.append(words);
  out.fill_to(link_at);
  out.append(linked.bytes());
  return out.bytes();
}

std::vector<Range> MachoLibraryWriter::mapped(Bytes file, Address base) const {
  const u64 text_end = align_up(read_only_at + read_only.size(), file_alignment),
            link_at = text_end + align_up(writable.size(), file_alignment);
  std::vector<Range> out = {{base, file.first(text_end)}, {base + link_data_at, file.subspan(link_at)}};
  if (!writable.empty())
    out.push_back({base + writable_at, file.subspan(text_end, writable.size())});
  return out;
}

std::vector<std::byte> universal_file(const std::vector<std::vector<std::byte>> &files, bool wide) {
  constexpr Format big{8, ByteOrder::big};
  FormatWriter out(big), contents(big);
  const u64 row = wide ? 32 : 20, start = align_up(8 + files.size() * row, file_alignment);
  out.word(wide ? 0xcafebabf : 0xcafebabe);
  out.word(files.size());
  for (const std::vector<std::byte> &file : files) {
    out.word(load<u32>(file.data() + 4, ByteOrder::little));
    out.word(0);
    for (u64 value : {start + contents.size(), static_cast<u64>(file.size())})
      out.put(value, wide ? 8 : 4);
    out.put(14, wide ? 8 : 4);
    contents.append(file);
    contents.align(file_alignment);
  }
  out.fill_to(start);
  out.append(contents.bytes());
  return out.bytes();
}

} // namespace dnheap::test
