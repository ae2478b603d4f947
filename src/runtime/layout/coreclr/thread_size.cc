#include "runtime/layout/coreclr/thread_size.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr i64 least_thread_words = 64;

// glibc's malloc: in front of a block lies its size, that word included; three of its bits are flags. Sizes differ a
// little if a rest was too small for a block of its own. Nullopt unless all blocks have a possible size of a Thread.
std::optional<i64> smallest_block(const Derivation &d, const std::vector<Address> &threads) {
  const i64 p = static_cast<i64>(d.pointer_size);
  std::optional<i64> least;
  for (Address thread : threads) {
    const i64 size = static_cast<i64>(d.word(thread - d.pointer_size).value_or(0) & ~u64{7}) - p;
    if (size < least_thread_words * p || size > most_thread_words * p || (size + p) % (2 * p))
      return std::nullopt;
    least = std::min(size, least.value_or(size));
  }
  return least;
}

} // namespace

i64 largest_thread(const Derivation &d, std::vector<Address> threads) {
  const i64 p = static_cast<i64>(d.pointer_size);
  i64 most = most_thread_words * p;
  if (const DataType *type = d.descriptor.find_type("Thread"); type && type->size.value_or(0) >= u64(p))
    most = std::min(most, static_cast<i64>(*type->size));
  std::sort(threads.begin(), threads.end());
  for (u64 i = 1; i < threads.size(); ++i)
    if (const i64 distance = static_cast<i64>(threads[i] - threads[i - 1]); distance >= least_thread_words * p)
      most = std::min(most, distance);
  return std::min(most, smallest_block(d, threads).value_or(most));
}

} // namespace dnheap
