// The program, while somebody cuts off the dump that it reads.
#include "support/core_file.h"
#include "support/places.h"
#include "support/run.h"

#include <gtest/gtest.h>

namespace dnheap::cli {
namespace {

// The rows go to a pipe that nobody empties until the dump has been cut: no timing is involved.
TEST(LostMemory, AStreamOfRowsEndsWithItsReason) {
  test::HeapBuilder heap({});
  test::SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 50000; ++i)
    young.string("text");
  std::string core = test::core_file(heap);
  for (const char *options : {"", " --threads 4"}) {
    test::TemporaryFolder folder;
    std::string path = folder.write("a.core", core);
    test::RunResult result = test::run("{ '" + test::program() + "' objects --top 0 '" + path + "'" + options +
                                       "; echo \"exit code $?\" >&2; } | { head -c " + "1000; truncate -s " +
                                       std::to_string(core.size() / 2) + " '" + path + "'; cat; }");
    std::string reason =
        "part of the dump was lost meanwhile: cut off while it was read: " + path + " now ends at byte ";
    EXPECT_NE(result.out.find("INCOMPLETE: the list of objects ends before 0x"), std::string::npos);
    EXPECT_NE(result.out.find(reason), std::string::npos);
    EXPECT_TRUE(result.err.starts_with("dnheap: the list of objects ends before 0x")) << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    EXPECT_TRUE(result.err.ends_with("\nexit code 3\n")) << result.err;
  }
}

} // namespace
} // namespace dnheap::cli
