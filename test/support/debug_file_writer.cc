#include "support/debug_file_writer.h"

namespace dnheap::test {

namespace {

struct Row {
  std::string name;
  u32 type, link;
  u64 entry_size;
  std::vector<std::byte> content;
  u32 flags = 0;
};

} // namespace

std::vector<std::byte> DebugFileWriter::write() const {
  const bool wide = format.pointer_size == 8;
  const u64 header_size = wide ? 64 : 52, row_size = wide ? 64 : 40, symbol_size = wide ? 24 : 16;
  FormatWriter note(format), names(format), table(format), strings(format), link(format);
  if (!build_id.empty()) {
    note.word(4);
    note.word(build_id.size());
    note.word(3);
    note.text_with_nul("GNU");
    for (u8 byte : build_id)
      note.put(byte, 1);
    note.align(4);
  }
  table.fill_to(symbol_size); // the first one is none
  strings.put(0, 1);
  for (const Symbol &symbol : symbols) {
    table.word(strings.size());
    if (wide) {
      table.put(symbol.kind, 1);
      table.put(0, 1);
      table.half(symbol.section);
      table.pointer(symbol.address);
      table.pointer(symbol.size);
    } else {
      table.pointer(symbol.address);
      table.pointer(symbol.size);
      table.put(symbol.kind, 1);
      table.put(0, 1);
      table.half(symbol.section);
    }
    strings.text_with_nul(symbol.name);
  }
  link.text_with_nul(debug_link);
  link.align(4);
  link.word(0);
  std::vector<Row> sections = {
      {"", 0, 0, 0, {}},
      {".bss", 8, 0, 0, {}},
      {".note.gnu.build-id", 7, 0, 0, note.bytes()},
      {exports ? ".dynsym" : ".symtab", exports ? 11u : 2u, 4, symbol_size, table.bytes()},
      {".strtab", 3, 0, 0, strings.bytes()},
      {".gnu_debuglink", 1, 0, 0, debug_link.empty() ? std::vector<std::byte>() : link.bytes()},
  };
  for (const DebugFileWriter::Section &s : more)
    sections.push_back({s.name, 1, 0, 0, s.content, s.flags});
  sections.push_back({".shstrtab", 3, 0, 0, {}});
  std::vector<u64> name_at;
  for (const Row &s : sections) {
    name_at.push_back(names.size());
    names.text_with_nul(s.name);
  }
  sections.back().content = names.bytes();
  FormatWriter out(format);
  const u8 ident[] = {0x7f,
                      'E',
                      'L',
                      'F',
                      static_cast<u8>(wide ? 2 : 1),
                      static_cast<u8>(format.byte_order == ByteOrder::little ? 1 : 2),
                      1};
  for (u8 byte : ident)
    out.put(byte, 1);
  out.fill_to(16);
  out.half(3);
  out.half(machine_of(format));
  out.word(1);
  out.fill_to(header_size);
  std::vector<u64> at;
  for (const Row &s : sections) {
    out.align(8);
    at.push_back(out.size());
    out.append(s.content);
  }
  out.align(8);
  const u64 rows = out.size();
  for (u64 i = 0; i < sections.size(); ++i) {
    const Row &s = sections[i];
    out.word(name_at[i]);
    out.word(s.type);
    out.pointer(s.flags);
    out.pointer(0);
    out.pointer(at[i]);
    out.pointer(s.type == 8 ? 0x1000 : s.content.size());
    out.word(s.link);
    out.word(0);
    out.pointer(s.type == 7 ? 4 : 1);
    out.pointer(s.entry_size);
  }
  out.put_at(wide ? 40 : 32, rows, format.pointer_size);
  const u64 counts = wide ? 52 : 40; // sizes and numbers of headers
  out.put_at(counts, header_size, 2);
  out.put_at(counts + 6, row_size, 2);
  out.put_at(counts + 8, sections.size(), 2);
  out.put_at(counts + 10, sections.size() - 1, 2);
  return out.bytes();
}

} // namespace dnheap::test
