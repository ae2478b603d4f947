// AsyncStacks: pending asynchronous methods as logical stacks: from the method that awaits something that is no method
// out to the one that nobody awaits; those that are alike (same methods at the same awaits, waiting for the same kind
// of thing) as one, with how many there are. A method that awaits several others at once (Task.WhenAll) is on a stack
// of each of them; one that several await is on the stack of the first of these, and the others end at it. So a stack
// counts what it waits for once, and over all stacks each pending method counts once as a call: on the first that it is
// on. Some 40 bytes and two look-ups per pending method. One thread.
#pragma once
#include "analysis/threads/tasks.h"
#include "analysis/threads/thread_pool.h"

namespace dnheap {

// What the innermost method of a stack awaits.
struct AwaitedThing {
  std::string what; // "delay", "semaphore", "task Shop.Cart.Pay", "nothing: it runs"
  std::string type; // of the object; empty: none
  auto operator<=>(const AwaitedThing &) const = default;
};

struct AsyncFrame {
  std::string method;
  std::optional<i32> state;
  Address machine = 0;             // the type of its state machine; 0: it has none, or that is not understood
  Address method_desc = 0, ip = 0; // of a runtime-async call where it goes on; 0: it is none, or that is not known
  auto operator<=>(const AsyncFrame &) const = default;
};

struct AsyncStack {
  std::vector<AsyncFrame> frames; // the one that awaits something else first
  bool is_cut = false;            // there are more further out
  AwaitedThing awaits;
  u64 count = 0;
  u64 calls = 0;                // pending methods that are on it, and on none before
  TaskNumber example = no_task; // the innermost method's task of one of them
};

class AsyncStacks {
public:
  // `pool`: what of that waits for its turn. All must outlive it.
  AsyncStacks(Tasks &tasks, const ThreadPool &pool, const Runtime &runtime, unsigned threads, const Watch &watch);

  // The most frequent first, then by methods.
  const std::vector<AsyncStack> &stacks() const { return stacks_; }
  u64 pending_methods() const { return pending_; }
  u64 shared() const { return shared_; }  // methods that end at one that is on the stack of another
  u64 cycles() const { return cycles_; }  // methods that await themselves, through others
  bool is_cut() const { return is_cut_; } // there are more stacks than are counted
  // Of each task the stack that it is on, the first of several; ~0: none. By TaskNumber.
  std::vector<u32> stack_of_each() const;

private:
  // A stack from its innermost frame to one of its frames: that frame, and the rest as another node.
  struct Node {
    u32 frame = 0;
    u32 inner = 0; // a node; of the innermost frame: what it awaits
    bool is_innermost = false;
    auto operator<=>(const Node &) const = default;
  };
  // Stacks that are alike from their innermost frames to some method.
  struct Part {
    u32 node = 0;
    u64 count = 0;
    TaskNumber example = no_task;
    u64 calls = 0;
  };
  struct Inner { // what a method waits for
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
  TaskPairs sources_; // (task that is no method, one that it waits for), sorted
  // By task.
  std::vector<TaskNumber> awaited_; // no_task: nothing, or something that is no task
  std::vector<u8> progress_;
  std::vector<bool> is_awaited_;  // by a method
  std::vector<bool> is_on_stack_; // of one that awaits it
  std::vector<u32> first_part_, part_count_;

  std::vector<Part> parts_;
  std::map<Node, u32> node_numbers_;
  std::vector<Node> nodes_;
  std::vector<u32> depths_; // of nodes
  std::map<std::pair<const MachineShape *, i32>, u32> frame_numbers_;
  std::vector<AsyncFrame> frames_;
  std::map<AwaitedThing, u32> thing_numbers_;
  std::vector<AwaitedThing> things_;
  std::vector<std::pair<TaskNumber, u32>> outermost_; // and the stack of its first part
  std::vector<AsyncStack> stacks_;
  u64 pending_ = 0, cycles_ = 0, shared_ = 0;
  mutable u64 inner_left_ = 1 << 27; // that are looked at for methods that wait for several
  mutable bool is_cut_ = false;
};

} // namespace dnheap
