// mark_live: finds everything that given roots reach, without storing any reference: objects are read in the order in
// which they are found. Memory: two bits per place of the heap, and a stack of the objects found but not yet read (an
// array is one entry, however long). Parallel; nothing recurses. The result does not depend on the number of threads.
#pragma once
#include "base/watch.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "objects/roots.h"

#include <string>

namespace dnheap {

// A stage of marking. Stages run in order, precise ones first, so that each counts only objects that earlier ones did
// not reach.
struct RootStage {
  std::string name;             // "handle:strong", "finalizer", …
  std::vector<Address> objects; // an address where no object begins marks nothing
  bool is_conservative = false; // words that may be references by chance
};

struct LiveStage {
  std::string name;
  u64 objects = 0; // not reached by an earlier stage
  u64 bytes = 0;   // as ClrMD and SOS report sizes
  // Their size in the heap. On 32 bit up to 4 bytes too little per large object, as those lie further apart.
  u64 aligned_bytes = 0;
  // References in these objects that are neither null nor to an object; what they should lead to is not found.
  u64 bad_references = 0;
  bool is_conservative = false;
};

struct LiveObjects {
  HeapBits objects;
  std::vector<LiveStage> stages; // one per RootStage

  // Counts the bad references in objects that precise roots reach. Other roots may hold dead objects, whose references
  // may lead to freed memory.
  u64 bad_references() const;
};

// Returns a process's roots by kind: statics first, conservative ones last.
std::vector<RootStage> root_stages(const RootSet &roots);

// For 64 places of the heap: the places where an unmarked object begins, and those where any object begins. They are
// side by side as each reference needs both: is its target new, and if not, is it an object at all?
struct MarkWord {
  u64 unmarked, starts;
};

// Marking step by step, for questions about one object.
class LiveMarking {
public:
  // Takes the same arguments as mark_live(). `among`, if given: only these objects can be found.
  LiveMarking(const ObjectIndex &index, const References &references, unsigned threads, const Watch &watch,
              u64 share_from = 1024, const HeapBits *among = nullptr);
  ~LiveMarking();
  LiveMarking(const LiveMarking &) = delete;

  // Keeps the object, and all that only it leads to, from being found until let_through(). Call it before the first
  // mark().
  void hold_back(Address object);
  void let_through(Address object);
  LiveStage mark(const RootStage &stage);
  bool found(Address object) const;
  // Marks from one object, and counts all objects that it reaches, including those found before, for which a second
  // search is needed.
  struct Closure {
    LiveStage fresh, all;
  };
  Closure mark_closure(Address object);
  // Returns the objects found. Ends the marking.
  HeapBits take();

private:
  struct Threads;
  const ObjectIndex &index_;
  const References &references_;
  const Watch watch_;
  const u64 share_from_;
  LargeArray<MarkWord> words_;
  std::unique_ptr<Threads> threads_;
};

// `share_from`: how many waiting objects a thread must have before it shares them with idle ones; tests make it small.
// Throws Interrupted.
LiveObjects mark_live(const ObjectIndex &index, const References &references, std::span<const RootStage> stages,
                      unsigned threads, const Watch &watch, u64 share_from = 1024);

} // namespace dnheap
