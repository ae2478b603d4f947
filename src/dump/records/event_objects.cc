#include "dump/records/event_objects.h"

#include "base/error.h"

#include <algorithm>

namespace dnheap {

namespace {

// More than any process has; a sum of hostile numbers stays below 2^64.
constexpr u64 most_listed_references = u64{1} << 40;

} // namespace

void EventObjects::add_object(Address address, u32 type, u64 size, u64 degree) {
  if (degree > most_listed_references || expected_ > most_listed_references)
    throw Error("the events list an object with more references than memory can hold");
  const u64 number = count_++;
  if (number % chunk == 0)
    nodes_.emplace_back(chunk);
  if (number % stride == 0)
    starts_.push_back(expected_);
  expected_ += degree;
  const bool is_odd = address >> address_bits;
  odd_ += is_odd;
  Node &node = nodes_.back()[number % chunk];
  node.low = is_odd ? 0 : static_cast<u32>(address);
  node.high = is_odd ? u16{0} : static_cast<u16>(address >> 32);
  node.type = type;
  node.degree = static_cast<u16>(std::min<u64>(degree, long_degree));
  node.size = static_cast<u32>(std::min<u64>(size, long_size));
  if (degree >= long_degree)
    degrees_[number] = degree;
  if (size >= long_size)
    sizes_[number] = size;
}

void EventObjects::add_reference(Address target) {
  const u64 number = reference_count_++;
  if (number % reference_chunk == 0)
    targets_.emplace_back(reference_chunk);
  if (target >> address_bits) {
    ++odd_;
    target = 0;
  }
  targets_.back()[number % reference_chunk] = {
      {static_cast<u16>(target), static_cast<u16>(target >> 16), static_cast<u16>(target >> 32)}};
}

u64 EventObjects::degree_of(u64 number) const {
  const u16 degree = node(number).degree;
  return degree == long_degree ? degrees_.at(number) : degree;
}

Address EventObjects::target(u64 reference) const {
  const Reference &at = targets_[reference / reference_chunk][reference % reference_chunk];
  return u64{at.words[0]} | u64{at.words[1]} << 16 | u64{at.words[2]} << 32;
}

void EventObjects::for_each(u64 first, u64 last, const Visit &visit) const {
  if (first >= last)
    return;
  u64 number = first / stride * stride, at = starts_[first / stride];
  for (; number < first; ++number)
    at += degree_of(number);
  std::vector<Address> references;
  for (; number < last; ++number) {
    const u64 end = at + degree_of(number);
    references.clear();
    for (; at < std::min(end, reference_count_); ++at)
      if (const Address to = target(at))
        references.push_back(to);
    at = end;
    const Node &of = node(number);
    if (const Address address = u64{of.low} | u64{of.high} << 32)
      visit({address, of.type, of.size == long_size ? sizes_.at(number) : of.size, references});
  }
}

} // namespace dnheap
