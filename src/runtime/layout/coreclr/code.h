// Derives what code is looked up by: the runtime's map of code, where a Module keeps its ReadyToRun image, that image's
// map of methods, and which version the maps of compiled code and the GC info have. One pass over the runtime's data.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

void derive_code(Derivation &derivation);

} // namespace dnheap
