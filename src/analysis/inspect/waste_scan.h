// WasteScan: one parallel look at all objects for what analysis/waste.h counts, but for who holds it. Of each object
// that wastes something: what, and how many bytes fixing would save. An object is in the result once at most, and never
// both as a part of a collection and by itself. 24 bytes per object whose content may have an equal while that is found
// out, then 24 per object that wastes something. Throws Error, Interrupted. One thread.
#pragma once
#include "algorithms/equal_contents.h"
#include "analysis/inspect/collection_shapes.h"
#include "analysis/waste.h"
#include "heap/tally.h"
#include "objects/object_index.h"
#include "runtime/string_object.h"

namespace dnheap {

struct WastedObject {
  Address address = 0;
  u64 bytes = 0; // that fixing would save
  TypeId type = TypeId(0);
  WasteKind kind = WasteKind::duplicate_strings;
};

class WasteScan {
public:
  WasteScan(Snapshot &snapshot, const ObjectFilter &filter);

  // In no order, and in parts as threads found them, so that as many threads can go on with them.
  using Parts = std::vector<std::vector<WastedObject>>;
  const Parts &parts() const { return parts_; }
  const std::vector<std::string> &notes() const { return notes_; }
  // See Waste.
  bool lacks_contents() const { return lacks_contents_; }

private:
  enum class Role : u8 { none, string, plain_array, reference_array, box, object, collection };
  struct Worker;

  std::vector<Role> roles_of(Snapshot &snapshot);
  void look_at_all(Snapshot &snapshot, const ObjectFilter &filter);
  void look_at(const OpenedObject &object, u64 aligned, Worker &worker) const;
  // What a collection wastes; parts that others claim too are not counted where `shared` is given.
  std::optional<WastedObject> waste_of(const OpenedObject &collection, const CollectionFill &fill, u64 aligned,
                                       ReferenceReader &reader, const HeapBits *shared) const;
  std::optional<u64> zero_bytes(const OpenedObject &array) const;
  std::vector<WastedObject> copies_of(EqualGroups equal, Snapshot &snapshot);

  const Runtime &runtime_;
  const Heap &heap_;
  const References &references_;
  const ObjectIndex &index_;
  const Format format_;
  const StringLayout string_layout_;
  const CollectionShapes shapes_;
  std::vector<std::string> notes_;
  bool lacks_contents_ = false;
  std::vector<u32> base_sizes_;        // by TypeId
  const std::vector<Role> roles_;      // by TypeId
  const std::vector<Address> holders_; // arrays of the runtime's own, see RootSet::holders
  HeapBits claimed_, shared_;          // parts of collections; of several ones
  Parts parts_;
};

} // namespace dnheap
