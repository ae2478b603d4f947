#include "support/crashed_heap.h"

#include "runtime/coreclr/threads/sync_block_1.h"
#include "support/known_stacks.h"
#include "support/opened.h"

namespace dnheap::test {

namespace {

constexpr u32 waiting = 0x2000000; // Task.m_stateFlags

class Crashed {
public:
  explicit Crashed(HeapBuilder &heap) : heap_(heap), p_(heap.p), old_(heap.segment(GCSegmentGeneration::gen2)) {}

  void make() {
    give_stacks(heap_);
    const Address thrown = add_exceptions();
    add_calls();
    const Address till = heap_.type("Shop.Till", 2), cart = heap_.type("Shop.Cart", 2);
    const Address locked[] = {old_.object(till), old_.object(cart)};
    for (Address object : locked)
      heap_.sync_block(object);
    heap_.gc.handles = {{.type = HandleType::strong, .object = thrown}};
    heap_.target(); // from here on handles and sync blocks have their places
    Opened opened(heap_);
    Notes problems;
    const Address handle = opened.runtime.gc().get_handles(std::vector{HandleType::strong}, problems).at(0).handle;
    heap_.poke(heap_.threads[1].address + 0x300, handle, p_);
    SyncBlock1 blocks(opened.runtime.memory(), opened.runtime.descriptor());
    for (u32 i = 0; i < 2; ++i) {
      hold(blocks.entry(i + 1)->sync_block, i);
      wait(blocks.entry(2 - i)->sync_block, i);
    }
    heap_.crash = CrashSignal{heap_.threads[1].os_id, 6, 0, {}};
  }

private:
  u32 size(u64 words) const { return static_cast<u32>((words + 2) * p_); }
  u32 rid(const char *name_space, const char *name) { return heap_.app().metadata.type(name_space, name); }
  FieldShape field(const char *name, ElementType type, u64 word) {
    return {heap_.app().metadata.field(name, field_signature(element(type))),
            type == ElementType::I4 ? ElementType::I4 : ElementType::Class, static_cast<u32>(word * p_)};
  }

  // The runtime's own one, into which FailFast has put another.
  Address add_exceptions() {
    const Address base = heap_.method_table({.base_size = size(4), .rid = rid("System", "Exception")});
    heap_.fields(base, {field("_message", ElementType::String, 0), field("_innerException", ElementType::Object, 1),
                        field("_stackTrace", ElementType::Object, 2), field("_HResult", ElementType::I4, 3)});
    auto derived = [&](const char *name_space, const char *name) {
      return heap_.method_table({.base_size = size(4), .rid = rid(name_space, name), .parent = base});
    };
    const Address failure = derived("Shop", "Failure"), fatal = derived("System", "ExecutionEngineException");
    auto exception = [&](Address type, u32 hresult, Address message, Address inner) {
      const Address at = old_.object(type);
      old_.store(at + p_, message, p_);
      old_.store(at + 2 * p_, inner, p_);
      old_.store(at + 4 * p_, hresult, 4);
      return at;
    };
    const Address message = old_.string("no till is open");
    exception(failure, 0x80131500, message, 0);
    return exception(fatal, 0x80131506, 0, exception(failure, 0x80131500, message, 0));
  }

  // Two calls of Pay wait for a delay each; Run awaits one of them, and a thread holds that.
  void add_calls() {
    const u32 of_task = rid("System.Threading.Tasks", "Task");
    const Address task = heap_.method_table({.base_size = size(4), .rid = of_task});
    heap_.fields(task,
                 {field("m_continuationObject", ElementType::Object, 0), field("m_stateFlags", ElementType::I4, 1)});
    const Address delay = heap_.method_table(
        {.base_size = size(4), .rid = heap_.app().metadata.nested(of_task, "DelayPromise"), .parent = task});
    const Address box = heap_.method_table(
        {.base_size = size(5), .rid = rid("Compiler", "AsyncStateMachineBox<Shop.Checkout>"), .parent = task});
    heap_.fields(box, {field("StateMachine", ElementType::Object, 2)});
    const u32 checkout = rid("Shop", "Checkout");
    auto machine = [&](const char *name) {
      const Address type =
          heap_.method_table({.base_size = size(2), .rid = heap_.app().metadata.nested(checkout, name)});
      heap_.fields(type, {field("<>u__1", ElementType::Object, 0), field("<>1__state", ElementType::I4, 1)});
      return type;
    };
    auto pending = [&](Address type) {
      const Address at = old_.object(type);
      old_.store(at + 2 * p_, waiting, 4);
      return at;
    };
    auto call = [&](Address of, Address awaited) {
      const Address state = old_.object(of), at = pending(box);
      old_.store(state + p_, awaited, p_);
      old_.store(at + 3 * p_, state, p_);
      return at;
    };
    const Address pay = machine("<Pay>d__7"), run = machine("<Run>d__1");
    call(pay, pending(delay));
    heap_.threads[0].registers = {call(run, call(pay, pending(delay)))};
  }

  // {u32 state, u32 recursion, owner's number, its id}
  void hold(Address sync_block, u64 thread) {
    constexpr u32 held = 1, waiter = 1 << 6;
    heap_.poke(sync_block, held | waiter, 4);
    heap_.poke(sync_block + 4, 1, 4);
    heap_.poke(sync_block + 8, thread + 1, p_);
    heap_.poke(sync_block + 8 + p_, heap_.threads[thread].os_id, p_);
  }
  // A note on the thread's stack: {monitor, AppDomain, u32 kind, u32 timeout, next}
  void wait(Address sync_block, u64 thread) {
    const Address note = heap_.threads[thread].stack_limit + 0x1800;
    heap_.poke(note, sync_block, p_);
    heap_.poke(note + p_, 0x12340, p_);
    heap_.poke(note + 2 * p_ + 4, 0xffffffff, 4);
    heap_.poke(heap_.threads[thread].address + 0x480, note, p_);
  }

  HeapBuilder &heap_;
  const u64 p_;
  SegmentWriter &old_;
};

} // namespace

void make_crashed(HeapBuilder &heap) { Crashed(heap).make(); }

} // namespace dnheap::test
