// ObjectStream: formats all objects of the heap in all threads, and writes them in the order of their addresses.
// Memory: the text of some MiB of heap per thread; the largest arrays are formatted piece by piece. The output does not
// depend on the number of threads. Reads each object once per call.
#pragma once
#include "analysis/export/file_text.h"
#include "analysis/export/reference_names.h"
#include "base/parallel.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "snapshot/snapshot.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dnheap {

class ObjectStream {
public:
  explicit ObjectStream(const Snapshot &snapshot)
      : snapshot_(snapshot), index_(snapshot.index()), references_(snapshot.references()),
        holders_(snapshot.roots().holders) {}

  struct Item {
    ObjectId id;
    Address address = 0;
    u64 bytes = 0, aligned_bytes = 0;
    GCSegmentGeneration generation = GCSegmentGeneration::gen0;
    OpenedObject object; // object.type is null if the type is unknown
    bool is_holder = false;
  };
  struct Reference {
    std::optional<u64> offset; // of the reference; nullopt: the reference has no field, and `hidden` names it
    ObjectId target;
    u32 hidden = 0; // text in ReferenceNames
  };

  u64 blocks() const { return index_.places().blocks(); }
  // Writes the text that format(FileText &, const Item &, u64 block) makes of each object.
  template <class Format> void write(NewFile &file, const char *pass, Format format);
  // Calls look(const Item &, u64 block) for each object, so that callers can count. Blocks come in any order. Writes
  // nothing.
  template <class Look> void look(const char *pass, Look look);
  // Returns the name of a reference of the object.
  static ReferenceNames::Name name(const ReferenceNames &names, const Item &item, const Reference &reference) {
    return reference.offset ? names.at(item.object.id, *reference.offset) : ReferenceNames::Name{reference.hidden, {}};
  }
  // Calls visit(Reference) for each reference that leads to an object, in the order of fields, hidden ones last.
  template <class Visit> void for_each_reference(const Item &item, Visit visit) const;

private:
  static constexpr u64 many_slots = 1 << 18; // larger objects are written one at a time
  static constexpr u64 ahead = 4;            // blocks per thread

  template <class Visit> void for_each(u64 block, Visit visit) const;
  void tell(u64 objects) const {
    if (Progress *progress = snapshot_.watch().progress) {
      progress->done += index_.places().block_size() << index_.places().unit_shift();
      progress->objects += objects;
    }
  }
  u64 total() const { return blocks() * (index_.places().block_size() << index_.places().unit_shift()); }

  const Snapshot &snapshot_;
  const ObjectIndex &index_;
  const References &references_;
  const std::vector<Address> &holders_;
};

template <class Visit> void ObjectStream::for_each(u64 block, Visit visit) const {
  const Address start = index_.places().block_address(block);
  const std::span<const ObjectRange> ranges = snapshot_.heap().ranges();
  auto range = std::upper_bound(ranges.begin(), ranges.end(), start,
                                [](Address a, const ObjectRange &one) { return a < one.end(); });
  auto holder = std::lower_bound(holders_.begin(), holders_.end(), start);
  ReferenceReader reader(references_);
  index_.for_each(block, [&](ObjectId id, Address address) {
    while (range + 1 < ranges.end() && range->end() <= address)
      ++range;
    while (holder != holders_.end() && *holder < address)
      ++holder;
    Item item;
    item.id = id;
    item.address = address;
    item.generation = range->generation;
    item.is_holder = holder != holders_.end() && *holder == address;
    if (reader.open(address, item.object)) {
      item.bytes = item.object.size;
      item.aligned_bytes = align_up(item.bytes, range->alignment);
    } else {
      item.object.type = nullptr;
    }
    visit(item);
  });
}

template <class Look> void ObjectStream::look(const char *pass, Look look) {
  Timer timer(snapshot_.watch(), pass, total());
  parallel_for(blocks(), snapshot_.threads(), [&](u64 block, unsigned) {
    snapshot_.watch().check();
    u64 objects = 0;
    for_each(block, [&](const Item &item) { ++objects, look(item, block); });
    tell(objects);
  });
}

template <class Format> void ObjectStream::write(NewFile &file, const char *pass, Format format) {
  Timer timer(snapshot_.watch(), pass, total());
  // A block's text in parts; a part may end with a large object, which is formatted directly into the file.
  struct Part {
    std::string text;
    std::optional<Item> large;
  };
  const u64 batch = ahead * std::max(snapshot_.threads(), 1u);
  std::vector<std::vector<Part>> parts(batch);
  FileText whole(file);
  for (u64 first = 0; first < blocks(); first += batch) {
    const u64 count = std::min(batch, blocks() - first);
    parallel_for(count, snapshot_.threads(), [&](u64 i, unsigned) {
      snapshot_.watch().check();
      parts[i].clear();
      FileText text;
      u64 objects = 0;
      for_each(first + i, [&](const Item &item) {
        ++objects;
        if (item.object.type && item.bytes / references_.format().pointer_size > many_slots)
          parts[i].push_back({std::exchange(text.text, {}), item});
        else
          format(text, item, first + i);
      });
      parts[i].push_back({std::move(text.text), {}});
      tell(objects);
    });
    for (u64 i = 0; i < count; ++i)
      for (Part &part : parts[i]) {
        snapshot_.watch().check();
        whole.text += part.text;
        if (part.large)
          format(whole, *part.large, first + i);
        whole.flush_if_large();
      }
  }
  whole.flush();
}

template <class Visit> void ObjectStream::for_each_reference(const Item &item, Visit visit) const {
  if (!item.object.type || item.is_holder)
    return;
  const ObjectType &type = *item.object.type;
  auto tell_of = [&](std::optional<u64> offset, Address target, u32 hidden) {
    if (const ObjectId to = target ? index_.find(target) : no_object; to != no_object)
      visit(Reference{offset, to, hidden});
  };
  const Format format = references_.format();
  type.references.for_each_slot(item.object.bytes, item.object.size, format, [&](const std::byte *slot) {
    tell_of(static_cast<u64>(slot - item.object.bytes), load_pointer(slot, format), 0);
  });
  if (!type.has_hidden)
    return;
  tell_of({}, type.loader_allocator, ReferenceNames::loader_allocator);
  for (const Dependent &dependent : references_.dependents().of(item.address))
    tell_of({}, dependent.secondary, ReferenceNames::dependent_handle);
}

} // namespace dnheap
