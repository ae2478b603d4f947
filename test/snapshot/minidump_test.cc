// Minidumps from file to heap: the same answer as for the process itself, or one line that says what is missing.
#include "snapshot/snapshot.h"
#include "support/gaps.h"
#include "support/minidump_writer.h"
#include "support/opened.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::string as_string(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string complaint(const std::string &path) {
  try {
    Snapshot::open(path)->tally();
  } catch (const Error &error) {
    return error.what();
  }
  return "walked";
}

TEST(MinidumpSnapshot, IsWalkedLikeTheProcess) {
  std::mt19937_64 random(5);
  TemporaryFolder folder;
  for (Net net : {Net::net8, Net::net10, Net::net11})
    for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
      HeapBuilder heap({.net = net});
      add_random_heap(heap, 5000, random);
      MinidumpWriter writer = minidump_writer(heap);
      writer.list = list;
      auto snapshot = Snapshot::open(folder.write("a.dmp", as_string(writer.write())));
      EXPECT_EQ(snapshot->tally().walk.objects, heap.objects.size());
      EXPECT_TRUE(snapshot->tally().walk.gaps.empty());
      EXPECT_EQ(snapshot->target().pid, 4001u);
    }
}

// Wherever the file ends: what is there is walked, what is not is a gap with its reason; or one line says so.
TEST(MinidumpSnapshot, CutOff) {
  std::mt19937_64 random(11);
  TemporaryFolder folder;
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
    HeapBuilder heap({.net = Net::net10});
    add_random_heap(heap, 20000, random);
    MinidumpWriter writer = minidump_writer(heap);
    writer.list = list;
    // The heap last, as most of it is in real ones.
    std::stable_partition(writer.pieces.begin(), writer.pieces.end(), [&](const MinidumpWriter::Piece &piece) {
      return piece.address < heap.segments.front().block.address();
    });
    const std::string whole = as_string(writer.write());
    u64 partial = 0, errors = 0;
    for (u64 step = 1; step < 60; ++step) {
      const u64 size = whole.size() - whole.size() * step / 60 - step % 7;
      SCOPED_TRACE(size);
      std::string path = folder.write("a.dmp", whole.substr(0, size));
      const CutWalk walk = walk_cut_dump(path, size);
      partial += walk.partial;
      if (const std::string &text = walk.error; !text.empty()) {
        ++errors;
        EXPECT_TRUE(text.find("cut off") != text.npos || text.find("truncated: ") != text.npos) << text;
      }
    }
    EXPECT_GT(partial, 10u);
    EXPECT_GT(errors, 1u);
  }
}

TEST(MinidumpSnapshot, WithoutTheLoadersMemory) {
  TemporaryFolder folder;
  for (Net net : {Net::net8, Net::net11}) {
    HeapBuilder heap({.net = net});
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2), &young = heap.segment(GCSegmentGeneration::gen0);
    old.string("text");
    young.object(heap.type("Shop.Order", 2));
    heap.hole(heap.native.address(), heap.native.end());
    std::string path = folder.write("a.dmp", as_string(minidump_writer(heap).write()));
    const std::string said = complaint(path);
    EXPECT_TRUE(said.starts_with(
        path +
        ": the dump holds the heap's objects, but not the types that they point at (MethodTables): it was written "
        "without the memory of the runtime's loader; take a full dump (dotnet-dump collect --type Full, procdump -ma)"))
        << said;
  }
}

TEST(MinidumpSnapshot, WithoutHeap) {
  TemporaryFolder folder;
  HeapBuilder heap({.net = Net::net10});
  SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  young.object(heap.object_array_type, 1000);
  heap.hole(young.start, young.end());
  EXPECT_NE(complaint(folder.write("a.dmp", as_string(minidump_writer(heap).write())))
                .find("it is of a kind without heap (a mini or triage dump); take a full one (dotnet-dump collect"),
            std::string::npos);
}

} // namespace
} // namespace dnheap::test
