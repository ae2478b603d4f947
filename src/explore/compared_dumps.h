// ComparedDumps: the dumps that were given beside the one that is shown, as records. Each is opened, summed up and
// closed before the next one, while the one that is shown stays open: that takes the memory of both, and the time of
// one `retained` for each. For the thread that explores.
#pragma once
#include "analysis/records/record.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap::explore {

class ComparedDumps {
public:
  // `others`: files, the oldest first. `options`: how to open them.
  ComparedDumps(std::vector<std::string> others, SnapshotOptions options);

  bool empty() const { return others_.empty(); }
  u64 count() const { return others_.size() + 1; }
  // Returns false if all records have been taken, else takes one more: of the next file, or at last of `shown`. A file
  // that cannot be read is left out from then on, with a note. Throws Interrupted, and what the record of `shown`
  // throws.
  bool go_on(Snapshot &shown);
  // The record of the dump that is shown has to be taken again.
  void forget_shown() { of_shown_.reset(); }

  // Returns all records, or those of these numbers, as the command line gave them; but if each dump itself says when it
  // was taken, in that order. Throws UsageError for a number that there is not.
  std::vector<Record> records(const std::vector<u64> &numbers) const;
  // Why a dump is left out, in whole phrases. Two records at least are needed to compare.
  const std::vector<std::string> &problems() const { return problems_; }

private:
  const std::vector<std::string> others_;
  const SnapshotOptions options_;
  u64 next_ = 0; // of others_
  std::vector<Record> of_others_;
  std::optional<Record> of_shown_;
  std::vector<std::string> problems_;
};

} // namespace dnheap::explore
