// Derives where the table of sync blocks lies, and how long it is.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, by which g_dacTable is found; 0 if unknown. Enters the globals
// SyncTableEntries and SyncBlockCache, the fields of SyncTableEntry, and SyncBlockCache.FreeSyncTableIndex: whatever of
// these the target does not publish (8.0 none, 9.0 and 10.0 the table and half of an entry).
void derive_sync_blocks(Derivation &derivation, Address gc_variable);

} // namespace dnheap
