#include "analysis/process/fragmentation.h"

#include "base/share.h"
#include "heap/walk.h"
#include "objects/object_index.h"
#include "objects/roots.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

bool is_larger_hole(const Hole &a, const Hole &b) {
  return a.bytes != b.bytes ? a.bytes > b.bytes : a.address < b.address;
}

u64 class_of(u64 bytes) {
  u64 out = 0;
  while (out + 1 < hole_classes.size() && bytes >= hole_classes[out + 1])
    ++out;
  return out;
}

// A neighbour of holes: its type's MethodTable, and how it is pinned.
using BesideKey = std::pair<Address, u32>;

// The work of one thread. A hole is counted as soon as the next object is known; neighbours outside of the chunk are
// looked up in the index.
class HoleVisitor {
public:
  HoleVisitor(const Runtime &runtime, const Heap &heap, const ObjectIndex &index, const Pins &pins, u64 most)
      : memory_(runtime.memory()), index_(index), pins_(pins), types_(runtime.types(), heap),
        free_type_(runtime.types().free_object_method_table()), most_(most) {}

  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &range) {
    range_ = &range;
    before_ = 0;
  }
  void operator()(const Object &object) {
    if (types_.method_table(object.type) == free_type_) {
      if (!before_ && waiting_.empty())
        before_ = object_before(object.address);
      waiting_.push_back({object.address, object.aligned_size, range_->generation, before_, 0});
      if (waiting_.size() > most_waiting)
        count_waiting(object_after(waiting_.front().address));
      return;
    }
    if (!waiting_.empty())
      count_waiting(object.address);
    before_ = object.address;
  }
  void end_chunk(const ChunkResult &) {
    if (!waiting_.empty())
      count_waiting(object_after(waiting_.back().address));
  }

  std::array<std::array<HoleSum, hole_classes.size()>, generation_count> sums{};
  std::vector<Hole> largest;
  std::map<BesideKey, HoleSum> beside;

private:
  static constexpr u64 most_waiting = 1024; // consecutive holes: a sound heap has a few at most

  Address object_before(Address hole) const {
    const ObjectId object = index_.last_at_or_before(hole);
    const Address at = object == no_object ? 0 : index_.address(object);
    return at >= range_->address ? at : 0;
  }
  Address object_after(Address hole) const {
    const ObjectId before = index_.last_at_or_before(hole);
    const u64 next = before == no_object ? 0 : static_cast<u64>(before) + 1;
    const Address at = next < index_.count() ? index_.address(ObjectId(static_cast<u32>(next))) : 0;
    return at < range_->end() ? at : 0;
  }
  void count_waiting(Address after) {
    for (Hole &hole : waiting_) {
      hole.after = after;
      count(hole);
    }
    waiting_.clear();
  }
  void count(const Hole &hole) {
    const u32 behind = hole.after ? pins_.number(hole.after) : 0, front = hole.before ? pins_.number(hole.before) : 0;
    HoleSum one{1, hole.bytes, hole.bytes, behind || front, behind || front ? hole.bytes : 0};
    sums[static_cast<u8>(hole.generation)][class_of(hole.bytes)].add(one);
    const Address neighbour = behind || !front ? (hole.after ? hole.after : hole.before) : hole.before;
    beside[{neighbour ? method_table_of(memory_, neighbour) : 0, behind ? behind : front}].add(one);
    if (most_ == 0 || (largest.size() >= most_ && !is_larger_hole(hole, least_)))
      return;
    largest.push_back(hole);
    if (largest.size() >= 2 * most_ + 64)
      keep_largest();
  }
  void keep_largest() {
    std::nth_element(largest.begin(), largest.begin() + static_cast<i64>(most_ - 1), largest.end(), is_larger_hole);
    largest.resize(most_);
    least_ = largest.back();
  }

  const Memory &memory_;
  const ObjectIndex &index_;
  const Pins &pins_;
  TypeTable types_;
  const Address free_type_;
  const u64 most_;
  const ObjectRange *range_ = nullptr;
  Address before_ = 0; // 0: not yet known
  std::vector<Hole> waiting_;
  Hole least_; // the last of those kept at the last sorting
};

} // namespace

void HoleSum::add(const HoleSum &other) {
  count += other.count;
  bytes += other.bytes;
  largest = std::max(largest, other.largest);
  pinned += other.pinned;
  pinned_bytes += other.pinned_bytes;
}

HoleSum GenerationHoles::total() const {
  HoleSum out;
  for (const HoleSum &sum : classes)
    out.add(sum);
  return out;
}

double GenerationHoles::share() const { return share_of(total().bytes, segment_bytes); }

HoleSum Fragmentation::total() const {
  HoleSum out;
  for (const GenerationHoles &generation : generations)
    out.add(generation.total());
  return out;
}

Pins::Pins(const Snapshot &snapshot) : heap_(snapshot.heap()), texts_({"", pinned_by_place}) {
  std::map<std::string, u32> numbers;
  for (const Root &root : snapshot.roots().roots) {
    if (!root.pinned || !heap_.holds(root.object))
      continue;
    auto [at, is_new] = numbers.emplace(kind_text(root), static_cast<u32>(texts_.size()));
    if (is_new)
      texts_.push_back(at->first);
    pins_.emplace_back(root.object, at->second);
  }
  std::sort(pins_.begin(), pins_.end()); // if an object has several pins, the first by kind of root counts
}

u32 Pins::number(Address object) const {
  const auto at = std::lower_bound(pins_.begin(), pins_.end(), std::pair(object, u32{0}));
  if (at != pins_.end() && at->first == object)
    return at->second;
  const std::span<const ObjectRange> ranges = heap_.ranges();
  const auto range = std::upper_bound(ranges.begin(), ranges.end(), object,
                                      [](Address a, const ObjectRange &r) { return a < r.end(); });
  return range != ranges.end() && range->generation == GCSegmentGeneration::poh && object >= range->address ? 1 : 0;
}

Fragmentation find_holes(const Snapshot &snapshot, const Pins &pins, u64 most) {
  const Heap &heap = snapshot.heap();
  const Runtime &runtime = snapshot.runtime();
  const ObjectIndex &index = snapshot.index();
  std::vector<std::unique_ptr<HoleVisitor>> visitors;
  HeapWalk(heap, runtime.memory(), snapshot.threads(), snapshot.watch()).run(visitors, [&] {
    return std::make_unique<HoleVisitor>(runtime, heap, index, pins, most);
  });
  Fragmentation out;
  for (const HeapSegment &segment : heap.segments())
    out.generations[static_cast<u8>(segment.generation)].segment_bytes += segment.end - segment.start;
  std::map<BesideKey, HoleSum> beside;
  for (const auto &visitor : visitors) {
    for (u64 g = 0; g < generation_count; ++g)
      for (u64 c = 0; c < hole_classes.size(); ++c)
        out.generations[g].classes[c].add(visitor->sums[g][c]);
    out.largest.insert(out.largest.end(), visitor->largest.begin(), visitor->largest.end());
    for (const auto &[key, sum] : visitor->beside)
      beside[key].add(sum);
  }
  std::sort(out.largest.begin(), out.largest.end(), is_larger_hole);
  if (out.largest.size() > most)
    out.largest.resize(most);
  for (const auto &[key, sum] : beside)
    out.beside.push_back({key.first, std::string(pins.texts()[key.second]), sum});
  std::sort(out.beside.begin(), out.beside.end(), [](const BesideHoles &a, const BesideHoles &b) {
    return std::tie(b.holes.bytes, a.method_table, a.pin) < std::tie(a.holes.bytes, b.method_table, b.pin);
  });
  return out;
}

Fragmentation find_holes(const Snapshot &snapshot) { return find_holes(snapshot, Pins(snapshot), 0); }

} // namespace dnheap
