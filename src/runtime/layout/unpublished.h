// What a descriptor lacks in the end, entered in ContractDescriptor::missing: for whoever makes one. Costs a few
// look-ups.
#pragma once
#include "contract/descriptor.h"

#include <span>
#include <string>

namespace dnheap {

// Of a runtime that publishes its GC (11 on) much is not looked for: what it leaves out, though answers use it, is
// entered in `missing`: values of the GC, and of families of which it publishes a part.
void record_unpublished(ContractDescriptor &descriptor);

// Makes these values (TYPE.FIELD, or a global) count as not found, whoever told them.
void leave_out(ContractDescriptor &descriptor, std::span<const std::string> values);

} // namespace dnheap
