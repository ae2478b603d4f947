// Parses the contract descriptor at an address of the target: struct, JSON (version 0 of .NET 9 and 10, version 2 of
// .NET 11), pointer data and, merged into the same result, the sub-descriptors it points at. All sizes are bounded: 16
// MiB of JSON, 65,536 pointers, nesting 64, 64 sub-descriptors; cost is linear in the JSON. dotnet/runtime
// docs/design/datacontracts/contract-descriptor.md, data_descriptor.md.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

// The first eight bytes of a descriptor, as an integer of the target's byte order: "DNCCDAC\0" read little endian.
inline constexpr u64 descriptor_magic = 0x0043414443434e44;

// True if a descriptor's header lies here. Cheap: for scans.
bool is_descriptor(const Memory &memory, Address address);

// The stretches of memory that the descriptor itself (without sub-descriptors) takes: its struct, JSON and pointer
// data. They are constant once the module is loaded. Empty if there is no descriptor. Used to supply these stretches
// from a module's file.
struct DescriptorExtent {
  Address start = 0;
  u64 size = 0;
};
std::vector<DescriptorExtent> descriptor_extents(const Memory &memory, Address address);

// Throws Error ("contract descriptor at 0x…: …") if it is unreadable, contradicts itself (a type, field, global or
// contract given twice), is of an unknown version, or of another format than the target.
ContractDescriptor parse_descriptor(const Memory &memory, Address address);

// Parses JSON text alone, with its pointer data, as parse_descriptor() does after reading memory. Sub-descriptors are
// not followed; their variables' addresses are returned in `sub_descriptors` (name, address of the pointer variable).
struct ParsedJson {
  ContractDescriptor descriptor;
  u64 version = 0;
  std::string baseline;
  std::vector<std::pair<std::string, Address>> sub_descriptors;
};
ParsedJson parse_descriptor_json(std::string_view json, std::span<const u64> pointer_data);

} // namespace dnheap
