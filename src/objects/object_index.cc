#include "objects/object_index.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 sample_distance = 4096;

} // namespace

ObjectIndex::ObjectIndex(HeapBits starts, u64 most) : starts_(std::move(starts)), counts_(starts_.words().size() / 8) {
  for (u64 line = 0; line < counts_.size(); ++line) {
    u64 within = 0, sum = 0;
    for (u64 w = 0; w < 8; ++w) {
      if (w)
        within |= sum << (9 * (w - 1));
      sum += count_bits(word(line * 8 + w));
    }
    counts_[line] = {count_, within};
    count_ += sum;
    while (samples_.size() * sample_distance < count_)
      samples_.push_back(static_cast<u32>(line));
  }
  if (count_ > most)
    throw Error("the heap has " + count_text(count_) + " objects, and this program can number only " +
                count_text(most) + ", so references between objects cannot be analyzed");
}

Address ObjectIndex::address(ObjectId object) const {
  const u64 id = static_cast<u32>(object);
  const u64 sample = id / sample_distance;
  auto begin = counts_.begin() + samples_[sample];
  auto end = sample + 1 < samples_.size() ? counts_.begin() + samples_[sample + 1] + 1 : counts_.end();
  // Finds the last line with no more than `id` bits before it. Empty lines before it have equal counts; later ones have
  // more.
  const Count *line = std::upper_bound(begin, end, id, [](u64 i, const Count &c) { return i < c.before; }) - 1;
  u64 left = id - line->before, w = 7;
  while (line->in_front_of(w) > left)
    --w;
  left -= line->in_front_of(w);
  u64 at = static_cast<u64>(line - counts_.begin()) * 8 + w, bits = word(at);
  for (; left > 0; --left)
    bits &= bits - 1;
  return places().address(at * 64 + static_cast<u64>(std::countr_zero(bits)));
}

ObjectId ObjectIndex::last_at_or_before(Address address) const {
  const u64 unit = u64{1} << places().unit_shift();
  address &= ~(unit - 1);
  u64 place = places().find(address);
  if (place == HeapPlaces::nowhere)
    return no_object;
  u64 upto = rank(place) + (word(place / 64) >> (place % 64) & 1);
  return upto ? ObjectId(static_cast<u32>(upto - 1)) : no_object;
}

} // namespace dnheap
