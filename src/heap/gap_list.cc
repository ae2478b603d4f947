#include "heap/gap_list.h"

namespace dnheap {

void GapList::add(const Gap &gap) {
  ++count_;
  bytes_ += gap.end - gap.start;
  if (listed_.size() < most)
    listed_.push_back(gap);
  else
    fold(gap);
}

void GapList::merge(const GapList &other) {
  count_ += other.count_;
  bytes_ += other.bytes_;
  std::vector<Gap> all;
  all.reserve(listed_.size() + other.listed_.size());
  std::merge(listed_.begin(), listed_.end(), other.listed_.begin(), other.listed_.end(), std::back_inserter(all),
             [](const Gap &a, const Gap &b) { return a.start < b.start; });
  // A list's unlisted gaps lie after all its listed ones, so none of them is among the first gaps of both lists
  // together.
  if (other.rest_start_ < other.rest_end_)
    fold({other.rest_start_, other.rest_end_, {}});
  for (u64 i = most; i < all.size(); ++i)
    fold(all[i]);
  if (all.size() > most)
    all.resize(most);
  listed_ = std::move(all);
}

std::vector<Gap> GapList::stretches() const {
  std::vector<Gap> out = listed_;
  if (rest_start_ < rest_end_)
    out.push_back({rest_start_, rest_end_, "gaps that are not listed, and what lies between them"});
  return out;
}

void GapList::fold(const Gap &gap) {
  rest_start_ = rest_start_ < rest_end_ ? std::min(rest_start_, gap.start) : gap.start;
  rest_end_ = std::max(rest_end_, gap.end);
}

} // namespace dnheap
