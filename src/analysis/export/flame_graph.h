// FlameGraph: who holds the live bytes, as frames one above the other: an owner, then the folded dominator tree
// (folded_tree.h), largest first. What each frame has of its own adds up to all that is alive. Costs what `retained`
// does, and 24 bytes per frame, of which there are some 400,000 at most. Made by one thread; then immutable.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/export/exporter.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

class FlameGraph {
public:
  // Throws Error when there are no roots, Interrupted.
  FlameGraph(Snapshot &snapshot, const Question &question);

  struct Frame {
    u32 name = 0, depth = 0; // depth: how many frames stand below it
    Retained own;
  };
  // Each before those that stand on it.
  const std::vector<Frame> &frames() const { return frames_; }
  const std::vector<std::string> &names() const { return names_; } // UTF-8
  Retained all() const { return all_; }                            // of all frames: what is alive
  Exported exported() const;                                       // what a file of it holds, but for its size

  // What a frame needs to be one: else it is one with others, called so.
  static constexpr u64 least_share = 10000;
  static constexpr const char *small = "(less than 0.01% each)";
  // Beyond so many frames, one above the other or all together, what stands on one is one frame.
  static constexpr u64 most_depth = 100, most_frames = 200000;
  static constexpr const char *deeper = "(deeper)";

private:
  u32 number_of(const std::string &name);
  void add(const std::string &name, u64 depth, Retained own) {
    frames_.push_back({number_of(name), static_cast<u32>(depth), own});
    all_.objects += own.objects, all_.bytes += own.bytes;
  }

  std::vector<Frame> frames_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, u32> numbers_;
  Retained all_, unreachable_;
  u64 cut_ = 0; // frames on which more stood
};

} // namespace dnheap
