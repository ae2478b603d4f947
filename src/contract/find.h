// Finds the contract descriptor of a runtime module: by its export, else by its magic in the module's memory.
#pragma once
#include "contract/parse.h"
#include "target/target.h"

namespace dnheap {

// The name under which runtimes export it.
inline constexpr const char *descriptor_export = "DotNetRuntimeContractDescriptor";

struct FoundDescriptor {
  Address address = 0;
  std::string how; // "export of libcoreclr.so", "scan of libcoreclr.so for its magic"
};

// Finds the descriptor by its export alone: a hash look-up. Nullopt: it is not exported, or not all of it is in the
// dump.
std::optional<FoundDescriptor> find_exported_descriptor(const Target &target, const Module &module);

// Nullopt if the module publishes none, or if it is not in the dump. The scan reads the module's memory once.
std::optional<FoundDescriptor> find_descriptor(const Target &target, const Module &module);

} // namespace dnheap
