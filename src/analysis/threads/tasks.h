// Tasks: every System.Threading.Tasks.Task on the heap, including asynchronous methods (their state machines are boxed
// in tasks), as columns by number, in the order of addresses: status, continuations, and for methods the awaited
// object. Suspended calls of runtime-async methods count as methods too; several of them may lie between a method and
// its task. One walk of the heap and one parallel pass over the tasks; some 64 bytes for each. Const functions may be
// called from any thread, the others from one.
#pragma once
#include "analysis/shapes/state_machines.h"
#include "analysis/shapes/suspended_calls.h"
#include "analysis/shapes/typed_objects.h"
#include "heap/object_bytes.h"

#include <algorithm>
#include <span>

namespace dnheap {

enum class TaskStatus : u8 {
  created,
  waiting_for_activation,
  waiting_to_run,
  running,
  waiting_for_children,
  ran_to_completion,
  canceled,
  faulted
};
inline constexpr u32 task_status_count = 8;
// Returns the name as in Task.Status: "WaitingForActivation".
const char *name_of(TaskStatus status);
// Returns the status for the flags in Task.m_stateFlags.
TaskStatus status_of(u32 state_flags);
inline bool is_done(TaskStatus status) { return status >= TaskStatus::ran_to_completion; }

// A type of tasks, or of boxes of pooled ValueTasks (these boxes are not tasks).
struct TaskType {
  Address method_table = 0;
  std::string name;
  std::optional<u64> flags_at, continuation_at, action_at, contingent_at;
  std::optional<u64> state_object_at; // in a RuntimeAsyncTask: the reference to its suspended calls
  std::optional<u64> source_at;       // in the task that ValueTask.AsTask() makes: the reference to what it waits for
  // The rest is for boxes and suspended calls.
  bool is_box = false;
  bool is_suspended_call = false;    // the call of a runtime-async method; it is not a box
  u64 machine_at = 0;                // for a struct: its beginning less one pointer; else where the reference to it is
  bool is_machine_reference = false; // in debug builds and asynchronous iterators
  const MachineShape *machine = nullptr; // for structs
};

// The kind of object in a task's m_continuationObject.
enum class ContinuationKind : u8 { none, method, task, thread, callback };
struct Continuation {
  ContinuationKind kind = ContinuationKind::none;
  Address object = 0; // the box; the task; the event that a thread waits for; the delegate
};

// The event of Task.WaitAll, and the task that completes with the first of several (Task.WaitAny, WhenAny).
inline constexpr std::string_view event_of_all = "System.Threading.Tasks.Task+SetOnCountdownMres";
inline constexpr std::string_view promise_of_any = "System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise";

using TaskNumber = u32;
inline constexpr TaskNumber no_task = ~TaskNumber{0};

// Sorted pairs, for example each task with a task that it waits for.
using TaskPairs = std::vector<std::pair<TaskNumber, TaskNumber>>;
// Returns the pairs that begin with this task.
inline std::span<const TaskPairs::value_type> pairs_of(const TaskPairs &pairs, TaskNumber task) {
  return std::ranges::equal_range(pairs, task, {}, &TaskPairs::value_type::first);
}

class Tasks {
public:
  explicit Tasks(const Snapshot &snapshot);

  u64 count() const { return objects_.size(); }
  Address address(TaskNumber task) const { return objects_[task].address; }
  TaskNumber find(Address object) const;
  const TaskType &type(TaskNumber task) const { return types_[columns_[task].type]; }
  const std::vector<TaskType> &types() const { return types_; }
  u32 type_number(TaskNumber task) const { return columns_[task].type; }
  TaskStatus status(TaskNumber task) const { return columns_[task].status; }
  bool is_pending(TaskNumber task) const { return columns_[task].is_pending; }
  // Returns a box's state machine; null if it is unknown.
  const MachineShape *machine(TaskNumber task) const { return columns_[task].machine; }
  std::optional<i32> state(TaskNumber task) const {
    const MachineShape *machine = columns_[task].machine;
    return machine && machine->is_state_known ? std::optional(columns_[task].state) : std::nullopt;
  }
  // True for a method that can be on a logical stack: a box, a suspended call, or the method that a RuntimeAsyncTask
  // runs now.
  bool is_method(TaskNumber task) const {
    return type(task).is_box || (type(task).state_object_at && columns_[task].machine);
  }
  // Returns the object that a pending method awaits; 0 if unknown or none.
  Address awaited(TaskNumber task) const { return columns_[task].awaited; }
  // True for a suspended call that no longer awaits anything, and was handed to a SynchronizationContext or a
  // TaskScheduler.
  bool is_in_context(TaskNumber task) const { return columns_[task].is_in_context; }
  // Returns the task or method that it awaits; no_task if it awaits something else.
  TaskNumber awaited_task(TaskNumber task) const {
    return columns_[task].awaits_running ? columns_[task].other : behind(awaited(task));
  }
  // Returns the task at that address, or the method whose state machine it is (asynchronous iterators); for a
  // RuntimeAsyncTask the outermost of its suspended calls.
  TaskNumber behind(Address awaited) const;
  // Returns the RuntimeAsyncTask of a suspended call; no_task if `call` is not one, or its task is unknown.
  TaskNumber task_of_call(TaskNumber call) const {
    return type(call).is_suspended_call ? columns_[call].other : no_task;
  }
  // Number of chains that cannot be followed: a call in them is unknown, or belongs to another chain. Their stacks are
  // incomplete.
  u64 broken_chains() const { return broken_chains_; }
  // The running methods of tasks whose chains are being resumed.
  const std::vector<SuspendedCalls::Running> &running() const { return running_; }
  const SuspendedCalls &suspended_calls() const { return calls_; }
  // Returns what continues when the pending task is done, at most `limit` objects.
  std::vector<Continuation> continuations(TaskNumber task, u64 limit);
  // Returns the tasks that tasks like those of Task.WhenAll (pending, not methods) wait for: pairs (the waiting task, a
  // pending task that it waits for), sorted. The waiting task does not refer to the others, so the pairs come from the
  // others' continuations.
  TaskPairs sources(const Watch &watch);
  // Returns pairs (parent, child) of pending tasks whose child was started with AttachedToParent, so that the parent
  // waits for it; sorted.
  TaskPairs children();
  // True if nobody looked at the exception of a faulted task; nullopt: unknown.
  std::optional<bool> is_unobserved(TaskNumber task);
  // Returns the method of the delegate that a task calls: "Shop.Cart.Pay"; empty if it calls no delegate, or the method
  // is unknown.
  std::string delegate_method(TaskNumber task);

private:
  struct Column {
    u32 type = 0;
    TaskStatus status = TaskStatus::created;
    bool is_pending = false;
    bool is_in_context = false;  // a suspended call that was handed to a SynchronizationContext or a TaskScheduler
    bool awaits_running = false; // a suspended call whose awaited callee is what its task runs now
    i32 state = 0;
    Address awaited = 0, continuation = 0;
    // The state machine if it is an object; for a suspended call its resume info, for a RuntimeAsyncTask its first
    // call.
    Address machine_object = 0;
    const MachineShape *machine = nullptr;
    TaskNumber other = no_task; // for a suspended call its task, for a RuntimeAsyncTask its outermost call
  };
  enum class Step : u8 { end, follow, list }; // what to do with an object in a continuation
  struct ContinuationShape {
    Step step = Step::end;
    ContinuationKind kind = ContinuationKind::callback; // used for Step::end
    u64 next_at = 0;                                    // the reference that leads on
    bool ends_in_callback = false; // if the target is not a method, the delegate itself is the continuation
  };

  void add_type(Address method_table, bool is_task);
  void add_call_type(Address method_table);
  void follow_chains();
  void follow_chain(TaskNumber task, SuspendedCalls::Chain chain);
  void follow_running();
  void follow_back();
  void add_lookup();
  void read(TaskNumber task, Column &to) const;
  void read_machine(const MachineShape &shape, Address object, Bytes bytes, u64 begin, Column &to) const;
  Address first_call_of(Address task);
  const ContinuationShape &shape_of(Address method_table);
  ContinuationShape learn(Address method_table);
  Address word(Bytes bytes, u64 at) const;
  Address word_at(Address object, u64 at) const { return word(bytes_.from(object), at); }
  Address type_at(Address object) const { return method_table_in(word_at(object, 0), runtime_.memory().format()); }

  const Runtime &runtime_;
  FieldReader fields_;
  StateMachines machines_;
  SuspendedCalls calls_;
  std::vector<SuspendedCalls::Running> running_;
  ObjectBytes bytes_;
  std::vector<TaskType> types_;
  std::map<Address, u32> type_numbers_;
  std::map<Address, const MachineShape *> machine_types_; // of classes
  std::vector<TypedObject> objects_;
  std::vector<Column> columns_;
  std::vector<TaskNumber> lookup_;                             // hash table by address
  std::vector<std::pair<Address, TaskNumber>> machine_owners_; // by the address of a state machine that is an object
  std::map<Address, ContinuationShape> continuation_shapes_;
  u64 broken_chains_ = 0;
  u64 list_items_left_ = 1 << 25; // list elements that may still be read; many tasks may share a list
};

} // namespace dnheap
