// Derives how a Module leads to its metadata.
#pragma once
#include "metadata/image_metadata.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// Given what may be the Module of System.Private.CoreLib: finds the way from it to an image whose metadata defines
// System.String, enters Module.Base or Module.PEAssembly, PEAssembly.PEImage, PEImage.LoadedImageLayout and
// PEImageLayout.Base, and gives that metadata, where the target's memory holds it. Fails if it is no such Module.
Verdict derive_core_module(Derivation &derivation, Address module, std::optional<ModuleMetadata> &metadata);

} // namespace dnheap
