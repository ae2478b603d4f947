// Repeats against a search that compares every pattern at every place element by element.
#include "algorithms/repeats.h"
#include "support/property.h"

namespace dnheap::test {
namespace {

bool stands_at(const std::vector<u32> &sequence, u64 at, u64 pattern, u64 length) {
  if (at + length > sequence.size())
    return false;
  for (u64 i = 0; i < length; ++i)
    if (sequence[at + i] != sequence[pattern + i])
      return false;
  return true;
}

Repeat best_at(const std::vector<u32> &sequence, u64 at) {
  Repeat best{at, 1, 1};
  for (u64 length = 1; length <= most_repeated; ++length) {
    u64 times = 0;
    while (stands_at(sequence, at + times * length, at, length) && at + length <= sequence.size())
      ++times;
    if (times > 1 && times * length > best.times * best.length)
      best = {at, length, times};
  }
  return best;
}

TEST(Repeats, AsASlowSearchFindsThem) {
  for_all(500, rc::gen::container<std::vector<u32>>(rc::gen::inRange<u32>(0, 3)), [](const std::vector<u32> &sequence) {
    u64 at = 0;
    for (const Repeat &found : fold_repeats(sequence)) {
      const Repeat expected = best_at(sequence, at);
      ASSERT_EQ(found.first, expected.first);
      ASSERT_EQ(found.length, expected.length);
      ASSERT_EQ(found.times, expected.times);
      at += found.length * found.times;
    }
    EXPECT_EQ(at, sequence.size());
  });
}

TEST(Repeats, ALongRecursionIsOne) {
  std::vector<u32> sequence = {7};
  for (int i = 0; i < 100'000; ++i)
    sequence.insert(sequence.end(), {1, 1, 2});
  sequence.push_back(8);
  const std::vector<Repeat> found = fold_repeats(sequence);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].length, 3u);
  EXPECT_EQ(found[1].times, 100'000u);
}

} // namespace
} // namespace dnheap::test
