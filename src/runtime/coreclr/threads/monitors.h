// Monitors: the locks of .NET's Monitor that have a sync block, and the threads that wait for each. Read from the
// SyncBlock contract, and from the note in a Thread that shows debuggers what the thread waits for. Reads each sync
// block that was ever used and, once, the words of all Threads. Not for several threads at once.
//
// If SyncBlock.Lock is published, a monitor is either an object of type System.Threading.Lock, which has all data, or
// the thin lock that the locked object had when it got a sync block; threads then have no note. Otherwise no target
// publishes these layouts, so each value is tested by another one. A held monitor names its owner twice: by the OS id,
// and by the Thread (in .NET 10 and later by the Thread's number). A waiting thread points at a note on its own stack,
// which points at a sync block. Source: dotnet/runtime src/coreclr/vm/syncblk.h (AwareLock), threaddebugblockinginfo.h.
#pragma once
#include "base/notes.h"
#include "runtime/coreclr/threads/sync_block_1.h"
#include "runtime/facts/thread_data.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct Monitor {
  Address object = 0, sync_block = 0;
  Address lock = 0;             // its System.Threading.Lock, which has all of the following data; 0: none
  bool is_lock_missing = false; // it has a Lock, but that cannot be read
  bool is_held = false;
  std::optional<u32> owner; // index in the list of threads; absent: nobody, or an unknown thread
  u32 recursion = 0;        // how often its owner has entered it
  u32 waiters = 0;          // threads that want to enter
};

struct MonitorWait {
  u32 thread = 0; // index in the list of threads
  Address object = 0;
  bool is_for_pulse = false; // Monitor.Wait; else Monitor.Enter
  bool has_limit = false;    // it has a timeout
};

class Monitors {
public:
  Monitors(const Memory &memory, const ContractDescriptor &descriptor, std::span<const ThreadData> threads);

  // Reasons why the list is, or may be, incomplete.
  const Notes &notes() const { return notes_; }
  // False: the runtime does not publish the place of its sync blocks.
  bool has_table() const { return sync_blocks_.has_table(); }
  // By number of the sync block.
  const std::vector<Monitor> &monitors() const { return monitors_; }
  // By thread; the latest wait of each.
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
  std::optional<i64> lock_at_, thin_lock_at_;   // offsets in a SyncBlock, if published
  u64 thread_mask_, recursion_mask_, recursion_shift_;
  std::vector<Monitor> monitors_;
  Notes notes_;
  u64 refused_ = 0; // sync blocks that should begin with a monitor, but whose data is impossible for one
  std::map<Address, u64> by_sync_block_; // → index in monitors_
};

} // namespace dnheap
