// AsyncStacks: pending asynchronous methods as logical stacks, from the method that awaits something other than a
// method out to the one that nobody awaits. Equal stacks (same methods at the same awaits, waiting for the same kind of
// thing) are one, with their number. A method that awaits several others at once (Task.WhenAll) is on a stack of each
// of them; a method that several await is on the stack of the first of these, and the others' stacks end at it. So each
// awaited thing counts once per stack, and over all stacks each pending method counts once as a call: on the first
// stack that it is on. Some 40 bytes and two look-ups per pending method. Not for several threads at once.
#pragma once
#include "analysis/threads/tasks.h"
#include "analysis/threads/thread_pool.h"
#include "snapshot/source_lines.h"

namespace dnheap {

// The thing that the innermost method of a stack awaits.
struct AwaitedThing {
  std::string what; // "delay", "semaphore", "task Shop.Cart.Pay", "nothing: it runs"
  std::string type; // of the object; empty: none
  auto operator<=>(const AwaitedThing &) const = default;
};

struct AsyncFrame {
  std::string method;
  std::optional<i32> state;
  Address machine = 0; // the type of its state machine; 0: none, or unknown
  // For a runtime-async call: the method, and where it resumes; 0: not a runtime-async call, or unknown.
  Address method_desc = 0, ip = 0;
  auto operator<=>(const AsyncFrame &) const = default;
};

// Returns the frame of a pending method; if its machine is unknown, the type of its task stands for the method.
AsyncFrame frame_of(const Tasks &tasks, TaskNumber method);

// Returns the source line of the await at which the method is suspended.
SourceLine await_line(const AsyncFrame &frame, SourceLines &lines);

struct AsyncStack {
  std::vector<AsyncFrame> frames; // innermost first
  bool is_cut = false;            // further outer frames are left out
  AwaitedThing awaits;
  u64 count = 0;
  u64 calls = 0;                // pending methods that are on this stack, and on no earlier one
  TaskNumber example = no_task; // the innermost method's task on one of these stacks
};

class AsyncStacks {
public:
  // `pool`: the work that waits in the thread pool. All arguments must outlive this object.
  AsyncStacks(Tasks &tasks, const ThreadPool &pool, const Runtime &runtime, unsigned threads, const Watch &watch);

  // The most frequent first, then by methods.
  const std::vector<AsyncStack> &stacks() const { return stacks_; }
  u64 pending_methods() const { return pending_; }
  u64 shared() const { return shared_; }  // methods whose stack ends at a method that is on another stack
  u64 cycles() const { return cycles_; }  // methods that await themselves, through others
  bool is_cut() const { return is_cut_; } // there are more stacks than were counted
  // Returns by TaskNumber the first stack on which each task is; ~0: it is on no stack.
  std::vector<u32> stack_of_each() const;

private:
  // A stack from its innermost frame out to `frame`; `inner` is the node for the rest.
  struct Node {
    u32 frame = 0;
    u32 inner = 0; // a node; for the innermost frame: the thing that it awaits
    bool is_innermost = false;
    auto operator<=>(const Node &) const = default;
  };
  // Equal stacks, from their innermost frames out to some method.
  struct Part {
    u32 node = 0;
    u64 count = 0;
    TaskNumber example = no_task;
    u64 calls = 0;
  };
  struct Inner { // what a method awaits
    std::vector<TaskNumber> methods, others;
  };

  void find_awaited();
  void build(TaskNumber outermost);
  void finish(TaskNumber method, const Inner &inner);
  void add_part(TaskNumber method, const Part &part);
  Inner inner_of(TaskNumber method) const;
  void count_stacks();
  u32 node_number(const Node &node, u32 depth);
  u32 frame_of(TaskNumber method);
  u32 thing_number(AwaitedThing thing);
  AwaitedThing describe(TaskNumber method, TaskNumber task);
  bool is_queued(TaskNumber method) const;
  bool is_pending_method(TaskNumber task) const {
    return task != no_task && tasks_.is_pending(task) && tasks_.is_method(task);
  }

  Tasks &tasks_;
  const ThreadPool &pool_;
  const Runtime &runtime_;
  FieldReader fields_;
  const unsigned threads_;
  const Watch watch_;
  TaskPairs sources_; // pairs (a task that is not a method, a task that it waits for), sorted
  // By task.
  std::vector<TaskNumber> awaited_; // no_task: nothing, or something that is not a task
  std::vector<u8> progress_;
  std::vector<bool> is_awaited_;  // by a method
  std::vector<bool> is_on_stack_; // on a stack of a method that awaits it
  std::vector<u32> first_part_, part_count_;

  std::vector<Part> parts_;
  std::map<Node, u32> node_numbers_;
  std::vector<Node> nodes_;
  std::vector<u32> depths_; // by node
  std::map<std::pair<const MachineShape *, i32>, u32> frame_numbers_;
  std::vector<AsyncFrame> frames_;
  std::map<AwaitedThing, u32> thing_numbers_;
  std::vector<AwaitedThing> things_;
  std::vector<std::pair<TaskNumber, u32>> outermost_; // with the stack of its first part
  std::vector<AsyncStack> stacks_;
  u64 pending_ = 0, cycles_ = 0, shared_ = 0;
  mutable u64 inner_left_ = 1 << 27; // how many more inner tasks may be looked at for methods that wait for several
  mutable bool is_cut_ = false;
};

} // namespace dnheap
