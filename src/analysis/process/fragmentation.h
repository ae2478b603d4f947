// Fragmentation: the holes of the heap (Free objects), by generation and size, and their neighbours: pinned objects or
// survivors. One parallel walk of the heap; memory for the largest holes and a sum per type only. The result does not
// depend on the number of threads. Throws Error, Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <array>
#include <span>
#include <string>

namespace dnheap {

// Minimum sizes of the classes of holes; the last class has no upper limit.
inline constexpr std::array<u64, 6> hole_classes = {0, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20};

struct HoleSum {
  u64 count = 0, bytes = 0, largest = 0;
  u64 pinned = 0, pinned_bytes = 0; // those of the holes that are beside a pinned object

  void add(const HoleSum &other);
};

struct Hole {
  Address address = 0;
  u64 bytes = 0;
  GCSegmentGeneration generation = GCSegmentGeneration::gen0;
  Address before = 0, after = 0; // the nearest objects in the same range of the heap; 0: none
};

struct GenerationHoles {
  std::array<HoleSum, hole_classes.size()> classes;
  u64 segment_bytes = 0; // total, including the holes
  HoleSum total() const;
  double share() const; // of holes in the segments' bytes; 0 if there are none
};

// A kind of neighbour, and its holes. Each hole counts once: for a pinned neighbour if it has one, and preferably for
// the one after it.
struct BesideHoles {
  Address method_table = 0; // 0: no neighbour; the range is one hole
  std::string pin;          // as Pins::text() returns it
  HoleSum holes;
};

struct Fragmentation {
  std::array<GenerationHoles, generation_count> generations; // by GCSegmentGeneration
  std::vector<Hole> largest;                                 // by bytes, then by address
  std::vector<BesideHoles> beside;                           // most bytes first

  HoleSum total() const;
};

// What Pins::text() returns for all objects in the pinned object heap.
inline constexpr const char *pinned_by_place = "poh";

// The objects that cannot be moved, and why. Immutable; any thread.
class Pins {
public:
  explicit Pins(const Snapshot &snapshot);

  // Returns "handle:pinned", "handle:async_pinned", "stack" or "poh" (pinned object heap); empty if it is not pinned.
  const std::string &text(Address object) const { return texts_[number(object)]; }
  // Returns the index of that text in texts(); 0 if it is not pinned.
  u32 number(Address object) const;
  std::span<const std::string> texts() const { return texts_; }

private:
  const Heap &heap_;
  std::vector<std::pair<Address, u32>> pins_; // by address
  std::vector<std::string> texts_;
};

// The passes that a Snapshot needs for it, besides one more walk of the heap ("walk").
inline constexpr Passes passes_of_fragmentation = Pass::roots | Pass::tally;

// `most`: how many of the largest holes are listed.
Fragmentation find_holes(const Snapshot &snapshot, const Pins &pins, u64 most);
Fragmentation find_holes(const Snapshot &snapshot);

} // namespace dnheap
