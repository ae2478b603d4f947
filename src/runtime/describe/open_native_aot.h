// Finds NativeAOT runtimes, by their contract descriptor, whose RuntimeTypeSystem has version n1, or their debug header
// (layout/nativeaot/debug_header.h), whatever the file's name is; and opens one: takes its descriptor, completes it
// (native_aot_descriptor.h), and binds the readers to it. Each function lists its costs; any thread.
#pragma once
#include "contract/find.h"
#include "runtime/layout/nativeaot/debug_header.h"
#include "runtime/nativeaot/native_aot.h"

namespace dnheap {

// A module with a NativeAOT runtime; one or both of the places are known.
struct FoundNativeAot {
  const Module *module = nullptr;
  std::optional<FoundDescriptor> descriptor;
  std::optional<DebugHeaderPlace> header;
  std::string product_version; // from the descriptor; empty: it has none

  // "11.0.0", "10.0"; empty if unknown: the first descriptors have none, and if the header is lost, its tables have to
  // be read first.
  std::string version() const;
};

// Costs a look at every module, and one pass over their writable memory. `thorough`: if none is found, also searches
// for runtimes whose header is lost, and for descriptors that are not exported; one more pass over all of their memory.
std::vector<FoundNativeAot> find_native_aot(const Target &target, bool thorough);

// Throws Error if values that the heap walk needs are neither published nor found. Some hundred loads.
NativeAot open_native_aot(const Target &target, const FoundNativeAot &found, const RuntimeHints &hints = {});

} // namespace dnheap
