// Values that a later runtime publishes under another name: enters what an earlier one publishes under the name of
// .NET 11 as well, so that readers know one name. A few look-ups.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

void enter_renamed(ContractDescriptor &descriptor);

} // namespace dnheap
