// The words in front of objects, looked at: is the sync block that an object names its own, does whoever holds its lock
// exist? Built by one thread; then immutable, any number of threads may ask. Costs nothing for a word that is 0 or a
// hash code, which nearly all are.
#pragma once
#include "objects/object_index.h"
#include "runtime/coreclr/sync_block_1.h"
#include "runtime/object_header.h"
#include "runtime/runtime.h"

#include <functional>
#include <string>

namespace dnheap {

enum class HeaderProblem : u8 {
  index_zero,      // names sync block 0, which is nobody's
  no_sync_block,   // names one that does not exist
  not_its_own,     // names another object's, or a free one
  not_named,       // the table has a sync block for it, and it names none
  no_object,       // the table has a sync block for a place where no object begins
  no_thread,       // its lock is held by a thread that does not exist
  recursion_unheld // its lock is held several times, by nobody
};

struct BadHeader {
  Address object = 0;
  HeaderProblem problem = HeaderProblem::index_zero;
  u32 header = 0;
  Address other = 0;  // of not_its_own: whose it is; 0: nobody's
  u32 sync_block = 0; // that it names, or that the table has for it
};

class HeaderCheck {
public:
  explicit HeaderCheck(const Runtime &runtime);

  // What cannot be checked of this target, and why, in words.
  const std::vector<std::string> &not_checked() const { return not_checked_; }

  // Of an object's header.
  std::optional<BadHeader> find_problem(Address object, u32 header) const {
    if ((header & (ObjectHeader::kinds | ObjectHeader::lock)) == 0 ||
        (header & ObjectHeader::kinds) == ObjectHeader::kinds)
      return std::nullopt;
    return look(object, ObjectHeader{header});
  }
  // From the other side: of objects that the table has sync blocks for. `is_walked`: was the heap walked there?
  std::vector<BadHeader> check_table(const ObjectIndex &index, const std::function<bool(Address)> &is_walked) const;

private:
  std::optional<BadHeader> look(Address object, ObjectHeader header) const;
  void read_threads(const Runtime &runtime);

  const Memory &memory_;
  SyncBlock1 sync_blocks_;
  std::vector<bool> thread_ids_; // empty: not known
  bool may_be_old_ = false;      // locks may have fewer bits for the thread
  std::vector<std::string> not_checked_;
};

} // namespace dnheap
