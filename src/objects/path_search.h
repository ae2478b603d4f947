// PathSearch: finds the shortest path to one object straight from the heap's memory. It keeps neither the graph's
// arrays nor each object's predecessor, only which objects are in which level of the search, and reconstructs the path
// level by level from the end. It finds the same path as ShortestPaths (algorithms/): among several of the same length,
// each step from the far end takes the object with the least number. Costs little more than marking the objects nearer
// than the target; two bits per place of the heap, 4 bytes per object reached, 8 per level. Runs in parallel, but only
// one thread may call it.
#pragma once
#include "algorithms/paths/shortest_paths.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <atomic>
#include <memory>

namespace dnheap {

class PathSearch {
public:
  // `holders`, ascending: objects whose references are left out. `most_places`: the number of places that four bytes
  // can number; tests make it small. Throws Interrupted, as does grow().
  PathSearch(const ObjectIndex &index, const References &references, ObjectId object, unsigned threads,
             const Watch &watch, std::span<const Address> holders = {}, u64 most_places = u64{1} << 32);
  ~PathSearch();
  PathSearch(const PathSearch &) = delete;

  // Continues the search from `roots`, skipping what earlier calls reached. Returns the path if this call reached the
  // object.
  std::optional<OwnedPath> grow(std::span<const OwnedRoot> roots);
  // Counts references, in the objects read, that are neither null nor to an object.
  u64 bad_references() const { return bad_references_; }

private:
  // For 64 places of the heap: where an object begins that was not reached yet, and where any object begins.
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

  // Returns an object's entry of four bytes: its place, or its number in a heap with more places than that.
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
  std::vector<bool> types_of_holders_; // by TypeId: only objects of these types need a look-up among the holders
  LargeArray<Word> words_;
  LargeArray<u32> met_; // entries, level by level
  std::atomic<u64> met_count_ = 0;
  std::vector<u64> levels_; // the index in met_ where each level begins, and where the last one ends
  Address referrer_ = 0;    // the first object of the previous level that refers to the searched object
  u64 bad_references_ = 0;
  std::vector<std::unique_ptr<Meeter>> meeters_; // by thread
};

} // namespace dnheap
