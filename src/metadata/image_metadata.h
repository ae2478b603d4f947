// EcmaMetadata contract, version 1: where the ECMA-335 metadata of an image or of an emitted module lies.
// Spec: dotnet/runtime docs/design/datacontracts/EcmaMetadata.md. Costs a few header reads per call.
#pragma once
#include "metadata/ecma335.h"
#include "target/memory.h"

#include <memory>
#include <optional>

namespace dnheap {

// A module's metadata together with what keeps its bytes alive: nothing (they lie in the dump), or a copy gathered from
// several pieces of it.
struct ModuleMetadata {
  Metadata metadata;
  std::shared_ptr<const void> storage;
};

// The metadata of the PE image at `base`, which may be mapped (sections at their RVAs) or flat (as in the file): both
// are tried, and a root is accepted only where the CLI header and 'BSJB' say that it is one.
std::optional<ModuleMetadata> read_image_metadata(const Memory &memory, Address base);

// The metadata root of `size` bytes at `address`, or nullopt.
std::optional<ModuleMetadata> read_metadata(const Memory &memory, Address address, u64 size);

} // namespace dnheap
