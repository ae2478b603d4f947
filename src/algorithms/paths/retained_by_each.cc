#include "algorithms/paths/retained_by_each.h"

#include "algorithms/depth_first.h"
#include "algorithms/reach.h"
#include "base/count_bits.h"
#include "base/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace dnheap {
namespace {

constexpr u64 word_part = 64;       // words of bits handed out to a thread at once
constexpr u64 worth_sharing = 8192; // as in Reach
constexpr u64 part_size = 2048;

// An object's byte: the lowest five bits say without which sets it is reached; the highest three hold 1 + the number of
// its own set. An object is never reached without its own set, so that bit says whether it is reached at all; in an
// object of no set, the highest three bits say so.
using State = u8;
constexpr u32 own_shift = most_sets_at_once;
constexpr State all_sets = (1 << own_shift) - 1;
constexpr State of_no_set = 6 << own_shift; // reached
constexpr std::array<State, 8> own_bits = {0, 1, 2, 4, 8, 16, 0, 0};
constexpr std::array<State, 8> reached_bits = {of_no_set, 1, 2, 4, 8, 16, of_no_set, of_no_set};

State without(State state) { return state & all_sets & ~own_bits[state >> own_shift]; }
bool is_reached(State state) { return (state & reached_bits[state >> own_shift]) == reached_bits[state >> own_shift]; }
// What is added to the byte of an object that is met from one which is reached `without` these sets.
State added(State state, State without) {
  return static_cast<State>((without & ~own_bits[state >> own_shift]) | reached_bits[state >> own_shift]);
}

class SearchBySets {
public:
  SearchBySets(const Edges &edges, LargeArray<u8> set_of, unsigned threads, const Watch &watch)
      : edges_(edges), threads_(std::max(threads, 1u)), watch_(watch), states_(std::move(set_of)),
        members_(edges.objects()), closed_(edges.objects()), waiting_(threads_), next_(threads_) {
    for_all_words([&](u64 i) {
      u64 word = 0;
      for (u64 object = i * 64, end = std::min(object + 64, edges_.objects()); object < end; ++object)
        if (states_[object] != 0) {
          word |= u64{1} << (object % 64);
          states_[object] = static_cast<State>(states_[object] << own_shift);
        }
      members_.words()[i] = word;
    });
  }

  void from(std::span<const ObjectId> roots) {
    ObjectBits before(edges_.objects());
    std::copy(closed_.words().begin(), closed_.words().end(), before.words().begin());
    Reach around(edges_, std::move(before), threads_, watch_);
    around.stop_at(&members_);
    around.from(roots);
    // From here on, closed_ is what needs none of the sets; the members that were met begin the second search.
    for_all_words([&](u64 i) {
      const u64 fresh = around.met().words()[i] & ~closed_.words()[i], begins = fresh & members_.words()[i];
      closed_.words()[i] |= fresh & ~begins;
      for_each_bit(begins, [&](u64 bit) {
        State &state = states_[i * 64 + bit];
        state |= added(state, all_sets);
      });
      begins_[i] = begins;
    });
    parallel_for_parts(begins_.size(), word_part, threads_, [&](u64 begin, u64 end, unsigned worker) {
      watch_.check();
      std::array<u32, 64 * word_part> objects;
      u64 count = 0;
      for (u64 i = begin; i < end; ++i)
        for_each_bit(begins_[i], [&](u64 bit) { objects[count++] = static_cast<u32>(i * 64 + bit); });
      look_at(std::span(objects).first(count), next_[worker]);
    });
    spread();
  }

  // Later roots do not hold what was reached so far, whatever set it needs.
  void close_reached() {
    for_all_words([&](u64 i) {
      for (u64 object = i * 64, end = std::min(object + 64, edges_.objects()); object < end; ++object)
        if (is_reached(states_[object]))
          closed_.words()[i] |= u64{1} << (object % 64);
    });
  }

  std::vector<Retained> retained(const ObjectSizes &sizes, u32 sets) const {
    std::vector<std::array<Retained, most_sets_at_once>> parts(threads_);
    parallel_for_parts(edges_.objects(), 64 * 1024, threads_, [&](u64 begin, u64 end, unsigned worker) {
      std::array<Retained, most_sets_at_once> sums = parts[worker];
      for (u64 i = begin; i < end; ++i)
        if (is_reached(states_[i]))
          for_each_bit(~without(states_[i]) & all_sets, [&](u64 set) {
            ++sums[set].objects;
            sums[set].bytes += sizes.of(ObjectId(i));
          });
      parts[worker] = sums;
    });
    std::vector<Retained> out(sets);
    for (const auto &part : parts)
      for (u32 i = 0; i < sets; ++i) {
        out[i].objects += part[i].objects;
        out[i].bytes += part[i].bytes;
      }
    return out;
  }

private:
  struct Meeting {
    u32 object;
    State without;
  };

  template <class Work> void for_all_words(Work work) {
    parallel_for_parts(members_.words().size(), 16 * word_part, threads_, [&](u64 begin, u64 end, unsigned) {
      watch_.check();
      for (u64 i = begin; i < end; ++i)
        work(i);
    });
  }

  // Passes on without which sets the objects are reached. Queues the targets for which that is new.
  void look_at(std::span<const u32> objects, std::vector<u32> &next) {
    std::array<Meeting, 64> meetings; // wait for the prefetch of what they write to
    u64 waiting = 0;
    auto meet = [&] {
      for (const Meeting &one : std::span(meetings).first(waiting))
        if (add(one))
          next.push_back(one.object);
      waiting = 0;
    };
    edges_.for_each_of(objects, [&](u32 object, std::span<const ObjectId> targets) {
      const State from = without(std::atomic_ref(states_[object]).load(std::memory_order_relaxed));
      for (ObjectId target : targets) {
        if (closed_.test(target))
          continue;
        __builtin_prefetch(&states_[static_cast<u32>(target)], 1);
        meetings[waiting++] = {static_cast<u32>(target), from};
        if (waiting == meetings.size())
          meet();
      }
    });
    meet();
  }
  bool add(const Meeting &one) {
    std::atomic_ref<State> state(states_[one.object]);
    const State old = state.load(std::memory_order_relaxed), more = added(old, one.without);
    return (old & more) != more && (state.fetch_or(more, std::memory_order_relaxed) & more) != more;
  }
  void spread() {
    for (u64 rounds = 0;; ++rounds) {
      waiting_.swap(next_);
      u64 count = 0;
      for (const std::vector<u32> &part : waiting_)
        count += part.size();
      if (count == 0)
        return;
      if (count > worth_sharing || rounds % 0x1000 == 0)
        watch_.check();
      for (std::vector<u32> &part : waiting_) {
        parallel_for_parts(part.size(), part_size, count < worth_sharing ? 1 : threads_,
                           [&](u64 begin, u64 end, unsigned worker) {
                             look_at(std::span(part).subspan(begin, end - begin), next_[worker]);
                           });
        part.clear();
      }
    }
  }

  const Edges edges_;
  const unsigned threads_;
  const Watch watch_;
  LargeArray<State> states_;
  ObjectBits members_; // of any set
  ObjectBits closed_;  // objects that need none of the sets, and after close_reached() all that were reached
  LargeArray<u64> begins_ = LargeArray<u64>(members_.words().size()); // bits: where the second search begins
  std::vector<std::vector<u32>> waiting_, next_;
};

} // namespace

std::vector<Retained> retained_by_each(const Edges &edges, const ObjectSizes &sizes, const Owners &owners,
                                       LargeArray<u8> set_of, u32 sets, unsigned threads, const Watch &watch) {
  Timer timer(watch, "reachable without a set");
  SearchBySets search(edges, std::move(set_of), threads, watch);
  const RootsByOwner roots(owners, edges.objects());
  const std::span<const ObjectId> all = roots.objects;
  search.from(all.first(roots.first[owners.precise]));
  if (const std::span<const ObjectId> conservative = all.subspan(roots.first[owners.precise]); !conservative.empty()) {
    search.close_reached();
    search.from(conservative);
  }
  return search.retained(sizes, sets);
}

} // namespace dnheap
