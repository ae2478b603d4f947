#include "objects/live.h"

#include "base/parallel.h"

#include <array>

namespace dnheap {

namespace {

// A large array with slices that are still to be read.
struct Slices {
  Address object = 0;
  u64 next = 0, end = 0;
};

// One thread's part of the search. Memory is prefetched and read a little later. Two short queues hold what was
// prefetched: references, whose mark bit is tested next, and objects, whose first bytes are read next. Objects found
// that wait for the second queue are on `stack`. Nothing recurses, however long a linked list is.
//
// Aligned, so that the end of one thread's marker and the beginning of the next one's, both written at each step, never
// share a cache line.
class alignas(128) Marker {
public:
  Marker(const ObjectIndex &index, const References &references, LargeArray<MarkWord> &words, bool shared)
      : places_(index.places()), starts_(index.starts().words()), references_(references), words_(words),
        shared_(shared), reader_(references) {}

  void begin(Address root) {
    if (u64 place = places_.find(root); place != HeapPlaces::nowhere && take(place))
      stack.push_back(root);
  }
  void visit(Address target) {
    u64 place = places_.find(target);
    if (place == HeapPlaces::nowhere) {
      ++bad_references;
      return;
    }
    __builtin_prefetch(&words_[place / 64], 1);
    if (asked_end_ - asked_begin_ == asked_.size())
      take_oldest();
    asked_[asked_end_++ % asked_.size()] = {target, place};
  }

  // Runs until nothing is left, or until other threads are idle and this one has work to share.
  void run(const std::atomic<u32> &idle, u64 share_from, const Watch &watch) {
    const u64 shortest_run = std::min<u64>(16 * share_from, 16384); // starting threads takes a while
    for (u64 turn = 1;; ++turn) {
      while (!stack.empty() && queue_end_ - queue_begin_ < queue_.size())
        enqueue();
      if (queue_begin_ == queue_end_) {
        while (asked_begin_ != asked_end_)
          take_oldest();
        if (!stack.empty())
          continue;
        if (slices.empty())
          return;
        read_slice();
      } else {
        read(queue_[queue_begin_++ % queue_.size()]);
      }
      if (turn % 256 == 0)
        watch.check();
      if (turn >= shortest_run && idle.load(std::memory_order_relaxed) && has_to_share(share_from)) {
        lay_back();
        return;
      }
    }
  }

  std::vector<Address> stack; // objects found but not read yet
  std::vector<Slices> slices;
  HeapBits *found_before = nullptr; // if given: each object that is referred to loses its bit in it
  std::vector<Address> met;         // objects whose bits in found_before were cleared
  u64 objects = 0, bytes = 0, aligned_bytes = 0, bad_references = 0; // of the objects read in this stage

private:
  struct Asked {
    Address target;
    u64 place;
  };
  struct Queued {
    Address address;
    Bytes bytes;
  };

  bool take(u64 place) {
    u64 &word = words_[place / 64].unmarked, bit = u64{1} << (place % 64);
    if (!shared_) {
      bool is_new = word & bit;
      word &= ~bit;
      return is_new;
    }
    std::atomic_ref<u64> atomic(word);
    return (atomic.load(std::memory_order_relaxed) & bit) && (atomic.fetch_and(~bit, std::memory_order_relaxed) & bit);
  }
  void take_oldest() {
    const Asked &asked = asked_[asked_begin_++ % asked_.size()];
    if (take(asked.place))
      stack.push_back(asked.target);
    else if (!(words_[asked.place / 64].starts >> (asked.place % 64) & 1))
      meet(asked);
  }
  // Handles a target that was found before or is not an object.
  void meet(const Asked &asked) {
    const u64 bit = u64{1} << (asked.place % 64);
    if (!(starts_[asked.place / 64] & bit)) {
      ++bad_references;
    } else if (found_before) {
      std::atomic_ref<u64> word(found_before->words()[asked.place / 64]);
      if ((word.load(std::memory_order_relaxed) & bit) && (word.fetch_and(~bit, std::memory_order_relaxed) & bit))
        met.push_back(asked.target);
    }
  }
  void enqueue() {
    Address address = stack.back();
    stack.pop_back();
    Bytes object = references_.bytes().from(address);
    __builtin_prefetch(object.data());
    __builtin_prefetch(object.data() + 64);
    queue_[queue_end_++ % queue_.size()] = {address, object};
  }
  void read(const Queued &queued) {
    OpenedObject object;
    if (!reader_.open(queued.address, queued.bytes, object))
      return;
    ++objects;
    bytes += object.size;
    aligned_bytes += align_up(object.size, references_.format().pointer_size);
    u64 count = object.type->references.slices(object.size);
    if (count == 1) {
      reader_.for_each(object, [&](Address target) { visit(target); });
      return;
    }
    slices.push_back({queued.address, 0, count});
    reader_.for_each_hidden(object, [&](Address target) { visit(target); });
  }
  void read_slice() {
    Slices &some = slices.back();
    OpenedObject object;
    u64 slice = some.next++;
    Address address = some.object;
    if (some.next == some.end)
      slices.pop_back();
    if (reader_.open(address, object))
      object.type->references.for_each_slot_of_slice(object.bytes, object.size, slice, references_.format(),
                                                     [&](const std::byte *slot) {
                                                       // Null may be a valid place if one segment lies low and others
                                                       // far above, so it must be tested.
                                                       if (const u64 target = load_pointer(slot, references_.format()))
                                                         visit(target);
                                                     });
  }
  bool has_to_share(u64 share_from) const {
    return stack.size() >= share_from || (!slices.empty() && slices.back().end - slices.back().next > 1);
  }
  void lay_back() {
    while (asked_begin_ != asked_end_)
      take_oldest();
    while (queue_begin_ != queue_end_)
      stack.push_back(queue_[queue_begin_++ % queue_.size()].address);
  }

  const HeapPlaces &places_;
  const LargeArray<u64> &starts_;
  const References &references_;
  LargeArray<MarkWord> &words_;
  const bool shared_;
  ReferenceReader reader_;
  std::array<Asked, 64> asked_;
  std::array<Queued, 16> queue_;
  u64 asked_begin_ = 0, asked_end_ = 0, queue_begin_ = 0, queue_end_ = 0;
};

using Markers = std::vector<std::unique_ptr<Marker>>;

// Divides the remaining work evenly among the threads. Returns false if there is none.
bool share(Markers &markers) {
  constexpr u64 hand = 64;
  std::vector<Address> found;
  std::vector<Slices> slices;
  for (const auto &marker : markers) {
    found.insert(found.end(), marker->stack.begin(), marker->stack.end());
    slices.insert(slices.end(), marker->slices.begin(), marker->slices.end());
    marker->stack.clear();
    marker->slices.clear();
  }
  for (u64 i = 0; i < found.size(); i += hand) {
    std::vector<Address> &stack = markers[i / hand % markers.size()]->stack;
    stack.insert(stack.end(), found.begin() + static_cast<i64>(i),
                 found.begin() + static_cast<i64>(std::min(i + hand, found.size())));
  }
  for (const Slices &some : slices) {
    u64 count = some.end - some.next, n = markers.size();
    for (u64 i = 0; i < n; ++i)
      if (u64 from = some.next + count * i / n, to = some.next + count * (i + 1) / n; from < to)
        markers[i]->slices.push_back({some.object, from, to});
  }
  return !found.empty() || !slices.empty();
}

// The threads work independently. When one runs out of work, those with much work stop, and all work is divided again.
void mark_stage(Markers &markers, const RootStage &stage, u64 share_from, const Watch &watch) {
  const unsigned threads = static_cast<unsigned>(markers.size());
  for (Address object : stage.objects)
    markers[0]->begin(object);
  do {
    std::atomic<u32> idle{0};
    parallel_for(threads, threads, [&](u64 i, unsigned) {
      markers[i]->run(idle, share_from, watch);
      idle.fetch_add(1, std::memory_order_relaxed);
    });
  } while (share(markers));
}

} // namespace

struct LiveMarking::Threads {
  Markers markers;
};

LiveMarking::LiveMarking(const ObjectIndex &index, const References &references, unsigned threads, const Watch &watch,
                         u64 share_from, const HeapBits *among)
    : index_(index), references_(references), watch_(watch), share_from_(share_from),
      words_(index.starts().words().size()), threads_(std::make_unique<Threads>()) {
  threads = std::max(threads, 1u);
  const LargeArray<u64> &starts = index.starts().words();
  parallel_for_parts(words_.size(), u64{1} << 16, threads, [&](u64 begin, u64 end, unsigned) {
    for (u64 i = begin; i < end; ++i)
      words_[i] = {starts[i] & (among ? among->words()[i] : ~u64{0}), starts[i]};
  });
  for (unsigned i = 0; i < threads; ++i)
    threads_->markers.push_back(std::make_unique<Marker>(index, references, words_, threads > 1));
}

LiveMarking::~LiveMarking() = default;

LiveStage LiveMarking::mark(const RootStage &stage) {
  mark_stage(threads_->markers, stage, share_from_, watch_);
  LiveStage out;
  out.name = stage.name;
  out.is_conservative = stage.is_conservative;
  for (const auto &marker : threads_->markers) {
    out.objects += std::exchange(marker->objects, 0);
    out.bytes += std::exchange(marker->bytes, 0);
    out.aligned_bytes += std::exchange(marker->aligned_bytes, 0);
    out.bad_references += std::exchange(marker->bad_references, 0);
  }
  return out;
}

LiveMarking::Closure LiveMarking::mark_closure(Address object) {
  HeapBits before(index_.starts().shared_places());
  for (u64 i = 0; i < words_.size(); ++i) {
    before.words()[i] = words_[i].starts & ~words_[i].unmarked;
    // Without these bits, references to objects found before differ from those to objects found now.
    words_[i].starts &= ~before.words()[i];
  }
  for (const auto &marker : threads_->markers)
    marker->found_before = &before;
  Closure out;
  out.fresh = out.all = mark({"", {object}});
  // If references led to objects found before, a second search counts what those reach, among the objects found before.
  RootStage met;
  for (const auto &marker : threads_->markers) {
    marker->found_before = nullptr;
    met.objects.insert(met.objects.end(), marker->met.begin(), marker->met.end());
    marker->met.clear();
  }
  if (out.fresh.objects == 0)
    met.objects.push_back(object);
  for (Address one : met.objects)
    if (const u64 place = index_.places().find(one); index_.is_object(one))
      before.words()[place / 64] |= u64{1} << (place % 64);
  for (u64 i = 0; i < words_.size(); ++i)
    words_[i].starts |= before.words()[i];
  LiveMarking again(index_, references_, static_cast<unsigned>(threads_->markers.size()), watch_, share_from_, &before);
  const LiveStage old = again.mark(met);
  out.all.objects += old.objects;
  out.all.bytes += old.bytes;
  out.all.aligned_bytes += old.aligned_bytes;
  out.all.bad_references += old.bad_references;
  return out;
}

void LiveMarking::hold_back(Address object) {
  if (u64 place = index_.places().find(object); index_.is_object(object))
    words_[place / 64].unmarked &= ~(u64{1} << (place % 64));
}

void LiveMarking::let_through(Address object) {
  if (u64 place = index_.places().find(object); index_.is_object(object))
    words_[place / 64].unmarked |= u64{1} << (place % 64);
}

bool LiveMarking::found(Address object) const {
  const u64 place = index_.places().find(object);
  return index_.is_object(object) && !(words_[place / 64].unmarked >> (place % 64) & 1);
}

HeapBits LiveMarking::take() {
  HeapBits out(index_.starts().shared_places());
  for (u64 i = 0; i < words_.size(); ++i)
    out.words()[i] = words_[i].starts & ~words_[i].unmarked;
  words_ = {};
  return out;
}

LiveObjects mark_live(const ObjectIndex &index, const References &references, std::span<const RootStage> stages,
                      unsigned threads, const Watch &watch, u64 share_from) {
  Timer timer(watch, "mark");
  LiveMarking marking(index, references, threads, watch, share_from);
  std::vector<LiveStage> marked;
  for (const RootStage &stage : stages)
    marked.push_back(marking.mark(stage));
  return {marking.take(), std::move(marked)};
}

u64 LiveObjects::bad_references() const {
  u64 out = 0;
  for (const LiveStage &stage : stages)
    out += stage.is_conservative ? 0 : stage.bad_references;
  return out;
}

std::vector<RootStage> root_stages(const RootSet &roots) {
  std::vector<RootStage> out;
  for (const Root &root : roots.roots) { // by kind
    std::string kind = kind_text(root);
    if (out.empty() || out.back().name != kind)
      out.push_back({std::move(kind), {}, root.is_conservative()});
    out.back().objects.push_back(root.object);
  }
  // Handles hold the arrays that contain statics. If handles came first, statics would seem to hold nothing.
  std::stable_partition(out.begin(), out.end(),
                        [](const RootStage &stage) { return stage.name == name_of(RootKind::static_field); });
  return out;
}

} // namespace dnheap
