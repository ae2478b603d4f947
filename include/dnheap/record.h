// Record: the part of a dump that `diff` and `check` compare: sizes per owner, per type and per class of memory. Some
// 100 bytes per type and owner, and no addresses. So dumps can be compared even if they are not open at the same time,
// or no longer exist. Copying costs nothing; any thread.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/snapshot.h"

#include <memory>
#include <string>
#include <string_view>

namespace dnheap::DNHEAP_ABI {

class Record {
public:
  // Makes the snapshot's record. Costs the dominator tree, a sweep over it, and a look at malloc's blocks.
  // `with_findings`: also what `report` finds wrong, which costs as much as `report` does.
  static Record of(Snapshot &snapshot, bool with_findings = false);
  // Reads a saved record; or opens a dump, makes its record, and closes the dump. Throws Error that names the file.
  // `with_findings`: as above; a saved record has findings only if it was made with them.
  static Record open(const std::string &path, const OpenOptions &options = {}, bool with_findings = false);
  // Reads a saved record. Throws Error that names the invalid place.
  static Record parse(std::string_view json, const std::string &name);

  const std::string &name() const; // of the file, as it was given, or "process 4711"
  // Returns the tables owners, types, account. answer().text("json") is the text that parse() reads.
  Answer answer() const;

private:
  friend struct RecordParts;
  struct Inside;
  explicit Record(std::shared_ptr<const Inside> inside);
  std::shared_ptr<const Inside> inside_;
};

} // namespace dnheap::DNHEAP_ABI
