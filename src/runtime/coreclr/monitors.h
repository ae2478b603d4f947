// Monitors: the locks of .NET's Monitor that have a sync block, and which thread waits for which: what the SyncBlock
// contract calls a monitor, and of a Thread what debuggers are told that it blocks on. Reads each sync block that was
// ever used and, once, the words of all Threads. One thread.
//
// Where SyncBlock.Lock is published, a monitor is an object of type System.Threading.Lock, which says what there is to
// say, or what a thin lock was when its object got a sync block; threads note nothing. Elsewhere nobody publishes these
// layouts, so each value proves itself: a held monitor names its owner twice (by Thread or, from .NET 10 on, by number,
// and by the operating system's id), and a thread that waits points at a note on its own stack which points at a sync
// block. Source: dotnet/runtime src/coreclr/vm/syncblk.h (AwareLock), threaddebugblockinginfo.h.
#pragma once
#include "runtime/coreclr/sync_block_1.h"
#include "runtime/thread_data.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct Monitor {
  Address object = 0, sync_block = 0;
  Address lock = 0;             // its System.Threading.Lock, which says all that follows; 0: has none
  bool is_lock_missing = false; // it has one, but that cannot be read
  bool is_held = false;
  std::optional<u32> owner; // index in the list of threads; absent: nobody, or nobody that is known
  u32 recursion = 0;        // how often its owner has entered it
  u32 waiters = 0;          // threads that want to enter
};

struct MonitorWait {
  u32 thread = 0; // index in the list of threads
  Address object = 0;
  bool is_for_pulse = false; // Monitor.Wait; else Monitor.Enter
  bool has_limit = false;    // it ends by itself after some time
};

class Monitors {
public:
  Monitors(const Memory &memory, const ContractDescriptor &descriptor, std::span<const ThreadData> threads);

  // What was found is not all, or may not be.
  const std::vector<std::string> &problems() const { return problems_; }
  // False: the runtime does not say where its sync blocks lie.
  bool has_table() const { return sync_blocks_.has_table(); }
  // By number of the sync block.
  const std::vector<Monitor> &monitors() const { return monitors_; }
  // By thread; what it came to wait for last.
  std::vector<MonitorWait> waits() const;

private:
  struct Note {
    MonitorWait wait;
    Address app_domain = 0;
  };

  void read_monitors();
  bool is_plausible(const Monitor &monitor, u32 owner_number) const;
  std::optional<Monitor> read_native(const SyncTableEntry &entry);
  std::optional<Monitor> read_managed(const SyncTableEntry &entry) const;
  std::optional<Note> note_at(u32 thread, Address note) const;
  std::optional<u64> find_notes() const;
  bool is_on_stack(u32 thread, Address address) const;

  const Memory *memory_;
  SyncBlock1 sync_blocks_;
  std::span<const ThreadData> threads_;
  u64 p_;
  std::map<u64, u32> by_os_id_, by_managed_id_; // → index in the list of threads
  std::optional<i64> lock_at_, thin_lock_at_;   // in a SyncBlock, where these are published
  u64 thread_mask_, recursion_mask_, recursion_shift_;
  std::vector<Monitor> monitors_;
  std::vector<std::string> problems_;
  u64 refused_ = 0;                      // sync blocks that do not begin as one does whose monitor is no object
  std::map<Address, u64> by_sync_block_; // → index in monitors_
};

} // namespace dnheap
