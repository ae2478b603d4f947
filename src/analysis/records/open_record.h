// open_record: the record of a file that is a dump or a saved record. Costs what take_record() costs, and the time to
// open the dump, which is closed again: so any number of dumps can be compared with the memory of one. For the thread
// that may use a Snapshot of these options.
#pragma once
#include "analysis/records/record.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// Takes a record of the snapshot. `with_findings`: also what `report` finds wrong, which costs as much as `report`.
Record record_of(Snapshot &snapshot, bool with_findings);
// Throws Error that names the file. A saved record has findings only if it was made with them.
Record open_record(const std::string &path, const SnapshotOptions &options, bool with_findings = false);

} // namespace dnheap
