#include "analysis/verdict/recursion.h"

#include "algorithms/repeats.h"
#include "analysis/names/call_text.h"

#include <map>

namespace dnheap {

std::vector<std::string> recursion_of(const Runtime &runtime, const std::vector<Address> &calls) {
  constexpr u64 few = 10; // times
  Repeat most;
  for (const Repeat &repeat : repeats_of(calls))
    if (repeat.times >= few && repeat.times * repeat.length > most.times * most.length)
      most = repeat;
  std::vector<std::string> out;
  for (u64 i = most.length; most.times > 1 && i > 0; --i)
    out.push_back(runtime.method_text(calls[most.first + i - 1]).name);
  return out;
}

std::string recursion_text(const std::vector<std::string> &recursion, const std::string &method) {
  if (recursion.empty() || (recursion.size() == 1 && recursion[0] == method))
    return "";
  return ": " + calls_text(recursion, " → ") + ", again and again";
}

CallsLeft calls_left_on_stack(const Runtime &runtime, Address start) {
  constexpr u64 looked_at = 64 << 10, enough = 100;
  const Memory &memory = runtime.memory();
  const u64 p = memory.format().pointer_size;
  const Bytes stack = memory.peek_up_to(start, looked_at);
  CallsLeft out;
  std::map<Address, u64> counts;
  u64 most = 0;
  for (u64 at = 0; at + p <= stack.size() && most < enough; at += p)
    if (const Address method = runtime.method_at(load_pointer(stack.data() + at, memory.format()))) {
      out.calls.push_back(method);
      if (const u64 count = ++counts[method]; count > most) {
        most = count;
        out.most = method;
      }
    }
  if (out.most)
    memory.note_read(start, stack.size());
  return out;
}

} // namespace dnheap
