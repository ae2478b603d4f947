// WaitGraph: a graph of threads, tasks and semaphores, in which an edge leads from one that waits to what it waits for.
// Finds the circles in it: their members never go on. Semaphores name no owner, so circles through them are inferred:
// only if everybody who may have taken a permit waits, without a time limit, for somebody who waits as well. Looks at
// the tasks and semaphores that are waited for, each once. Not for several threads at once.
#pragma once
#include "analysis/waits/context_queues.h"
#include "analysis/waits/kinds/semaphore_waits.h"
#include "analysis/waits/semaphore_holders.h"
#include "analysis/waits/thread_waits.h"
#include "analysis/waits/waits_of_threads.h"

#include <set>

namespace dnheap {

// Tasks that run, and their threads.
struct RunningTasks {
  std::map<TaskNumber, u32> by_thread_static;   // the task that a thread says it runs
  std::map<TaskNumber, u32> by_own_method;      // the thread whose frame of the task's own async method holds it
  std::map<TaskNumber, std::set<u32>> by_stack; // threads whose stacks hold a pending task
};

class WaitGraph {
public:
  // All arguments must outlive this object.
  WaitGraph(const Snapshot &snapshot, const LockSet &locks, Tasks &tasks, const SemaphoreWaits &semaphore_waits,
            const std::vector<ThreadWait> &waits, const RunningTasks &running);

  std::vector<std::vector<WaitingOne>> circles();
  // Returns possible holders by semaphore, without its waiters. If some holders have already passed the waiters' wait,
  // returns only these.
  std::map<Address, std::vector<SemaphoreHolder>> may_have_taken() const;
  // Returns the fields that have the semaphores, by semaphore.
  std::map<Address, std::string> fields() const;
  // `taken`: the result of may_have_taken().
  std::vector<Crowd> crowds(const std::map<Address, std::vector<SemaphoreHolder>> &taken) const;

private:
  // Numbers threads first, then tasks, then semaphores.
  using Node = u64;
  struct Edge {
    Node to = 0;
    Address by = 0; // the object that this node waits for, and that the other node holds or is
    Grounds grounds = Grounds::runtime;
    const SemaphoreHolder *holder = nullptr; // for semaphores
  };
  struct Circle {
    std::vector<WaitingOne> members;
    std::vector<Address> semaphores; // ascending
  };
  struct Step {
    Node node;
    std::vector<Edge> edges;
    u64 next = 0;
  };

  enum Met : u8 { not_met, on_the_way, left };

  Node node_of_task(TaskNumber task) const { return locks_.threads.size() + task; }
  bool is_thread(Node node) const { return node < locks_.threads.size(); }
  TaskNumber task_of(Node node) const { return static_cast<TaskNumber>(node - locks_.threads.size()); }
  Node first_semaphore() const { return locks_.threads.size() + tasks_.count(); }
  u64 node_count() const { return first_semaphore() + semaphores_.size(); }
  bool is_semaphore(Node node) const { return node >= first_semaphore(); }
  std::optional<Node> node_of_semaphore(Address semaphore) const;
  bool is_passed_over(Node node) const;

  std::vector<Edge> edges_of(Node node) const;
  std::vector<Edge> edges_of_thread(u32 thread) const;
  std::vector<Edge> edges_of_wait(const ThreadWait &wait) const;
  bool waits_for(u32 thread, Address object) const;
  bool waits_for_finalizers(u32 thread) const;
  bool has_awaited(const SemaphoreHolder &holder) const;
  bool is_of_collection(Address semaphore) const { return locks_.collections.contains(semaphore); }
  bool may_be_circle(std::span<const Step> steps) const;
  bool awaits_semaphore(TaskNumber task, Address semaphore) const;
  std::vector<Edge> edges_of_task(TaskNumber task) const;
  std::vector<Edge> edges_of_semaphore(Node node) const;
  bool is_running(TaskNumber task) const;
  const ThreadWait *first_wait(Node node) const; // null: no thread, or it waits for nothing
  bool has_limit(Node node);
  bool is_limit_unknown(Node node) const;
  bool may_be_limited_join(Node node) const;
  bool waits_for_any(TaskNumber task) const;
  std::vector<TaskNumber> awaited_by(TaskNumber task) const;
  std::vector<TaskNumber> tasks_in_circles() const;
  void find_stuck();
  void follow(Node from);
  void add_circle(std::span<const Step> steps);

  const Snapshot &snapshot_;
  const LockSet &locks_;
  Tasks &tasks_;
  const SemaphoreWaits &semaphore_waits_;
  const std::vector<ThreadWait> &waits_;
  const RunningTasks &running_;
  const TaskPairs children_; // tasks that wait for their children, sorted
  const std::map<TaskNumber, QueuedStep> queued_;
  SemaphoreHolders holders_;
  std::vector<std::pair<Address, const SemaphoreHolders::Holders *>> semaphores_; // by address
  const WaitsOfThreads waits_of_;
  const std::map<Address, u32> thread_objects_; // managed Thread → thread
  std::vector<bool> is_stuck_;                  // by number of the semaphore
  std::vector<Met> met_;                        // by node, by follow()
  std::set<std::vector<Address>> known_semaphores_;
  std::vector<Circle> circles_;
};

} // namespace dnheap
