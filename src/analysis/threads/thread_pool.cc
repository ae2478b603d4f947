#include "analysis/threads/thread_pool.h"

#include "analysis/shapes/typed_objects.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

constexpr u64 most_items = 1 << 22;
constexpr u64 most_segments = 1 << 20;
constexpr const char *pool_type = "System.Threading.PortableThreadPool";
constexpr const char *queue_type = "System.Threading.ThreadPoolWorkQueue";
constexpr const char *local_queue_type = "System.Threading.ThreadPoolWorkQueue+WorkStealingQueue";

class PoolReader {
public:
  explicit PoolReader(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), memory_(runtime_.memory()), fields_(runtime_),
        machines_(runtime_), calls_(snapshot) {}

  ThreadPool read() {
    const std::vector<Address> types = types_that(snapshot_, [&](Address mt) {
      const std::string &name = name_of(mt);
      return name == pool_type || name == queue_type || name == local_queue_type;
    });
    for (const TypedObject &object : objects_of(snapshot_, types)) {
      const std::string &name = name_of(object.method_table);
      if (name == pool_type)
        read_workers(object.address);
      else if (name == queue_type)
        read_queues(object.address);
      else
        read_local_queue(object.address);
    }
    for (auto &[key, work] : work_)
      out_.queued.push_back(std::move(work));
    std::stable_sort(out_.queued.begin(), out_.queued.end(),
                     [](const QueuedWork &a, const QueuedWork &b) { return a.count > b.count; });
    return std::move(out_);
  }

private:
  const std::string &name_of(Address mt) { return runtime_.types().name(mt); }

  // Three counts in one word: {i16 working, existing, goal}.
  void read_workers(Address pool) {
    PoolWorkers &to = out_.workers;
    if (std::optional<u64> counts = fields_.number<u64>(pool, "_separated.counts._data")) {
      to.working = static_cast<u16>(*counts);
      to.existing = static_cast<u16>(*counts >> 16);
      to.goal = static_cast<u16>(*counts >> 32);
    }
    auto small = [&](const char *field) -> std::optional<u32> {
      std::optional<u16> value = fields_.number<u16>(pool, field);
      return value ? std::optional<u32>(*value) : std::nullopt;
    };
    to.least = small("_minThreads");
    to.most = small("_maxThreads");
    to.blocked = small("_numBlockedThreads");
  }

  void read_queues(Address queues) {
    read_queue(fields_.reference_or_null(queues, "workItems"), "global");
    read_queue(fields_.reference_or_null(queues, "highPriorityWorkItems"), "high_priority");
    read_queue(fields_.reference_or_null(queues, "lowPriorityWorkItems"), "low_priority");
    read_queue(fields_.reference_or_null(queues, "timeSensitiveWorkQueue"), "time_sensitive");
    for (Address one : fields_.elements(fields_.reference_or_null(queues, "_assignableWorkItemQueues"), 4096))
      read_queue(one, "assigned");
  }

  // Reads a ConcurrentQueue: linked segments, each a ring of slots {item, sequence number}, used from Head to Tail.
  void read_queue(Address queue, const char *name) {
    Address segment = queue ? fields_.reference_or_null(queue, "_head") : 0;
    std::set<Address> seen;
    while (segment && seen.size() < most_segments && seen.insert(segment).second) {
      const Address slots = fields_.reference_or_null(segment, "_slots");
      const std::optional<u32> head = fields_.number<u32>(segment, "_headAndTail.Head"),
                               tail = fields_.number<u32>(segment, "_headAndTail.Tail");
      std::optional<ElementShape> shape = slots ? runtime_.fields().elements(fields_.type_of(slots)) : std::nullopt;
      const u32 length = slots ? fields_.length(slots).value_or(0) : 0;
      const std::optional<u64> item = shape ? place_of_item(*shape) : std::nullopt;
      if (head && tail && shape && item && length && length <= slots_left_ && (length & (length - 1)) == 0) {
        slots_left_ -= length;
        for (u32 i = 0; i < length; ++i) {
          // A closed segment has a Tail beyond its capacity; the slots themselves show which of them are empty.
          if (*tail - *head < length && i >= *tail - *head)
            break;
          const u64 slot = (*head + i) & (length - 1);
          const u64 at = shape->start + slot * shape->size + *item;
          add(memory_.try_pointer(slots + at).value_or(0), name);
        }
      }
      segment = fields_.reference_or_null(segment, "_nextSegment");
    }
  }

  // Returns where a slot {item, sequence number} has its item. NativeAOT may have no fields for the slots of an array,
  // but lays them out in the same way: references first.
  std::optional<u64> place_of_item(const ElementShape &slots) const {
    if (const InstanceField *item = fields_.find(slots.method_table, "Item"))
      return item->offset - fields_.pointer_size();
    const bool has_fields = slots.method_table && !runtime_.fields().instance_fields(slots.method_table).empty();
    return !has_fields && slots.size == 2 * fields_.pointer_size() ? std::optional<u64>(0) : std::nullopt;
  }

  void read_local_queue(Address queue) {
    const std::vector<Address> items = fields_.elements(fields_.reference_or_null(queue, "m_array"), most_items);
    const std::optional<u32> head = fields_.number<u32>(queue, "m_headIndex"),
                             tail = fields_.number<u32>(queue, "m_tailIndex");
    if (!head || !tail || items.empty() || (items.size() & (items.size() - 1)))
      return;
    const u32 used = *tail - *head;
    if (used > items.size())
      return;
    for (u32 i = 0; i < used; ++i)
      add(items[(*head + i) & (items.size() - 1)], "local");
  }

  void add(Address item, const char *queue) {
    const Address mt = item && snapshot_.heap().holds(item) ? fields_.type_of(item) : 0;
    if (!mt || !runtime_.types().object_layout(mt))
      return;
    if (out_.queued_items == most_items) {
      out_.is_cut = true;
      return;
    }
    ++out_.queued_items;
    if (name_of(mt).starts_with(runtime_async_task))
      out_.suspended_tasks.insert(item);
    const std::string method = method_of(item, mt);
    auto [it, is_new] = work_.try_emplace({queue, name_of(mt), method});
    if (is_new)
      it->second = {queue, name_of(mt), method, 0, item};
    ++it->second.count;
  }

  // Returns the method that resumes, for a state machine or suspended call, else the method of the delegate.
  std::string method_of(Address item, Address mt) {
    if (std::string method = calls_.next_method_of(item); !method.empty())
      return method;
    if (const InstanceField *machine = fields_.find(mt, "StateMachine")) {
      const Address type = machine->is_reference() ? fields_.type_of(fields_.reference_or_null(item, "StateMachine"))
                                                   : machine->method_table;
      if (const MachineShape *shape = machines_.find(type))
        return shape->method;
    }
    for (const char *field : {"_callback", "m_action", "_action"})
      if (Address callback = fields_.reference_or_null(item, field)) {
        const Address type = fields_.type_of(callback);
        if (!type)
          continue;
        auto targets = runtime_.fields().delegate_targets(callback, type, 1);
        if (!targets.empty())
          return targets.front().method;
      }
    return "";
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const Memory &memory_;
  FieldReader fields_;
  StateMachines machines_;
  SuspendedCalls calls_;
  std::map<std::tuple<std::string, std::string, std::string>, QueuedWork> work_;
  ThreadPool out_;
  u64 slots_left_ = 1 << 26; // how many more slots may be looked at: a damaged queue may lead to the same ones again
                             // and again
};

} // namespace

ThreadPool read_thread_pool(const Snapshot &snapshot) { return PoolReader(snapshot).read(); }

} // namespace dnheap
