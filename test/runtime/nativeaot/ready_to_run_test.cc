// The header of a NativeAOT module's tables: its two forms, and where PE images keep it.
#include "runtime/nativeaot/ready_to_run.h"
#include "support/pe_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address base = 0x7ff600000000;
constexpr u32 place = PeWriter::imports; // over what nobody needs here

// Two sections, with lengths or with ends.
std::vector<std::byte> with_header(std::vector<std::byte> file, bool has_lengths) {
  const u64 at = place - PeWriter::text_rva + PeWriter::text_offset;
  FormatWriter out({8, ByteOrder::little});
  out.word(0x00525452);
  out.half(26);
  out.half(1);
  out.word(0);
  out.half(2);
  out.put(has_lengths ? 16 : 24, 1);
  out.put(1, 1);
  for (u32 id : {201u, 204u}) {
    const Address start = base + PeWriter::data_rva + 16 * (id - 201);
    out.word(id);
    out.word(has_lengths ? 12 : 0);
    out.pointer(start);
    if (!has_lengths)
      out.pointer(start + 12);
  }
  const Bytes bytes = out.bytes();
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<i64>(at));
  return file;
}

// Windows programs have it among what is read only.
TEST(ReadyToRun, OfPe) {
  for (bool is_text_run : {false, true})
    for (bool has_lengths : {false, true}) {
      const std::vector<std::byte> file =
          with_header(PeWriter{.cli_size = 0, .is_text_run = is_text_run}.write(), has_lengths);
      Target target;
      target.memory = Memory({}, PeWriter::mapped(file, base));
      Module module;
      module.base = base;
      const std::optional<ReadyToRun> found = find_ready_to_run(target, module);
      EXPECT_EQ(found.has_value(), !is_text_run); // code is not looked through
      if (!found)
        continue;
      EXPECT_EQ(found->header, base + place);
      const ReadyToRun::Section section = found->section(204);
      EXPECT_EQ(section.start, base + PeWriter::data_rva + 48);
      EXPECT_EQ(section.end, section.start + 12);
      EXPECT_EQ(found->section(205).end, 0u);
    }
}

} // namespace
} // namespace dnheap::test
