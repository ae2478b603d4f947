// Derives the way from a Module to its metadata.
#pragma once
#include "metadata/image_metadata.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// `module` may be the Module of System.Private.CoreLib: finds the way from it to an image whose metadata defines
// System.String, enters Module.Base or Module.PEAssembly, PEAssembly.PEImage, PEImage.LoadedImageLayout and
// PEImageLayout.Base, and returns that metadata if the target's memory has it. Fails if `module` is not CoreLib's.
Verdict derive_core_module(Derivation &derivation, Address module, std::optional<ModuleMetadata> &metadata);

} // namespace dnheap
