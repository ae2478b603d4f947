// The word in front of an object, 4 bytes before its MethodTable (vm/syncblk.h of dotnet/runtime; the same in .NET 8 to
// 11): a hash code, the index of a sync block, or the holder of the object's lock; the topmost bits are the GC's.
#pragma once
#include "base/integers.h"

namespace dnheap {

struct ObjectHeader {
  static constexpr u64 offset = 4;                                          // bytes in front of the object
  static constexpr u32 spin_lock = 0x10000000;                              // some thread is changing the word
  static constexpr u32 is_hash_or_index = 0x08000000, is_hash = 0x04000000; // SyncBlockIsHash…
  static constexpr u32 index_mask = 0x03ffffff;                             // of the hash code or the index
  static constexpr u32 thread_mask = 0xffff, recursion_mask = 0x3f0000;     // of a thin lock
  static constexpr u32 old_thread_mask = 0x03ff;                            // before .NET 8
  static constexpr u32 kinds = is_hash_or_index | is_hash;
  static constexpr u32 lock = thread_mask | recursion_mask;

  u32 word = 0;

  bool has_index() const { return (word & kinds) == is_hash_or_index; }
  u32 index() const { return word & index_mask; }
  bool has_thin_lock() const { return (word & (spin_lock | is_hash_or_index)) == 0 && (word & lock) != 0; }
};

} // namespace dnheap
