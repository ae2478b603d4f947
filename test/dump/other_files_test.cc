#include "dump/other_files.h"

#include <gtest/gtest.h>
#include <vector>

namespace dnheap {
namespace {

using namespace std::string_literals;

std::string told(const std::string &text) {
  return what_else({reinterpret_cast<const std::byte *>(text.data()), text.size()});
}

// A file of Windows' events: the size of its buffers, and in front of the first event its kind.
std::string etl(char size, char kind, char mark) {
  std::string out(200, '\1');
  out.replace(0, 4, "\0\0"s + size + '\0');
  out[0x4a] = kind;
  out[0x4b] = mark;
  return out;
}

TEST(OtherFiles, AreKnownByTheirFirstBytes) {
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  tar[0] = 'a';
  struct Known {
    std::string begins, what;
  };
  const Known all[] = {
      {"Nettrace\x14\0\0\0!FastSerialization.1"s, "events that dotnet-trace"},
      {etl(1, 2, '\xc0'), "events of Windows (.etl)"},
      {"JAVA PROFILE 1.0.2\0"s, "a heap dump of a Java virtual machine (.hprof)"},
      {R"({"snapshot":{"meta":{"node_fields")", "a heap snapshot of JavaScript (.heapsnapshot)"},
      {R"({"schema":"dnheap/1","command":"record")", "an answer of dnheap's"},
      {"SQLite format 3\0\x10"s, "a database of SQLite"},
      {"PAGEDU64", "a dump of Windows' kernel"},
      {"PK\3\4\x14", "a zip archive"},
      {"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"},
      {"BZh91AY", "compressed by bzip2"},
      {"\x02\x21\x4c\x18@", "compressed by lz4 -l"},
      {tar, "a tar archive"},
      {"<!DOCTYPE html><html>", "a web page"},
  };
  for (const Known &known : all)
    EXPECT_TRUE(told(known.begins).starts_with(known.what)) << known.what << ", not " << told(known.begins);
}

TEST(OtherFiles, OneByteIsNoProof) {
  for (const std::string &odd : {etl(1, 3, '\xc0'), etl(1, 2, '\xc1'), etl(0, 2, '\xc0')})
    EXPECT_TRUE(told(odd).starts_with("unknown contents")) << told(odd);
}

} // namespace
} // namespace dnheap
