// FlameGraph: who holds the live bytes, as stacked frames: an owner, then the folded dominator tree (folded_tree.h),
// largest first. The frames' own bytes add up to all live bytes. Costs what `retained` does, and 24 bytes per frame, of
// which there are some 400,000 at most. Made by one thread; then immutable.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/export/exporter.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

class FlameGraph {
public:
  // Throws Error if there are no roots; Interrupted.
  FlameGraph(const Snapshot &snapshot, const Question &question);

  struct Frame {
    u32 name = 0, depth = 0; // depth: how many frames it stands on
    Retained own;
  };
  // Returns the frames, each before those on top of it.
  const std::vector<Frame> &frames() const { return frames_; }
  const std::vector<std::string> &names() const { return names_; } // UTF-8
  Retained all() const { return all_; }                            // sum of all frames: everything that is alive
  Exported exported() const; // the facts about a file of this graph, except its size

  // A node that holds less than one part in so many of the live bytes has no frame of its own: such nodes together are
  // one frame, `small`.
  static constexpr u64 least_share = 10000;
  static constexpr const char *small = "(less than 0.01% each)";
  // Limits for depth and number of frames; whatever would be on top of these becomes one frame, `deeper`.
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
  u64 cut_ = 0; // frames on which further ones were cut
};

} // namespace dnheap
