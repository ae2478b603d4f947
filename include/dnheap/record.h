// Record: what `diff` and `check` look at of a dump: who owns how much, by type, by class of memory. Some 100 bytes per
// type and owner, and no addresses, so that dumps can be compared that are not open at the same time, or not there any
// more. Copying costs nothing; any thread.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/snapshot.h"

#include <memory>
#include <string>
#include <string_view>

namespace dnheap::DNHEAP_ABI {

class Record {
public:
  // Asks the snapshot: costs the dominator tree, a sweep over it, and a look at malloc's blocks.
  static Record of(Snapshot &snapshot);
  // Of a dump, which is open no longer than that takes; or a saved record. Throws Error that names the file.
  static Record open(const std::string &path, const OpenOptions &options = {});
  // One that was saved. Throws Error that says at what place it is not sound.
  static Record parse(std::string_view json, const std::string &name);

  const std::string &name() const; // of the file, as it was given, or "process 4711"
  // Its tables: owners, types, account. answer().text("json") is what parse() reads.
  Answer answer() const;

private:
  friend struct RecordParts;
  struct Inside;
  explicit Record(std::shared_ptr<const Inside> inside);
  std::shared_ptr<const Inside> inside_;
};

} // namespace dnheap::DNHEAP_ABI
