// Tasks and asynchronous methods for a HeapBuilder, as dnheap looks at them: methods that wait, and what they wait for.
#pragma once
#include "support/heap_builder.h"

#include <map>

namespace dnheap::test {

inline constexpr u32 waiting = 0x2000000, done = 0x1000000, failed = 0x200000;

// Types as the class library has them, as far as they are looked at; state machines are objects, as in debug builds.
struct Calls {
  explicit Calls(const HeapShape &shape) : heap(shape), p(heap.p), old(heap.segment(GCSegmentGeneration::gen2)) {
    const u32 of_task = rid("System.Threading.Tasks", "Task");
    task = heap.method_table({.base_size = size(4), .rid = of_task});
    heap.fields(task,
                {field("m_continuationObject", ElementType::Object, 0), field("m_stateFlags", ElementType::I4, p)});
    delay = derived(of_task, "DelayPromise");
    promise = derived(of_task, "WhenAllPromise");
    box = heap.method_table(
        {.base_size = size(5), .rid = rid("Compiler", "AsyncStateMachineBox<Shop.Cart>"), .parent = task});
    heap.fields(box, {field("StateMachine", ElementType::Object, 2 * p)});
    cart = rid("Shop", "Cart");
    pay = machine("<Pay>d__7");
    run = machine("<Run>d__1");
  }

  u32 size(u64 words) const { return static_cast<u32>((words + 2) * p); }
  u32 rid(const char *name_space, const char *name) { return heap.app().metadata.type(name_space, name); }
  FieldShape field(const char *name, ElementType type, u64 offset) {
    return {heap.app().metadata.field(name, field_signature(element(type))),
            type == ElementType::I4 ? ElementType::I4 : ElementType::Class, static_cast<u32>(offset)};
  }
  Address derived(u32 enclosing, const char *name) {
    return heap.method_table(
        {.base_size = size(4), .rid = heap.app().metadata.nested(enclosing, name), .parent = task});
  }
  Address machine(const char *name) {
    const Address type = heap.method_table({.base_size = size(2), .rid = heap.app().metadata.nested(cart, name)});
    heap.fields(type, {field("<>u__1", ElementType::Object, 0), field("<>1__state", ElementType::I4, p)});
    return type;
  }

  Address of_type(Address type, u32 flags, Address continuation = 0) {
    const Address at = old.object(type);
    old.store(at + p, continuation, p);
    old.store(at + 2 * p, flags, 4);
    return at;
  }
  Address method(Address machine_type, i32 state, Address awaited, u32 flags = waiting, Address continuation = 0) {
    const Address machine = old.object(machine_type), at = of_type(box, flags, continuation);
    old.store(machine + p, awaited, p);
    old.store(machine + 2 * p, static_cast<u32>(state), 4);
    old.store(at + 3 * p, machine, p);
    machines[at] = machine;
    return at;
  }
  void await(Address method, Address awaited) { old.store(machines.at(method) + p, awaited, p); }

  HeapBuilder heap;
  const u64 p;
  SegmentWriter &old;
  u32 cart = 0;
  Address task = 0, delay = 0, promise = 0, box = 0, pay = 0, run = 0;
  std::map<Address, Address> machines;
};

} // namespace dnheap::test
