// Coloring: gives each byte of an address space exactly one colour, whatever is claimed how often: of several claims to
// a byte that of the lowest colour wins, and of equal ones the one that was made first. So what is counted by colour
// adds up to the space. O(n log n) for n places and claims, 40 bytes each. Not for several threads at once.
#pragma once
#include "base/integers.h"

#include <vector>

namespace dnheap {

// A stretch of one colour in one place.
struct ColouredStretch {
  Address start = 0, end = 0;
  u32 place = 0;  // which of the places it lies in, as they were added
  u32 colour = 0; // Coloring::none: nobody claimed it
  u32 tag = 0;    // of the claim

  bool operator==(const ColouredStretch &) const = default;
};

class Coloring {
public:
  static constexpr u32 none = ~u32{0};

  // The space is what places cover. Where two overlap, it is of the first. Empty ones are left out, but numbered.
  void add_place(Address start, Address end);
  void claim(Address start, Address end, u32 colour, u32 tag = 0);
  // All of the space, by address; stretches that touch differ in something.
  std::vector<ColouredStretch> stretches() const;

private:
  struct Claim {
    Address start = 0, end = 0;
    u32 colour = 0, tag = 0;
  };
  std::vector<Claim> places_, claims_; // places' colour is their number
};

} // namespace dnheap
