// Derives where an EEClass keeps the list of its type's fields, and what it says of structs. Needs what
// derive_method_table() enters.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Enters EEClass.FieldDescList, InternalCorElementType and BaseSizePadding.
void derive_field_desc(Derivation &derivation);

} // namespace dnheap
