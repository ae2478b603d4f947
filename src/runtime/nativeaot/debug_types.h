// DebugTypes: what the separate debug file of a NativeAOT program tells of its types by DWARF: the fields of each class
// and struct, and which static field lies where. Types are known by their mangled names (NativeSymbols). Making one
// reads the file's .debug_info once, and keeps some 50 bytes per field and type; afterwards any thread may ask.
// dotnet/runtime src/coreclr/tools/aot/ILCompiler.Compiler/Compiler/UserDefinedTypeDescriptor.cs, …/ObjectWriter/Dwarf.
#pragma once
#include "base/bytes.h"
#include "metadata/signature.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dnheap {

class DebugTypes {
public:
  using Reference = u32; // to a type: where .debug_info describes it; 0: none

  struct Field {
    std::string_view name;
    Reference type = 0;
    u64 offset = 0; // of classes and of what holds static fields from the object's first byte; of structs from theirs
  };
  // A class or a struct.
  struct Class {
    std::string_view name; // mangled
    u64 size = 0;          // bytes; of an object without its header
    Reference parent = 0;
    bool is_struct = false;
    std::span<const Field> fields; // own ones, none that is static
    // Static ones of which no place is told, in the order in which they are declared; the thread statics come last.
    std::span<const Field> unplaced;
  };
  struct Type {
    ElementType type = ElementType::Void; // as InstanceField has it; Void: not known
    std::string_view name;                // mangled, of primitive types the runtime's; of a reference, what it leads to
    std::optional<u64> size;              // of a field of this type
    const Class *struct_type = nullptr;   // of ValueType; null: not known
  };

  DebugTypes() = default; // tells nothing
  // `bias`: what is added to the file's addresses to get those in the process. `storage` keeps the bytes alive.
  DebugTypes(Bytes file, u64 bias, u64 pointer_size, std::shared_ptr<const void> storage);
  DebugTypes(DebugTypes &&) = default;
  DebugTypes &operator=(DebugTypes &&) = default;

  // Null: none has that name, or several have that differ.
  const Class *find(std::string_view mangled) const;
  // The class that is described there, or declared only and described elsewhere. Null: none.
  const Class *class_at(Reference type) const;
  Type type(Reference type) const;
  // The fields of the object that a cell of static fields (NativeSymbols::statics_at) leads to; empty: not known.
  std::span<const Field> statics_at(Address cell) const;

private:
  class Reader;
  struct Entry {
    Reference offset = 0;
    Reference target = 0; // the type meant; of a class that is described its index
    u16 tag = 0;
    bool is_declaration = false;
    u8 size = 0;
    std::string_view name;
  };

  const Entry *entry_at(Reference offset) const;
  Type primitive(const Entry &entry) const;

  u64 p_ = 8;
  std::vector<std::shared_ptr<const void>> storage_; // of the names
  std::vector<Entry> entries_;                       // types, by offset
  std::vector<Class> classes_;
  std::vector<Field> fields_, unplaced_;
  std::unordered_map<std::string_view, u32> by_name_;
  std::unordered_map<Address, std::vector<Field>> statics_; // by cell; empty: two classes claim it
};

} // namespace dnheap
