// WasteScan: one parallel look at all objects that finds the waste of analysis/waste/waste.h, but not its holders. For
// each object that wastes something it has the kind of waste, and the bytes that a fix would save. An object is in the
// result at most once, and never both as a part of a collection and on its own. Costs 24 bytes per object whose content
// is compared, as long as that takes, then 24 bytes per object that wastes something. Throws Error, Interrupted. Not
// for several threads at once.
#pragma once
#include "algorithms/equal_contents.h"
#include "analysis/shapes/collections/collection_shapes.h"
#include "analysis/waste/buffer_owners.h"
#include "analysis/waste/waste.h"
#include "base/chunks.h"
#include "base/notes.h"
#include "heap/tally.h"
#include "objects/object_index.h"
#include "runtime/string_object.h"

namespace dnheap {

struct WastedObject {
  Address address = 0;
  u64 bytes = 0; // bytes that a fix would save
  TypeId type = TypeId(0);
  WasteKind kind = WasteKind::duplicate_strings;
};

class WasteScan {
public:
  WasteScan(const Snapshot &snapshot, const ObjectFilter &filter);

  // The results are unordered, but grouped by stretches of the heap of a few MiB each. Look-ups by place so stay in the
  // processor's cache. No word of HeapBits belongs to two stretches, so threads can process different stretches at
  // once.
  u64 stretches() const { return found_.empty() ? 0 : found_[0].size(); }
  // Calls visit(object, place) for each result of a stretch.
  template <class Visit> void for_each(u64 stretch, Visit &&visit) const {
    for (const std::vector<Chunks<WastedObject>> &of_thread : found_)
      of_thread[stretch].for_each(
          [&](const WastedObject &object) { visit(object, index_.places().find(object.address)); });
  }
  const Notes &notes() const { return notes_; }
  // See Waste.

private:
  enum class Role : u8 { none, string, plain_array, reference_array, box, object, collection };
  struct Worker;

  std::vector<Role> roles_of(const Snapshot &snapshot);
  void look_at_all(const Snapshot &snapshot, const ObjectFilter &filter);
  // Returns the fill of a collection, or of another owner of a buffer.
  std::optional<CollectionFill> fill_of(const OpenedObject &object, ReferenceReader &reader) const;
  void look_at(const OpenedObject &object, u64 aligned, Worker &worker) const;
  // Returns what a collection wastes. `shared`: parts of several collections, which do not count; null: all parts
  // count.
  std::optional<WastedObject> waste_of(const OpenedObject &collection, const CollectionFill &fill, u64 aligned,
                                       ReferenceReader &reader, const HeapBits *shared) const;
  std::optional<u64> zero_bytes(const OpenedObject &array) const;
  u64 element_bytes(const OpenedObject &array) const;
  void add_copies(EqualGroups equal, const Snapshot &snapshot, unsigned thread);
  void add(const WastedObject &object, unsigned thread) {
    found_[thread][index_.places().find(object.address) >> stretch_shift_].push_back(object);
  }

  const Runtime &runtime_;
  const Heap &heap_;
  const References &references_;
  const ObjectIndex &index_;
  const Format format_;
  const StringLayout string_layout_;
  const CollectionShapes shapes_;
  const BufferOwners buffers_;
  Notes notes_;
  std::vector<u32> base_sizes_;                          // by TypeId
  const std::vector<Role> roles_;                        // by TypeId
  const std::vector<Address> holders_;                   // the runtime's own arrays, see RootSet::holders
  HeapBits claimed_, shared_;                            // parts of collections; parts of several collections
  unsigned stretch_shift_ = 0;                           // a stretch has this power of two of places
  std::vector<std::vector<Chunks<WastedObject>>> found_; // by thread, by stretch
};

} // namespace dnheap
