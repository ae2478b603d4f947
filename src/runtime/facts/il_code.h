// IlCode: the IL and the metadata that a runtime has loaded for its methods: the row of metadata that describes a
// method or a type, the IL instruction that a code address belongs to, and each module's metadata. A method is passed
// as StackFrame::method_desc, a module as the address of the runtime's own Module. A few reads per question; a method's
// debug info and a module's metadata are kept. From one thread at a time. See Runtime::il_code(); it must not outlive
// the Runtime.
#pragma once
#include "base/integers.h"
#include "base/notes.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class Metadata;

// The description of a method or a type: its row in the metadata of a module.
struct MetadataRow {
  Address module = 0; // 0: unknown
  u32 row = 0;        // 0: unknown
};

class IlCode {
public:
  virtual ~IlCode() = default;

  // True if the address is that of a sound MethodDesc.
  virtual bool is_method(Address method) const = 0;
  // Returns the declaring type of a sound method; for shared generic code, the canonical one.
  virtual Address type_of(Address method) const = 0;
  // Returns the row that describes a method. Nullopt: the method is not sound, or was made at run time and has no row.
  virtual std::optional<MetadataRow> find_method(Address method) const = 0;
  virtual Address module_of(Address method_table) const = 0;
  virtual u32 row_of_type(Address method_table) const = 0;

  // Returns the offset of the IL instruction at a code address. `returns_there`: a call returns to that address, so the
  // call's instruction counts. Nullopt: none, or unknown.
  virtual std::optional<u32> il_offset(Address ip, bool returns_there) = 0;
  // Returns the number of methods whose debug info is not in the dump, or is unsound.
  virtual u64 unread_methods() const = 0;

  // Returns the loaded modules, in load order. The reason for a list that ends early is added to `notes`. Throws Error
  // if the list is not found.
  virtual std::vector<Address> modules(Notes &notes) const = 0;
  // Returns the module's metadata; null if it is not found. Valid as long as the runtime.
  virtual const Metadata *metadata(Address module) = 0;
  // "System.Private.CoreLib.dll" or "<dynamic module 0x…>".
  virtual std::string file_name(Address module) = 0;
  // Returns addresses at which the module's image may lie, the likeliest first.
  virtual std::vector<Address> image_bases(Address module) const = 0;

  // Returns the methods that were compiled at run time, which means that they ran; one may be listed more than once.
  // Methods that were compiled ahead are not listed. Nullopt: the dump lacks part of what lists them.
  virtual std::optional<std::vector<Address>> compiled_methods() const = 0;
};

} // namespace dnheap
