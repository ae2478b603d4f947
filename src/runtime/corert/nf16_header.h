// Nf16Header: the DebugHeader of CoreRT (.NET Native), which leads to all contracts of its memory format, "NF16",
// version
// 1. Spec: "CoreRT Debugging Runtime Memory Format Specification" (corert-debug-format.md). Costs six small reads. For
// Runtime; what the newer NativeAOT writes in its place is another format with another reader.
// Cookie, versions and flags of the header are little-endian whatever the machine is; everything behind them is not.
#pragma once
#include "target/memory.h"

#include <array>
#include <string>

namespace dnheap {

// In the order of the header's pointers.
enum class Nf16Section : u8 { gc, workstation_gc, runtime_instance, thread_store, thread };
inline constexpr std::size_t nf16_section_count = 5;
const char *name_of(Nf16Section section); // "Workstation GC Contract"

// Where a section lies, and which version it has: the four bytes that all sections begin with.
struct Nf16Contract {
  Address address = 0;
  u16 major_version = 0, minor_version = 0;
  std::string problem; // why it must not be read, in words; empty: it is version 1, whatever its minor version
};

struct Nf16Header {
  Address address = 0;
  u16 major_version = 0, minor_version = 0;
  u32 flags = 0;
  Format format; // what the flags say
  std::array<Nf16Contract, nf16_section_count> contracts;

  const Nf16Contract &contract(Nf16Section section) const { return contracts[static_cast<u8>(section)]; }
};

// What the first sixteen bytes say. Nullopt where they are unknown or do not begin with the cookie.
struct Nf16Start {
  u16 major_version = 0, minor_version = 0;
  u32 flags = 0;
  Format format() const { return {static_cast<u8>(flags & 1 ? 8 : 4), flags & 2 ? ByteOrder::big : ByteOrder::little}; }
};
std::optional<Nf16Start> read_nf16_start(const Memory &memory, Address address);

// The addresses of the five sections, of a header of version 1; nullopt where they are unknown.
std::optional<std::array<Address, nf16_section_count>> read_nf16_addresses(const Memory &memory, Address address);

// A section whose address is known: `name` is for messages.
Nf16Contract read_nf16_contract(const Memory &memory, Address address, const std::string &name);

// Throws Error when there is no header, when it was not initialised (major version 0) or is of a version that needs a
// newer specification, or when it says that the machine is another than the target's. A section that cannot be used is
// no error: its Nf16Contract says why.
Nf16Header read_nf16_header(const Memory &memory, Address address);

} // namespace dnheap
