// Files of Windows modules: the right one only, found whatever the case of its name, and none that nobody needs.
#include "snapshot/files/module_files.h"
#include "support/pe_writer.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Outcome = Provenance::Outcome;

constexpr Address base = 0x10000000;

std::string pe_file(const PeWriter &writer = {}) {
  std::vector<std::byte> bytes = writer.write();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

struct Process {
  Process() {
    target.os = OperatingSystem::windows;
    target.container = "minidump";
    add("Z:\\app\\Zoo.dll");
    std::array<u8, 16> guid;
    for (u8 i = 0; i < 16; ++i)
      guid[i] = i + 1;
    target.modules[0].pe->guid = guid;
  }
  void add(const std::string &path) {
    Module module;
    module.path = path;
    module.base = base + target.modules.size() * 0x100000;
    module.extents = {{module.base, module.base + PeWriter::image_size, 0}};
    module.pe = PeIdentity{0x5eadbeef, PeWriter::image_size};
    target.modules.push_back(module);
  }
  PeIdentity &identity() { return *target.modules[0].pe; }
  const Provenance &lay() {
    lay_module_files(target, {folder.path()});
    static const Provenance none;
    return target.provenance.empty() ? none : target.provenance[0];
  }

  Target target;
  TemporaryFolder folder;
};

TEST(PeFit, TheRightFileIsLaidUnder) {
  Process process;
  std::vector<std::byte> kept(2, std::byte{0x77});
  process.target.memory = Memory({8, ByteOrder::little}, {{base + PeWriter::metadata + 8, kept}});
  std::string path = process.folder.write("Zoo.dll", pe_file());
  const Provenance &row = process.lay();
  EXPECT_EQ(row.outcome, Outcome::used) << row.reason;
  EXPECT_EQ(row.file, path);
  EXPECT_EQ(row.identity, "time stamp, size and GUID");
  const Memory &memory = process.target.memory;
  EXPECT_EQ(as_text(memory.view_up_to(base + PeWriter::metadata, 4)), "BSJB");
  EXPECT_EQ(memory.try_pointer(base + PeWriter::constant_pointer), base + PeWriter::metadata) << "relocated";
  EXPECT_EQ(memory.try_load<u8>(base + PeWriter::metadata + 9), 0x77) << "what the dump holds stays in front";
  EXPECT_FALSE(memory.find(base + PeWriter::variable_pointer)) << "variables are not in files";
  EXPECT_EQ(process.target.initial.try_pointer(base + PeWriter::variable_pointer), base + PeWriter::metadata);
}

TEST(PeFit, OtherFilesAreRejectedWithTheReason) {
  struct Row {
    void (*change)(PeIdentity &);
    const char *reason;
  };
  for (const Row &row :
       {Row{[](PeIdentity &id) { id.time_date_stamp = 0x1234; },
            "time stamp 5eadbeef and size 0x6000 are not the process's 00001234 and 0x6000"},
        Row{[](PeIdentity &id) { id.size_of_image = 0x7000; },
            "time stamp 5eadbeef and size 0x6000 are not the process's 5eadbeef and 0x7000"},
        Row{[](PeIdentity &id) { (*id.guid)[0] = 0xff; }, "its .pdb's GUID 0102030405060708090a0b0c0d0e0f10 is not the "
                                                          "process's ff02030405060708090a0b0c0d0e0f10"}}) {
    Process process;
    row.change(process.identity());
    process.folder.write("Zoo.dll", pe_file());
    const Provenance &found = process.lay();
    EXPECT_EQ(found.outcome, Outcome::rejected);
    EXPECT_EQ(found.reason, row.reason);
    EXPECT_TRUE(process.target.memory.ranges().empty());
  }
  Process process;
  process.folder.write("Zoo.dll", "text");
  EXPECT_EQ(process.lay().reason, "not a Windows image (PE)");
}

TEST(PeFit, WhereTheProcessDoesNotTellTheGuid) {
  Process process;
  process.identity().guid.reset();
  process.folder.write("Zoo.dll", pe_file());
  EXPECT_EQ(process.lay().identity, "time stamp and size");
}

TEST(PeFit, PathsAndNames) {
  for (const char *place : {"zoo.DLL", "lib/net10.0/Zoo.dll", "app/Zoo.dll", "z/app/Zoo.dll"}) {
    SCOPED_TRACE(place);
    Process process;
    std::filesystem::create_directories(std::filesystem::path(process.folder.path(place)).parent_path());
    std::string path = process.folder.write(place, pe_file());
    const Provenance &row = process.lay();
    EXPECT_EQ(row.outcome, Outcome::used) << row.reason;
    EXPECT_EQ(row.file, path);
  }
  // The wrong one of two with that name is named, and does not hide the right one.
  Process process;
  for (const char *name : {"a", "b"})
    std::filesystem::create_directory(process.folder.path(name));
  process.folder.write("a/zoo.dll", pe_file({.time_date_stamp = 1}));
  process.folder.write("b/zoo.dll", pe_file());
  EXPECT_EQ(process.lay().outcome, Outcome::rejected);
  ASSERT_EQ(process.target.provenance.size(), 2u);
  EXPECT_EQ(process.target.provenance[1].outcome, Outcome::used);
}

// A file of another name counts if the GUID proves it, too.
TEST(PeFit, AnyNameWillDoForTheRightBuild) {
  Process process;
  const std::string path = process.folder.write("5eadbeef.bin", pe_file());
  EXPECT_EQ(process.lay().file, path);
  EXPECT_EQ(process.target.provenance[0].outcome, Outcome::used);
  Process without;
  without.identity().guid.reset();
  without.folder.write("5eadbeef.bin", pe_file());
  EXPECT_EQ(without.lay().outcome, Outcome::missing);
}

TEST(PeFit, OnlyWhatIsNeededIsMissing) {
  Process process;
  process.identity().guid.reset();
  for (const char *path :
       {"C:\\Windows\\System32\\kernelbase.dll", "Z:\\app\\hostpolicy.dll", "Z:\\app\\ClrJit.dll",
        "Z:\\app\\System.IO.Compression.Native.dll", "Z:\\app\\zoo.exe", "Z:\\app\\VCRUNTIME140.dll",
        "Z:\\app\\sqlite3.dll", "Z:\\app\\picture.drv", "Z:\\app\\coreclr.dll", "Z:\\app\\Other.exe"})
    process.add(path);
  // Looked at, and found to hold no metadata.
  process.folder.write("sqlite3.dll", pe_file({.cli_size = 0}));
  process.lay();
  std::vector<std::string> missing;
  for (const Provenance &row : process.target.provenance) {
    EXPECT_EQ(row.outcome, Outcome::missing);
    EXPECT_EQ(row.reason, "not found; give its folder with --modules");
    missing.push_back(row.module);
  }
  EXPECT_EQ(missing, (std::vector<std::string>{"Z:\\app\\Zoo.dll", "Z:\\app\\coreclr.dll", "Z:\\app\\Other.exe"}));
}

// What the dump holds all of needs no file.
TEST(PeFit, NothingIsMissing) {
  for (u32 cli_size : {72u, 0u}) {
    Process process;
    std::vector<std::byte> file = PeWriter{.cli_size = cli_size}.write();
    process.target.memory = Memory({8, ByteOrder::little}, PeWriter::mapped(file, base));
    process.lay();
    EXPECT_TRUE(process.target.provenance.empty());
  }
}

} // namespace
} // namespace dnheap::test
