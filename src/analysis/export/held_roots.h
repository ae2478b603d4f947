// HeldRoots: the roots as files for other tools have them: kinds, below each its owners (a static field, a thread's
// method, the handles of a kind), below each the objects, once. And what no root reaches. Costs the roots and one mark
// of the heap (two bits per place). One thread; then immutable.
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
  // Where there are no roots at all nothing is known to be unreachable; problem() says so.
  explicit HeldRoots(Snapshot &snapshot);

  struct Held {
    ObjectId object;
    bool is_weak = false; // a word that may be chance, and precise roots reach the object
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
  const std::vector<Kind> &kinds() const { return kinds_; } // without those that have no owners
  u64 owners() const { return owner_count_; }
  u64 roots() const { return root_count_; } // that lead to an object: edges of owners
  bool is_unreachable(Address object) const { return live_ && !live_->test(object); }
  const std::string &problem() const { return problem_; }

private:
  std::vector<Kind> kinds_;
  std::optional<HeapBits> live_;
  u64 owner_count_ = 0, root_count_ = 0;
  std::string problem_;
};

} // namespace dnheap
