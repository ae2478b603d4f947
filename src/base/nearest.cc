#include "base/nearest.h"

#include "base/integers.h"

#include <algorithm>
#include <vector>

namespace dnheap {

namespace {

// Returns the optimal string alignment distance. Keeps three rows of the classic table.
u64 changes_between(std::string_view a, std::string_view b) {
  std::vector<u64> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (u64 j = 0; j <= b.size(); ++j)
    above[j] = j;
  for (u64 i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (u64 j = 1; j <= b.size(); ++j) {
      u64 replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

} // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  u64 fewest = std::max<u64>(word.size() / 3, 1) + 1; // one typo in a short word, more in a long one
  for (std::string_view candidate : candidates) {
    u64 changes = changes_between(word, candidate);
    if (word.size() >= 2 && candidate.starts_with(word))
      changes = 1; // an abbreviation
    if (changes < fewest) {
      fewest = changes;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best = nearest(word, candidates);
  return best.empty() ? "" : ", did you mean '" + std::string(best) + "'?";
}

} // namespace dnheap
