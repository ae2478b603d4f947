// A process for the verbs that tell what it was doing: it failed fast with an exception in hand, two threads wait for
// each other's Monitor, and asynchronous methods are pending.
#pragma once
#include "support/heap_builder.h"

namespace dnheap::test {

void make_crashed(HeapBuilder &heap);

} // namespace dnheap::test
