#include "analysis/verdict/own_call.h"

#include "analysis/names/method_in_source.h"
#include "analysis/names/source_line_text.h"

#include <algorithm>

namespace dnheap {

OwnMethods::OwnMethods(const Snapshot &snapshot) : assemblies_(snapshot.assemblies()), framework_(assemblies_) {}

bool OwnMethods::contain(const MethodText &method) const {
  if (method.module.empty() && method.name.find('.') == method.name.npos) // an address
    return false;
  const auto of = std::ranges::find(assemblies_, method.module, &LoadedAssembly::name);
  return (of == assemblies_.end() || !of->is_framework) && !method.qualified.starts_with(stub_class) &&
         !framework_.contain(method.qualified);
}

std::string own_call(const Snapshot &snapshot, const WalkedStack &stack, Address method, SourceLines &lines) {
  constexpr u64 most_calls = 10'000; // of an overflowed stack
  const Runtime &runtime = snapshot.runtime();
  const OwnMethods own(snapshot);
  if (!method || own.contain(runtime.method_text(method)))
    return "";
  bool is_outside = false;
  u64 looked_at = 0;
  Address same = 0; // what recurs is looked at once
  for (const StackFrame &frame : stack.frames) {
    if (frame.kind != StackFrame::Kind::method || !frame.method_desc)
      continue;
    is_outside |= frame.method_desc == method;
    if (!is_outside || frame.method_desc == same)
      continue;
    if (++looked_at > most_calls)
      return "";
    same = frame.method_desc;
    if (const MethodText text = runtime.method_text(frame.method_desc); own.contain(text))
      return ", for " + method_in_source(text) +
             line_in_brackets(lines.find(frame.method_desc, frame.ip, !frame.is_active).at);
  }
  return "";
}

} // namespace dnheap
