// Derives the values that code look-ups need: the runtime's map of code, the offset in a Module of its ReadyToRun
// image, that image's map of methods, and the versions of the maps of compiled code and of GC info. One pass over the
// runtime's data.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

void derive_code(Derivation &derivation);

} // namespace dnheap
