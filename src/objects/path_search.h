// PathSearch: the shortest way to one object, straight over the heap's memory: neither the graph's arrays nor who met
// whom is kept, only which objects stand in which level of the search. The way back is looked for level by level. It is
// the way that ShortestPaths (algorithms/) finds: of several of the same length the one over the object with the least
// number, step by step from the far end. Costs little more than marking what lies nearer than the object; two bits per
// place of the heap, 4 bytes per object that was met, 8 per level. Runs in parallel; one thread calls it.
#pragma once
#include "algorithms/shortest_paths.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <atomic>
#include <memory>

namespace dnheap {

class PathSearch {
public:
  // `holders`, ascending: objects whose references are left out. `most_places`: what four bytes hold; tests make it
  // small. Throws Interrupted, as does grow().
  PathSearch(const ObjectIndex &index, const References &references, ObjectId object, unsigned threads,
             const Watch &watch, std::span<const Address> holders = {}, u64 most_places = u64{1} << 32);
  ~PathSearch();
  PathSearch(const PathSearch &) = delete;

  // Searches from these roots over all that earlier calls did not meet; the way, if this call met the object.
  std::optional<OwnedPath> grow(std::span<const OwnedRoot> roots);
  // Of the objects that were read: references that are neither null nor to an object.
  u64 bad_references() const { return bad_references_; }

private:
  // Of 64 places of the heap: where an object begins that was not met yet, and where any does. Side by side.
  struct Word {
    u64 unmet, starts;
  };
  class Reader;
  class Meeter;

  bool was_met(Address object) const;
  void begin(std::span<const OwnedRoot> roots);
  Address expand(std::span<const u32> level);
  Address referrer_in(std::span<const u32> level, Address object) const;
  OwnedPath way(u64 last, std::span<const OwnedRoot> roots) const;
  std::span<const u32> level(u64 i) const { return {met_.data() + levels_[i], levels_[i + 1] - levels_[i]}; }

  // An object in four bytes: its place, or, in a heap with more places than that, its number.
  u32 entry(u64 place) const { return numbered_ ? static_cast<u32>(index_.at_place(place)) : static_cast<u32>(place); }
  Address address(u32 entry) const {
    return numbered_ ? index_.address(ObjectId{entry}) : index_.places().address(entry);
  }

  const ObjectIndex &index_;
  const References &references_;
  const Address object_;
  const u64 object_place_;
  const unsigned threads_;
  const Watch watch_;
  const std::span<const Address> holders_;
  const bool numbered_;
  std::vector<bool> types_of_holders_; // by TypeId: few objects have to be looked for among the holders
  LargeArray<Word> words_;
  LargeArray<u32> met_; // entries, level by level
  std::atomic<u64> met_count_ = 0;
  std::vector<u64> levels_; // where each begins in met_, and where the last one ends
  Address referrer_ = 0;    // in the level before the object's: the first that refers to it
  u64 bad_references_ = 0;
  std::vector<std::unique_ptr<Meeter>> meeters_; // by thread
};

} // namespace dnheap
