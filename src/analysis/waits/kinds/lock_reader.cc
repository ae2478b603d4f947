#include "analysis/waits/kinds/lock_reader.h"

#include "analysis/shapes/collections/linked_nodes.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_nodes = 1 << 22;       // asynchronous waiters of one semaphore
constexpr u32 no_owner = ~u32{0};         // ReaderWriterLockSlim and ReaderWriterLock: nobody
constexpr u32 waiters_of_event = 0x7ffff; // a mask of ManualResetEventSlim.m_combinedState
constexpr const char *old_reader_writer = "System.Threading.ReaderWriterLock";

struct KindOfType {
  const char *type;
  LockKind kind;
};
constexpr KindOfType kinds_of_types[] = {{"System.Threading.Lock", LockKind::lock},
                                         {"System.Threading.ReaderWriterLockSlim", LockKind::reader_writer},
                                         {"System.Threading.SemaphoreSlim", LockKind::semaphore},
                                         {"System.Threading.ManualResetEventSlim", LockKind::event},
                                         {old_reader_writer, LockKind::reader_writer},
                                         {"System.Threading.CountdownEvent", LockKind::countdown},
                                         {"System.Threading.Barrier", LockKind::barrier}};

std::optional<u32> found_in(const std::map<u64, u32> &numbers, u64 id) {
  auto thread = numbers.find(id);
  return thread != numbers.end() ? std::optional(thread->second) : std::nullopt;
}

std::string readers_in_words(u64 readers) {
  return fmt::format("{} reader{}, which it does not name", readers, readers == 1 ? "" : "s");
}

} // namespace

const char *name_of(LockKind kind) {
  constexpr const char *names[] = {"thin_lock", "monitor", "lock",      "reader_writer", "semaphore",
                                   "event",     "mutex",   "countdown", "barrier"};
  return names[static_cast<u8>(kind)];
}

void ThreadNumbers::add(std::span<const ThreadData> threads) {
  for (u32 i = 0; i < threads.size(); ++i) {
    if (threads[i].os_id.value_or(0))
      by_os_id.emplace(*threads[i].os_id, i);
    if (threads[i].managed_id.value_or(0))
      by_managed_id.emplace(*threads[i].managed_id, i);
  }
}

std::optional<u32> ThreadNumbers::thread_with_os_id(u64 id) const { return found_in(by_os_id, id); }
std::optional<u32> ThreadNumbers::thread_with_managed_id(u64 id) const { return found_in(by_managed_id, id); }

std::optional<LockKind> LockReader::kind_of(Address method_table) const {
  auto [known, is_new] = kinds_.try_emplace(method_table);
  if (is_new)
    for (const KindOfType &row : kinds_of_types)
      if (bases_.derives(method_table, row.type)) {
        known->second = row.kind;
        break;
      }
  return known->second;
}

LockObject LockReader::read(Address object, LockKind kind) {
  LockObject out;
  out.object = object;
  out.kind = kind;
  switch (kind) {
  case LockKind::lock: read_lock(out); break;
  case LockKind::reader_writer:
    bases_.derives(fields_.type_of(object), old_reader_writer) ? read_old_reader_writer(out) : read_reader_writer(out);
    break;
  case LockKind::semaphore: read_semaphore(out); break;
  case LockKind::event: read_event(out); break;
  case LockKind::countdown: read_countdown(out); break;
  case LockKind::barrier: read_barrier(out); break;
  case LockKind::thin_lock:
  case LockKind::monitor:
  case LockKind::mutex: break;
  }
  return out;
}

LockObject LockReader::read_monitor(const Monitor &monitor) {
  LockObject out;
  const bool is_lock = monitor.lock && kind_of(fields_.type_of(monitor.lock)) == LockKind::lock;
  if (is_lock)
    out = read(monitor.lock, LockKind::lock);
  out.object = monitor.object;
  out.kind = LockKind::monitor;
  if (!monitor.lock) {
    out.is_held = monitor.is_held;
    out.owner = monitor.owner;
    out.recursion = monitor.recursion;
    out.waiters = monitor.waiters;
  }
  if (monitor.is_lock_missing || (monitor.lock && !is_lock)) {
    out.is_unknown = true;
    out.state = "not known: its lock cannot be read";
  } else if (out.is_held && !out.owner)
    out.state = "its owner is not known";
  return out;
}

std::vector<Address> LockReader::inner_of(Address object, LockKind kind) {
  std::vector<Address> out;
  auto add = [&](const char *field) {
    if (const Address inner = fields_.reference_or_null(object, field))
      out.push_back(inner);
  };
  if (kind == LockKind::semaphore)
    add("m_lockObjAndDisposed");
  else if (kind == LockKind::event)
    add("m_lock");
  else if (kind == LockKind::countdown)
    add("_event");
  else if (kind == LockKind::barrier)
    for (const char *field : {"_oddEvent", "_evenEvent"})
      add(field);
  return out;
}

std::vector<Address> LockReader::asynchronous_waiters(Address semaphore) {
  return linked_nodes(fields_, fields_.reference_or_null(semaphore, "m_asyncHead"), "Next", most_nodes);
}

// _state: bit 0: held. Waiters count in units of 128 (.NET 9, 10); or, if there is a watchdog, in units of 4, without
// the topmost bit.
void LockReader::read_lock(LockObject &to) {
  const u32 state = fields_.number<u32>(to.object, "_state").value_or(0);
  to.is_held = state & 1;
  to.waiters = fields_.offset(fields_.type_of(to.object), "_wakeWatchDog") ? (state & 0x7fffffff) >> 2 : state >> 7;
  if (!to.is_held)
    return;
  to.recursion = 1 + u64{fields_.number<u32>(to.object, "_recursionCount").value_or(0)};
  // The operating system's id in CoreCLR before .NET 11, the managed id elsewhere.
  const u64 id = fields_.number<u32>(to.object, "_owningThreadId").value_or(0);
  if (!has_managed_monitors_)
    to.owner = threads_.thread_with_os_id(id);
  if (!to.owner)
    to.owner = threads_.thread_with_managed_id(id);
}

void LockReader::read_reader_writer(LockObject &to) {
  auto number = [&](const char *field) { return fields_.number<u32>(to.object, field).value_or(0); };
  const u32 writer = fields_.number<u32>(to.object, "_writeLockOwnerId").value_or(no_owner),
            upgrader = fields_.number<u32>(to.object, "_upgradeLockOwnerId").value_or(no_owner),
            readers = writer == no_owner ? number("_owners") & 0x0fffffff : 0;
  to.waiters = u64{number("_numWriteWaiters")} + number("_numReadWaiters") + number("_numUpgradeWaiters") +
               number("_numWriteUpgradeWaiters");
  to.is_held = writer != no_owner || upgrader != no_owner || readers;
  to.reader_count = readers - (readers && upgrader != no_owner); // _owners counts a thread that may upgrade, too
  const u32 owner = writer != no_owner ? writer : upgrader;
  if (owner != no_owner) {
    to.owner = threads_.thread_with_managed_id(owner);
    // If a thread may take the lock again, the thread's own counts have the number of times.
    to.recursion = fields_.number<u8>(to.object, "_fIsReentrant").value_or(0) ? 0 : 1;
    to.state = writer != no_owner ? "for writing" : "for reading, to be upgraded";
  } else if (readers) {
    to.state = readers_in_words(readers);
  }
}

void LockReader::read_semaphore(LockObject &to) {
  const u32 free = fields_.number<u32>(to.object, "m_currentCount").value_or(0),
            most = fields_.number<u32>(to.object, "m_maxCount").value_or(0);
  const u64 nodes = asynchronous_waiters(to.object).size();
  to.waiters = fields_.number<u32>(to.object, "m_waitCount").value_or(0) + nodes;
  to.is_held = free == 0;
  to.permits = most < 0x7fffffff ? most : 0;
  to.state = most && most < 0x7fffffff ? fmt::format("{} of {} free", free, most) : fmt::format("{} free", free);
  if (nodes)
    to.state += fmt::format(", {} asynchronous waiter{}", nodes, nodes == 1 ? "" : "s");
}

// m_combinedState: the topmost bit: set; the lowest 19: waiters.
void LockReader::read_event(LockObject &to) {
  const u32 state = fields_.number<u32>(to.object, "m_combinedState").value_or(0);
  to.waiters = state & waiters_of_event;
  to.state = state >> 31 ? "set" : "not set";
}

// _state: the lowest 10 bits: readers; bit 12: a writer; from bit 13 on waiting readers, from bit 23 on waiting
// writers.
void LockReader::read_old_reader_writer(LockObject &to) {
  const u32 state = fields_.number<u32>(to.object, "_state").value_or(0),
            writer = fields_.number<u32>(to.object, "_writerID").value_or(no_owner);
  to.waiters = u64{state >> 13 & 0x3ff} + (state >> 23);
  to.reader_count = state & 0x3ff;
  to.is_held = (state & 0x1000) || to.reader_count;
  if (state & 0x1000) {
    to.owner = threads_.thread_with_managed_id(writer);
    to.recursion = fields_.number<u16>(to.object, "_writerLevel").value_or(0);
    to.state = "for writing";
  } else if (to.reader_count) {
    to.state = readers_in_words(to.reader_count);
  }
}

u64 LockReader::waiters_of_events(const LockObject &of) {
  u64 out = 0;
  for (Address event : inner_of(of.object, of.kind))
    out += fields_.number<u32>(event, "m_combinedState").value_or(0) & waiters_of_event;
  return out;
}

void LockReader::read_countdown(LockObject &to) {
  to.waiters = waiters_of_events(to);
  to.state = fmt::format("{} of {} signals to come", fields_.number<u32>(to.object, "_currentCount").value_or(0),
                         fields_.number<u32>(to.object, "_initialCount").value_or(0));
}

// _currentTotalCount: the lowest 15 bits: participants; from bit 16 on, 15 bits: those that have arrived.
void LockReader::read_barrier(LockObject &to) {
  const u32 counts = fields_.number<u32>(to.object, "_currentTotalCount").value_or(0);
  to.waiters = waiters_of_events(to);
  to.state = fmt::format("{} of {} arrived", counts >> 16 & 0x7fff, counts & 0x7fff);
}

} // namespace dnheap
