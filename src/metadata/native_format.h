// NativeFormat: reads the metadata that NativeAOT keeps in a program for reflection and stack traces, as far as names
// of types and methods need it, and the hash tables beside it. Read in place from untrusted bytes; anything invalid is
// nullopt. A name costs a few dozen loads. dotnet/runtime src/coreclr/tools/Common/Internal/Metadata/NativeFormat,
// Internal/NativeFormat/NativeFormatReader.cs, TypeHashingAlgorithms.cs. Any thread; the bytes must outlive all
// results.
#pragma once
#include "base/bytes.h"
#include "metadata/type_name.h"

#include <string>
#include <vector>

namespace dnheap {

// Kinds of handle. The number of low bits that hold the kind depends on the version: 8 in .NET 8 and 9, 7 in 10.
enum class NativeHandleKind : u8 {
  type_definition = 0x3a,
  type_instantiation = 0x3c,
  type_reference = 0x3d,
  type_specification = 0x3e
};

struct NativeTypeName {
  std::string name_space;
  std::vector<std::string_view> levels; // outermost first, with arity marks

  // Returns the name as type_name.h spells it, with its arguments. The views must still be valid.
  std::string format(std::span<const std::string> arguments) const;
};

class NativeMetadata {
public:
  NativeMetadata() = default; // has no types
  // `handle_bits`: see NativeHandleKind. Without the right signature there are no types.
  NativeMetadata(Bytes blob, unsigned handle_bits);

  // Returns the name of the type definition at `offset`.
  std::optional<NativeTypeName> type_name(u64 offset) const;
  // Returns the name of the definition, reference or generic instantiation behind a token (a handle with its kind in
  // the upper bits); for an instantiation, the name of its definition.
  std::optional<NativeTypeName> token_name(u32 token) const;
  std::optional<std::string_view> method_name(u64 offset) const; // name of the method record there
  std::optional<std::string_view> string(u64 offset) const;

private:
  std::optional<std::string> name_space(u64 offset) const;
  std::optional<NativeTypeName> in_namespace(NativeTypeName name, u64 space) const;
  std::optional<NativeTypeName> reference_name(u64 offset) const;
  std::optional<NativeTypeName> kind_name(NativeHandleKind kind, u64 offset) const;
  // Returns the kind of a handle inside a record.
  NativeHandleKind kind_of(u32 handle) const {
    return static_cast<NativeHandleKind>(handle & ((u32{1} << handle_bits_) - 1));
  }

  Bytes blob_;
  unsigned handle_bits_ = 8;
};

// The hash that the compiler stored in each type (MethodTable.HashCode) confirms a name. The method changed once: the
// whole name by its UTF-16 code units (.NET 8 to 10), or namespace and name each by its UTF-8 bytes (11).
enum class NativeHashing : u8 { whole, parts };
u32 native_type_hash(const NativeTypeName &name, NativeHashing how);
u32 native_array_hash(u32 element, u32 rank, bool is_vector, NativeHashing how);
u32 native_instance_hash(u32 definition, std::span<const u32> arguments);

// Methods that stack traces can name, except those that reflection knows: StackTraceMethodRvaToTokenMapping.
// native_methods() returns nothing unless the whole table has that form. dotnet/runtime
// src/coreclr/nativeaot/System.Private.StackTraceMetadata.
struct NativeMethod {
  i64 code = 0;  // start of the code, relative to the table's start
  u32 owner = 0; // a token
  u32 name = 0;  // offset of the name's text
};
std::vector<NativeMethod> native_methods(Bytes table);

// Methods that reflection can call: InvokeMap. Entries without both name and code are left out.
struct NativeInvokeEntry {
  u32 method = 0;      // offset of its record
  u32 owner = 0;       // an index, as in NativeMapEntry
  u32 entry_point = 0; // an index, too
};
std::vector<NativeInvokeEntry> native_invoke_entries(Bytes table);

// An entry that begins with two numbers: an index and a handle. The list has at most as many entries as the table has
// bytes, and ends at the first damaged entry.
struct NativeMapEntry {
  u32 index = 0, handle = 0;
};
std::vector<NativeMapEntry> native_map_entries(Bytes table);

} // namespace dnheap
