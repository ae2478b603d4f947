#include "analysis/shapes/holding_fields.h"

#include "algorithms/object_bits.h"
#include "base/parallel.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "objects/roots.h"

#include <algorithm>
#include <array>

namespace dnheap {

namespace {

// One of the objects asked about, and a field that holds it.
struct HoldingField {
  u32 object = 0, field = 0;
  auto operator<=>(const HoldingField &) const = default;
};

// The work of one thread. Memory is prefetched and read a little later, with three short queues: objects, whose first
// bytes are read next; references, whose targets are looked up among the objects asked about; and fields of the
// references that hit.
class HolderReader {
public:
  HolderReader(const ObjectIndex &asked, const References &references, const FieldNumbers &numbers,
               LargeArray<u32> &fields)
      : asked_(asked), numbers_(numbers), fields_(fields), references_(references), reader_(references),
        format_(references.format()) {}

  void read(Address address) {
    const Bytes bytes = references_.bytes().from(address);
    __builtin_prefetch(bytes.data());
    if (objects_.is_full())
      read(objects_.take());
    objects_.put({address, bytes});
  }
  void drain() {
    while (!objects_.is_empty())
      read(objects_.take());
    while (!waiting_.is_empty())
      test(waiting_.take());
    while (!holding_.is_empty())
      add(holding_.take());
  }
  std::vector<HoldingField> take_further() {
    compact();
    return std::move(further_);
  }

private:
  static constexpr u64 no_slot = ~u64{0};

  struct Unread {
    Address address;
    Bytes bytes;
  };
  // The field is determined only for the few references that lead to an object asked about.
  struct Waiting {
    u64 place, offset;
    TypeId type;
  };
  // A short queue, first in, first out.
  template <class T, u64 size> class Queue {
  public:
    bool is_empty() const { return begin_ == end_; }
    bool is_full() const { return end_ - begin_ == size; }
    void put(const T &one) { all_[end_++ % size] = one; }
    const T &take() { return all_[begin_++ % size]; } // valid until the next put()

  private:
    std::array<T, size> all_;
    u64 begin_ = 0, end_ = 0;
  };

  [[gnu::always_inline]] void read(const Unread &unread) {
    OpenedObject object;
    if (!reader_.open(unread.address, unread.bytes, object))
      return;
    object.type->references.for_each_slot(object.bytes, object.size, format_, [&](const std::byte *slot) {
      if (u64 target = load_pointer(slot, format_))
        enter(target, object.id, static_cast<u64>(slot - object.bytes));
    });
    if (object.type->has_hidden)
      reader_.for_each_hidden(object, [&](Address target) { enter(target, object.id, no_slot); });
  }
  [[gnu::always_inline]] void enter(Address target, TypeId type, u64 offset) {
    const u64 place = asked_.places().find(target);
    if (place == HeapPlaces::nowhere)
      return;
    asked_.prefetch(place);
    if (waiting_.is_full())
      test(waiting_.take());
    waiting_.put({place, offset, type});
  }
  [[gnu::always_inline]] void test(const Waiting &one) {
    const ObjectId object = asked_.at_place(one.place);
    if (object == no_object)
      return;
    __builtin_prefetch(&fields_[static_cast<u32>(object)], 1);
    if (holding_.is_full())
      add(holding_.take());
    holding_.put({static_cast<u32>(object),
                  1 + (one.offset == no_slot ? numbers_.hidden(one.type) : numbers_.of(one.type, one.offset))});
  }
  void add(const HoldingField &one) {
    const auto [object, field] = one;
    std::atomic_ref<u32> first(fields_[object]);
    u32 known = first.load(std::memory_order_relaxed);
    if (known == HoldingFields::nobody && first.compare_exchange_strong(known, field, std::memory_order_relaxed))
      return;
    if (known == field || (!further_.empty() && further_.back() == HoldingField{object, field}))
      return;
    further_.push_back({object, field});
    if (further_.size() >= limit_)
      compact();
  }
  // Removes duplicates, so that the list does not grow with the number of references.
  void compact() {
    std::sort(further_.begin(), further_.end());
    further_.erase(std::unique(further_.begin(), further_.end()), further_.end());
    limit_ = std::max<u64>(limit_, 2 * further_.size());
  }

  const ObjectIndex &asked_;
  const FieldNumbers &numbers_;
  LargeArray<u32> &fields_;
  const References &references_;
  ReferenceReader reader_;
  const Format format_;
  std::vector<HoldingField> further_; // holders that were found after the first one
  u64 limit_ = 1 << 20;
  Queue<Unread, 16> objects_;
  Queue<Waiting, 64> waiting_;
  Queue<HoldingField, 32> holding_;
};

// Chooses, for each object with several fields, the field that holds most.
void choose_fields(LargeArray<u32> &fields, const std::vector<HoldingField> &further,
                   const std::function<u64(u32)> &bytes) {
  if (further.empty())
    return;
  std::unordered_map<u32, u64> sums;
  for (u64 i = 0; i < fields.size(); ++i)
    if (fields[i] != HoldingFields::nobody)
      sums[fields[i]] += bytes(static_cast<u32>(i));
  for (const HoldingField &one : further)
    sums[one.field] += bytes(one.object);
  for (const HoldingField &one : further) {
    u32 &chosen = fields[one.object];
    const u64 old = sums[chosen], other = sums[one.field];
    if (other > old || (other == old && one.field < chosen))
      chosen = one.field;
  }
}

// Returns the same objects by their numbers in the snapshot's index.
ObjectBits bits_of(const ObjectIndex &asked, const ObjectIndex &index, unsigned threads) {
  ObjectBits out(index.count());
  parallel_for(asked.places().blocks(), threads, [&](u64 block, unsigned) {
    asked.for_each(block, [&](ObjectId, Address address) {
      if (const ObjectId object = index.find(address); object != no_object)
        out.claim(object);
    });
  });
  return out;
}

// Runs for every object, so it has no branch for each reference, which no processor could predict. References lie in
// the order of the objects: the bits of later ones are prefetched, so that a wrongly predicted branch does not wait for
// memory.
bool refers_to_any(const Edges &edges, ObjectId object, const ObjectBits &bits) {
  constexpr u64 at_once = 64, ahead = 32;
  const std::span<const ObjectId> targets = edges.of(object);
  if (targets.empty()) // an empty span has no address to prefetch from
    return false;
  const u64 from = static_cast<u64>(targets.data() - edges.targets.data()) + ahead;
  const u64 to = std::min<u64>(from + targets.size(), edges.targets.size());
  for (u64 i = from; i < to; ++i)
    bits.prefetch(edges.targets[i]);
  for (u64 i = 0; i < targets.size(); i += at_once) {
    bool any = false;
    for (ObjectId target : targets.subspan(i, std::min(at_once, targets.size() - i)))
      any |= bits.test(target);
    if (any)
      return true;
  }
  return false;
}

// A lower rank makes a better name.
u32 rank_of(const Root &root) {
  switch (root.kind) {
  case RootKind::static_field: return 0;
  case RootKind::thread_static: return 1;
  case RootKind::handle: return 2;
  case RootKind::finalizer: return 3;
  case RootKind::com: return 4;
  case RootKind::stack: return 5;
  case RootKind::stack_conservative: return 6;
  }
  return 6;
}

std::string root_text(const RootSet &roots, const Root &root) {
  const std::string &name = roots.name(root);
  if (root.kind == RootKind::static_field || root.kind == RootKind::thread_static)
    return (root.kind == RootKind::static_field ? "static " : "thread static ") + name;
  return "(" + kind_text(root) + ")";
}

} // namespace

HoldingFields::HoldingFields(const Snapshot &snapshot, const ObjectIndex &asked, const std::function<u64(u32)> &bytes,
                             const HeapBits *among, const ObjectGraph *graph)
    : snapshot_(snapshot), numbers_(snapshot.runtime(), snapshot.references().types()), fields_(asked.count()) {
  const ObjectIndex &index = snapshot.index();
  const References &references = snapshot.references();
  const std::vector<Address> &left_out = snapshot.roots().holders; // objects held by these are roots
  const unsigned threads = std::max(snapshot.threads(), 1u);
  Timer timer(snapshot.watch(), "holders", snapshot.heap().segment_bytes());
  const ObjectBits asked_bits = graph ? bits_of(asked, index, threads) : ObjectBits();
  const Edges edges = graph ? graph->edges() : Edges();
  std::vector<std::unique_ptr<HolderReader>> readers;
  for (unsigned i = 0; i < threads; ++i)
    readers.push_back(std::make_unique<HolderReader>(asked, references, numbers_, fields_));
  parallel_for(asked.count() ? index.places().blocks() : 0, threads, [&](u64 block, unsigned worker) {
    snapshot.watch().check();
    HolderReader &reader = *readers[worker];
    index.for_each(block, [&](ObjectId object, Address address) {
      if (graph && !refers_to_any(edges, object, asked_bits))
        return;
      if ((!among || among->test(address)) &&
          (left_out.empty() || !std::binary_search(left_out.begin(), left_out.end(), address)))
        reader.read(address);
    });
    reader.drain();
    if (auto *progress = snapshot.watch().progress)
      progress->done += index.places().block_size() << index.places().unit_shift();
  });
  std::vector<HoldingField> further;
  for (const auto &reader : readers) {
    std::vector<HoldingField> part = reader->take_further();
    further.insert(further.end(), part.begin(), part.end());
  }
  std::sort(further.begin(), further.end());
  further.erase(std::unique(further.begin(), further.end()), further.end());
  choose_fields(fields_, further, bytes);
  add_roots(snapshot, asked);
}

void HoldingFields::add_roots(const Snapshot &snapshot, const ObjectIndex &asked) {
  const RootSet &roots = snapshot.roots();
  std::unordered_map<std::string, u32> numbers;
  std::unordered_map<u32, std::pair<u32, u32>> best; // by object: rank, and index of the root
  for (u32 i = 0; i < roots.roots.size(); ++i) {
    const Root &root = roots.roots[i];
    const ObjectId object = asked.find(root.object);
    if (object == no_object || fields_[static_cast<u32>(object)] != nobody)
      continue;
    if (root.kind == RootKind::handle && !is_strong(root.handle))
      continue;
    const std::pair<u32, u32> offer(rank_of(root), i);
    auto [at, is_new] = best.emplace(static_cast<u32>(object), offer);
    if (!is_new)
      at->second = std::min(at->second, offer);
  }
  std::vector<std::pair<u32, u32>> found; // object, root
  for (const auto &[object, offer] : best)
    found.emplace_back(object, offer.second);
  std::sort(found.begin(), found.end());
  for (auto [object, root] : found) {
    auto [at, is_new] = numbers.emplace(root_text(roots, roots.roots[root]), static_cast<u32>(root_texts_.size()));
    if (is_new)
      root_texts_.push_back(at->first);
    fields_[object] = 1 + numbers_.count() + at->second;
  }
}

std::string HoldingFields::field_text(u32 number) {
  if (!calls_)
    calls_.emplace(snapshot_);
  const FieldNumbers::Place place = numbers_.place(number);
  const std::string variable = place.offset ? calls_->variable_of_all(place.method_table, *place.offset) : "";
  return variable.empty() ? numbers_.text(number) : variable;
}

const std::string &HoldingFields::text(u32 field) {
  auto [at, is_new] = texts_.try_emplace(field);
  if (is_new)
    at->second = field == nobody             ? nobody_text
                 : field <= numbers_.count() ? field_text(field - 1)
                                             : root_texts_[field - 1 - numbers_.count()];
  return at->second;
}

} // namespace dnheap
