// Offsets that have never changed, in any version or kind of runtime, because compiled code relies on them: of an
// object's MethodTable, and of an array's or string's length. A runtime that publishes others cannot be read.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

// Enters TYPE.FIELD unless it is published; throws Error if another offset is published.
void set_unchanging(ContractDescriptor &to, const char *type, const char *field, i64 offset);
// Object, Array, String.
void derive_object(ContractDescriptor &to, u64 pointer_size);

} // namespace dnheap
