#include "runtime/coreclr/threads/monitors.h"

#include "base/text.h"
#include "runtime/object_header.h"

namespace dnheap {

namespace {

constexpr u64 largest_thread = 0x1000; // searched bytes of a Thread
// Bits of AwareLock's state.
constexpr u32 is_locked = 1, waiter_shift = 6;
constexpr u32 no_limit = ~u32{0}; // of a wait, in ms

} // namespace

Monitors::Monitors(const Memory &memory, const ContractDescriptor &descriptor, std::span<const ThreadData> threads)
    : memory_(&memory), sync_blocks_(memory, descriptor), threads_(threads), p_(memory.format().pointer_size),
      lock_at_(descriptor.try_offset("SyncBlock", "Lock")),
      thin_lock_at_(descriptor.try_offset("SyncBlock", "ThinLock")),
      thread_mask_(descriptor.try_number("SyncBlockMaskLockThreadId").value_or(ObjectHeader::thread_mask)),
      recursion_mask_(descriptor.try_number("SyncBlockMaskLockRecursionLevel").value_or(ObjectHeader::recursion_mask)),
      recursion_shift_(descriptor.try_number("SyncBlockRecursionLevelShift").value_or(16)) {
  for (u32 i = 0; i < threads_.size(); ++i) {
    if (threads_[i].os_id.value_or(0))
      by_os_id_.emplace(*threads_[i].os_id, i);
    if (threads_[i].managed_id.value_or(0))
      by_managed_id_.emplace(*threads_[i].managed_id, i);
  }
  read_monitors();
}

void Monitors::read_monitors() {
  for (u32 number = 1; number <= sync_blocks_.count().value_or(0); ++number) {
    std::optional<SyncTableEntry> entry = sync_blocks_.entry(number);
    if (!entry)
      break; // the rest is not in the dump
    if (!entry->object || !entry->sync_block)
      continue;
    if (const std::optional<Monitor> monitor = lock_at_ ? read_managed(*entry) : read_native(*entry)) {
      by_sync_block_.emplace(entry->sync_block, monitors_.size());
      monitors_.push_back(*monitor);
    }
  }
  if (refused_)
    notes_.add(Subject::locks, Effect::numbers,
               "the data of " + count_text(refused_) + (refused_ == 1 ? " monitor" : " monitors") +
                   " is impossible, so who holds monitors and who waits for them is unknown; the offset of "
                   "SyncBlock.Lock may be missing");
}

// There are no more waiters than threads, and a free monitor has no owner. In .NET 10 and later, the owner number -1
// means nobody.
bool Monitors::is_plausible(const Monitor &monitor, u32 owner_number) const {
  return monitor.waiters <= threads_.size() && (monitor.is_held || owner_number == 0 || owner_number == ~u32{0});
}

// A SyncBlock begins with {u32 state, u32 recursion, owner, the owner's OS id}. An owner number takes 4 bytes, and any
// value may follow it.
std::optional<Monitor> Monitors::read_native(const SyncTableEntry &entry) {
  const Address at = entry.sync_block;
  std::optional<u32> state = memory_->try_load<u32>(at), recursion = memory_->try_load<u32>(at + 4);
  std::optional<u32> owner_number = memory_->try_load<u32>(at + 8);
  std::optional<u64> owner = memory_->try_pointer(at + 8), id = memory_->try_pointer(at + 8 + p_);
  if (!state || !recursion || !owner_number || !owner || !id)
    return std::nullopt;
  Monitor monitor;
  monitor.object = entry.object;
  monitor.sync_block = at;
  monitor.is_held = *state & is_locked;
  monitor.waiters = *state >> waiter_shift;
  if (!threads_.empty() && !is_plausible(monitor, *owner_number)) {
    ++refused_;
    return std::nullopt;
  }
  if (monitor.is_held) {
    monitor.recursion = *recursion;
    auto names = [&](const ThreadData &one) { return *owner == one.address || *owner_number == one.managed_id; };
    if (auto thread = by_os_id_.find(*id); thread != by_os_id_.end()) {
      if (names(threads_[thread->second]))
        monitor.owner = thread->second;
    } else { // the owner has ended, and its OS id is cleared
      for (u32 i = 0; i < threads_.size() && !monitor.owner; ++i)
        if (threads_[i].os_id == u64{0} && names(threads_[i]))
          monitor.owner = i;
    }
  }
  return monitor;
}

// SyncBlock.Lock is a handle of the monitor's Lock. As long as the monitor has no Lock, the thin lock in the sync block
// counts: a copy of the object's header.
std::optional<Monitor> Monitors::read_managed(const SyncTableEntry &entry) const {
  const std::optional<u64> handle = memory_->try_pointer(entry.sync_block + static_cast<u64>(*lock_at_));
  if (!handle)
    return std::nullopt;
  Monitor monitor;
  monitor.object = entry.object;
  monitor.sync_block = entry.sync_block;
  if (*handle) {
    monitor.lock = memory_->try_pointer(*handle).value_or(0);
    monitor.is_lock_missing = monitor.lock == 0;
    return monitor;
  }
  const u32 word =
      thin_lock_at_ ? memory_->try_load<u32>(entry.sync_block + static_cast<u64>(*thin_lock_at_)).value_or(0) : 0;
  if (const u64 id = word & thread_mask_) {
    monitor.is_held = true;
    monitor.recursion = static_cast<u32>(1 + ((word & recursion_mask_) >> recursion_shift_));
    if (auto thread = by_managed_id_.find(id); thread != by_managed_id_.end())
      monitor.owner = thread->second;
  }
  return monitor;
}

bool Monitors::is_on_stack(u32 thread, Address address) const {
  const ThreadData &t = threads_[thread];
  return t.stack_base && t.stack_limit && address >= *t.stack_limit && address < *t.stack_base && address % p_ == 0;
}

// {monitor, AppDomain, u32 kind, u32 timeout, next note}
std::optional<Monitors::Note> Monitors::note_at(u32 thread, Address note) const {
  if (!is_on_stack(thread, note))
    return std::nullopt;
  auto monitor = by_sync_block_.find(memory_->try_pointer(note).value_or(0));
  std::optional<u64> domain = memory_->try_pointer(note + p_), next = memory_->try_pointer(note + 2 * p_ + 8);
  std::optional<u32> kind = memory_->try_load<u32>(note + 2 * p_), limit = memory_->try_load<u32>(note + 2 * p_ + 4);
  if (monitor == by_sync_block_.end() || domain.value_or(0) == 0 || !kind || *kind > 1 || !limit || !next)
    return std::nullopt;
  return Note{{thread, monitors_[monitor->second].object, *kind == 1, *limit != no_limit}, *domain};
}

// Finds the offset that in all Threads is null or leads to such a note, all of the same AppDomain (there is only one);
// nullopt: nobody waits, or several offsets fit.
std::optional<u64> Monitors::find_notes() const {
  std::optional<u64> found;
  for (u64 at = 0; at < largest_thread; at += p_) {
    std::optional<Address> domain;
    bool fits = true;
    for (u32 i = 0; i < threads_.size() && fits; ++i) {
      std::optional<u64> word = memory_->try_pointer(threads_[i].address + at);
      std::optional<Note> note = word ? note_at(i, *word) : std::nullopt;
      if (note && !domain)
        domain = note->app_domain;
      fits = word && (*word == 0 || (note && note->app_domain == domain));
    }
    if (!domain || !fits)
      continue;
    if (found)
      return std::nullopt;
    found = at;
  }
  return found;
}

std::vector<MonitorWait> Monitors::waits() const {
  std::vector<MonitorWait> out;
  if (lock_at_)
    return out;
  std::optional<u64> at;
  memory_->as_searched([&] { at = find_notes(); });
  if (at)
    for (u32 i = 0; i < threads_.size(); ++i)
      if (std::optional<Note> note = note_at(i, memory_->try_pointer(threads_[i].address + *at).value_or(0)))
        out.push_back(note->wait);
  return out;
}

} // namespace dnheap
