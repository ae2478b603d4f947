#include "analysis/inspect/lock_objects.h"

#include "analysis/inspect/base_types.h"
#include "analysis/inspect/typed_objects.h"
#include "base/parallel.h"
#include "heap/object_bytes.h"
#include "objects/object_index.h"
#include "runtime/object_header.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_thin_locks = 1 << 20;
constexpr u64 most_nodes = 1 << 22; // of a semaphore's asynchronous waiters
constexpr u32 no_owner = ~u32{0};   // ReaderWriterLockSlim: nobody

class LockFinder {
public:
  explicit LockFinder(Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), fields_(runtime_), bases_(runtime_) {}

  LockSet find() {
    try {
      out_.threads = runtime_.threads(out_.problems);
    } catch (const Error &e) {
      out_.problems.push_back(std::string("who holds and waits for locks cannot be told: ") + e.what());
    }
    for (u32 i = 0; i < out_.threads.size(); ++i) {
      if (out_.threads[i].os_id.value_or(0))
        out_.by_os_id.emplace(*out_.threads[i].os_id, i);
      if (out_.threads[i].managed_id.value_or(0))
        out_.by_managed_id.emplace(*out_.threads[i].managed_id, i);
    }
    if (runtime_.kind() == std::string_view("coreclr")) {
      find_thin_locks();
      find_monitors();
    } else {
      out_.problems.push_back("locks of Monitor are told of CoreCLR only");
    }
    find_objects();
    std::sort(out_.locks.begin(), out_.locks.end(), [](const LockObject &a, const LockObject &b) {
      return std::tie(a.object, a.kind) < std::tie(b.object, b.kind);
    });
    return std::move(out_);
  }

private:
  // 10 bits for the thread in the first builds of .NET 8, 16 later: whichever names one that exists.
  void add_thin_lock(Address object, ObjectHeader header) {
    LockObject lock;
    lock.object = object;
    lock.is_held = true;
    const u32 word = header.word;
    for (auto [mask, shift] :
         {std::pair{ObjectHeader::thread_mask, 16u}, std::pair{ObjectHeader::old_thread_mask, 10u}}) {
      lock.owner = word & mask ? out_.thread_with_managed_id(word & mask) : std::nullopt;
      lock.recursion = 1 + (word >> shift & 0x3f);
      if (lock.owner)
        break;
    }
    if (!lock.owner) {
      lock.recursion = 1 + (word >> 16 & 0x3f);
      lock.state = fmt::format("by thread {}, which does not exist", word & ObjectHeader::thread_mask);
    }
    out_.locks.push_back(std::move(lock));
  }

  void find_thin_locks() {
    const ObjectIndex &index = snapshot_.index();
    const ObjectBytes bytes(snapshot_.heap(), runtime_.memory());
    const Format format = runtime_.memory().format();
    std::vector<std::vector<std::pair<Address, u32>>> found(std::max(snapshot_.threads(), 1u));
    Timer timer(snapshot_.watch(), "headers");
    parallel_for(index.places().blocks(), snapshot_.threads(), [&](u64 block, unsigned worker) {
      snapshot_.watch().check();
      index.for_each(block, [&](ObjectId, Address address) {
        const Bytes before = bytes.from(address - format.pointer_size);
        std::optional<u32> word = load_at<u32>(before, format.pointer_size - ObjectHeader::offset, format.byte_order);
        if (!word)
          word = runtime_.memory().try_load<u32>(address - ObjectHeader::offset);
        if (word && ObjectHeader{*word}.has_thin_lock())
          found[worker].emplace_back(address, *word);
      });
    });
    std::vector<std::pair<Address, u32>> all;
    for (const auto &part : found)
      all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end());
    if (all.size() > most_thin_locks) {
      all.resize(most_thin_locks);
      out_.problems.push_back(
          "more objects seem to be locked than are looked at: dnheap verify tells which headers are damaged");
    }
    for (auto [address, word] : all)
      add_thin_lock(address, ObjectHeader{word});
  }

  void find_monitors() {
    const Monitors monitors(runtime_.memory(), runtime_.descriptor(), out_.threads);
    for (const Monitor &monitor : monitors.monitors()) {
      LockObject lock;
      lock.object = monitor.object;
      lock.kind = LockKind::monitor;
      lock.is_held = monitor.is_held;
      lock.owner = monitor.owner;
      lock.recursion = monitor.recursion;
      lock.waiters = monitor.waiters;
      if (monitor.is_held && !monitor.owner)
        lock.state = "its owner is not known";
      out_.locks.push_back(std::move(lock));
    }
    out_.monitor_waits = monitors.waits();
  }

  void find_objects() {
    using Read = void (LockFinder::*)(Address, LockObject &);
    struct Row {
      const char *type;
      LockKind kind;
      Read read;
    };
    static constexpr Row rows[] = {
        {"System.Threading.Lock", LockKind::lock, &LockFinder::read_lock},
        {"System.Threading.ReaderWriterLockSlim", LockKind::reader_writer, &LockFinder::read_reader_writer},
        {"System.Threading.SemaphoreSlim", LockKind::semaphore, &LockFinder::read_semaphore},
        {"System.Threading.ManualResetEventSlim", LockKind::event, &LockFinder::read_event},
    };
    std::map<Address, const Row *> row_of;
    const std::vector<Address> types = types_that(snapshot_, [&](Address mt) {
      for (const Row &row : rows)
        if (bases_.derives(mt, row.type))
          return row_of.emplace(mt, &row).second;
      return false;
    });
    for (const TypedObject &object : objects_of(snapshot_, types)) {
      const Row &row = *row_of[object.method_table];
      LockObject lock;
      lock.object = object.address;
      lock.kind = row.kind;
      (this->*row.read)(object.address, lock);
      out_.locks.push_back(std::move(lock));
    }
  }

  // _state: 1 held; waiters in units of 128 (.NET 9, 10) or, where it has a watchdog, of 4 with the topmost bit apart.
  void read_lock(Address object, LockObject &to) {
    const u32 state = fields_.number<u32>(object, "_state").value_or(0);
    to.is_held = state & 1;
    to.waiters = fields_.offset(fields_.type_of(object), "_wakeWatchDog") ? (state & 0x7fffffff) >> 2 : state >> 7;
    if (!to.is_held)
      return;
    to.recursion = 1 + u64{fields_.number<u32>(object, "_recursionCount").value_or(0)};
    // The operating system's id in CoreCLR, the program's number elsewhere.
    const u64 id = fields_.number<u32>(object, "_owningThreadId").value_or(0);
    to.owner = out_.thread_with_os_id(id);
    if (!to.owner)
      to.owner = out_.thread_with_managed_id(id);
  }

  void read_reader_writer(Address object, LockObject &to) {
    auto number = [&](const char *field) { return fields_.number<u32>(object, field).value_or(0); };
    const u32 writer = fields_.number<u32>(object, "_writeLockOwnerId").value_or(no_owner),
              upgrader = fields_.number<u32>(object, "_upgradeLockOwnerId").value_or(no_owner),
              readers = writer == no_owner ? number("_owners") & 0x0fffffff : 0;
    to.waiters = u64{number("_numWriteWaiters")} + number("_numReadWaiters") + number("_numUpgradeWaiters") +
                 number("_numWriteUpgradeWaiters");
    to.is_held = writer != no_owner || upgrader != no_owner || readers;
    const u32 owner = writer != no_owner ? writer : upgrader;
    if (owner != no_owner) {
      to.owner = out_.thread_with_managed_id(owner);
      to.recursion = 1;
      to.state = writer != no_owner ? "for writing" : "for reading, to be upgraded";
    } else if (readers) {
      to.state = fmt::format("{} reader{}, which it does not name", readers, readers == 1 ? "" : "s");
    }
  }

  void read_semaphore(Address object, LockObject &to) {
    const u32 free = fields_.number<u32>(object, "m_currentCount").value_or(0),
              most = fields_.number<u32>(object, "m_maxCount").value_or(0);
    to.waiters = fields_.number<u32>(object, "m_waitCount").value_or(0);
    if (Address inner = fields_.reference_or_null(object, "m_lockObjAndDisposed"))
      out_.by_inner[inner] = object;
    u64 nodes = 0;
    for (Address node = fields_.reference_or_null(object, "m_asyncHead"); node && nodes < most_nodes;
         node = fields_.reference_or_null(node, "Next"), ++nodes)
      if (!out_.by_node.emplace(node, object).second)
        break; // a circle
    to.waiters += nodes;
    to.is_held = free == 0;
    to.state = most && most < 0x7fffffff ? fmt::format("{} of {} free", free, most) : fmt::format("{} free", free);
    if (nodes)
      to.state += fmt::format(", {} asynchronous waiter{}", nodes, nodes == 1 ? "" : "s");
  }

  // m_combinedState: the topmost bit: set; the lowest 19: waiters.
  void read_event(Address object, LockObject &to) {
    const u32 state = fields_.number<u32>(object, "m_combinedState").value_or(0);
    to.waiters = state & 0x7ffff;
    to.state = state >> 31 ? "set" : "not set";
    if (Address inner = fields_.reference_or_null(object, "m_lock"))
      out_.by_inner[inner] = object;
  }

  Snapshot &snapshot_;
  const Runtime &runtime_;
  FieldReader fields_;
  BaseTypes bases_;
  LockSet out_;
};

} // namespace

const char *name_of(LockKind kind) {
  constexpr const char *names[] = {"thin_lock", "monitor", "lock", "reader_writer", "semaphore", "event"};
  return names[static_cast<u8>(kind)];
}

std::optional<u32> LockSet::thread_with_os_id(u64 id) const {
  auto thread = by_os_id.find(id);
  return thread != by_os_id.end() ? std::optional(thread->second) : std::nullopt;
}

std::optional<u32> LockSet::thread_with_managed_id(u64 id) const {
  auto thread = by_managed_id.find(id);
  return thread != by_managed_id.end() ? std::optional(thread->second) : std::nullopt;
}

LockObject *LockSet::find(Address object) {
  auto found = std::lower_bound(locks.begin(), locks.end(), object,
                                [](const LockObject &lock, Address address) { return lock.object < address; });
  return found != locks.end() && found->object == object ? &*found : nullptr;
}

LockSet find_locks(Snapshot &snapshot) { return LockFinder(snapshot).find(); }

} // namespace dnheap
