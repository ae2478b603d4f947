// Which function of a module holds an address: at every address of both, beside them, and where memory is missing.
#include "image/function_table.h"
#include "support/pe_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address image_base = 0x10000000;

TEST(FunctionTable, EveryAddress) {
  const std::vector<std::byte> file = PeWriter{}.write();
  const Memory memory({}, PeWriter::mapped(file, image_base));
  const std::optional<FunctionTable> table = FunctionTable::at(memory, image_base);
  ASSERT_TRUE(table);
  const Address first = image_base + PeWriter::code;
  for (Address at = first - 2; at < first + 0x202; ++at) {
    const std::optional<FunctionEntry> found = table->find(at);
    ASSERT_EQ(found.has_value(), at >= first && at < first + 0x200) << std::hex << at;
    if (!found)
      continue;
    EXPECT_EQ(found->start, at < first + 0x100 ? first : first + 0x100);
    EXPECT_EQ(found->end, found->start + 0x100);
    EXPECT_EQ(found->unwind_info, image_base + PeWriter::unwind_data);
  }
}

TEST(FunctionTable, WhatIsMissing) {
  const std::vector<std::byte> file = PeWriter{}.write();
  const Memory headers({}, {{image_base, Bytes(file).first(0x400)}}), nothing({}, {});
  const std::optional<FunctionTable> table = FunctionTable::at(headers, image_base);
  ASSERT_TRUE(table);
  EXPECT_FALSE(table->find(image_base + PeWriter::code));
  EXPECT_FALSE(FunctionTable::at(nothing, image_base));
}

} // namespace
} // namespace dnheap::test
