#include "analysis/waits/kinds/lock_objects.h"

#include "analysis/names/type_called.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/waits/kinds/condition_objects.h"
#include "base/parallel.h"
#include "base/text.h"
#include "heap/object_bytes.h"
#include "objects/object_index.h"
#include "runtime/contract_versions.h"
#include "runtime/object_header.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 most_thin_locks = 1 << 20;

class LockFinder {
public:
  explicit LockFinder(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), reader_(runtime_, out_), fields_(runtime_),
        bases_(runtime_) {}

  LockSet find() {
    try {
      out_.threads = runtime_.threads(out_.problems);
    } catch (const Error &e) {
      out_.problems.add(Subject::locks, Effect::numbers, "owners and waiters of locks are unknown: ", e);
    }
    out_.add(out_.threads);
    out_.targets = std::make_unique<WaitTargets>(runtime_, out_.threads);
    if (!out_.targets->subsystem().is_known())
      out_.targets.reset();
    if (runtime_.kind() == std::string_view("coreclr")) {
      if (!why_not_read(runtime_.descriptor(), "SyncBlock")) // it describes object headers, too
        find_thin_locks();
      find_monitors();
    } else {
      out_.problems.add(Subject::locks, Effect::numbers, "locks of Monitor are read in CoreCLR only");
      if (out_.targets)
        add_condition_objects(runtime_, *out_.targets);
    }
    find_objects();
    out_.sort_locks();
    return std::move(out_);
  }

private:
  // The thread's number has 10 bits in the first builds of .NET 8, and 16 bits later: takes the one that names an
  // existing thread.
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
    if (const u64 locked = all.size(); locked > most_thin_locks) {
      all.resize(most_thin_locks);
      out_.problems.add(Subject::locks, Effect::numbers,
                        count_text(locked) + " objects seem to be locked, and only the first " +
                            count_text(most_thin_locks) +
                            " are looked at; headers may be damaged: dnheap verify lists such headers");
    }
    for (auto [address, word] : all)
      add_thin_lock(address, ObjectHeader{word});
  }

  void find_monitors() {
    const Monitors monitors(runtime_.memory(), runtime_.descriptor(), out_.threads);
    u64 unknown = 0;
    for (const Monitor &monitor : monitors.monitors()) {
      out_.locks.push_back(reader_.read_monitor(monitor));
      unknown += out_.locks.back().is_unknown;
      if (monitor.lock)
        out_.by_lock.emplace(monitor.lock, monitor.object);
      if (monitor.lock && out_.targets)
        out_.targets->add_monitor(monitor.lock, monitor.object);
    }
    if (unknown)
      out_.problems.add(
          Subject::locks, Effect::numbers,
          fmt::format("the holder of {} monitor{} is unknown: {} cannot be read", count_text(unknown),
                      unknown == 1 ? "" : "s",
                      unknown == 1 ? "the lock that its sync block names" : "the locks that their sync blocks name"));
    out_.problems.add_all(monitors.notes());
    out_.monitor_waits = monitors.waits();
  }

  bool is_looked_at(Address method_table) {
    return reader_.kind_of(method_table) || is_collection(method_table) ||
           (out_.targets && out_.targets->is_of_kind(method_table));
  }

  void find_objects() {
    std::vector<Address> handles;
    for (const TypedObject &object : objects_that(snapshot_, [&](Address mt) { return is_looked_at(mt); })) {
      if (out_.targets)
        out_.targets->add(object.address);
      if (const std::optional<LockKind> kind = reader_.kind_of(object.method_table))
        add_object(object.address, *kind);
      else if (is_collection(object.method_table))
        add_collection(object.address);
      else if (out_.targets && out_.targets->is_handle(object.method_table))
        handles.push_back(object.address);
    }
    for (Address handle : handles)
      add_handle(handle);
  }

  bool is_collection(Address method_table) {
    auto [known, is_new] = collection_types_.try_emplace(method_table);
    if (is_new)
      known->second = bases_.any_of(method_table, [](const std::string &name) {
        return is_type_called(name, "System.Collections.Concurrent.BlockingCollection");
      });
    return known->second;
  }

  void add_collection(Address object) {
    constexpr u32 complete = u32{1} << 31; // a bit of _currentAdders
    const bool is_complete = fields_.number<u32>(object, "_currentAdders").value_or(0) & complete;
    for (const bool is_for_place : {false, true})
      if (const Address semaphore = fields_.reference_or_null(object, is_for_place ? "_freeNodes" : "_occupiedNodes"))
        out_.collections.emplace(semaphore, CollectionPart{object, is_for_place, is_complete});
  }

  void add_object(Address object, LockKind kind) {
    if (kind == LockKind::lock && out_.by_lock.contains(object))
      return; // listed already, as the Monitor of an object
    out_.locks.push_back(reader_.read(object, kind));
    for (Address inner : reader_.inner_of(object, kind))
      out_.by_inner[inner] = object;
    if (kind == LockKind::semaphore)
      for (Address node : reader_.asynchronous_waiters(object))
        out_.by_node.emplace(node, object);
  }

  // Adds a WaitHandle that is not part of a lock. If several stand for one object, adds the first.
  void add_handle(Address handle) {
    WaitSubsystem &subsystem = out_.targets->subsystem();
    const Address behind = subsystem.behind(handle);
    std::optional<WaitableObject> state = subsystem.read(behind);
    if (!state)
      state = subsystem.read_named_mutex(behind);
    if (!state || out_.targets->find(behind).object != handle)
      return;
    LockObject lock;
    lock.object = handle;
    switch (state->kind) {
    case WaitableObject::Kind::mutex:
      lock.kind = LockKind::mutex;
      lock.is_held = state->is_owned;
      lock.owner = state->owner;
      lock.recursion = state->times;
      lock.waiters = state->waiting.size();
      lock.is_abandoned = state->is_abandoned;
      lock.state = state->is_abandoned                ? "abandoned: a thread that had it ended"
                   : state->is_owned && !state->owner ? "its owner is not known"
                                                      : "";
      break;
    case WaitableObject::Kind::semaphore:
      lock.kind = LockKind::semaphore;
      lock.is_held = state->signals == 0;
      lock.waiters = state->waiting.size();
      lock.state = state->most_signals < 0x7fffffff ? fmt::format("{} of {} free", state->signals, state->most_signals)
                                                    : fmt::format("{} free", state->signals);
      break;
    case WaitableObject::Kind::manual_reset:
    case WaitableObject::Kind::auto_reset:
      // Waiters are added by ThreadWaits, which leaves out .NET's own idle threads.
      lock.kind = LockKind::event;
      lock.state = state->signals ? "set" : "not set";
      break;
    }
    out_.locks.push_back(std::move(lock));
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  LockSet out_;
  LockReader reader_;
  FieldReader fields_;
  const BaseTypes bases_;
  std::map<Address, bool> collection_types_;
};

} // namespace

void LockSet::sort_locks() {
  std::sort(locks.begin(), locks.end(), [](const LockObject &a, const LockObject &b) {
    return std::tie(a.object, a.kind) < std::tie(b.object, b.kind);
  });
}

const LockObject *LockSet::find(Address object) const {
  auto found = std::lower_bound(locks.begin(), locks.end(), object,
                                [](const LockObject &lock, Address address) { return lock.object < address; });
  return found != locks.end() && found->object == object ? &*found : nullptr;
}

LockObject *LockSet::find(Address object) { return const_cast<LockObject *>(std::as_const(*this).find(object)); }

LockSet find_locks(const Snapshot &snapshot) { return LockFinder(snapshot).find(); }

} // namespace dnheap
