// Mach-O cores from file to heap: the same answer as for the process itself, or one line that says what is missing; and
// files that stand in for what they lack.
#include "dump/open.h"
#include "snapshot/files/module_files.h"
#include "snapshot/snapshot.h"
#include "support/gaps.h"
#include "support/macho_core_writer.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using By = MachoCoreWriter::By;

std::string macho_text(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(MachoSnapshot, IsWalkedLikeTheProcess) {
  std::mt19937_64 random(5);
  TemporaryFolder folder;
  for (Net net : {Net::net8, Net::net9, Net::net10, Net::net11})
    for (By by : {By::createdump, By::lldb})
      for (u32 cpu : {u32{macho::cpu_x64}, u32{macho::cpu_arm64}}) {
        SCOPED_TRACE(static_cast<int>(net));
        HeapBuilder heap({.net = net, .published = net != Net::net8});
        add_random_heap(heap, 3000, random);
        MachoCoreWriter writer = macho_core_writer(heap, cpu);
        writer.by = by;
        auto snapshot = Snapshot::open(folder.write("a.core", macho_text(writer.write())));
        EXPECT_EQ(snapshot->tally().walk.objects, heap.objects.size());
        EXPECT_TRUE(snapshot->tally().walk.gaps.empty());
        EXPECT_EQ(snapshot->target().os, OperatingSystem::macos);
        EXPECT_EQ(snapshot->runtime().descriptor().found_by, net == Net::net8 ? "" : "export of libcoreclr.dylib");
        Notes problems;
        EXPECT_EQ(snapshot->runtime().threads(problems).size(), heap.threads.size());
      }
}

TEST(MachoSnapshot, CutOff) {
  std::mt19937_64 random(11);
  TemporaryFolder folder;
  HeapBuilder heap({.net = Net::net10});
  add_random_heap(heap, 20000, random);
  MachoCoreWriter writer = macho_core_writer(heap);
  std::ranges::stable_partition(writer.segments, [&](const MachoCoreWriter::Segment &segment) {
    return segment.address < heap.segments.front().block.address();
  });
  const std::string whole = macho_text(writer.write());
  u64 partial = 0, errors = 0;
  for (u64 step = 1; step < 60; ++step) {
    const u64 size = whole.size() - whole.size() * step / 60 - step % 7;
    SCOPED_TRACE(size);
    const CutWalk walk = walk_cut_dump(folder.write("a.core", whole.substr(0, size)), size);
    partial += walk.partial;
    errors += !walk.error.empty();
  }
  EXPECT_GT(partial, 10u);
  EXPECT_GT(errors, 1u);
}

// The library's code, and in it the descriptor's text, is not in the core: a file, universal or not, has it.
TEST(MachoSnapshot, ALibrarysFileStandsIn) {
  using Library = MachoLibraryWriter;
  constexpr Address base = 0x105000000;
  Library library{.own_name = "@rpath/libcoreclr.dylib"}, other{.cpu = macho::cpu_x64};
  library.uuid = std::vector<u8>(16, 3);
  library.read_only.resize(0x4000, std::byte{0x77});
  library.writable.resize(64);
  library.fixups = {{8, Library::read_only_at + 16}};
  const std::vector<std::byte> file = library.write();
  TemporaryFolder folder;
  for (const std::vector<std::byte> &bytes : {file, universal_file({other.write(), file}, false)}) {
    MachoCoreWriter writer{.by = By::lldb};
    writer.images = {{"/dotnet/libcoreclr.dylib", base}};
    writer.segments = {{base, {file.begin(), file.begin() + 0x4000}, 0, 5}};
    const std::string core = folder.write("a.core", macho_text(writer.write()));
    folder.write("libcoreclr.dylib", macho_text(bytes));
    std::unique_ptr<Target> target = open_dump(core);
    EXPECT_FALSE(target->memory.try_load<u8>(base + Library::read_only_at));
    lay_module_files(*target, {folder.path()});
    EXPECT_EQ(target->memory.try_load<u8>(base + Library::read_only_at), 0x77);
    EXPECT_EQ(target->initial.try_pointer(base + Library::writable_at + 8), base + Library::read_only_at + 16);
    ASSERT_EQ(target->provenance.size(), 1u);
    EXPECT_EQ(target->provenance[0].identity, "UUID 03030303030303030303030303030303");
  }
  library.uuid = std::vector<u8>(16, 4);
  folder.write("libcoreclr.dylib", macho_text(library.write()));
  std::unique_ptr<Target> target = open_dump(folder.path("a.core"));
  lay_module_files(*target, {folder.path()});
  ASSERT_EQ(target->provenance.size(), 1u);
  EXPECT_EQ(target->provenance[0].outcome, Provenance::Outcome::rejected);
  EXPECT_FALSE(target->memory.try_load<u8>(base + Library::read_only_at));
}

} // namespace
} // namespace dnheap::test
