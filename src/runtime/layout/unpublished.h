// Enters the values that a finished descriptor lacks in ContractDescriptor::missing; for code that makes descriptors.
// Costs a few look-ups.
#pragma once
#include "contract/descriptor.h"

#include <span>
#include <string>

namespace dnheap {

// For a runtime that publishes its GC (11 and later), many values are not searched: those that it leaves out, though
// answers use them, are entered in `missing`: values of the GC, and of families of which it publishes a part.
void record_unpublished(ContractDescriptor &descriptor);

// Makes these values (TYPE.FIELD, or a global) count as not found, whatever their source.
void leave_out(ContractDescriptor &descriptor, std::span<const std::string> values);

} // namespace dnheap
