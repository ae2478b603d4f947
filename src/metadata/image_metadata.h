// EcmaMetadata contract, version 1: finds the ECMA-335 metadata of an image or of an emitted module. Spec:
// dotnet/runtime docs/design/datacontracts/EcmaMetadata.md. Costs a few header reads per call.
#pragma once
#include "metadata/ecma335.h"
#include "target/memory.h"

#include <memory>
#include <optional>

namespace dnheap {

// A module's metadata and the owner of its bytes: null if they lie in the dump, else a copy assembled from several
// pieces of the dump.
struct ModuleMetadata {
  Metadata metadata;
  std::shared_ptr<const void> storage;
};

// Returns the metadata of the PE image at `base`, which may be mapped (sections at their RVAs) or flat (as in the
// file). Tries both, and accepts a root only if the CLI header and 'BSJB' confirm it.
std::optional<ModuleMetadata> read_image_metadata(const Memory &memory, Address base);

// Returns the metadata root of `size` bytes at `address`, or nullopt.
std::optional<ModuleMetadata> read_metadata(const Memory &memory, Address address, u64 size);

} // namespace dnheap
