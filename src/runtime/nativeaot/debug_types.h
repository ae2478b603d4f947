// DebugTypes: the descriptions of types in the separate debug file of a NativeAOT program: the fields of each class and
// struct, and the places of static fields. Types are identified by their mangled names (NativeSymbols). The constructor
// reads all descriptions once, and keeps some 50 bytes per field and type; afterwards any thread may ask.
// dotnet/runtime src/coreclr/tools/aot/ILCompiler.Compiler/Compiler/UserDefinedTypeDescriptor.cs, …/ObjectWriter/Dwarf.
#pragma once
#include "image/debug_file.h"
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
  using Reference = DebugEntry::Reference; // a type, by the place of its description; 0: none

  struct Field {
    std::string_view name;
    Reference type = 0;
    u64 offset = 0; // from the first byte of the object or, in structs, of the struct
  };
  // A class or a struct.
  struct Class {
    std::string_view name; // mangled
    u64 size = 0;          // bytes; for a class, those of an object without its header
    Reference parent = 0;
    bool is_struct = false;
    std::span<const Field> fields; // its own ones, without static ones
    // Static fields whose place is unknown, in the order of their declaration; the thread statics come last.
    std::span<const Field> unplaced;
  };
  struct Type {
    ElementType type = ElementType::Void; // as in InstanceField; Void: unknown
    std::string_view name;                // mangled; for a primitive, the runtime's name; for a reference, its target's
    std::optional<u64> size;              // of a field of this type
    const Class *struct_type = nullptr;   // for a ValueType; null: unknown
  };

  DebugTypes() = default; // knows no types
  DebugTypes(const DebugFile &file, u64 pointer_size);
  DebugTypes(DebugTypes &&) = default;
  DebugTypes &operator=(DebugTypes &&) = default;

  // Null: no class has that name, or several different ones do.
  const Class *find(std::string_view mangled) const;
  // Returns the class that is described there, or only declared there and described elsewhere. Null: none.
  const Class *class_at(Reference type) const;
  Type type(Reference type) const;
  // Returns the fields of the object that a cell of static fields (NativeSymbols::statics_at) leads to; empty: unknown.
  std::span<const Field> statics_at(Address cell) const;

private:
  class Reader;
  struct Entry {
    Reference offset = 0;
    Reference target = 0; // the type that it refers to; for a class with a description, its index
    DebugEntry::Kind kind = DebugEntry::Kind::other;
    bool is_declaration = false;
    u8 size = 0;
    std::string_view name;
  };

  const Entry *entry_at(Reference offset) const;
  Type primitive(const Entry &entry) const;

  u64 p_ = 8;
  std::vector<std::shared_ptr<const void>> storage_; // holds the names
  std::vector<Entry> entries_;                       // types, by offset
  std::vector<Class> classes_;
  std::vector<Field> fields_, unplaced_;
  std::unordered_map<std::string_view, u32> by_name_;
  std::unordered_map<Address, std::vector<Field>> statics_; // by cell; empty: two classes claim the cell
};

} // namespace dnheap
