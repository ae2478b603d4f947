// Assemblies that a dump leaves out (gcore and kernels do), taken from their files: the right file only, and checked
// against what the process says of the module.
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Outcome = Provenance::Outcome;

std::string text_of(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// A process whose dump holds nothing of its two assemblies but, on request, the first bytes.
class DumpWithoutFiles {
public:
  explicit DumpWithoutFiles(const HeapShape &shape, u64 header = 0) : heap(shape) {
    heap.core().metadata.string(std::string(6000, 'x')); // several pages
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    young.string("text");
    young.object(node = heap.type("Shop.Node", 1));
    young.object(heap.array(node, static_cast<u32>(heap.p)), 2);
    for (const ModuleWriter &m : heap.modules)
      heap.hole(m.image + header, m.image + heap.assembly_file(m).size());
  }
  // The files as they were, below a folder.
  void write_files(TemporaryFolder &folder) {
    for (const ModuleWriter &m : heap.modules)
      folder.write(m.file_name, text_of(heap.assembly_file(m)));
  }
  Snapshot open(const std::vector<std::string> &folders) {
    SnapshotOptions options;
    options.module_folders = folders;
    return Snapshot(heap.target(), options);
  }

  HeapBuilder heap;
  Address node = 0;
};

std::string all_names(const Snapshot &snapshot) {
  std::string out;
  for (const auto &type : snapshot.tally().types)
    out += snapshot.runtime().types().name(type.method_table) + "; ";
  return out;
}

std::string all_problems(const Snapshot &snapshot) {
  std::string out;
  for (const std::string &problem : snapshot.runtime().types().notes().texts())
    out += problem + "\n";
  return out;
}

const std::vector<Net> every_net = {Net::net8, Net::net9, Net::net10, Net::net11};

TEST(ManagedFile, NamesComeFromTheFiles) {
  for (Format format : all_formats)
    for (Net net : every_net) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + std::to_string(static_cast<int>(net)));
      DumpWithoutFiles dump({.format = format, .net = net});
      TemporaryFolder folder;
      dump.write_files(folder);
      Snapshot snapshot = dump.open({folder.path()});
      EXPECT_EQ(all_names(snapshot), "System.String; Shop.Node; Shop.Node[]; ");
      EXPECT_EQ(all_problems(snapshot), "") << all_problems(snapshot);
      ASSERT_EQ(snapshot.target().provenance.size(), 2u);
      for (const Provenance &p : snapshot.target().provenance) {
        EXPECT_EQ(p.outcome, Outcome::used) << p.reason;
        EXPECT_EQ(p.identity, "inferred");
      }
    }
}

TEST(ManagedFile, AFolderMayBeTheRootOfAFileSystem) {
  DumpWithoutFiles dump({});
  TemporaryFolder folder;
  for (const char *below : {"/app", "/other"})
    std::filesystem::create_directory(folder.path() + below);
  for (const ModuleWriter &m : dump.heap.modules)
    folder.write("app/" + m.file_name, text_of(dump.heap.assembly_file(m)));
  folder.write("other/" + dump.heap.app().file_name, "not looked at");
  Snapshot snapshot = dump.open({folder.path()});
  EXPECT_EQ(all_names(snapshot), "System.String; Shop.Node; Shop.Node[]; ");
  for (const Provenance &p : snapshot.target().provenance)
    EXPECT_EQ(p.file, folder.path() + p.module);
}

TEST(ManagedFile, HeadersInTheDumpProveTheFile) {
  DumpWithoutFiles dump({}, 0x400);
  TemporaryFolder folder;
  dump.write_files(folder);
  Snapshot snapshot = dump.open({folder.path()});
  ASSERT_EQ(snapshot.target().provenance.size(), 2u);
  EXPECT_EQ(snapshot.target().provenance[0].identity, "time stamp 00000000 and size");
  EXPECT_EQ(all_names(snapshot), "System.String; Shop.Node; Shop.Node[]; ");
}

// Runtimes map an assembly as it is on disk, and once more section by section; dumps hold more of the one or of the
// other.
TEST(ManagedFile, AllMappingsOfAFileThatIsUsed) {
  DumpWithoutFiles dump({});
  TemporaryFolder folder;
  dump.write_files(folder);
  std::unique_ptr<Target> target = dump.heap.target();
  const std::vector<std::byte> file = dump.heap.assembly_file(dump.heap.modules[0]);
  const auto first = std::find_if(target->modules.begin(), target->modules.end(),
                                  [&](const Module &module) { return module.base == dump.heap.modules[0].image; });
  ASSERT_NE(first, target->modules.end());
  constexpr u64 away = u64{1} << 44, page = 4096;
  Module again = *first;
  again.base += away;
  for (Extent &extent : again.extents) {
    extent.start += away;
    extent.end += away;
  }
  ASSERT_GT(file.size(), page);
  const u64 held = (file.size() - 1) / page * page; // all but the last page
  target->memory.lay_under({{again.base, Bytes(file).first(held)}});
  target->modules.push_back(again);
  ASSERT_TRUE(target->memory.peek_up_to(again.base + held, 1).empty());
  SnapshotOptions options;
  options.module_folders = {folder.path()};
  Snapshot snapshot(std::move(target), options);
  EXPECT_FALSE(snapshot.target().memory.peek_up_to(again.base + held, 1).empty());
}

TEST(ManagedFile, OtherBytesThanTheDumps) {
  DumpWithoutFiles dump({}, 0x400);
  TemporaryFolder folder;
  for (const ModuleWriter &m : dump.heap.modules) {
    std::string file = text_of(dump.heap.assembly_file(m));
    file[0x80 + 8] = 1; // the time stamp
    folder.write(m.file_name, file);
  }
  Snapshot snapshot = dump.open({folder.path()});
  for (const Provenance &p : snapshot.target().provenance) {
    EXPECT_EQ(p.outcome, Outcome::rejected);
    EXPECT_EQ(p.reason, "its bytes are not those that the dump holds");
  }
}

TEST(ManagedFile, AnotherSizeOrNoAssembly) {
  DumpWithoutFiles dump({});
  TemporaryFolder folder;
  ModuleWriter longer = dump.heap.core();
  longer.metadata.string(std::string(5000, 'y'));
  folder.write(longer.file_name, text_of(dump.heap.assembly_file(longer)));
  folder.write(dump.heap.app().file_name, "MZ");
  Snapshot snapshot = dump.open({folder.path()});
  ASSERT_EQ(snapshot.target().provenance.size(), 2u);
  EXPECT_NE(snapshot.target().provenance[0].reason.find("which the file does not have"), std::string::npos)
      << snapshot.target().provenance[0].reason;
  EXPECT_EQ(snapshot.target().provenance[1].reason, "not a managed assembly");
}

// Another build, of the same size in pages but with one type more: its rows are not the process's.
TEST(ManagedFile, AnotherBuildIsFoundOutByItsTypes) {
  for (Net net : every_net) {
    DumpWithoutFiles dump({.net = net});
    TemporaryFolder folder;
    folder.write(dump.heap.core().file_name, text_of(dump.heap.assembly_file(dump.heap.core())));
    ModuleWriter other = dump.heap.app();
    other.metadata.type("Shop", "Added");
    folder.write(other.file_name, text_of(dump.heap.assembly_file(other)));
    Snapshot snapshot = dump.open({folder.path()});
    EXPECT_EQ(snapshot.target().provenance.at(1).outcome, Outcome::used) << snapshot.target().provenance.at(1).reason;
    EXPECT_EQ(all_names(snapshot), "System.String; app.dll!0x02000002; app.dll!0x02000002[]; ");
    EXPECT_NE(all_problems(snapshot).find("another build than the one loaded"), std::string::npos);
  }
}

// Without any file the heap is walked all the same, and types are told apart by row number.
TEST(ManagedFile, WithoutFilesTypesAreNamedByRow) {
  for (Format format : all_formats)
    for (Net net : every_net) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + std::to_string(static_cast<int>(net)));
      DumpWithoutFiles dump({.format = format, .net = net});
      Snapshot snapshot = dump.open({});
      EXPECT_EQ(snapshot.tally().walk.objects, 3u);
      EXPECT_EQ(snapshot.tally().walk.bad_objects, 0u);
      EXPECT_EQ(all_names(snapshot), "System.String; app.dll!0x02000002; app.dll!0x02000002[]; ");
      EXPECT_NE(all_problems(snapshot).find("give the module's folder with --modules: app.dll"), std::string::npos)
          << all_problems(snapshot);
    }
}

} // namespace
} // namespace dnheap::test
