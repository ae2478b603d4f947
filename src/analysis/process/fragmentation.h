// Fragmentation: the holes of the heap (Free objects), by generation and size, and who sits beside them: a pinned
// object or a survivor. One parallel walk of the heap; memory for the largest holes and a sum per type only. The same
// whatever the number of threads. Throws Error, Interrupted. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <array>
#include <span>
#include <string>

namespace dnheap {

// Least sizes of classes of holes; the last one is open.
inline constexpr std::array<u64, 6> hole_classes = {0, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20};

struct HoleSum {
  u64 count = 0, bytes = 0, largest = 0;
  u64 pinned = 0, pinned_bytes = 0; // of these, beside a pinned object

  void add(const HoleSum &other);
};

struct Hole {
  Address address = 0;
  u64 bytes = 0;
  GCSegmentGeneration generation = GCSegmentGeneration::gen0;
  Address before = 0, after = 0; // the nearest objects in the same stretch of the heap; 0: none
};

struct GenerationHoles {
  std::array<HoleSum, hole_classes.size()> classes;
  u64 segment_bytes = 0; // of which the holes are a part
  HoleSum total() const;
  double share() const; // of the segments' bytes; 0 where there are none
};

// What sits beside holes, each hole counted once: with a pinned neighbour if it has one, and rather with the one
// behind.
struct BesideHoles {
  Address method_table = 0; // 0: nothing, the hole is all there is
  std::string pin;          // as pin_text() says
  HoleSum holes;
};

struct Fragmentation {
  std::array<GenerationHoles, generation_count> generations; // by GCSegmentGeneration
  std::vector<Hole> largest;                                 // by bytes, then by address
  std::vector<BesideHoles> beside;                           // most bytes first

  HoleSum total() const;
};

// What pins all objects of the pinned object heap.
inline constexpr const char *pinned_by_place = "poh";

// Which objects cannot be moved, and what says so. Immutable; any thread.
class Pins {
public:
  explicit Pins(Snapshot &snapshot);

  // "handle:pinned", "handle:async_pinned", "stack", "poh" (where nothing is ever moved); empty: not pinned.
  const std::string &text(Address object) const { return texts_[number(object)]; }
  // Index of that text in texts(); 0: not pinned.
  u32 number(Address object) const;
  std::span<const std::string> texts() const { return texts_; }

private:
  const Heap &heap_;
  std::vector<std::pair<Address, u32>> pins_; // by address
  std::vector<std::string> texts_;
};

// What a Snapshot has to work out for it; it walks the heap once more ("walk").
inline constexpr Passes passes_of_fragmentation = Pass::roots | Pass::tally;

// `most`: so many of the largest holes.
Fragmentation find_holes(Snapshot &snapshot, const Pins &pins, u64 most);
Fragmentation find_holes(Snapshot &snapshot);

} // namespace dnheap
