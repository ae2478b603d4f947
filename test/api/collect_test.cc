// collect() by way of the public interface: what it refuses. What it collects: test/real/collect.py.
#include "base/error.h"
#include "dnheap/dnheap.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr std::uint64_t no_such_process = 2147483640;

TEST(Collect, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(v0::collect(no_such_process, {.kind = "huge"}), UsageError);
  EXPECT_THROW(v0::collect(no_such_process, {.kind = "triage", .extract = true}), UsageError);
  EXPECT_THROW(v0::collect(no_such_process, {.no_values = true}), UsageError);
  EXPECT_THROW(v0::collect(no_such_process, {.file = "a.core.gz"}), UsageError);
}

TEST(Collect, SaysWhyAProcessCannotBeAsked) {
  try {
    v0::collect(no_such_process, {.file = "a.core"});
    FAIL() << "there is no such process";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "there is no process 2147483640");
  }
  EXPECT_FALSE(std::filesystem::exists("a.core"));
}

} // namespace
} // namespace dnheap::test
