// Nf16Header: the DebugHeader of CoreRT (.NET Native), which leads to all contracts of its memory format, "NF16",
// version 1. Spec: "CoreRT Debugging Runtime Memory Format Specification" (corert-debug-format.md). Costs six small
// reads. For Runtime; the newer NativeAOT has another format in its place, with another reader. Cookie, versions and
// flags of the header are little-endian on every machine; all data after them is in the machine's order.
#pragma once
#include "target/memory.h"

#include <array>
#include <string>

namespace dnheap {

// In the order of the header's pointers.
enum class Nf16Section : u8 { gc, workstation_gc, runtime_instance, thread_store, thread };
inline constexpr std::size_t nf16_section_count = 5;
const char *name_of(Nf16Section section); // "Workstation GC Contract"

// The place of a section, and its version: the four bytes at the start of every section.
struct Nf16Contract {
  Address address = 0;
  u16 major_version = 0, minor_version = 0;
  std::string problem; // why the section must not be read; empty: the section has version 1 (of any minor version)
};

struct Nf16Header {
  Address address = 0;
  u16 major_version = 0, minor_version = 0;
  u32 flags = 0;
  Format format; // from the flags
  std::array<Nf16Contract, nf16_section_count> contracts;

  const Nf16Contract &contract(Nf16Section section) const { return contracts[static_cast<u8>(section)]; }
};

// The first sixteen bytes. Nullopt if they are not in the target or do not begin with the cookie.
struct Nf16Start {
  u16 major_version = 0, minor_version = 0;
  u32 flags = 0;
  Format format() const { return {static_cast<u8>(flags & 1 ? 8 : 4), flags & 2 ? ByteOrder::big : ByteOrder::little}; }
};
std::optional<Nf16Start> read_nf16_start(const Memory &memory, Address address);

// Returns the addresses of the five sections of a version 1 header; nullopt if they are not in the target.
std::optional<std::array<Address, nf16_section_count>> read_nf16_addresses(const Memory &memory, Address address);

// Reads a section at a known address; `name` is for messages.
Nf16Contract read_nf16_contract(const Memory &memory, Address address, const std::string &name);

// Throws Error if there is no header, if it is not initialised (major version 0), if its version needs a newer
// specification, or if it describes another machine than the target's. A section that cannot be used is not an error:
// its Nf16Contract has the reason.
Nf16Header read_nf16_header(const Memory &memory, Address address);

} // namespace dnheap
