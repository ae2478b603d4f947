// Tasks: every System.Threading.Tasks.Task on the heap, asynchronous methods included (their state machines are boxed
// in tasks), as columns by number, in the order of addresses: status, what goes on when it is done, and of methods that
// await, what. Suspended calls of runtime-async methods are methods among them, of which several may lie between a
// method and the task that it is for. One walk of the heap and one parallel pass over the tasks; some 64 bytes for
// each. Const functions may be called from any thread, the others from one.
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
// "WaitingForActivation": as the program's own Task.Status says it.
const char *name_of(TaskStatus status);
// Of Task.m_stateFlags.
TaskStatus status_of(u32 state_flags);
inline bool is_done(TaskStatus status) { return status >= TaskStatus::ran_to_completion; }

// One type of tasks, or of boxes that are none (of pooled ValueTasks).
struct TaskType {
  Address method_table = 0;
  std::string name;
  std::optional<u64> flags_at, continuation_at, action_at, contingent_at;
  std::optional<u64> state_object_at; // of a RuntimeAsyncTask: where its suspended calls begin
  std::optional<u64> source_at;       // of the task that ValueTask.AsTask() makes: what that waits for
  // Of boxes, and of suspended calls.
  bool is_box = false;
  bool is_suspended_call = false;        // no box either: of a runtime-async method
  u64 machine_at = 0;                    // a struct: where it begins, less a pointer; else the reference to it
  bool is_machine_reference = false;     // as debug builds and asynchronous iterators have it
  const MachineShape *machine = nullptr; // of structs
};

// What an object is to the task whose m_continuationObject it is.
enum class ContinuationKind : u8 { none, method, task, thread, callback };
struct Continuation {
  ContinuationKind kind = ContinuationKind::none;
  Address object = 0; // the box; the task; the event that the thread waits for; the delegate
};

// An event that Task.WaitAll waits for, and a task for the first of several that is done (Task.WaitAny, WhenAny).
inline constexpr std::string_view event_of_all = "System.Threading.Tasks.Task+SetOnCountdownMres";
inline constexpr std::string_view promise_of_any = "System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise";

using TaskNumber = u32;
inline constexpr TaskNumber no_task = ~TaskNumber{0};

// Sorted; for example each task with one that it waits for.
using TaskPairs = std::vector<std::pair<TaskNumber, TaskNumber>>;
// Those that begin with this one.
inline std::span<const TaskPairs::value_type> pairs_of(const TaskPairs &pairs, TaskNumber task) {
  return std::ranges::equal_range(pairs, task, {}, &TaskPairs::value_type::first);
}

class Tasks {
public:
  explicit Tasks(Snapshot &snapshot);

  u64 count() const { return objects_.size(); }
  Address address(TaskNumber task) const { return objects_[task].address; }
  TaskNumber find(Address object) const;
  const TaskType &type(TaskNumber task) const { return types_[columns_[task].type]; }
  const std::vector<TaskType> &types() const { return types_; }
  u32 type_number(TaskNumber task) const { return columns_[task].type; }
  TaskStatus status(TaskNumber task) const { return columns_[task].status; }
  bool is_pending(TaskNumber task) const { return columns_[task].is_pending; }
  // Of boxes: null where its state machine is not understood.
  const MachineShape *machine(TaskNumber task) const { return columns_[task].machine; }
  std::optional<i32> state(TaskNumber task) const {
    const MachineShape *machine = columns_[task].machine;
    return machine && machine->is_state_known ? std::optional(columns_[task].state) : std::nullopt;
  }
  // A method that can be on a stack of calls: a box, a suspended call, or the method that a RuntimeAsyncTask runs now.
  bool is_method(TaskNumber task) const {
    return type(task).is_box || (type(task).state_object_at && columns_[task].machine);
  }
  // What a pending method awaits: an object; 0: nothing that can be told.
  Address awaited(TaskNumber task) const { return columns_[task].awaited; }
  // A suspended call that awaits nothing any more and was handed to a SynchronizationContext or a TaskScheduler?
  bool is_in_context(TaskNumber task) const { return columns_[task].is_in_context; }
  // The task or method among these that it awaits; no_task: it awaits something else.
  TaskNumber awaited_task(TaskNumber task) const {
    return columns_[task].awaits_running ? columns_[task].other : behind(awaited(task));
  }
  // The task that the object is, or the method whose state machine it is (of asynchronous iterators); of a
  // RuntimeAsyncTask the outermost of its suspended calls.
  TaskNumber behind(Address awaited) const;
  // The RuntimeAsyncTask that the suspended call is for; no_task: it is none, or of none.
  TaskNumber task_of_call(TaskNumber call) const {
    return type(call).is_suspended_call ? columns_[call].other : no_task;
  }
  // Suspended calls that nobody leads to, or several chains: their stacks are not whole.
  u64 broken_chains() const { return broken_chains_; }
  // What runs now of tasks whose chains are resumed.
  const std::vector<SuspendedCalls::Running> &running() const { return running_; }
  const SuspendedCalls &suspended_calls() const { return calls_; }
  // What goes on when the pending task is done, at most `limit` of them.
  std::vector<Continuation> continuations(TaskNumber task, u64 limit);
  // Which tasks each task that is no method waits for (Task.WhenAll and the like): pairs of pending ones, sorted. They
  // do not say so: what they wait for says what goes on when it is done.
  TaskPairs sources(const Watch &watch);
  // Pending tasks that were started with AttachedToParent, each behind the task that waits for them; sorted.
  TaskPairs children();
  // Of a faulted task: did nobody look at its exception? Nullopt: cannot be told.
  std::optional<bool> is_unobserved(TaskNumber task);
  // "Shop.Cart.Pay" of a task that calls a delegate; empty: it calls none, or it cannot be told.
  std::string delegate_method(TaskNumber task);

private:
  struct Column {
    u32 type = 0;
    TaskStatus status = TaskStatus::created;
    bool is_pending = false;
    bool is_in_context = false;  // a suspended call that was handed to a SynchronizationContext or a TaskScheduler
    bool awaits_running = false; // a suspended call that awaits what its own task runs now
    i32 state = 0;
    Address awaited = 0, continuation = 0;
    // Where the state machine is an object; of a suspended call where it is resumed, of a RuntimeAsyncTask its first.
    Address machine_object = 0;
    const MachineShape *machine = nullptr;
    TaskNumber other = no_task; // of a suspended call its task, of a RuntimeAsyncTask its outermost call
  };
  enum class Step : u8 { end, follow, list }; // what to do with a type of continuation objects
  struct ContinuationShape {
    Step step = Step::end;
    ContinuationKind kind = ContinuationKind::callback; // at the end
    u64 next_at = 0;                                    // the reference that leads on
    bool ends_in_callback = false; // what it leads to counts only if it is a method: else the object itself is called
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
  std::vector<TaskNumber> lookup_;                             // by hash of the address
  std::vector<std::pair<Address, TaskNumber>> machine_owners_; // by address of a state machine that is an object
  std::map<Address, ContinuationShape> continuation_shapes_;
  u64 broken_chains_ = 0;
  u64 list_items_left_ = 1 << 25; // that are read of lists of continuations, which many tasks may share
};

} // namespace dnheap
