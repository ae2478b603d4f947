#include "support/pdb_writer.h"

#include "support/elf_writer.h"

namespace dnheap::test {

namespace {

constexpr u16 no_stream_here = 0xffff;
using Stream = std::vector<std::byte>;

Stream info_of(const PdbWriter &pdb) {
  FormatWriter to({});
  for (u64 word : {u64{20000404}, u64{0}, u64{pdb.age} + 7}) // the age that counts is another stream's
    to.word(word);
  for (u64 i = 1; i <= 16; ++i)
    to.put(i, 1);
  return to.bytes();
}

Stream records_of(const PdbWriter &pdb) {
  FormatWriter to({});
  for (const PdbWriter::Symbol &symbol : pdb.symbols) {
    const u64 size = align_up(14 + symbol.name.size() + 1, 4);
    to.half(size - 2);
    to.half(0x110e);
    to.word(2);
    to.word(symbol.offset);
    to.half(symbol.section);
    to.text_with_nul(symbol.name);
    to.align(4);
  }
  to.half(6); // of another kind
  to.half(0x1108);
  to.word(0);
  return to.bytes();
}

Stream sections_of(const PdbWriter &pdb) {
  FormatWriter to({});
  for (const PdbWriter::Section &section : pdb.sections) {
    to.text(".text\0\0\0");
    to.fill_to(align_up(to.size(), 8));
    to.word(section.size);
    to.word(section.rva);
    to.fill_to(to.size() + 20);
    to.word(section.executable ? 0x60000020 : 0x40000040);
  }
  return to.bytes();
}

// Records are stream 4, sections 5.
Stream dbi_of(const PdbWriter &pdb) {
  FormatWriter to({});
  to.word(0xffffffff);
  to.word(19990903);
  to.word(pdb.age);
  for (u64 half : {u64{no_stream_here}, u64{0}, u64{no_stream_here}, u64{0}, u64{4}, u64{0}})
    to.half(half);
  for (u64 size : {8, 0, 4, 0, 0, 0, 22, 0}) // of substreams; the seventh is the list of further streams
    to.word(size);
  to.fill_to(64 + 8 + 4);
  for (u16 i = 0; i < 11; ++i)
    to.half(i == 5 || (i == 4 && pdb.rearranged) ? 5 : no_stream_here);
  return to.bytes();
}

} // namespace

std::vector<std::byte> PdbWriter::write() const {
  const Stream streams[] = {{}, info_of(*this), {}, dbi_of(*this), records_of(*this), sections_of(*this)};
  FormatWriter to({}), directory({}), numbers({});
  auto put = [&](const Stream &bytes) {
    to.align(block_size);
    const u64 first = to.size() / block_size, count = (bytes.size() + block_size - 1) / block_size;
    to.append(bytes);
    return std::pair(first, count);
  };
  to.text("Microsoft C/C++ MSF 7.00\r\n\x1a"
          "DS");
  to.fill_to(32);
  to.word(block_size);
  to.fill_to(3 * block_size);
  directory.word(std::size(streams));
  for (const Stream &stream : streams)
    directory.word(stream.size());
  for (const Stream &stream : streams)
    for (auto [first, count] = put(stream); count > 0; --count)
      directory.word(first++);
  for (auto [first, count] = put(directory.bytes()); count > 0; --count)
    numbers.word(first++);
  const u64 map = put(numbers.bytes()).first;
  to.align(block_size);
  to.put_at(36, 1, 4);
  to.put_at(40, to.size() / block_size, 4);
  to.put_at(44, directory.size(), 4);
  to.put_at(52, map, 4);
  return to.bytes();
}

} // namespace dnheap::test
