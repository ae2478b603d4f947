#include "base/host/host.h"
#include "image/elf_file.h"
#include "image/elf_image.h"
#include "support/elf_writer.h"

#include <gtest/gtest.h>
#include <map>
#ifdef __linux__
#include <dlfcn.h>
#include <link.h>
#endif

namespace dnheap {
namespace {

using test::ElfLibraryWriter;
using Relocation = ElfLibraryWriter::Relocation;

constexpr u64 writable_at = ElfLibraryWriter::writable_at;

TEST(ElfFile, AppliesRelativeRelocationsOfEveryKind) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    u64 size = format.pointer_size;
    ElfLibraryWriter writer{.format = format};
    writer.writable.resize(200 * size, std::byte{0});
    writer.bss = 64;
    std::map<u64, u64> expected; // index of word → target
    for (u64 i : {0, 1, 7})
      writer.relocations.push_back({writable_at + i * size, 0x10 + i}), expected[i] = 0x10 + i;
    for (u64 i : {10, 11, 12, 40, 70, 75, 150, 199})
      writer.relocations.push_back({writable_at + i * size, 0x100 + i, Relocation::compact}), expected[i] = 0x100 + i;
    writer.relocations.push_back({writable_at + 20 * size, 0, Relocation::symbolic});
    std::vector<std::byte> file = writer.write();

    constexpr Address base = 0x40000000;
    std::vector<std::shared_ptr<const void>> storage;
    Memory memory(format, ElfFile::parse(file)->layout(base, storage));
    EXPECT_EQ(storage.size(), 1u);
    for (u64 i = 0; i < 200; ++i) {
      std::optional<u64> value = memory.try_pointer(base + writable_at + i * size);
      if (i == 20) {
        EXPECT_FALSE(value) << "a word that another module decides is not known";
        continue;
      }
      ASSERT_TRUE(value) << i;
      EXPECT_EQ(*value, expected.count(i) ? base + expected[i] : 0) << i;
    }
    // The file itself is not touched, and .bss has no bytes.
    EXPECT_EQ(file, writer.write());
    EXPECT_FALSE(memory.try_load<u8>(base + writer.end() - 1));
    EXPECT_TRUE(memory.try_load<u8>(base + writer.end() - writer.bss - 1));
  }
}

TEST(ElfFile, ReadOnlySegmentsAreNotCopied) {
  ElfLibraryWriter writer{.format = {8, ByteOrder::little}};
  writer.read_only.resize(100, std::byte{7});
  std::vector<std::byte> file = writer.write();
  std::vector<std::shared_ptr<const void>> storage;
  Memory memory(writer.format, ElfFile::parse(file)->layout(0x1000000, storage));
  Bytes view = memory.view(0x1000000 + ElfLibraryWriter::read_only_at, 100);
  ASSERT_EQ(view.size(), 100u);
  EXPECT_GE(view.data(), file.data());
  EXPECT_LT(view.data(), file.data() + file.size());
}

TEST(ElfFile, WithoutRelocationsThatCanBeReadOrUnderstoodNothingWritableIsLaidOut) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfLibraryWriter writer{.format = format};
    writer.machine = 4711;
    writer.writable.resize(64);
    std::vector<std::byte> file = writer.write();
    std::vector<std::shared_ptr<const void>> storage;
    Memory memory(format, ElfFile::parse(file)->layout(0x1000000, storage));
    EXPECT_TRUE(memory.try_load<u8>(0x1000000));
    EXPECT_FALSE(memory.try_load<u8>(0x1000000 + writable_at));
    EXPECT_TRUE(storage.empty());
  }
}

TEST(ElfFile, RefusesWhatIsNoProgramOrLibrary) {
  ElfLibraryWriter writer{.format = {8, ByteOrder::little}};
  std::vector<std::byte> file = writer.write();
  EXPECT_TRUE(ElfFile::parse(file));
  EXPECT_FALSE(ElfFile::parse({}));
  EXPECT_FALSE(ElfFile::parse(Bytes(file).first(63)));
  EXPECT_FALSE(ElfFile::parse(Bytes(file).first(100)));
  writer.type = 4;
  file = writer.write();
  EXPECT_FALSE(ElfFile::parse(file));
}

#ifdef __linux__

// A library of this very process, seen both ways: as the loader put it into memory, and as its file is laid out.
struct LiveLibrary {
  explicit LiveLibrary(const char *name) : handle(dlopen(name, RTLD_NOLOAD | RTLD_LAZY)) {
    link_map *map = nullptr;
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
      return;
    base = map->l_addr;
    dynamic = reinterpret_cast<Address>(map->l_ld);
    file = MappedFile::try_open(map->l_name);
    std::optional<ElfFile> elf = file ? ElfFile::parse(file->bytes()) : std::nullopt;
    if (!elf)
      return;
    laid_out = Memory(elf->format(), elf->layout(base, storage));
    std::vector<Range> ranges;
    if (std::optional<ElfImage> image = ElfImage::at(laid_out, base))
      for (const ElfImage::Segment &segment : image->segments())
        ranges.push_back({segment.address, {reinterpret_cast<const std::byte *>(segment.address), segment.size}});
    live = Memory(elf->format(), ranges);
  }
  ~LiveLibrary() {
    if (handle)
      dlclose(handle);
  }
  LiveLibrary(const LiveLibrary &) = delete;
  LiveLibrary &operator=(const LiveLibrary &) = delete;

  void *handle;
  Address base = 0, dynamic = 0;
  std::shared_ptr<const MappedFile> file;
  std::vector<std::shared_ptr<const void>> storage;
  Memory laid_out, live;
};

TEST(ElfFile, FindsWhatTheLoaderFindsInTheSystemsLibraries) {
  LiveLibrary libc("libc.so.6");
  if (libc.laid_out.size() == 0)
    GTEST_SKIP() << "no libc.so.6 in this process";
  for (const Memory *memory : {&libc.laid_out, &libc.live}) {
    std::optional<ElfImage> image = ElfImage::at(*memory, libc.base);
    ASSERT_TRUE(image);
    for (const char *name : {"malloc", "free", "printf", "environ", "stdout", "getpid", "dlsym"})
      EXPECT_EQ(image->find_symbol(name), reinterpret_cast<Address>(dlsym(libc.handle, name))) << name;
    EXPECT_FALSE(image->find_symbol("no_such_function"));
    EXPECT_EQ(image->build_id(), ElfFile::parse(libc.file->bytes())->build_id());
    EXPECT_GE(image->build_id().size(), 8u);
  }
}

// What the loader writes once and then protects is known from the file alone, word for word.
TEST(ElfFile, RelocatesAsTheLoaderDoes) {
  LiveLibrary library("libstdc++.so.6");
  if (library.laid_out.size() == 0)
    GTEST_SKIP() << "no libstdc++.so.6 in this process";
  const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(library.base);
  const auto *segments = reinterpret_cast<const ElfW(Phdr) *>(library.base + header->e_phoff);
  u64 compared = 0, unknown = 0, different = 0, dynamic_size = 0;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_DYNAMIC)
      dynamic_size = segments[i].p_memsz;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_GNU_RELRO)
      continue;
    for (u64 at = align_up(segments[i].p_vaddr, 8); at + 8 <= segments[i].p_vaddr + segments[i].p_memsz; at += 8) {
      Address address = library.base + at;
      if (address >= library.dynamic && address < library.dynamic + dynamic_size)
        continue; // glibc changes it in place
      std::optional<u64> here = library.laid_out.try_load<u64>(address);
      ++compared;
      unknown += !here;
      different += here && here != library.live.try_load<u64>(address);
    }
  }
  EXPECT_GT(compared, 1000u);
  EXPECT_LT(unknown, compared);
  EXPECT_EQ(different, 0u) << "of " << compared << ", unknown " << unknown;
}

#endif

} // namespace
} // namespace dnheap
