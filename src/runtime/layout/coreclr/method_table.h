// Derives the offsets in MethodTable, EEClass, Module and their neighbours that the RuntimeTypeSystem and Loader
// contracts need. All rest on three MethodTables that can be identified by content alone: Free, System.String and
// System.Object.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Enters the globals FreeObjectMethodTable, StringMethodTable and the fields of MethodTable, EEClass, GenericsDictInfo.
void derive_method_table(Derivation &derivation);

} // namespace dnheap
