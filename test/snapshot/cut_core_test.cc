// Cores that end too early, wherever that is: what is there is walked, what is not is a gap with its reason, and the
// sum closes; or one line says what is missing and what to do.
#include "snapshot/snapshot.h"
#include "support/core_file.h"
#include "support/gaps.h"
#include "support/opened.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(CutCore, EveryGapHasItsReasonAndEveryErrorItsRemedy) {
  std::mt19937_64 random(11);
  TemporaryFolder folder;
  for (Net net : {Net::net8, Net::net10}) {
    HeapBuilder heap({.net = net});
    add_random_heap(heap, 30000, random);
    const std::string core = core_file(heap);
    u64 partial = 0, errors = 0;
    for (u64 step = 1; step < 100; ++step) {
      u64 size = core.size() - core.size() * step / 100 - step % 7;
      SCOPED_TRACE(std::to_string(size) + " of " + std::to_string(core.size()) + " bytes");
      std::string path = folder.write("a.core", core.substr(0, size));
      const CutWalk walk = walk_cut_dump(path, size);
      partial += walk.partial;
      if (const std::string &text = walk.error; !text.empty()) {
        ++errors;
        bool in_headers = text.find("is cut off") != text.npos;
        bool in_memory = text.find(": truncated: ") != text.npos &&
                         text.find("; the last part of a dump describes the runtime: copy") != text.npos;
        EXPECT_TRUE(in_headers || in_memory) << text;
      }
    }
    EXPECT_GT(partial, 20u);
    EXPECT_GT(errors, 20u);
  }
}

// Promised by a header, and in no file.
TEST(CutCore, MemoryThatTheCoreLeavesOut) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 1000; ++i)
    young.string("text");
  TemporaryFolder folder;
  ElfCoreWriter writer = core_writer(heap);
  ElfCoreWriter::Segment &last = writer.segments.back();
  last.memory_size = last.bytes.size();
  last.bytes.resize(last.bytes.size() - 5000);
  std::vector<std::byte> file = writer.write();
  auto snapshot = Snapshot::open(folder.write("a.core", std::string(as_text(file))));
  EXPECT_EQ(snapshot->heap().gaps().back().reason, "not in the core (p_filesz smaller than p_memsz)");
  EXPECT_EQ(snapshot->tally().walk.bytes + sum_of(snapshot->heap().gaps()) + snapshot->tally().walk.gaps.bytes(),
            snapshot->heap().segment_bytes());
}

} // namespace
} // namespace dnheap::test
