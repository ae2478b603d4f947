// HeaderCheck: checks the word in front of each object: is the sync block it names the object's own, does the thread
// exist that holds its lock? Built by one thread; then immutable, any number of threads may ask. Costs nothing for a
// word that is 0 or a hash code, as nearly all are.
#pragma once
#include "objects/object_index.h"
#include "runtime/coreclr/threads/sync_block_1.h"
#include "runtime/object_header.h"
#include "runtime/runtime.h"

#include <functional>
#include <string>

namespace dnheap {

enum class HeaderProblem : u8 {
  index_zero,      // names sync block 0, which is nobody's
  no_sync_block,   // names a sync block that does not exist
  not_its_own,     // names another object's sync block, or a free one
  not_named,       // names no sync block, but the table has one for it
  no_object,       // the table has a sync block for a place where no object begins
  no_thread,       // its lock is held by a thread that does not exist
  recursion_unheld // its lock is held several times, but by no thread
};

struct BadHeader {
  Address object = 0;
  HeaderProblem problem = HeaderProblem::index_zero;
  u32 header = 0;
  Address other = 0;  // for not_its_own: the sync block's object; 0: the sync block is free
  u32 sync_block = 0; // the one it names, or the table's for it
};

class HeaderCheck {
public:
  explicit HeaderCheck(const Runtime &runtime);

  // Returns sentences that say what cannot be checked in this target, and why.
  const std::vector<std::string> &not_checked() const { return not_checked_; }

  // Checks one object's header; nullopt if it is sound.
  std::optional<BadHeader> find_problem(Address object, u32 header) const {
    if ((header & (ObjectHeader::kinds | ObjectHeader::lock)) == 0 ||
        (header & ObjectHeader::kinds) == ObjectHeader::kinds)
      return std::nullopt;
    return look(object, ObjectHeader{header});
  }
  // Checks the other direction: the objects for which the table has sync blocks. `is_walked`: true if the heap was
  // walked at that address.
  std::vector<BadHeader> check_table(const ObjectIndex &index, const std::function<bool(Address)> &is_walked) const;

private:
  std::optional<BadHeader> look(Address object, ObjectHeader header) const;
  void read_threads(const Runtime &runtime);

  const Memory &memory_;
  SyncBlock1 sync_blocks_;
  std::vector<bool> thread_ids_; // empty: unknown
  bool may_be_old_ = false;      // locks may use fewer bits for the thread
  std::vector<std::string> not_checked_;
};

} // namespace dnheap
