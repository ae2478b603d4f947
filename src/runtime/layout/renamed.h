// Values that a later runtime publishes under another name: enters an earlier runtime's value under the name of .NET 11
// as well, so that readers need only one name. A few look-ups.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

void enter_renamed(ContractDescriptor &descriptor);

} // namespace dnheap
