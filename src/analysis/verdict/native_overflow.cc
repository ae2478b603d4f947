#include "analysis/verdict/native_overflow.h"

#include "analysis/threads/system_libraries.h"
#include "analysis/threads/thread_text.h"
#include "base/most_frequent.h"
#include "runtime/thread_registers.h"
#include "snapshot/native_functions.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_of_overflow = 256 << 10; // bytes that are looked at
constexpr u64 most_return_places = 64;      // return addresses whose functions are searched
constexpr u64 least_calls = 5;              // of a recursion

class NativeOverflow {
public:
  explicit NativeOverflow(const Snapshot &snapshot) : runtime_(snapshot.runtime()), functions_(snapshot) {}

  std::string text(Address stack_pointer, Address limit, Address base, Address ip) {
    if (runtime_.method_at(ip))
      return "";
    count_words(std::max(stack_pointer, limit), base);
    const std::string recurs = most_called();
    if (!recurs.empty() || !is_of_program(ip))
      return recurs;
    return function_at(ip, false);
  }

  // The runtime's handler failed, and the frame of the first signal is overwritten. What is left: the call in front of
  // the handler, and the end of the stack, which a program reaches only by an overflow.
  std::string text_behind_handler(const ThreadData &thread, const WalkedStack &stack) {
    const auto frame = std::ranges::find_if(stack.frames, [&](const StackFrame &one) {
      return one.kind == StackFrame::Kind::native && !in_stack(thread, one.sp) && is_of_program(one.ip);
    });
    if (frame == stack.frames.end())
      return "";
    count_words(first_known(*thread.stack_limit), *thread.stack_base);
    const std::string recurs = most_called();
    return recurs == function_at(frame->ip, true) ? recurs : "";
  }

private:
  // Returns the first address behind the guard pages, which are in no dump.
  Address first_known(Address limit) const {
    constexpr u64 page = 4096;
    Address at = limit;
    while (at - limit < near_stack_end && runtime_.memory().peek_up_to(at, 1).empty())
      at += page;
    return at;
  }
  // True for code of a library that belongs neither to the runtime nor to the system.
  bool is_of_program(Address ip) const {
    const Module *module = runtime_.target().find_module(ip);
    return module && module->base != runtime_.module().base && !is_system_library(module->file_name());
  }
  std::string function_at(Address ip, bool is_return) {
    const std::string name = place_text(runtime_.target(), functions_, ip, is_return).name;
    return name.substr(0, name.find('!') == name.npos ? name.npos : name.rfind('+'));
  }

  void count_words(Address start, Address base) {
    const Memory &memory = runtime_.memory();
    const u64 p = memory.format().pointer_size;
    const Bytes stack = memory.peek_up_to(start, std::min(base - std::min(start, base), most_of_overflow));
    for (u64 at = 0; at + p <= stack.size(); at += p)
      if (const Address word = load_pointer(stack.data() + at, memory.format()); runtime_.target().find_module(word))
        ++words_[word];
    memory.note_read(start, stack.size());
  }

  // Returns the native function to which most words return, if it has more of them than every managed method.
  std::string most_called() {
    std::vector<std::pair<u64, Address>> most;
    for (const auto &[word, count] : words_)
      if (is_of_program(word))
        most.emplace_back(count, word);
    std::sort(most.rbegin(), most.rend());
    most.resize(std::min<u64>(most.size(), most_return_places));
    std::map<std::string, u64> calls;
    for (const auto &[count, word] : most)
      if (!runtime_.method_at(word))
        if (const std::string name = function_at(word, true); name.find('!') != name.npos)
          calls[name] += count;
    const auto first = most_frequent(calls);
    return first != calls.end() && first->second >= least_calls ? first->first : "";
  }

  const Runtime &runtime_;
  NativeFunctions functions_;
  std::map<Address, u64> words_; // that lie in modules
};

} // namespace

std::string native_overflow(const Snapshot &snapshot, const ThreadData &thread, const WalkedStack &stack,
                            std::optional<InterruptedThread> interrupted) {
  const Target &target = snapshot.target();
  const Thread *registers = find_registers(target, thread);
  if (!registers || !thread.stack_limit || !thread.stack_base)
    return "";
  const Address limit = *thread.stack_limit;
  if (!interrupted && !in_stack(thread, registers->stack_pointer))
    interrupted = find_interrupted(target, *registers, limit, *thread.stack_base);
  NativeOverflow overflow(snapshot);
  if (!interrupted && !in_stack(thread, registers->stack_pointer))
    return overflow.text_behind_handler(thread, stack);
  const Address at = interrupted ? interrupted->stack_pointer : registers->stack_pointer;
  if (std::max(at, limit) - std::min(at, limit) >= near_stack_end)
    return "";
  return overflow.text(at, limit, *thread.stack_base,
                       interrupted ? interrupted->instruction_pointer : registers->instruction_pointer);
}

} // namespace dnheap
