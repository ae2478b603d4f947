// Enters the values that a finished descriptor lacks in ContractDescriptor::missing; for code that makes descriptors.
// Costs a few look-ups.
#pragma once
#include "contract/descriptor.h"

#include <span>
#include <string>

namespace dnheap {

// For a runtime that publishes its GC (11 and later), many values are not searched. This enters in `missing` those that
// the runtime does not publish although answers use them: values of the GC, and values of families of which the runtime
// publishes only a part.
void record_unpublished(ContractDescriptor &descriptor);

// Makes these values (TYPE.FIELD, or a global) count as not found, whatever their source.
void leave_out(ContractDescriptor &descriptor, std::span<const std::string> values);

} // namespace dnheap
