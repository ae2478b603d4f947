// Which contents are equal, against a map of all of them; the same whatever the threads and the number expected.
#include "algorithms/equal_contents.h"
#include "support/graphs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

std::vector<std::vector<u64>> groups_of(const EqualGroups &found) {
  std::vector<std::vector<u64>> out;
  for (const EqualGroup &group : found.groups)
    out.emplace_back(found.tags.begin() + static_cast<i64>(group.first),
                     found.tags.begin() + static_cast<i64>(group.first + group.count));
  std::sort(out.begin(), out.end());
  return out;
}

TEST(EqualContents, AreThoseWithTheSameBytes) {
  for (u64 seed = 1; seed <= 20; ++seed) {
    GraphDice dice(seed);
    const u64 count = dice(5000), different = 1 + dice(seed % 3 ? 3000 : 3);
    std::vector<std::string> contents;
    std::map<std::string, std::vector<u64>> tags;
    for (u64 i = 0; i < count; ++i) {
      contents.push_back(std::string(dice(3), 'x') + std::to_string(dice(different)));
      tags[contents.back()].push_back(i);
    }
    std::vector<std::vector<u64>> wanted;
    for (const auto &[content, with] : tags)
      if (with.size() > 1)
        wanted.push_back(with);
    std::sort(wanted.begin(), wanted.end());
    for (unsigned threads : {1u, 3u})
      for (u64 expected : {u64{0}, count, u64{1} << 40}) {
        EqualContents equal(expected, threads);
        for (u64 i = 0; i < count; ++i)
          equal.writer(static_cast<unsigned>(dice(threads)))
              .add(content_hash(std::as_bytes(std::span(contents[i]))), i);
        const EqualGroups found = equal.take_groups(threads, {});
        EXPECT_EQ(groups_of(found), wanted) << seed;
        EXPECT_TRUE(std::is_sorted(found.groups.begin(), found.groups.end(),
                                   [](const EqualGroup &a, const EqualGroup &b) { return a.hash < b.hash; }));
      }
  }
}

TEST(EqualContents, SeedsKeepThemApart) {
  const std::string text = "text";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(content_hash(bytes), content_hash(bytes, 0));
  EXPECT_NE(content_hash(bytes), content_hash(bytes, 1));
  EXPECT_EQ(content_hash({}), content_hash({}));
}

} // namespace
} // namespace dnheap::test
