// Mach-O images in a target's memory: what is read is what the writer put in, and damage is no error.
#include "image/macho_image.h"
#include "image/module_image.h"
#include "support/damage.h"
#include "support/macho_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::MachoLibraryWriter;
using Exports = MachoLibraryWriter::Exports;

constexpr Format macho_words{8, ByteOrder::little};
constexpr Address mapped_at = 0x104000000;

MachoLibraryWriter small_library() {
  MachoLibraryWriter out;
  for (u8 i = 0; i < 16; ++i)
    out.uuid.push_back(static_cast<u8>(0xa0 + i));
  out.read_only.resize(100, std::byte{0x90});
  out.writable.resize(64, std::byte{0x11});
  out.bss = 300;
  out.section = "__variables";
  out.symbols = {{.name = "Descriptor", .value = MachoLibraryWriter::writable_at + 8},
                 {.name = "Describe", .value = MachoLibraryWriter::read_only_at + 4},
                 {.name = "per_thread", .value = 8, .kind = 1},
                 {.name = "absolute", .value = 0x1234, .kind = 2},
                 {.name = "elsewhere", .value = 1, .re_exported = true},
                 {.name = "internal", .value = MachoLibraryWriter::read_only_at + 12, .exported = false}};
  return out;
}

// A library as the loader maps it.
struct MappedMacho {
  explicit MappedMacho(const MachoLibraryWriter &writer)
      : file(writer.write()), memory(macho_words, writer.mapped(file, mapped_at)),
        image(MachoImage::at(memory, mapped_at)) {}

  std::vector<std::byte> file;
  Memory memory;
  std::optional<MachoImage> image;
};

TEST(MachoImage, SymbolsOfEveryKindOfExports) {
  for (Exports exports : {Exports::trie, Exports::trie_of_dyld_info, Exports::table})
    for (u64 preferred : {u64{0}, u64{0x100000000}}) {
      SCOPED_TRACE(static_cast<int>(exports));
      MachoLibraryWriter writer = small_library();
      writer.exports = exports;
      writer.preferred = preferred;
      if (exports == Exports::table) // which has no such kinds
        std::erase_if(writer.symbols, [](const auto &s) { return s.kind == 1 || s.re_exported; });
      const MappedMacho library(writer);
      ASSERT_TRUE(library.image);
      EXPECT_EQ(library.image->find_symbol("Descriptor"), mapped_at + MachoLibraryWriter::writable_at + 8);
      EXPECT_EQ(library.image->find_symbol("Describe"), mapped_at + MachoLibraryWriter::read_only_at + 4);
      EXPECT_EQ(library.image->find_symbol("absolute"), 0x1234u);
      for (const char *none : {"per_thread", "elsewhere", "internal", "Desc", "Descriptors", "", "nothing"})
        EXPECT_FALSE(library.image->find_symbol(none)) << none;
      EXPECT_EQ(library.image->find_symbol("internal", true), mapped_at + MachoLibraryWriter::read_only_at + 12);
      EXPECT_FALSE(library.image->find_symbol("nothing", true));
    }
}

TEST(MachoImage, AsModule) {
  const MappedMacho library(small_library());
  const std::optional<ModuleImage> image = ModuleImage::at(library.memory, mapped_at);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->base(), mapped_at);
  EXPECT_EQ(image->bias(), mapped_at);
  EXPECT_EQ(image->build_id(), small_library().uuid);
  EXPECT_EQ(image->find_symbol("Descriptor"), mapped_at + MachoLibraryWriter::writable_at + 8);
  EXPECT_FALSE(image->is_managed());
  EXPECT_FALSE(image->relocates_constants());
  EXPECT_FALSE(image->call_frame_table());
  ASSERT_EQ(image->sections().size(), 3u);
  EXPECT_TRUE(image->sections()[0].executable);
  EXPECT_FALSE(image->sections()[0].writable);
  EXPECT_EQ(image->sections()[1].address, mapped_at + MachoLibraryWriter::writable_at);
  EXPECT_TRUE(image->sections()[1].writable);
  const std::vector<Range> writable = image->writable_bytes(library.memory);
  ASSERT_EQ(writable.size(), 1u);
  EXPECT_EQ(writable[0].bytes.size(), 64u);
  EXPECT_EQ(library.image->own_name(), "@rpath/libtest.dylib");
  EXPECT_EQ(library.image->find_section("__variables"), mapped_at + MachoLibraryWriter::writable_at);
  EXPECT_FALSE(library.image->find_section("__nothing"));
  EXPECT_EQ(library.image->type(), macho::type_library);
  EXPECT_EQ(library.image->cpu(), macho::cpu_arm64);
}

TEST(MachoImage, InTheSharedCacheOnlyItsCodeIsItsOwn) {
  MachoLibraryWriter writer = small_library();
  writer.flags = macho::flag_in_cache;
  const MappedMacho library(writer);
  ASSERT_TRUE(library.image);
  ASSERT_EQ(library.image->segments().size(), 1u);
  EXPECT_EQ(library.image->end(), mapped_at + library.image->segments()[0].size);
  EXPECT_TRUE(library.image->find_symbol("Describe"));
}

TEST(MachoImage, ExportsInTwoPieces) {
  const MachoLibraryWriter writer = small_library();
  const std::vector<std::byte> file = writer.write();
  std::vector<Range> pieces;
  std::vector<std::vector<std::byte>> copies; // in places of their own, so that they are not joined
  for (const Range &range : writer.mapped(file, mapped_at))
    for (u64 at : {u64{0}, u64{24}}) {
      const u64 size = at ? range.bytes.size() - at : 24;
      copies.emplace_back(range.bytes.begin() + static_cast<i64>(at),
                          range.bytes.begin() + static_cast<i64>(at + size));
      pieces.push_back({range.address + at, copies.back()});
    }
  for (u64 i = 0; i < pieces.size(); ++i)
    pieces[i].bytes = copies[i];
  const Memory memory(macho_words, pieces);
  const std::optional<MachoImage> image = MachoImage::at(memory, mapped_at);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->find_symbol("Descriptor"), mapped_at + MachoLibraryWriter::writable_at + 8);
  EXPECT_EQ(image->find_symbol("internal", true), mapped_at + MachoLibraryWriter::read_only_at + 12);
}

TEST(MachoImage, DamageIsNoError) {
  std::mt19937 random(3);
  const MachoLibraryWriter writer = small_library();
  const std::vector<std::byte> file = writer.write();
  std::vector<std::byte> head(file.begin(), file.begin() + 1024);
  u64 read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> bytes = test::damaged(head, random), whole = file;
    std::copy(bytes.begin(), bytes.end(), whole.begin());
    const Memory memory(macho_words, writer.mapped(whole, mapped_at));
    const std::optional<MachoImage> image = MachoImage::at(memory, mapped_at);
    read += image.has_value();
    for (bool any : {false, true})
      if (image)
        (void)image->find_symbol("Descriptor", any);
    if (image)
      (void)image->find_section("__variables");
  }
  EXPECT_GT(read, 1000u);
}

TEST(MachoImage, NoCoreIsAnImage) {
  MachoLibraryWriter writer = small_library();
  writer.type = macho::type_core;
  EXPECT_FALSE(MappedMacho(writer).image);
}

} // namespace
} // namespace dnheap
