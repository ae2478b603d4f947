// EcmaMetadata contract, version 1, GetReadWriteMetadata: the metadata of a module that was edited while the program
// ran (hot reload, .NET 11). The runtime keeps it in pieces; this file joins them to one image of uncompressed
// metadata, which Metadata reads as any other. Costs a copy of the pieces, 512 MiB at most. Any thread. Spec:
// dotnet/runtime docs/design/datacontracts/EcmaMetadata.md.
#pragma once
#include "contract/descriptor.h"
#include "metadata/image_metadata.h"

namespace dnheap {

// Nullopt: it was not edited, the target does not publish the places of the pieces, or some are not in the dump.
std::optional<ModuleMetadata> read_edited_metadata(const Memory &memory, const ContractDescriptor &descriptor,
                                                   Address module);

} // namespace dnheap
