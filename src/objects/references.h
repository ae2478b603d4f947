// References: the references of each object: the words that its type's GCDesc names, the secondaries of dependent
// handles of which it is the key, and, for collectible types, their LoaderAllocator. Built by one thread in time
// proportional to types and handles; then immutable. Each thread reads objects through a ReferenceReader of its own.
#pragma once
#include "algorithms/dependents.h"
#include "heap/object_bytes.h"
#include "heap/walk.h"
#include "objects/heap_types.h"
#include "runtime/object_1.h"

namespace dnheap {

class References {
public:
  // `method_tables`: those of all objects, ascending. The heap and the runtime must outlive this object.
  References(const Heap &heap, const Runtime &runtime, std::span<const Address> method_tables,
             std::vector<Dependent> dependents);

  const HeapTypes &types() const { return types_; }
  const ObjectBytes &bytes() const { return bytes_; }
  const Dependents &dependents() const { return dependents_; }
  Format format() const { return format_; }

private:
  const Format format_;
  HeapTypes types_;
  ObjectBytes bytes_;
  Dependents dependents_;
};

// An object whose first words were read.
struct OpenedObject {
  Address address = 0;
  const std::byte *bytes = nullptr; // from its MethodTable pointer on
  u64 size = 0;                     // as ClrMD and SOS report it
  TypeId id = TypeId(0);
  const ObjectType *type = nullptr;
};

class ReferenceReader {
public:
  explicit ReferenceReader(const References &references)
      : references_(references), format_(references.format()), table_(references.types().table()) {}

  // Returns false if no object of a known type lies there. `bytes`: from the object to the end of its range. Inlined by
  // force, since compilers do not inline it where one file calls it in several loops.
  [[gnu::always_inline]] bool open(Address address, Bytes bytes, OpenedObject &out) {
    if (bytes.size() < smallest_object(format_))
      return false;
    const TypeRow *row = table_.find(method_table_in(load_pointer(bytes.data(), format_), format_));
    if (!row || row->id >= references_.types().size())
      return false;
    u32 components = load<u32>(bytes.data() + format_.pointer_size, format_.byte_order);
    u64 size = object_size(row->base_size, row->component_size, components, format_);
    if (size > bytes.size())
      return false;
    out = {address, bytes.data(), size, TypeId(row->id), &references_.types()[TypeId(row->id)]};
    return true;
  }
  [[gnu::always_inline]] bool open(Address address, OpenedObject &out) {
    return open(address, references_.bytes().from(address), out);
  }

  // Calls visit(target) for each reference that is not null; hidden ones come last.
  template <class Visit> void for_each(const OpenedObject &object, Visit &&visit) const {
    if (!object.type->references.empty())
      object.type->references.for_each_slot(object.bytes, object.size, format_, [&](const std::byte *slot) {
        if (u64 target = load_pointer(slot, format_))
          visit(target);
      });
    if (object.type->has_hidden)
      for_each_hidden(object, visit);
  }
  template <class Visit> void for_each_hidden(const OpenedObject &object, Visit &&visit) const {
    if (object.type->loader_allocator)
      visit(object.type->loader_allocator);
    for (const Dependent &dependent : references_.dependents().of(object.address))
      if (dependent.secondary)
        visit(dependent.secondary);
  }

private:
  const References &references_;
  const Format format_;
  TypeTable table_;
};

} // namespace dnheap
