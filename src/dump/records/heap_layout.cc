#include "dump/records/heap_layout.h"

#include "base/host/large_array.h"
#include "base/parallel.h"
#include "base/text.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 part_of_entries = 1 << 16;
constexpr unsigned granule_shift = 20;
constexpr u64 granule_size = u64{1} << granule_shift;
// 4 TiB of granules that hold objects; real heaps have less.
constexpr u64 most_granules = u64{1} << 22;
// 64 GiB: more than one for each entry only if there are large objects.
constexpr u64 granules_of_large_objects = u64{1} << 16;
constexpr u64 largest_object = u64{1} << 40;
constexpr u64 page_size = 4096;
constexpr u64 most_breaks = 1 << 20;

// Adjacent granules, the memory made for them, and where objects begin.
struct Cluster {
  Address start = 0, end = 0; // multiples of granule_size
  u64 offset = 0;             // of `start` in the memory
};

// What is known of a type's objects after the first pass.
struct TypeFacts {
  u64 smallest = ~u64{0}, largest = 0;
  u64 bits = 0; // all differences of sizes from the first one, or-ed: their common power of two
  u64 first = 0;
  bool has_references = false;

  void add(u64 size, bool refers) {
    if (smallest == ~u64{0})
      first = size;
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
    bits |= size ^ first;
    has_references |= refers;
  }
  void add(const TypeFacts &other) {
    if (other.smallest == ~u64{0})
      return;
    if (smallest == ~u64{0}) {
      *this = other;
      return;
    }
    bits |= other.bits | (first ^ other.first);
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
    has_references |= other.has_references;
  }
  bool occurs() const { return smallest != ~u64{0}; }
  bool varies() const { return smallest != largest; }
};

// A piece between two objects that is too small for a Free object: a segment ends before it.
struct Break {
  Address end = 0, next = 0;
};

class HeapLayout {
public:
  HeapLayout(const ListedObjects &objects, u8 pointer_size, unsigned threads, const Watch &watch, Target &target,
             HeapRecord &record)
      : objects_(objects), p_(pointer_size), threads_(threads), watch_(watch), target_(target), record_(record) {}

  void make() {
    look_at_objects();
    make_clusters();
    mark_starts();
    leave_out_overlapping();
    describe_types();
    write_objects();
    fill_room();
    make_segments();
    hand_over();
    add_notes();
  }

private:
  template <class Visit> void for_all(const char *pass, Visit visit) {
    Timer timer(watch_, pass);
    parallel_for_parts(objects_.entries(), part_of_entries, threads_, [&](u64 first, u64 last, unsigned worker) {
      watch_.check();
      objects_.for_each(first, last, [&](const ListedObject &object) { visit(object, worker); });
    });
  }

  // Sizes as the runtime counts them; those of a type with references are whole words.
  u64 size_of(const ListedObject &object) const {
    const u64 size = std::max(object.size, 3 * p_);
    return record_.types[object.type].has_references ? align_up(size, p_) : size;
  }
  u64 room_of(const ListedObject &object) const { return align_up(size_of(object), p_); }
  bool is_possible(const ListedObject &object) const {
    return object.address % p_ == 0 && object.size <= largest_object && object.type < record_.types.size() &&
           object.address >= granule_size && object.address < top() &&
           align_up(object.size, p_) <= top() - object.address;
  }
  Address top() const { return p_ == 8 ? u64{1} << 63 : u64{1} << 32; }

  void look_at_objects() {
    std::vector<std::vector<TypeFacts>> facts(threads_, std::vector<TypeFacts>(record_.types.size()));
    std::vector<std::unordered_set<u64>> granules(threads_);
    std::vector<u64> latest(threads_, ~u64{0}), written(threads_);
    std::atomic<u64> odd = 0;
    for_all("look at objects", [&](const ListedObject &object, unsigned worker) {
      if (!is_possible(object)) {
        odd.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      facts[worker][object.type].add(std::max(object.size, 3 * p_), !object.references.empty());
      const u64 size = align_up(std::max(object.size, 3 * p_), p_);
      written[worker] += std::min(size, page_size);
      const u64 first = object.address >> granule_shift, last = (object.address + size - 1) >> granule_shift;
      if (first == last && first == latest[worker])
        return;
      for (u64 granule = first; granule <= last; ++granule)
        granules[worker].insert(granule);
      latest[worker] = last;
      if (granules[worker].size() > most_granules)
        throw Error("its objects are scattered more widely than those of any real heap: the file is damaged");
    });
    odd_ = odd;
    for (u64 bytes : written)
      written_ += bytes;
    facts_ = std::move(facts[0]);
    for (unsigned i = 1; i < threads_; ++i)
      for (u64 type = 0; type < facts_.size(); ++type)
        facts_[type].add(facts[i][type]);
    for (u64 type = 0; type < facts_.size(); ++type)
      record_.types[type].has_references = facts_[type].has_references;
    for (const auto &of : granules)
      granules_.insert(granules_.end(), of.begin(), of.end());
    std::sort(granules_.begin(), granules_.end());
    granules_.erase(std::unique(granules_.begin(), granules_.end()), granules_.end());
    if (granules_.size() > objects_.entries() + granules_of_large_objects)
      throw Error("its objects are larger than there is room for in any process: the file is damaged");
    if (granules_.size() > most_granules)
      throw Error("its objects are scattered more widely than those of any real heap: the file is damaged");
  }

  void make_clusters() {
    u64 offset = 0;
    for (u64 granule : granules_) {
      const Address start = granule << granule_shift;
      if (clusters_.empty() || clusters_.back().end != start)
        clusters_.push_back({start, start, offset});
      clusters_.back().end += granule_size;
      offset += granule_size;
    }
    bytes_ = zeros(offset);
    starts_ = LargeArray<u64>(offset / p_ / 64);
  }

  // Huge pages make walks faster, but where objects lie far apart each would take 2 MiB.
  std::shared_ptr<std::byte> zeros(u64 size) const {
    if (written_ >= size / 4) {
      auto pages = std::make_shared<LargeArray<std::byte>>(size);
      return {pages, pages->data()};
    }
    auto *pages = static_cast<std::byte *>(std::calloc(std::max<u64>(size, 1), 1));
    if (!pages)
      throw std::bad_alloc();
    return {pages, std::free};
  }

  // `address` must lie in a cluster.
  const Cluster &cluster_of(Address address) const {
    return *std::prev(std::upper_bound(clusters_.begin(), clusters_.end(), address,
                                       [](Address at, const Cluster &cluster) { return at < cluster.start; }));
  }
  u64 offset_of(Address address) const {
    const Cluster &cluster = cluster_of(address);
    return cluster.offset + (address - cluster.start);
  }
  bool begins_at(u64 offset) const { return starts_[offset / p_ / 64] >> (offset / p_ % 64) & 1; }
  // Returns the first place in [from, to) where an object begins; `to` if there is none.
  u64 next_start(u64 from, u64 to) const {
    if (from >= to)
      return to;
    u64 place = from / p_;
    u64 word = starts_[place / 64] >> (place % 64) << (place % 64);
    for (u64 w = place / 64;;) {
      if (word)
        return std::min((w * 64 + static_cast<u64>(std::countr_zero(word))) * p_, to);
      if (++w >= starts_.size() || w * 64 * p_ >= to)
        return to;
      word = starts_[w];
    }
  }

  void mark_starts() {
    std::atomic<u64> twice = 0;
    for_all("mark objects", [&](const ListedObject &object, unsigned) {
      if (!is_possible(object))
        return;
      const u64 place = offset_of(object.address) / p_, bit = u64{1} << (place % 64);
      if (std::atomic_ref<u64>(starts_[place / 64]).fetch_or(bit, std::memory_order_relaxed) & bit)
        twice.fetch_add(1, std::memory_order_relaxed);
    });
    twice_ = twice;
  }

  // An object that begins inside of another one is left out, as are all but one at the same address.
  void leave_out_overlapping() {
    std::mutex lock;
    std::vector<u64> inside;
    for_all("check objects", [&](const ListedObject &object, unsigned) {
      if (!is_possible(object))
        return;
      const u64 start = offset_of(object.address), end = start + room_of(object);
      for (u64 at = next_start(start + p_, end); at < end; at = next_start(at + p_, end)) {
        const std::scoped_lock locked(lock);
        inside.push_back(at);
      }
    });
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    for (u64 at : inside)
      starts_[at / p_ / 64] &= ~(u64{1} << (at / p_ % 64));
    overlapping_ = inside.size() + twice_;
  }

  // Chooses sizes for each type's MethodTable: a base size alone, or a base size and components.
  void describe_types() {
    record_.type_stride = 8 * p_;
    for (u64 i = 0; i < facts_.size(); ++i) {
      HeapRecord::Type &type = record_.types[i];
      const TypeFacts &facts = facts_[i];
      if (!facts.occurs())
        continue;
      const u64 unit = type.has_references ? p_ : 1;
      const u64 base = align_up(facts.smallest, unit);
      if (!facts.varies() && base <= ~u32{0}) {
        type.base_size = static_cast<u32>(base);
        continue;
      }
      type.base_size = static_cast<u32>(std::min<u64>(base, u64{1} << 30));
      u64 component = std::max<u64>(unit, std::min<u64>(u64{1} << std::countr_zero(facts.bits | 8), 8));
      if (type.base_size != base)
        component = unit;
      while ((facts.largest - type.base_size) / component > ~u32{0} - 1)
        component *= 2;
      type.component_size = static_cast<u32>(component);
    }
    record_.types[0].base_size = static_cast<u32>(3 * p_);
    record_.types[0].component_size = 1;
  }

  Address method_table(u64 type) const { return record_.first_type + type * record_.type_stride; }

  void put_word(u64 offset, u64 value) {
    if (p_ == 8)
      std::memcpy(bytes_.get() + offset, &value, 8);
    else
      put_half(offset, static_cast<u32>(value));
  }
  void put_half(u64 offset, u32 value) { std::memcpy(bytes_.get() + offset, &value, 4); }

  void write_objects() {
    place_types();
    std::vector<std::vector<std::pair<Address, Address>>> hidden(threads_);
    // With several objects at one address the first writer wins.
    LargeArray<u64> written(twice_ ? starts_.size() : 0);
    for_all("lay out objects", [&](const ListedObject &object, unsigned worker) {
      if (!is_possible(object))
        return;
      const u64 offset = offset_of(object.address);
      if (!begins_at(offset) || (twice_ && !is_first(written, offset)))
        return;
      write(object, offset, hidden[worker]);
    });
    for (auto &of : hidden)
      record_.hidden.insert(record_.hidden.end(), of.begin(), of.end());
    std::sort(record_.hidden.begin(), record_.hidden.end());
  }
  bool is_first(LargeArray<u64> &written, u64 offset) const {
    const u64 place = offset / p_, bit = u64{1} << (place % 64);
    return !(std::atomic_ref<u64>(written[place / 64]).fetch_or(bit, std::memory_order_relaxed) & bit);
  }
  void write(const ListedObject &object, u64 offset, std::vector<std::pair<Address, Address>> &hidden) {
    const HeapRecord::Type &type = record_.types[object.type];
    const u64 size = size_of(object);
    put_word(offset, method_table(object.type));
    u64 slot = offset + p_;
    if (type.component_size) {
      const u64 components =
          (size - std::min<u64>(size, type.base_size) + type.component_size - 1) / type.component_size;
      put_half(slot, static_cast<u32>(components));
      slot += p_;
    }
    const u64 end = offset + size - p_; // the last word is the header of what follows
    for (Address target : object.references)
      if (type.has_references && slot + p_ <= end) {
        put_word(slot, target);
        slot += p_;
      } else {
        hidden.emplace_back(object.address, target);
      }
  }

  // Returns the bytes that the object at this offset takes, by what was written there.
  u64 room_at(u64 offset) const {
    u64 word = 0;
    std::memcpy(&word, bytes_.get() + offset, p_);
    const HeapRecord::Type &type = record_.types[record_.type_at(word)];
    u32 components = 0;
    if (type.component_size)
      std::memcpy(&components, bytes_.get() + offset + p_, 4);
    return align_up(std::max<u64>(type.base_size + u64{components} * type.component_size, 3 * p_), p_);
  }

  // Fills the room between objects with Free objects, as the GC does. Each object takes care of the room behind it.
  void fill_room() {
    Timer timer(watch_, "fill room");
    std::vector<std::vector<Break>> breaks(threads_);
    std::atomic<bool> too_many = false;
    parallel_for(granules_.size(), threads_, [&](u64 g, unsigned worker) {
      watch_.check();
      const Cluster &cluster = cluster_of(granules_[g] << granule_shift);
      const u64 begin = g * granule_size, last = begin + granule_size;
      const u64 limit = cluster.offset + (cluster.end - cluster.start);
      for (u64 at = next_start(begin, last); at < last; at = next_start(at + p_, last)) {
        const u64 end = at + room_at(at), next = next_start(end, limit);
        if (next == limit || next == end)
          continue;
        const u64 room = next - end;
        if (room >= 3 * p_ && room - 3 * p_ <= ~u32{0}) {
          put_word(end, method_table(0));
          put_half(end + p_, static_cast<u32>(room - 3 * p_));
        } else {
          breaks[worker].push_back({cluster.start + (end - cluster.offset), cluster.start + (next - cluster.offset)});
          too_many = too_many || breaks[worker].size() > most_breaks;
        }
      }
      if (too_many)
        throw Error("its objects lie apart by less than the smallest object, again and again: the file is damaged");
    });
    for (const auto &of : breaks)
      breaks_.insert(breaks_.end(), of.begin(), of.end());
    std::sort(breaks_.begin(), breaks_.end(), [](const Break &a, const Break &b) { return a.end < b.end; });
  }

  // Returns the last object of a cluster that begins before `limit`, an offset; nullopt: none.
  std::optional<u64> last_start(const Cluster &cluster, u64 limit) const {
    for (u64 place = limit / p_; place * p_ > cluster.offset;) {
      --place;
      const u64 below = starts_[place / 64] << (63 - place % 64);
      if (below)
        return (place - static_cast<u64>(std::countl_zero(below))) * p_;
      place = place / 64 * 64;
    }
    return std::nullopt;
  }

  void make_segments() {
    std::vector<HeapRecord::Segment> listed = std::move(record_.segments);
    std::sort(listed.begin(), listed.end(), [](const auto &a, const auto &b) { return a.start < b.start; });
    record_.segments.clear();
    for (const Cluster &cluster : clusters_)
      add_segments_of(cluster, listed);
    record_.has_generations = !listed.empty();
  }
  void add_segments_of(const Cluster &cluster, const std::vector<HeapRecord::Segment> &listed) {
    const u64 limit = cluster.offset + (cluster.end - cluster.start);
    const u64 first = next_start(cluster.offset, limit);
    if (first == limit)
      return;
    auto address = [&](u64 offset) { return cluster.start + (offset - cluster.offset); };
    std::vector<Break> cuts;
    for (auto cut = std::lower_bound(breaks_.begin(), breaks_.end(), cluster.start,
                                     [](const Break &b, Address at) { return b.end < at; });
         cut != breaks_.end() && cut->end < cluster.end; ++cut)
      cuts.push_back(*cut);
    auto cut_at = [&](Address boundary) {
      if (boundary <= address(first) || boundary >= cluster.end)
        return;
      const u64 at = cluster.offset + (boundary - cluster.start);
      const std::optional<u64> before = last_start(cluster, at);
      const u64 next = next_start(align_up(at, p_), limit);
      if (before && *before + room_at(*before) <= at && next < limit)
        cuts.push_back({address(*before + room_at(*before)), address(next)});
    };
    for (const HeapRecord::Segment &segment : listed) {
      cut_at(segment.start);
      cut_at(segment.end);
    }
    std::sort(cuts.begin(), cuts.end(), [](const Break &a, const Break &b) { return a.end < b.end; });
    Address start = address(first);
    for (const Break &cut : cuts)
      if (cut.end > start) {
        add_segment(start, cut.end, listed);
        start = cut.next;
      }
    if (const std::optional<u64> last = last_start(cluster, limit); last && address(*last) >= start)
      add_segment(start, address(*last + room_at(*last)), listed);
  }
  void add_segment(Address start, Address end, const std::vector<HeapRecord::Segment> &listed) {
    auto after = std::upper_bound(listed.begin(), listed.end(), start,
                                  [](Address at, const HeapRecord::Segment &segment) { return at < segment.start; });
    const bool is_listed = after != listed.begin() && start < std::prev(after)->end;
    record_.segments.push_back({start, end, is_listed ? std::prev(after)->generation : 2});
  }

  // The MethodTables lie where no object does.
  void place_types() {
    const u64 size = (record_.types.size() + 1) * record_.type_stride;
    const Address end = clusters_.empty() ? granule_size : clusters_.back().end;
    const bool is_room_above = end + granule_size + size <= top();
    if (!is_room_above && clusters_.front().start < granule_size + size)
      throw Error("its objects leave no room for types: the file is damaged");
    record_.first_type = (is_room_above ? end : 0) + granule_size + 4 * p_;
    types_ = std::make_shared<std::vector<std::byte>>(size);
    for (u64 i = 0; i < record_.types.size(); ++i)
      write_gcdesc(i);
  }
  // One series: from the second or third word to the end of the object.
  void write_gcdesc(u64 type) {
    const HeapRecord::Type &of = record_.types[type];
    if (!of.has_references)
      return;
    const u64 at = (type * record_.type_stride) + 4 * p_, offset = of.component_size ? 2 * p_ : p_;
    auto put = [&](u64 place, u64 value) { std::memcpy(types_->data() + place, &value, p_); };
    put(at - 3 * p_, -(offset + p_)); // the series' size less the object's
    put(at - 2 * p_, offset);
    put(at - p_, 1);
  }

  void hand_over() {
    std::vector<Range> ranges;
    for (const Cluster &cluster : clusters_)
      ranges.push_back({cluster.start, Bytes(bytes_.get() + cluster.offset, cluster.end - cluster.start)});
    ranges.push_back({record_.first_type - 4 * p_, Bytes(*types_)});
    constexpr ByteOrder native = is_native(ByteOrder::little) ? ByteOrder::little : ByteOrder::big;
    target_.memory = Memory(Format{static_cast<u8>(p_), native}, std::move(ranges));
    target_.storage.push_back(bytes_);
    target_.storage.push_back(types_);
  }

  void add_notes() {
    if (const u64 lost = odd_ + overlapping_)
      target_.notes.add(Subject::dump, Effect::liveness,
                        count_text(lost) + (lost == 1 ? " object is" : " objects are") +
                            " left out: at an odd address, or inside of another object");
  }

  const ListedObjects &objects_;
  const u64 p_;
  const unsigned threads_;
  const Watch watch_;
  Target &target_;
  HeapRecord &record_;
  std::vector<TypeFacts> facts_;
  std::vector<u64> granules_; // ascending
  std::vector<Cluster> clusters_;
  std::shared_ptr<std::byte> bytes_;
  std::shared_ptr<std::vector<std::byte>> types_;
  LargeArray<u64> starts_; // a bit per word of bytes_
  std::vector<Break> breaks_;
  u64 written_ = 0; // about so many bytes of pages
  u64 odd_ = 0, twice_ = 0, overlapping_ = 0;
};

} // namespace

void lay_out_heap(const ListedObjects &objects, u8 pointer_size, unsigned threads, const Watch &watch, Target &target,
                  std::shared_ptr<HeapRecord> record) {
  if (pointer_size != 4 && pointer_size != 8)
    throw Error("the size of pointers is " + std::to_string(pointer_size) + ", not 4 or 8");
  HeapLayout(objects, pointer_size, std::max(threads, 1u), watch, target, *record).make();
  target.modules.push_back(Module{.path = "(" + record->source + ")", .base = 0, .extents = {}});
  target.record = std::move(record);
}

} // namespace dnheap
