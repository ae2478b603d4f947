// mark_live: everything that given roots reach, without storing any reference: objects are read in the order in which
// they are found. Memory: two bits per place of the heap, and a stack of what was found but not yet read (arrays count
// as one entry, however long). Parallel; nothing recurses. The result does not depend on the number of threads.
#pragma once
#include "base/watch.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "objects/roots.h"

#include <string>

namespace dnheap {

// Roots are marked in stages, so that each says what it keeps alive beyond those before it: precise ones first.
struct RootStage {
  std::string name;             // "handle:strong", "finalizer", …
  std::vector<Address> objects; // where no object begins, nothing is marked
  bool is_conservative = false; // words that may be chance
};

struct LiveStage {
  std::string name;
  u64 objects = 0; // that no earlier stage reached
  u64 bytes = 0;   // as ClrMD and SOS report sizes
  // What they take in the heap. On 32 bit of large objects up to 4 bytes less, as those lie further apart.
  u64 aligned_bytes = 0;
  u64 bad_references = 0; // of these objects: neither null nor to an object; what they led to is not found
  bool is_conservative = false;
};

struct LiveObjects {
  HeapBits objects;
  std::vector<LiveStage> stages; // one per RootStage

  // Of what precise roots reach. Others may hold objects that died, whose references lead to what was freed.
  u64 bad_references() const;
};

// The roots of a process, by kind: statics first, those that may be chance last.
std::vector<RootStage> root_stages(const RootSet &roots);

// Of 64 places of the heap: where an object begins that was not found yet, and where any begins. Side by side, as a
// reference asks for both: does it lead to something new, and if not, to an object at all?
struct MarkWord {
  u64 unmarked, starts;
};

// The same step by step, for questions about one object.
class LiveMarking {
public:
  // As mark_live(). `among`, if given: only these objects can be found.
  LiveMarking(const ObjectIndex &index, const References &references, unsigned threads, const Watch &watch,
              u64 share_from = 1024, const HeapBits *among = nullptr);
  ~LiveMarking();
  LiveMarking(const LiveMarking &) = delete;

  // From now on the object is not found, nor anything by way of it, until it is let through. Before the first mark().
  void hold_back(Address object);
  void let_through(Address object);
  LiveStage mark(const RootStage &stage);
  bool found(Address object) const;
  // mark() of one object, and all that can be reached from it, whatever was found before: that much more it costs.
  struct Closure {
    LiveStage fresh, all;
  };
  Closure mark_closure(Address object);
  // What was found; ends the marking.
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

// `share_from`: how many objects a thread must have found before it shares them with idle ones; tests make it small.
// Throws Interrupted.
LiveObjects mark_live(const ObjectIndex &index, const References &references, std::span<const RootStage> stages,
                      unsigned threads, const Watch &watch, u64 share_from = 1024);

} // namespace dnheap
