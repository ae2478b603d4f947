// NativeFormat: the metadata that NativeAOT leaves in a program for reflection, as far as names of types need it, and
// the hash tables beside it. Read in place from bytes that are not trusted; what does not fit is nullopt. A name costs
// a few dozen loads. dotnet/runtime src/coreclr/tools/Common/Internal/Metadata/NativeFormat,
// Internal/NativeFormat/NativeFormatReader.cs, TypeHashingAlgorithms.cs. Any thread; the bytes must outlive all.
#pragma once
#include "base/bytes.h"
#include "metadata/type_name.h"

#include <string>
#include <vector>

namespace dnheap {

// Kinds of handle. How many low bits of a handle hold the kind differs: 8 in .NET 8 and 9, 7 in 10.
enum class NativeHandleKind : u8 { type_definition = 0x3a, type_reference = 0x3d };

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

private:
  std::optional<std::string_view> string(u64 offset) const;
  std::optional<std::string> name_space(u64 offset) const;

  Bytes blob_;
  unsigned handle_bits_ = 8;
};

// The hash that the compiler put into each type (MethodTable.HashCode): it tells a right name from a wrong one.
u32 native_type_hash(const NativeTypeName &name);
u32 native_array_hash(u32 element, u32 rank, bool is_vector);
u32 native_instance_hash(u32 definition, std::span<const u32> arguments);

// A table of entries that begin with two numbers: an index, and a handle. At most as many as the table has bytes; what
// is damaged ends the list.
struct NativeMapEntry {
  u32 index = 0, handle = 0;
};
std::vector<NativeMapEntry> native_map_entries(Bytes table);

} // namespace dnheap
