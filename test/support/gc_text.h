// What the text of the GC contract lists, name by name (dotnet/runtime docs/design/datacontracts/GC.md, the tables of
// data descriptors and of global variables): so that a synthetic runtime can publish exactly that. Runtimes publish
// more; a reader that needs more does not read the contract.
#pragma once
#include "support/descriptor_writer.h"

namespace dnheap::test {

// Takes out whatever the text does not list.
void keep_what_the_text_lists(DescriptorWriter &gc);

} // namespace dnheap::test
