// HeldRoots: the roots in the form of other tools' files: kinds; below each kind its owners (a static field, a thread's
// method, the handles of a kind); below each owner the objects that it holds, each once. Also which objects no root
// reaches. Costs the roots and one marking of the heap (two bits per possible object address). Made by one thread; then
// immutable.
#pragma once
#include "heap/heap_bits.h"
#include "objects/object_index.h"
#include "objects/roots.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class HeldRoots {
public:
  // If there are no roots at all, no object counts as unreachable, and problem() says so.
  explicit HeldRoots(const Snapshot &snapshot);

  struct Held {
    ObjectId object;
    bool is_weak = false; // the root is a word that may be a reference by chance; precise roots also reach the object
  };
  struct Owner {
    std::string name;
    RootKind kind = RootKind::handle;
    std::vector<Held> objects; // ascending; not empty
  };
  struct Kind {
    std::string name; // "static fields"
    std::vector<Owner> owners;
  };
  const std::vector<Kind> &kinds() const { return kinds_; } // leaves out kinds that have no owner
  u64 owners() const { return owner_count_; }
  u64 roots() const { return root_count_; } // roots that lead to an object: the owners' edges
  bool is_unreachable(Address object) const { return live_ && !live_->test(object); }
  const std::string &problem() const { return problem_; }

private:
  std::vector<Kind> kinds_;
  std::optional<HeapBits> live_;
  u64 owner_count_ = 0, root_count_ = 0;
  std::string problem_;
};

} // namespace dnheap
