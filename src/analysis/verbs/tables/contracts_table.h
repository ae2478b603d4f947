// The table of a runtime's contracts: versions, and where they come from. For `contract` and `info`. Costs little;
// throws nothing of its own. Not for several threads at once.
#pragma once
#include "contract/descriptor.h"
#include "report/table.h"

namespace dnheap {

report::Table contracts_table(const ContractDescriptor &descriptor);

} // namespace dnheap
