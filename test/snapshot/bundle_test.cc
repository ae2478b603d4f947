// Single-file programs: the runtime is found in them, and what dumps leave out of the assemblies inside comes from
// their file, if it is the right one.
#include "snapshot/snapshot.h"
#include "support/bundle_writer.h"
#include "support/heap_builder.h"
#include "support/run.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Outcome = Provenance::Outcome;
const std::vector<Net> every_net = {Net::net8, Net::net9, Net::net10, Net::net11};

// The process maps the assemblies flat, page by page, from the program's file. Its dump holds nothing of them.
class SingleFile {
public:
  explicit SingleFile(const HeapShape &shape) : heap(shape) {
    heap.core().metadata.string(std::string(6000, 'x')); // several pages
    heap.segment(GCSegmentGeneration::gen0).string("text");
    heap.segment(GCSegmentGeneration::gen0).object(heap.type("Shop.Node", 1));
    heap.target(); // builds
    bundle.program = heap.library_file();
    for (const ModuleWriter &m : heap.modules) {
      bundle.files.push_back({.path = m.file_name, .bytes = heap.assembly_file(m), .alignment = 4096});
      heap.hole(m.image, m.image + heap.assembly_file(m).size());
    }
    mapped = bundle;
  }

  Snapshot open(const std::vector<std::string> &folders) {
    std::unique_ptr<Target> target = heap.target();
    for (u64 i = 0; i < heap.modules.size(); ++i)
      for (Module &module : target->modules)
        if (module.base == heap.modules[i].image) {
          module.path = "/app/shop";
          module.extents[0].file_offset = align_down(mapped.offset_of(i), 4096);
        }
    if (odd_page)
      target->modules.push_back({"/app/shop", odd_page, {{odd_page, odd_page + 4096, mapped.offset_of(0) + 4096}}});
    SnapshotOptions options;
    options.module_folders = folders;
    return Snapshot(std::move(target), options);
  }
  std::string file() const { return std::string(as_text(bundle.write())); }

  HeapBuilder heap;
  BundleWriter bundle, mapped; // the file that is found; the one that the process was started from
  Address odd_page = 0;
};

std::string all_names(const Snapshot &snapshot) {
  std::string out;
  for (const auto &type : snapshot.tally().types)
    out += snapshot.runtime().types().name(type.method_table) + "; ";
  return out;
}

const Provenance &of_bundle(const Snapshot &snapshot) { return snapshot.target().provenance.back(); }

TEST(Bundled, NamesComeFromTheProgramsFile) {
  for (Format format : {Format{8, ByteOrder::little}, Format{4, ByteOrder::little}})
    for (Net net : every_net) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + std::to_string(static_cast<int>(net)));
      SingleFile dump({.format = format, .net = net, .single_file = true});
      TemporaryFolder folder;
      folder.write("shop", dump.file());
      Snapshot snapshot = dump.open({folder.path()});
      EXPECT_EQ(all_names(snapshot), "System.String; Shop.Node; ");
      EXPECT_EQ(of_bundle(snapshot).outcome, Outcome::used) << of_bundle(snapshot).reason;
      EXPECT_EQ(of_bundle(snapshot).identity, "inferred");
    }
}

// What the runtime maps besides is left alone.
TEST(Bundled, AnOddPageIsNoReason) {
  SingleFile dump({.net = Net::net10, .single_file = true});
  dump.odd_page = 0x7abc00000000;
  TemporaryFolder folder;
  folder.write("shop", dump.file());
  Snapshot snapshot = dump.open({folder.path()});
  EXPECT_EQ(all_names(snapshot), "System.String; Shop.Node; ");
  EXPECT_FALSE(snapshot.target().memory.find(dump.odd_page));
}

TEST(Bundled, OtherFilesAreRejectedWithTheReason) {
  SingleFile dump({.net = Net::net10, .single_file = true});
  TemporaryFolder folder;
  dump.bundle.files.insert(dump.bundle.files.begin(), {.path = "more.json", .bytes = std::vector<std::byte>(9000)});
  folder.write("shop", dump.file());
  Snapshot other = dump.open({folder.path()});
  EXPECT_EQ(of_bundle(other).outcome, Outcome::rejected);
  EXPECT_NE(of_bundle(other).reason.find("which the file does not have"), std::string::npos) << of_bundle(other).reason;
  dump.bundle.files.clear();
  folder.write("shop", dump.file());
  Snapshot none = dump.open({folder.path()});
  EXPECT_EQ(of_bundle(none).outcome, Outcome::rejected);
}

// A build with one type more, of the same size in pages, is found out by what the runtime made room for.
TEST(Bundled, AnotherBuildIsFoundOutByItsTypes) {
  SingleFile dump({.net = Net::net10, .single_file = true});
  ModuleWriter other = dump.heap.app();
  other.metadata.type("Shop", "Added");
  dump.bundle.files[1].bytes = dump.heap.assembly_file(other);
  TemporaryFolder folder;
  folder.write("shop", dump.file());
  Snapshot snapshot = dump.open({folder.path()});
  EXPECT_EQ(of_bundle(snapshot).outcome, Outcome::used) << of_bundle(snapshot).reason;
  EXPECT_EQ(all_names(snapshot).find("Shop.Node"), std::string::npos) << all_names(snapshot);
}

// Counts stay where no file is to be had.
TEST(Bundled, WithoutTheFile) {
  for (Net net : every_net) {
    SingleFile dump({.net = net, .single_file = true});
    Snapshot snapshot = dump.open({});
    EXPECT_EQ(snapshot.tally().walk.objects, 2u);
    EXPECT_EQ(of_bundle(snapshot).outcome, Outcome::missing);
  }
}

} // namespace
} // namespace dnheap::test
