// Derives the place of the table of sync blocks, and its length.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

// `gc_variable`: address of g_gcDacGlobals, by which g_dacTable is found; 0 if unknown. Enters those of these values
// that the target does not publish: the globals SyncTableEntries and SyncBlockCache, the fields of SyncTableEntry, and
// SyncBlockCache.FreeSyncTableIndex (8.0 publishes none, 9.0 and 10.0 the table and half of an entry).
void derive_sync_blocks(Derivation &derivation, Address gc_variable);

} // namespace dnheap
