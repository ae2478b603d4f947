// Offsets that have never changed, in any version or kind of runtime, because compiled code relies on them: where an
// object's MethodTable, and an array's or string's length, lie. Whoever publishes others cannot be read.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

// Enters TYPE.FIELD unless it is published; throws Error when it is published elsewhere.
void set_unchanging(ContractDescriptor &to, const char *type, const char *field, i64 offset);
// Object, Array, String.
void derive_object(ContractDescriptor &to, u64 pointer_size);

} // namespace dnheap
