// Coloring: gives each byte of an address space exactly one colour, even where claims overlap. The claim with the
// lowest colour wins; among equal colours the earlier claim wins. So sizes counted by colour add up to the size of the
// space. O(n log n) for n places and claims, 40 bytes each. Not thread-safe.
#pragma once
#include "base/integers.h"

#include <vector>

namespace dnheap {

// A stretch of one colour within one place.
struct ColouredStretch {
  Address start = 0, end = 0;
  u32 place = 0;  // index of its place, in the order of add_place()
  u32 colour = 0; // Coloring::none: nobody claimed it
  u32 tag = 0;    // the claim's

  bool operator==(const ColouredStretch &) const = default;
};

class Coloring {
public:
  static constexpr u32 none = ~u32{0};

  // The places together are the space. Where two places overlap, the bytes belong to the first. Empty places have an
  // index but no stretch.
  void add_place(Address start, Address end);
  void claim(Address start, Address end, u32 colour, u32 tag = 0);
  // Returns the whole space in address order. Adjacent stretches differ in place, colour or tag.
  std::vector<ColouredStretch> stretches() const;

private:
  struct Claim {
    Address start = 0, end = 0;
    u32 colour = 0, tag = 0;
  };
  std::vector<Claim> places_, claims_; // a place's colour is its index
};

} // namespace dnheap
