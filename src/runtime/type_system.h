// TypeSystem: what every kind of runtime can say of a type, given the address that its objects begin with: the size of
// the objects, and the name. Implemented once per kind of runtime. The walk asks only when it meets a type for the
// first time, so the virtual calls cost it nothing. object_layout() may be called from any thread, name() from one.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Size of an object = base_size + component_size × number of components.
struct ObjectLayout {
  u32 base_size = 0;
  u32 component_size = 0;
  bool contains_gc_pointers = false; // references, described by a GCDesc in front of the MethodTable
};

class TypeSystem {
public:
  virtual ~TypeSystem() = default;

  // The type of Free objects, which fill the holes of the heap; 0 where the runtime does not say which it is.
  virtual Address free_object_method_table() const = 0;
  // Nullopt unless a sound MethodTable (NativeAOT calls it so too) lies there.
  virtual std::optional<ObjectLayout> object_layout(Address method_table) const = 0;
  // A struct, a primitive or an enum? Nullopt: cannot be told.
  virtual std::optional<bool> is_value_type(Address) const { return std::nullopt; }
  // Of a collectible type: its managed LoaderAllocator, which each of its objects keeps alive though no field says so.
  // 0: the type is not collectible, or it cannot be told.
  virtual Address loader_allocator_object(Address) const { return 0; }
  // The full name as ClrMD spells it (metadata/type_name.h), or where it cannot be told a text that says which type it
  // is, with the reason in problems(). Valid as long as this object.
  virtual const std::string &name(Address method_table) = 0;
  // The assembly that a type is of: "Shop.Core.dll"; of an array or instance, where the outermost type is defined.
  // Empty: cannot be told.
  virtual std::string assembly(Address) { return {}; }
  // Have .NET's own types names? Else nobody can say which objects are tasks, exceptions or locks.
  virtual bool knows_framework() { return true; }
  // Why names could not be told: one line per reason, with how often.
  virtual std::vector<std::string> problems() const = 0;
};

} // namespace dnheap
