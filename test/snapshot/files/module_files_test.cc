// What a dump leaves out of the runtime's own library, taken from its file: the right file only, constants only, and
// never in front of what the dump holds.
#include "contract/find.h"
#include "image/elf_image.h"
#include "snapshot/files/module_files.h"
#include "support/heap_builder.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Outcome = Provenance::Outcome;

// A process whose dump holds of its runtime's library no more than createdump keeps: ELF header, build id, variables.
class ThinDump {
public:
  explicit ThinDump(Format format) : heap({.format = format, .net = Net::net10}) {
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
    full = heap.target();
    base = full->modules[0].base;
    descriptor = find_descriptor(*full, full->modules[0])->address;
    constants = {base + ElfLibraryWriter::read_only_at, base + ElfLibraryWriter::writable_at};
    std::vector<std::byte> bytes = heap.library_file();
    file.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    heap.hole(base + (heap.p == 8 ? 0x1b0 : 0x110), constants.first); // symbols
    heap.hole(constants.first, constants.second);
    for (const DescriptorExtent &extent : descriptor_extents(full->memory, descriptor))
      heap.hole(extent.start, extent.start + extent.size);
  }
  std::unique_ptr<Target> lay(const std::vector<std::string> &folders) {
    std::unique_ptr<Target> target = heap.target();
    EXPECT_FALSE(find_descriptor(*target, target->modules[0]));
    lay_module_files(*target, folders);
    return target;
  }
  bool has_descriptor(const Target &target) const { return find_descriptor(target, target.modules[0]).has_value(); }

  HeapBuilder heap;
  std::unique_ptr<Target> full;
  Address base = 0, descriptor = 0;
  std::pair<Address, Address> constants;
  std::string file;
  TemporaryFolder folder;
};

TEST(ModuleFiles, TheRightFileIsLaidUnder) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    ThinDump dump(format);
    std::string path = dump.folder.write("libcoreclr.so", dump.file);
    std::unique_ptr<Target> target = dump.lay({dump.folder.path()});
    ASSERT_EQ(target->provenance.size(), 1u);
    EXPECT_EQ(target->provenance[0].outcome, Outcome::used);
    EXPECT_EQ(target->provenance[0].file, path);
    EXPECT_EQ(target->provenance[0].module, "/dotnet/libcoreclr.so");
    EXPECT_EQ(target->provenance[0].identity, "build id 01020304");
    EXPECT_TRUE(has_elf_magic(target->memory.view(dump.base, 4)));
    // Relocated: it says the same as in the process.
    std::optional<FoundDescriptor> found = find_descriptor(*target, target->modules[0]);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->address, dump.descriptor);
    ContractDescriptor laid = parse_descriptor(target->memory, found->address),
                       own = parse_descriptor(dump.full->memory, dump.descriptor);
    EXPECT_EQ(laid.number("ThreadStore"), own.number("ThreadStore"));
    EXPECT_EQ(laid.types.size(), own.types.size());
  }
}

TEST(ModuleFiles, NeverOverTheDumpAndNeverAVariable) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    ThinDump dump(format);
    dump.folder.write("libcoreclr.so", dump.file);
    Address variable = dump.heap.variables.at("ThreadStore"), other = dump.heap.variables.at("String");
    dump.heap.hole(variable, variable + dump.heap.p);
    dump.heap.poke(other, 0x12345678, dump.heap.p);
    dump.heap.poke(dump.base + 7, 0x77, 1); // in the ELF header, whose page is in the dump
    std::unique_ptr<Target> target = dump.lay({dump.folder.path()});
    EXPECT_EQ(target->provenance.at(0).outcome, Outcome::used);
    EXPECT_EQ(target->memory.try_pointer(variable), std::nullopt) << "the file does not know what the process stored";
    EXPECT_EQ(target->memory.try_pointer(other), 0x12345678u);
    EXPECT_EQ(target->memory.try_load<u8>(dump.base + 7), 0x77);
    Address text = dump.constants.first;
    EXPECT_EQ(target->memory.try_load<u32>(text), dump.full->memory.try_load<u32>(text));
  }
}

TEST(ModuleFiles, WrongFilesAreRejectedWithTheReason) {
  ThinDump dump({});
  dump.heap.build_id = {9, 9, 9, 9};
  std::vector<std::byte> bytes = dump.heap.library_file();
  dump.heap.build_id = {1, 2, 3, 4};
  dump.folder.write("libcoreclr.so", std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  TemporaryFolder second, third;
  second.write("libcoreclr.so", "this is no library");
  dump.heap.build_id = {1, 2, 3, 5};
  bytes = dump.heap.library_file();
  dump.heap.build_id = {1, 2, 3, 4};
  // Another name and another build: not worth a word.
  third.write("libcoreclr.so.old", std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  std::unique_ptr<Target> target = dump.lay({dump.folder.path(), second.path(), third.path()});
  ASSERT_EQ(target->provenance.size(), 2u);
  EXPECT_EQ(target->provenance[0].outcome, Outcome::rejected);
  EXPECT_EQ(target->provenance[0].reason, "build id 09090909 is not the dump's 01020304");
  EXPECT_EQ(target->provenance[1].outcome, Outcome::rejected);
  EXPECT_EQ(target->provenance[1].reason, "not an ELF or Mach-O library");
  EXPECT_FALSE(dump.has_descriptor(*target));
  EXPECT_EQ(target->memory.size(), dump.heap.target()->memory.size());

  third.write("libcoreclr.so", dump.file);
  target = dump.lay({dump.folder.path(), second.path(), third.path()});
  ASSERT_EQ(target->provenance.size(), 3u);
  EXPECT_EQ(target->provenance[2].outcome, Outcome::used);
  EXPECT_TRUE(dump.has_descriptor(*target));
}

// Collectors and symbol servers rename files: the build id finds them.
TEST(ModuleFiles, AnyNameWillDoForTheRightBuild) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    ThinDump dump(format);
    dump.folder.write("libcoreclr.so", "this is no library");
    const std::string path = dump.folder.write("_.debug-4711", dump.file);
    std::unique_ptr<Target> target = dump.lay({dump.folder.path()});
    ASSERT_EQ(target->provenance.size(), 2u);
    EXPECT_EQ(target->provenance[0].outcome, Outcome::rejected);
    EXPECT_EQ(target->provenance[1].outcome, Outcome::used);
    EXPECT_EQ(target->provenance[1].file, path);
    EXPECT_EQ(target->provenance[1].identity, "build id 01020304");
    EXPECT_TRUE(dump.has_descriptor(*target));
  }
}

// The folder that the user named as target is searched like the others, but no link out of it is followed.
TEST(ModuleFiles, TheTargetsOwnFolderIsSearchedWithoutLinksOutOfIt) {
  ThinDump dump({});
  TemporaryFolder own;
  auto lay = [&] {
    std::unique_ptr<Target> target = dump.heap.target();
    target->folder = own.path();
    lay_module_files(*target, {});
    return target;
  };
  dump.folder.write("libcoreclr.so", dump.file);
  std::filesystem::create_symlink(dump.folder.path("libcoreclr.so"), own.path("libcoreclr.so"));
  std::filesystem::create_directory_symlink(dump.folder.path(), own.path("dotnet"));
  std::unique_ptr<Target> target = lay();
  ASSERT_EQ(target->provenance.size(), 1u);
  EXPECT_EQ(target->provenance[0].outcome, Outcome::missing);
  EXPECT_FALSE(dump.has_descriptor(*target));

  const std::string path = own.write("renamed", dump.file);
  target = lay();
  ASSERT_EQ(target->provenance.size(), 1u);
  EXPECT_EQ(target->provenance[0].file, path);
  EXPECT_TRUE(dump.has_descriptor(*target));
}

TEST(ModuleFiles, MissingFile) {
  ThinDump dump({});
  std::unique_ptr<Target> target = dump.lay({dump.folder.path()});
  ASSERT_EQ(target->provenance.size(), 1u);
  EXPECT_EQ(target->provenance[0].outcome, Outcome::missing);
  EXPECT_EQ(target->provenance[0].file, "");
  EXPECT_EQ(target->provenance[0].reason, "not found; build id 01020304; give its folder with --modules");
}

// Then the bytes that the dump does hold, and the places of all pieces, have to agree.
TEST(ModuleFiles, WithoutBuildIdTheFileIsInferred) {
  ThinDump dump({});
  dump.folder.write("libcoreclr.so", dump.file);
  dump.heap.hole(dump.base + 0x190, dump.base + 0x1b0);
  std::unique_ptr<Target> target = dump.lay({dump.folder.path()});
  ASSERT_EQ(target->provenance.size(), 1u);
  EXPECT_EQ(target->provenance[0].outcome, Outcome::used);
  EXPECT_EQ(target->provenance[0].identity, "inferred");
  EXPECT_TRUE(dump.has_descriptor(*target));

  dump.file[0x20] ^= 1; // in the ELF header, which the dump holds
  dump.folder.write("libcoreclr.so", dump.file);
  target = dump.lay({dump.folder.path()});
  ASSERT_EQ(target->provenance.size(), 1u);
  EXPECT_EQ(target->provenance[0].outcome, Outcome::rejected);
  EXPECT_FALSE(dump.has_descriptor(*target));
}

TEST(ModuleFiles, CompleteDumpsNeedNone) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    std::unique_ptr<Target> target = heap.target();
    u64 size = target->memory.size();
    lay_module_files(*target, {});
    EXPECT_TRUE(target->provenance.empty());
    EXPECT_EQ(target->memory.size(), size);
  }
}

} // namespace
} // namespace dnheap::test
