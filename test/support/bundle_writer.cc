#include "support/bundle_writer.h"

namespace dnheap::test {

namespace {

constexpr u64 mark_size = 40; // with the place of the list

void put_text(FormatWriter &out, const std::string &text) {
  u64 length = text.size();
  for (; length >= 0x80; length >>= 7)
    out.put(0x80 | (length & 0x7f), 1);
  out.put(length, 1);
  out.text(text);
}

} // namespace

u64 BundleWriter::offset_of(u64 index) const {
  u64 at = program.size() + mark_size;
  for (u64 i = 0;; at += files[i++].bytes.size()) {
    at = align_up(at, files[i].alignment);
    if (i == index)
      return at;
  }
}

std::vector<std::byte> BundleWriter::write() const {
  FormatWriter out({8, ByteOrder::little});
  out.append(program);
  out.put(0, 8);
  for (u32 word :
       {0xb902128bu, 0x3820616au, 0x02937b72u, 0x32a0d714u, 0xe6b9f513u, 0x1833aeefu, 0xce2d3beeu, 0xae6ab324u})
    out.word(word);
  for (u64 i = 0; i < files.size(); ++i) {
    out.fill_to(offset_of(i));
    out.append(files[i].bytes);
  }
  out.put_at(program.size(), list.value_or(out.size()), 8);
  for (u64 number : {u64{version}, u64{0}, u64{files.size()}})
    out.word(number);
  put_text(out, "an id");
  out.fill_to(out.size() + (version >= 2 ? 40 : 0));
  for (u64 i = 0; i < files.size(); ++i) {
    const u64 stored = files[i].bytes.size(), size = files[i].uncompressed_size ? files[i].uncompressed_size : stored;
    out.put(offset_of(i), 8);
    out.put(size, 8);
    if (version >= 6)
      out.put(files[i].uncompressed_size ? stored : 0, 8);
    out.put(1, 1); // an assembly
    put_text(out, files[i].path);
  }
  return out.bytes();
}

} // namespace dnheap::test
