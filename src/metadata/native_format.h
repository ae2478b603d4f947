// NativeFormat: the metadata that NativeAOT leaves in a program for reflection and stack traces, as far as names of
// types and methods need it, and the hash tables beside it. Read in place from bytes that are not trusted; what does
// not fit is nullopt. A name costs a few dozen loads. dotnet/runtime
// src/coreclr/tools/Common/Internal/Metadata/NativeFormat, Internal/NativeFormat/NativeFormatReader.cs,
// TypeHashingAlgorithms.cs. Any thread; the bytes must outlive all.
#pragma once
#include "base/bytes.h"
#include "metadata/type_name.h"

#include <string>
#include <vector>

namespace dnheap {

// Kinds of handle. How many low bits of a handle hold the kind differs: 8 in .NET 8 and 9, 7 in 10.
enum class NativeHandleKind : u8 {
  type_definition = 0x3a,
  type_instantiation = 0x3c,
  type_reference = 0x3d,
  type_specification = 0x3e
};

struct NativeTypeName {
  std::string name_space;
  std::vector<std::string_view> levels; // outermost first, with arity marks

  // As type_name.h spells it. Arguments as there; the views must live on.
  std::string format(std::span<const std::string> arguments) const;
};

class NativeMetadata {
public:
  NativeMetadata() = default; // has no types
  // `handle_bits`: see NativeHandleKind. Without the right signature there are no types.
  NativeMetadata(Bytes blob, unsigned handle_bits);

  // Of the type definition at `offset`.
  std::optional<NativeTypeName> type_name(u64 offset) const;
  // Of the definition, reference or generic instance that a token (a handle with its kind in the upper bits) stands
  // for; of an instance that of its definition.
  std::optional<NativeTypeName> token_name(u32 token) const;
  std::optional<std::string_view> method_name(u64 offset) const; // of the record there
  std::optional<std::string_view> string(u64 offset) const;

private:
  std::optional<std::string> name_space(u64 offset) const;
  std::optional<NativeTypeName> in_namespace(NativeTypeName name, u64 space) const;
  std::optional<NativeTypeName> reference_name(u64 offset) const;
  std::optional<NativeTypeName> kind_name(NativeHandleKind kind, u64 offset) const;
  // A handle inside a record.
  NativeHandleKind kind_of(u32 handle) const {
    return static_cast<NativeHandleKind>(handle & ((u32{1} << handle_bits_) - 1));
  }

  Bytes blob_;
  unsigned handle_bits_ = 8;
};

// The hash that the compiler put into each type (MethodTable.HashCode): it knows a right name from a wrong one. How
// names are hashed changed once: the whole name by its UTF-16 code units (.NET 8 to 10), or namespace and name each by
// its UTF-8 bytes (11).
enum class NativeHashing : u8 { whole, parts };
u32 native_type_hash(const NativeTypeName &name, NativeHashing how);
u32 native_array_hash(u32 element, u32 rank, bool is_vector, NativeHashing how);
u32 native_instance_hash(u32 definition, std::span<const u32> arguments);

// The methods that stack traces can name, but for those that reflection knows: StackTraceMethodRvaToTokenMapping. Empty
// where the table is not of that form from its beginning to its end. dotnet/runtime
// src/coreclr/nativeaot/System.Private.StackTraceMetadata.
struct NativeMethod {
  i64 code = 0;  // where it begins, relative to the table's beginning
  u32 owner = 0; // a token
  u32 name = 0;  // where its text lies
};
std::vector<NativeMethod> native_methods(Bytes table);

// The methods that reflection can call: InvokeMap. Those of which neither name nor code is told are left out.
struct NativeInvokeEntry {
  u32 method = 0;      // where its record lies
  u32 owner = 0;       // an index, as in NativeMapEntry
  u32 entry_point = 0; // the same
};
std::vector<NativeInvokeEntry> native_invoke_entries(Bytes table);

// A table of entries that begin with two numbers: an index, and a handle. At most as many as the table has bytes; what
// is damaged ends the list.
struct NativeMapEntry {
  u32 index = 0, handle = 0;
};
std::vector<NativeMapEntry> native_map_entries(Bytes table);

} // namespace dnheap
