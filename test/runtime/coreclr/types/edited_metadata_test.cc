// Metadata that the runtime edited, and so keeps in pieces.
#include "runtime/coreclr/types/edited_metadata.h"
#include "support/block.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 tables = 3, of_modules = 0, of_types = 2;

// A Module whose metadata has two types, the second of them in pieces that were added.
struct Edited {
  explicit Edited(Format format) : block(format, 0x10000), p(format.pointer_size) {
    strings = pool({text_of(std::string("\0edited.dll\0", 12)), text_of(std::string("Shop\0Order\0", 11))});
    const Address blobs = pool({block.reserve(4)}, 4), guids = pool({block.reserve(16)}, 16);
    types = {pieces({row(12, 12), row(17, 12)}, 14)};
    const Address modules = block.reserve(10);
    little(modules + 2, 1, 2); // its name
    // Tables: of each a pool, with a word behind it.
    all_tables = block.reserve(tables * 4 * p);
    copy_pool(pieces({modules}, 10), all_tables + of_modules * 4 * p);
    copy_pool(types, all_tables + of_types * 4 * p);
    model = block.words({strings, blobs, guids});
    const Address schema = block.reserve(64);
    block.put(schema, 0b101, 8);
    block.word(schema + 16, 1); // modules
    block.word(schema + 24, 2); // types
    set("CMiniMdRW", "Schema", schema - model);
    set("CMiniMdRW", "Tables", all_tables - model);
    set("CMiniMdRW", "StringHeap", strings - model);
    set("CMiniMdRW", "BlobHeap", blobs - model);
    set("CMiniMdRW", "GuidHeap", guids - model);
    counts = block.reserve(16);
    block.word(counts, tables);
    set("CMiniMdRW", "TableCount", counts - model);
    set("CMiniMdRW", "All4ByteColumns", counts + 4 - model);
    set("CMiniMdSchema", "Sorted", 0);
    set("CMiniMdSchema", "Heaps", 8);
    set("CMiniMdSchema", "RecordCounts", 16);
    const Address storage = block.words({0, 0});
    set("CLiteWeightStgdbRW", "MiniMd", model - storage);
    const Address import = block.words({0, storage}), assembly = block.words({1, import});
    set("MDInternalRW", "Stgdb", p);
    set("PEAssembly", "MDImportIsRW", 0);
    set("PEAssembly", "MDImport", p);
    if (format.byte_order == ByteOrder::big)
      block.word(assembly, 1);
    module = block.words({assembly, 0});
    generation = module + p;
    block.word(generation, 1);
    set("Module", "PEAssembly", 0);
    set("Module", "MetadataGeneration", p);
    for (const char *type : {"StgPool", "StgPoolSeg"}) {
      set(type, "SegData", 0);
      set(type, "NextSegment", p);
      set(type, "DataSize", 2 * p);
    }
    descriptor.types["TableRW"].size = static_cast<u32>(4 * p);
  }

  void set(const char *type, const char *field, u64 offset) {
    descriptor.set_field(type, field, static_cast<i64>(offset), Origin::published);
  }
  struct Piece {
    Address at;
    u64 size;
  };
  Piece text_of(const std::string &text) { return {block.append(std::string_view(text)), text.size()}; }
  void little(Address at, u64 value, u64 size) { // as metadata is, whatever the target is
    for (u64 i = 0; i < size; ++i)
      block.put(at + i, value >> 8 * i & 0xff, 1);
  }
  Address row(u64 name, u64 name_space) {
    const Address at = block.reserve(14, 1);
    little(at + 4, name, 2);
    little(at + 6, name_space, 2);
    return at;
  }
  Address pool(const std::vector<Piece> &of) {
    Address next = 0;
    for (u64 i = of.size(); i--;) {
      const Address at = block.words({of[i].at, next, 0});
      block.word(at + 2 * p, of[i].size);
      next = at;
    }
    return next;
  }
  Address pool(const std::vector<Address> &of, u64 size) { return pieces(of, size); }
  Address pieces(const std::vector<Address> &of, u64 size) {
    std::vector<Piece> out;
    for (const Address at : of)
      out.push_back({at, size});
    return pool(out);
  }
  void copy_pool(Address from, Address to) {
    const std::vector<std::byte> bytes(block.bytes().begin() + static_cast<i64>(from - block.address()),
                                       block.bytes().begin() + static_cast<i64>(from - block.address() + 3 * p));
    for (u64 i = 0; i < bytes.size(); ++i)
      block.put(to + i, static_cast<u8>(bytes[i]), 1);
  }
  std::optional<ModuleMetadata> read() const {
    return read_edited_metadata(Memory(block.format(), {block.range()}), descriptor, module);
  }

  Block block;
  const u64 p;
  ContractDescriptor descriptor;
  Address strings = 0, types = 0, all_tables = 0, model = 0, counts = 0, generation = 0, module = 0;
};

TEST(EditedMetadata, IsPutTogether) {
  for (const Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    const std::optional<ModuleMetadata> found = Edited(format).read();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->metadata.module()->name, "edited.dll");
    EXPECT_EQ(found->metadata.row_count(Table::TypeDef), 2u);
    EXPECT_EQ(found->metadata.type_def(1)->name, "Shop");
    EXPECT_EQ(found->metadata.type_def(2)->name, "Order");
    EXPECT_EQ(found->metadata.type_def(2)->name_space, "Shop");
  }
}

TEST(EditedMetadata, NotOfModulesThatWereNotEdited) {
  Edited never({});
  never.block.word(never.generation, 0);
  EXPECT_FALSE(never.read());
  Edited silent({});
  silent.descriptor.types.erase("MDInternalRW");
  EXPECT_FALSE(silent.read());
}

// Each piece counts, and so does each number that says how many there are.
TEST(EditedMetadata, NotOfDamagedOnes) {
  Edited circle({});
  circle.block.pointer(circle.strings + circle.p, circle.strings);
  EXPECT_FALSE(circle.read());
  Edited lost({});
  lost.block.pointer(lost.strings, 0xdead0000);
  EXPECT_FALSE(lost.read());
  Edited huge({});
  huge.block.word(huge.strings + 2 * huge.p, 0xffffffff);
  EXPECT_FALSE(huge.read());
  Edited many({});
  many.block.word(many.counts, 1000);
  EXPECT_FALSE(many.read());
}

} // namespace
} // namespace dnheap::test
