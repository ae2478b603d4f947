// Derives the offset in an EEClass of its type's list of fields, and its data on structs. Needs the values that
// derive_method_table() enters.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// Enters EEClass.FieldDescList, InternalCorElementType and BaseSizePadding.
void derive_field_desc(Derivation &derivation);

} // namespace dnheap
