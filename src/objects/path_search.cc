#include "objects/path_search.h"

#include "base/parallel.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dnheap {

namespace {

constexpr u64 large_level = 4096; // objects; a smaller level is not worth starting threads for
constexpr u64 level_part = 1024;  // objects handed out to a thread at once

} // namespace

// Reads objects at scattered addresses, prefetching the bytes of later ones.
class PathSearch::Reader {
public:
  explicit Reader(const PathSearch &search) : search_(search), reader_(search.references_) {}

  // Calls visit(object) for each entry that can be read and is not a holder.
  template <class Visit> void for_each(std::span<const u32> entries, Visit &&visit) {
    constexpr u64 ahead = 16;
    struct Coming {
      Address address;
      Bytes bytes;
    };
    std::array<Coming, ahead> coming;
    const u64 lag = std::min<u64>(entries.size(), ahead);
    OpenedObject object;
    for (u64 i = 0; i < entries.size() + lag; ++i) {
      if (i >= lag)
        if (const Coming &now = coming[(i - lag) % ahead];
            reader_.open(now.address, now.bytes, object) && !is_holder(object))
          visit(object);
      if (i < entries.size()) {
        Coming &next = coming[i % ahead];
        next.address = search_.address(entries[i]);
        next.bytes = search_.references_.bytes().from(next.address);
        __builtin_prefetch(next.bytes.data());
        __builtin_prefetch(next.bytes.data() + 64);
      }
    }
  }
  bool open(Address address, OpenedObject &out) { return reader_.open(address, out); }
  template <class Visit> void for_each_reference(const OpenedObject &object, Visit &&visit) const {
    reader_.for_each(object, visit);
  }
  template <class Visit> void for_each_hidden(const OpenedObject &object, Visit &&visit) const {
    reader_.for_each_hidden(object, visit);
  }

private:
  bool is_holder(const OpenedObject &object) const {
    return search_.types_of_holders_[static_cast<u32>(object.id)] &&
           std::binary_search(search_.holders_.begin(), search_.holders_.end(), object.address);
  }

  const PathSearch &search_;
  ReferenceReader reader_;
};

// Handles one thread's part of a level: targets not reached before go to the next level. The words that decide this are
// prefetched while other references are read.
class alignas(128) PathSearch::Meeter {
public:
  Meeter(PathSearch &search, bool shared) : search_(search), shared_(shared), reader_(search) {}

  void read(std::span<const u32> objects) {
    reader_.for_each(objects, [&](const OpenedObject &object) {
      const u64 slices = object.type->references.slices(object.size);
      if (slices == 1) {
        reader_.for_each_reference(object, [&](Address target) { refer(object.address, target); });
        return;
      }
      large.push_back({object.address, slices});
      if (object.type->has_hidden)
        reader_.for_each_hidden(object, [&](Address target) { refer(object.address, target); });
    });
  }
  void read_slice(Address array, u64 slice) {
    OpenedObject object;
    if (reader_.open(array, object))
      object.type->references.for_each_slot_of_slice(
          object.bytes, object.size, slice, search_.references_.format(), [&](const std::byte *slot) {
            if (const u64 target = load_pointer(slot, search_.references_.format())) // null may be a valid place
              refer(array, target);
          });
  }
  void meet(u64 place) {
    if (!take(place))
      return;
    found_[found_count_++] = search_.entry(place);
    if (found_count_ == found_.size())
      hand_over();
  }
  // Processes all references and objects still queued.
  void finish() {
    while (asked_begin_ != asked_end_)
      meet_oldest();
    hand_over();
  }

  struct Array {
    Address address;
    u64 slices;
  };
  std::vector<Array> large;       // arrays that all threads will read
  Address referrer = ~Address{0}; // the first object that refers to the searched one
  u64 bad_references = 0;

private:
  void refer(Address from, Address target) {
    const u64 place = search_.index_.places().find(target);
    if (place == HeapPlaces::nowhere) {
      ++bad_references;
      return;
    }
    if (place == search_.object_place_)
      referrer = std::min(referrer, from);
    __builtin_prefetch(&search_.words_[place / 64], 1);
    if (asked_end_ - asked_begin_ == asked_.size())
      meet_oldest();
    asked_[asked_end_++ % asked_.size()] = place;
  }
  void meet_oldest() { meet(asked_[asked_begin_++ % asked_.size()]); }
  bool take(u64 place) {
    Word &word = search_.words_[place / 64];
    const u64 bit = u64{1} << (place % 64);
    bool is_new;
    if (!shared_) {
      is_new = word.unmet & bit;
      word.unmet &= ~bit;
    } else {
      std::atomic_ref<u64> unmet(word.unmet);
      is_new =
          (unmet.load(std::memory_order_relaxed) & bit) && (unmet.fetch_and(~bit, std::memory_order_relaxed) & bit);
    }
    if (!is_new && !(word.starts & bit))
      ++bad_references;
    return is_new;
  }
  void hand_over() {
    const u64 at = search_.met_count_.fetch_add(found_count_, std::memory_order_relaxed);
    std::memcpy(search_.met_.data() + at, found_.data(), found_count_ * sizeof(u32));
    found_count_ = 0;
  }

  PathSearch &search_;
  const bool shared_;
  Reader reader_;
  std::array<u64, 64> asked_; // places
  std::array<u32, 256> found_;
  u64 asked_begin_ = 0, asked_end_ = 0, found_count_ = 0;
};

PathSearch::PathSearch(const ObjectIndex &index, const References &references, ObjectId object, unsigned threads,
                       const Watch &watch, std::span<const Address> holders, u64 most_places)
    : index_(index), references_(references), object_(index.address(object)),
      object_place_(index.places().find(object_)), threads_(std::max(threads, 1u)), watch_(watch), holders_(holders),
      numbered_(index.places().count() > most_places), types_of_holders_(references.types().size()),
      words_(index.starts().words().size()), met_(index.count()) {
  const LargeArray<u64> &starts = index.starts().words();
  parallel_for_parts(words_.size(), u64{1} << 16, threads_, [&](u64 begin, u64 end, unsigned) {
    for (u64 i = begin; i < end; ++i)
      words_[i] = {starts[i], starts[i]};
  });
  for (unsigned i = 0; i < threads_; ++i)
    meeters_.push_back(std::make_unique<Meeter>(*this, threads_ > 1));
  ReferenceReader reader(references);
  OpenedObject opened;
  for (Address holder : holders)
    if (index.is_object(holder) && reader.open(holder, opened))
      types_of_holders_[static_cast<u32>(opened.id)] = true;
}

PathSearch::~PathSearch() = default;

bool PathSearch::was_met(Address object) const {
  const u64 place = index_.places().find(object);
  return !(words_[place / 64].unmet >> (place % 64) & 1);
}

void PathSearch::begin(std::span<const OwnedRoot> roots) {
  met_count_ = 0; // levels of the previous call are no longer needed
  levels_ = {0};
  for (const OwnedRoot &root : roots)
    if (static_cast<u32>(root.object) < index_.count())
      if (const Address object = index_.address(root.object); !was_met(object))
        meeters_[0]->meet(index_.places().find(object));
  meeters_[0]->finish();
  levels_.push_back(met_count_);
}

// Returns the first object of the level that refers to the object.
Address PathSearch::expand(std::span<const u32> level) {
  // A linked list of millions of objects has millions of levels, so threads that a small level does not use must cost
  // nothing.
  unsigned used = level.size() < large_level ? 1 : threads_;
  parallel_for_parts(level.size(), level_part, used, [&](u64 begin, u64 end, unsigned worker) {
    watch_.check();
    meeters_[worker]->read(level.subspan(begin, end - begin));
  });
  std::vector<Meeter::Array> arrays;
  for (unsigned i = 0; i < used; ++i)
    if (std::vector<Meeter::Array> &some = meeters_[i]->large; !some.empty()) {
      arrays.insert(arrays.end(), some.begin(), some.end());
      some.clear();
    }
  for (const Meeter::Array &array : arrays) {
    const unsigned threads = array.slices < 16 ? 1 : threads_;
    used = std::max(used, threads);
    parallel_for(array.slices, threads,
                 [&](u64 slice, unsigned worker) { meeters_[worker]->read_slice(array.address, slice); });
  }
  Address referrer = ~Address{0};
  for (unsigned i = 0; i < used; ++i) {
    Meeter &meeter = *meeters_[i];
    meeter.finish();
    referrer = std::min(referrer, std::exchange(meeter.referrer, ~Address{0}));
    bad_references_ += std::exchange(meeter.bad_references, 0);
  }
  levels_.push_back(met_count_);
  return referrer;
}

std::optional<OwnedPath> PathSearch::grow(std::span<const OwnedRoot> roots) {
  Timer timer(watch_, "breadth-first search");
  const bool is_wanted = !was_met(object_);
  begin(roots);
  std::optional<u64> found; // the object's level
  for (u64 i = 0; !level(i).empty(); ++i) {
    if (is_wanted && !found && was_met(object_))
      found = i;
    const Address referrer = expand(level(i));
    if (is_wanted && !found && was_met(object_))
      referrer_ = referrer;
  }
  return found ? std::optional(way(*found, roots)) : std::nullopt;
}

// Returns the lowest address in the level of an object that refers to `object`.
Address PathSearch::referrer_in(std::span<const u32> level, Address object) const {
  const unsigned used = level.size() < large_level ? 1 : threads_;
  std::vector<Address> first(used, ~Address{0});
  parallel_for_parts(level.size(), level_part, used, [&](u64 begin, u64 end, unsigned worker) {
    watch_.check();
    Reader reader(*this);
    reader.for_each(level.subspan(begin, end - begin), [&](const OpenedObject &from) {
      if (from.address < first[worker])
        reader.for_each_reference(from, [&](Address target) {
          if (target == object)
            first[worker] = from.address;
        });
    });
  });
  return *std::min_element(first.begin(), first.end());
}

OwnedPath PathSearch::way(u64 last, std::span<const OwnedRoot> roots) const {
  std::vector<Address> steps = {object_};
  for (u64 i = last; i-- > 0;)
    steps.push_back(i + 1 == last ? referrer_ : referrer_in(level(i), steps.back()));
  OwnedPath out;
  for (Address step : steps)
    out.objects.push_back(index_.find(step));
  std::reverse(out.objects.begin(), out.objects.end());
  out.owner = OwnerId{~u32{0}};
  for (const OwnedRoot &root : roots)
    if (root.object == out.objects.front())
      out.owner = std::min(out.owner, root.owner);
  return out;
}

} // namespace dnheap
