#include "analysis/waste/waste_scan.h"

#include "algorithms/zero_elements.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/string_contents.h"
#include "analysis/waste/copies.h"
#include "base/parallel.h"
#include "objects/alignments.h"
#include "objects/roots.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

constexpr u64 most_stretches = 256;

bool test(HeapBits &bits, u64 place) {
  return std::atomic_ref<u64>(bits.words()[place / 64]).load(std::memory_order_relaxed) >> (place % 64) & 1;
}

// Adds to a set; true if it was there before.
bool test_and_add(HeapBits &bits, u64 place) {
  const u64 bit = u64{1} << (place % 64);
  return std::atomic_ref<u64>(bits.words()[place / 64]).fetch_or(bit, std::memory_order_relaxed) & bit;
}

} // namespace

// The data of one thread.
struct WasteScan::Worker {
  Worker(const References &references, EqualContents::Writer &contents, HeapBits &claimed, HeapBits &shared)
      : reader(references), contents(contents), claimed(claimed), shared(shared) {}

  void claim(const CollectionFill &fill) {
    for (Address part : fill.parts)
      claim(part);
  }
  void claim(Address part) {
    const u64 place = part ? claimed.places().find(part) : HeapPlaces::nowhere;
    if (place != HeapPlaces::nowhere && test_and_add(claimed, place)) {
      test_and_add(shared, place);
      has_shared = true;
    }
  }

  ReferenceReader reader;
  EqualContents::Writer &contents;
  HeapBits &claimed, &shared;
  bool has_shared = false;
  std::vector<WastedObject> collections, others;
};

WasteScan::WasteScan(const Snapshot &snapshot, const ObjectFilter &filter)
    : runtime_(snapshot.runtime()), heap_(snapshot.heap()), references_(snapshot.references()),
      index_(snapshot.index()), format_(references_.format()), string_layout_(string_layout(runtime_)),
      shapes_(runtime_, references_.types(), index_.count()), buffers_(runtime_, references_.types()),
      roles_(roles_of(snapshot)), holders_(snapshot.roots().holders), claimed_(index_.starts().shared_places()),
      shared_(index_.starts().shared_places()) {
  look_at_all(snapshot, filter);
  notes_.add_all(shapes_.notes("the fill of its objects is unknown"));
}

std::vector<WasteScan::Role> WasteScan::roles_of(const Snapshot &snapshot) {
  const HeapTypes &types = references_.types();
  const BaseTypes bases(runtime_);
  const std::vector<bool> is_string = string_types(types, runtime_);
  const bool is_blanked = snapshot.target().has_blanked_values();
  const bool lacks_contents = is_blanked || std::find(is_string.begin(), is_string.end(), true) == is_string.end();
  if (is_blanked)
    notes_.add(Subject::dump, Effect::numbers,
               "contents were blanked when this core was extracted: equal and zero contents, and the fill of "
               "collections, are unknown");
  else if (lacks_contents)
    notes_.add(Subject::answer, Effect::numbers, "the type of strings was not found in this heap");
  base_sizes_.resize(types.size());
  std::vector<Role> out(types.size(), Role::none);
  for (u32 i = 0; i < types.size(); ++i) {
    const ObjectType &type = types[TypeId{i}];
    const std::optional<ObjectLayout> layout = runtime_.types().object_layout(type.method_table);
    if (!layout)
      continue;
    base_sizes_[i] = layout->base_size;
    if (is_blanked)
      out[i] =
          layout->component_size == 0 && bases.derives(type.method_table, "System.ValueType") ? Role::box : Role::none;
    else if (shapes_.is_collection(TypeId{i}) || buffers_.contain(TypeId{i}))
      out[i] = Role::collection;
    else if (is_string[i])
      out[i] = Role::string;
    else if (layout->component_size)
      out[i] = layout->contains_gc_pointers ? Role::reference_array : Role::plain_array;
    else if (bases.derives(type.method_table, "System.ValueType"))
      out[i] = Role::box;
    else if (!layout->contains_gc_pointers && layout->base_size <= most_small_object &&
             (layout->base_size > smallest_object(format_) ||
              !runtime_.fields().instance_fields(type.method_table).empty()))
      out[i] = Role::object; // an object without fields is no waste: it exists for its identity, for example as a lock
  }
  return out;
}

void WasteScan::look_at_all(const Snapshot &snapshot, const ObjectFilter &filter) {
  const unsigned threads = std::max(snapshot.threads(), 1u);
  u64 expected = 0;
  for (const TypeTally &type : snapshot.tally().types)
    expected += type.total().count;
  EqualContents contents(expected / 2, threads);
  Timer timer(snapshot.watch(), "waste", heap_.segment_bytes());
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<Worker>(references_, contents.writer(i), claimed_, shared_));
  parallel_for(index_.places().blocks(), threads, [&](u64 block, unsigned number) {
    snapshot.watch().check();
    Worker &worker = *workers[number];
    Alignments alignments(heap_, index_.places().block_address(block));
    index_.for_each(block, [&](ObjectId, Address address) {
      OpenedObject opened;
      if (!worker.reader.open(address, opened) || roles_[static_cast<u32>(opened.id)] == Role::none)
        return;
      Object object;
      object.address = address;
      object.size = opened.size;
      const u64 aligned = align_up(opened.size, alignments.of(address));
      if (roles_[static_cast<u32>(opened.id)] == Role::collection) {
        // Its parts belong to it whether it passes the filter or not.
        if (const std::optional<CollectionFill> fill = fill_of(opened, worker.reader)) {
          std::optional<WastedObject> waste;
          if (filter.passes(object) && !heap_.is_frozen(address))
            waste = waste_of(opened, *fill, aligned, worker.reader, nullptr);
          // The contents of a stream that is full may be equal to others.
          if (waste || !buffers_.contain(opened.id))
            worker.claim(*fill);
          if (waste)
            worker.collections.push_back(*waste);
        } else {
          worker.claim(shapes_.array_of_segment(opened, format_));
        }
      } else if (filter.passes(object)) {
        look_at(opened, aligned, worker);
      }
    });
    if (auto *progress = snapshot.watch().progress)
      progress->done += index_.places().block_size() << index_.places().unit_shift();
  });
  bool has_shared = false;
  for (const auto &worker : workers)
    has_shared |= worker->has_shared;
  // Merges the threads' collections first; then the copies, which claim the objects that they count; then the threads'
  // other objects that are left.
  std::vector<EqualGroups> equal = contents.take_parts(threads, snapshot.watch());
  const u64 places = index_.places().count();
  stretch_shift_ = static_cast<unsigned>(std::bit_width(index_.places().block_size())) - 1;
  while (places >> stretch_shift_ > most_stretches)
    ++stretch_shift_;
  found_.resize(threads);
  for (std::vector<Chunks<WastedObject>> &of_thread : found_)
    of_thread.resize((places >> stretch_shift_) + 1);
  parallel_for(workers.size(), threads, [&](u64 i, unsigned thread) {
    Worker &worker = *workers[i];
    for (const WastedObject &object : worker.collections) {
      OpenedObject opened;
      if (!has_shared) {
        add(object, thread);
      } else if (worker.reader.open(object.address, opened)) {
        const std::optional<CollectionFill> fill = fill_of(opened, worker.reader);
        const u64 aligned = align_up(opened.size, Alignments(heap_, object.address).of(object.address));
        if (fill)
          if (std::optional<WastedObject> waste = waste_of(opened, *fill, aligned, worker.reader, &shared_))
            add(*waste, thread);
      }
    }
    worker.collections = {};
  });
  // An object is in one group at most, so no other thread asks for an object that one thread claims.
  parallel_for(equal.size(), threads,
               [&](u64 i, unsigned thread) { add_copies(std::move(equal[i]), snapshot, thread); });
  parallel_for(workers.size(), threads, [&](u64 i, unsigned thread) {
    for (const WastedObject &object : workers[i]->others)
      if (object.kind == WasteKind::boxes || !claimed_.test(object.address))
        add(object, thread);
  });
}

std::optional<CollectionFill> WasteScan::fill_of(const OpenedObject &object, ReferenceReader &reader) const {
  return buffers_.contain(object.id) ? buffers_.read(object, reader, format_) : shapes_.read(object, reader, format_);
}

void WasteScan::look_at(const OpenedObject &object, u64 aligned, Worker &worker) const {
  const u64 p = format_.pointer_size;
  const Role role = roles_[static_cast<u32>(object.id)];
  const u64 tag = CopyTag::of(index_.places().find(object.address), aligned != align_up(object.size, p));
  const bool is_frozen = heap_.is_frozen(object.address);
  if (role == Role::string) {
    if (const std::optional<Bytes> characters = characters_of(object, string_layout_, format_.byte_order))
      worker.contents.add(content_hash(*characters), tag);
    return;
  }
  if (role == Role::box) {
    // Without the box the value would be in place of the reference.
    const u64 value = aligned - std::min(aligned, 2 * p);
    if (!is_frozen)
      worker.others.push_back({object.address, aligned - (value > p ? value - p : 0), object.id, WasteKind::boxes});
    return;
  }
  // Hashes everything after the MethodTable up to the next object's header, including the length of arrays.
  if (role != Role::reference_array)
    worker.contents.add(content_hash({object.bytes + p, object.size - 2 * p}, object.type->method_table), tag);
  if (role == Role::object || is_frozen)
    return;
  if (const std::optional<u64> zeros = zero_bytes(object))
    worker.others.push_back({object.address, *zeros, object.id,
                             *zeros == element_bytes(object) ? WasteKind::zero_arrays : WasteKind::mostly_zero_arrays});
}

u64 WasteScan::element_bytes(const OpenedObject &array) const {
  return u64{load<u32>(array.bytes + format_.pointer_size, format_.byte_order)} * shapes_.component_size(array.id);
}

std::optional<u64> WasteScan::zero_bytes(const OpenedObject &array) const {
  const u64 p = format_.pointer_size, component = shapes_.component_size(array.id);
  const u64 length = load<u32>(array.bytes + p, format_.byte_order);
  const u64 base = base_sizes_[static_cast<u32>(array.id)];
  if (length * component < least_sparse_array || base < 2 * p || base - p + length * component > array.size)
    return std::nullopt;
  if (std::binary_search(holders_.begin(), holders_.end(), array.address))
    return std::nullopt;
  const Bytes elements(array.bytes + base - p, length * component);
  const std::optional<u64> zeros = zero_elements(elements, component, length / least_others_share);
  return zeros ? std::optional(*zeros * component) : std::nullopt;
}

std::optional<WastedObject> WasteScan::waste_of(const OpenedObject &collection, const CollectionFill &fill, u64 aligned,
                                                ReferenceReader &reader, const HeapBits *shared) const {
  if (!fill.capacity)
    return std::nullopt;
  u64 parts = 0, unused = 0, room = 0, element = 0;
  for (u64 i = 0; i < fill.parts.size(); ++i) {
    const Address part = fill.parts[i];
    OpenedObject opened;
    if (!part || heap_.is_frozen(part) || (shared && shared->test(part)) || !reader.open(part, opened))
      continue;
    const u64 component = shapes_.component_size(opened.id);
    const u64 length = component ? load<u32>(opened.bytes + format_.pointer_size, format_.byte_order) : 0;
    parts += align_up(opened.size, Alignments(heap_, part).of(part));
    if (std::find(fill.slots.begin(), fill.slots.end(), part) == fill.slots.end())
      continue;
    if (element == 0)
      element = component;
    const u64 here = fill.count - fill.elsewhere;
    unused += length > here ? (length - here) * component : 0;
    room += length * component;
  }
  WastedObject out{collection.address, 0, collection.id, WasteKind::over_allocated_collections};
  if (fill.count == 0) {
    out.kind = WasteKind::empty_collections;
    out.bytes = (buffers_.contain(collection.id) ? 0 : aligned) + parts;
  } else if (fill.count == 1 && !fill.is_builder) {
    out.kind = WasteKind::one_element_collections;
    out.bytes = aligned + parts - element;
  } else if (is_over_allocated(fill.count, *fill.capacity)) {
    out.bytes = unused;
  } else if (is_much_room(unused, room)) {
    out.kind = WasteKind::unused_room;
    out.bytes = unused;
  }
  return out.bytes ? std::optional(out) : std::nullopt;
}

// Adds the copies, and claims the arrays among them. Several threads may do this with different groups.
void WasteScan::add_copies(EqualGroups equal, const Snapshot &snapshot, unsigned thread) {
  constexpr u64 ahead = 32; // the tags of a group lie anywhere in the heap
  const HeapPlaces &places = index_.places();
  ReferenceReader reader(references_);
  for (u64 g = 0; g < equal.groups.size(); ++g) {
    if (g % 1024 == 0)
      snapshot.watch().check();
    const u64 first = equal.groups[g].first, last = first + equal.groups[g].count;
    u64 kept = first;
    for (u64 i = first; i < last; ++i) {
      if (i + ahead < equal.tags.size())
        __builtin_prefetch(&claimed_.words()[CopyTag::place(equal.tags[i + ahead]) / 64]);
      if (!test(claimed_, CopyTag::place(equal.tags[i])))
        equal.tags[kept++] = equal.tags[i];
    }
    const std::span<u64> tags(equal.tags.data() + first, kept - first);
    OpenedObject opened;
    if (tags.size() < 2 || !reader.open(places.address(CopyTag::place(tags[0])), opened))
      continue;
    const Role role = roles_[static_cast<u32>(opened.id)];
    const WasteKind kind = role == Role::string        ? WasteKind::duplicate_strings
                           : role == Role::plain_array ? WasteKind::duplicate_arrays
                                                       : WasteKind::duplicate_objects;
    if (kind == WasteKind::duplicate_arrays)
      if (const std::optional<u64> zeros = zero_bytes(opened); zeros && *zeros == element_bytes(opened))
        continue; // each counts as zeros
    const u64 stay = sort_out_copies(tags, heap_, places);
    const bool may_be_zero = kind == WasteKind::duplicate_arrays && opened.size >= least_sparse_array;
    for (u64 tag : tags.subspan(stay)) {
      if (may_be_zero) // its zeros do not count in addition
        test_and_add(claimed_, CopyTag::place(tag));
      add({places.address(CopyTag::place(tag)), CopyTag::aligned_size(tag, opened.size, format_.pointer_size),
           opened.id, kind},
          thread);
    }
  }
}

} // namespace dnheap
