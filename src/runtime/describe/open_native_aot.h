// Finds NativeAOT runtimes: known by their contract descriptor, in which RuntimeTypeSystem is of version n1, or their
// debug header (layout/nativeaot/debug_header.h), whatever the file is called; and opens one: what it says of itself,
// completed (native_aot_descriptor.h), and the readers bound to that. Costs are told at each function; any thread.
#pragma once
#include "contract/find.h"
#include "runtime/layout/nativeaot/debug_header.h"
#include "runtime/nativeaot/native_aot.h"

namespace dnheap {

// A module that has such a runtime; one or both of the places are known.
struct FoundNativeAot {
  const Module *module = nullptr;
  std::optional<FoundDescriptor> descriptor;
  std::optional<DebugHeaderPlace> header;
  std::string product_version; // as the descriptor says; empty: it does not

  // "11.0.0", "10.0"; empty where nobody says: the first descriptors do not, and of a lost header its tables have to be
  // read.
  std::string version() const;
};

// Costs a look at every module, and one pass over their writable memory. `thorough`: where none is found, also those
// whose header is lost, and descriptors that are not exported; one pass more over all of their memory.
std::vector<FoundNativeAot> find_native_aot(const Target &target, bool thorough);

// Throws Error when what is needed for walking the heap is neither published nor found. Some hundred loads.
NativeAot open_native_aot(const Target &target, const FoundNativeAot &found, const RuntimeHints &hints = {});

} // namespace dnheap
