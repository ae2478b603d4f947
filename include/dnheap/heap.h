// Heap: the segments, the number of objects per type, and all objects in blocks. A value of one word, valid as long as
// its Snapshot; use it from the Snapshot's thread. segments() reads no object. types() walks the heap at its first
// call, with OpenOptions::threads threads, at the speed of memory or of the disk; it keeps a few hundred bytes per
// type.
#pragma once
#include "dnheap/note.h"
#include "dnheap/question.h"
#include "dnheap/type.h"

#include <array>
#include <memory>
#include <span>

namespace dnheap::DNHEAP_ABI {

// A region or segment of the GC, or the part of it that belongs to one generation.
struct Segment {
  Address start = {}, end = {}; // first object, end of objects
  Generation generation = Generation::gen0;
  std::uint32_t heap = 0;                                       // number of the GC heap, under server GC
  std::optional<Address> committed_end = {}, reserved_end = {}; // nullopt if the runtime does not say
};

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;         // as ClrMD and SOS report sizes
  std::uint64_t aligned_bytes = 0; // their size in the heap
};

struct TypeTally {
  Type type;
  Tally total = {};
  std::array<Tally, generation_count> generations = {};
};

// A stretch that was not, or could not be, walked.
struct Gap {
  Address start = {}, end = {};
  std::string reason = {};
};

// How much of the heap all answers are based on.
struct Completeness {
  bool complete = true;
  bool is_walked = true;                // false: the three numbers below are unknown, and the answer does not need them
  std::uint64_t objects = 0, bytes = 0; // walked, Free included; bytes as in the heap
  std::uint64_t bad_objects = 0;        // places without a valid object
  std::vector<Gap> gaps = {};           // the first ten thousand
  std::uint64_t more_gaps = 0, more_gap_bytes = 0;
  std::vector<Note> notes = {}; // what is odd or missing; one with an effect makes it incomplete
};

// One object of a block.
struct HeapObject {
  Address address = {};
  Address method_table = {};
  std::uint64_t size = 0; // as ClrMD and SOS report it
  TypeId type{};          // meaningless if !has_type
  Generation generation = Generation::gen0;
  bool has_type = true; // false: Free; or, in a running process, a type that had no objects before
  bool is_free = false;
};

// All objects, block by block, for callers that cannot use a callback. Valid as long as the Snapshot; use it from the
// Snapshot's thread.
class HeapBlocks {
public:
  HeapBlocks(HeapBlocks &&) noexcept;
  HeapBlocks &operator=(HeapBlocks &&) noexcept;
  ~HeapBlocks();
  // Returns the next block that for_each_block() would pass to `visit`; empty at the end. Valid until the next call.
  // Throws as for_each_block() does.
  std::span<const HeapObject> next();

private:
  friend class Heap;
  struct Inside;
  explicit HeapBlocks(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

class Heap {
public:
  std::vector<Segment> segments() const; // by heap, then as the GC lists them
  // Returns all types that have objects, Free among them, by MethodTable.
  std::vector<TypeTally> types() const;
  Completeness completeness() const; // walks as types() does

  // Calls visit(block) for all objects in address order, Free ones too; a block has some ten thousand objects, never
  // none. `visit` returns false to stop. Runs in this thread only and takes the memory of one block. Numbers the types
  // first, as types() does. An object costs some 40 ns. Throws Error when part of the dump was lost meanwhile: the
  // blocks before that were correct.
  void for_each_block(const std::function<bool(std::span<const HeapObject>)> &visit) const;
  HeapBlocks blocks() const; // the same, for callers that ask for blocks

  // Calls visit(block, first, worker) from several threads at once: each object once except Free ones, in no order.
  // `first` is the number of the block's first object, the others follow it. `worker` is below workers(); calls with
  // the same worker never overlap, so a counter per worker needs no lock. An exception of `visit` ends the pass and is
  // thrown here. An object costs some 30 ns of a thread. Makes an index first: 1/51 of the heap's size in memory, and
  // one more walk; for a live process, a copy.
  void for_each_block_parallel(
      const std::function<void(std::span<const HeapObject>, ObjectId first, unsigned worker)> &visit) const;
  unsigned workers() const; // OpenOptions::threads

private:
  friend class State;
  explicit Heap(State *state) : state_(state) {}
  State *state_;
};

} // namespace dnheap::DNHEAP_ABI
