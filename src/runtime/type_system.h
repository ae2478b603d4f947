// TypeSystem: the facts that every kind of runtime has about a type: the size of its objects, and its name. A type is
// given by the address in the first word of its objects. Implemented once per kind of runtime. The walk asks only when
// it reaches a type's first object, so the virtual calls cost the walk nothing. object_layout() may be called from any
// thread, name() from one.
#pragma once
#include "base/integers.h"
#include "base/notes.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Size of an object = base_size + component_size × number of components.
struct ObjectLayout {
  u32 base_size = 0;
  u32 component_size = 0;
  bool contains_gc_pointers = false; // it has references, which a GCDesc in front of the MethodTable lists
};

class TypeSystem {
public:
  virtual ~TypeSystem() = default;

  // The type of Free objects, which fill the holes of the heap; 0 if the runtime does not publish it.
  virtual Address free_object_method_table() const = 0;
  // Nullopt unless a sound MethodTable lies there (NativeAOT uses the same term).
  virtual std::optional<ObjectLayout> object_layout(Address method_table) const = 0;
  // Returns the type that it derives from; 0: none, or unknown.
  virtual Address parent_of(Address) const { return 0; }
  // True for a struct, a primitive or an enum. Nullopt: unknown.
  virtual std::optional<bool> is_value_type(Address) const { return std::nullopt; }
  // Returns the managed LoaderAllocator of a collectible type, which each of its objects keeps alive without a field.
  // 0: the type is not collectible, or that is unknown.
  virtual Address loader_allocator_object(Address) const { return 0; }
  // Returns the full name as ClrMD spells it (metadata/type_name.h). If it is unknown, a text that identifies the type,
  // with the reason in notes(). Valid as long as this object.
  virtual const std::string &name(Address method_table) = 0;
  // Returns the assembly of a type: "Shop.Core.dll"; for an array or a generic instantiation, the one that defines the
  // outermost type. Empty: unknown.
  virtual std::string assembly(Address) { return {}; }
  // True if .NET's own types have names. Without them, tasks, exceptions and locks cannot be identified.
  virtual bool knows_framework() { return true; }
  // Why names are unknown: one line per reason, with its count.
  virtual Notes notes() const = 0;
};

} // namespace dnheap
