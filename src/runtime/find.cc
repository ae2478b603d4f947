#include "runtime/find.h"

#include "runtime/core_clr.h"
#include "runtime/core_rt.h"
#include "runtime/nf16_find.h"
#include "runtime/version.h"

namespace dnheap {

std::vector<FoundRuntime> find_runtimes(const Target &target) {
  std::vector<FoundRuntime> out;
  for (const Module *module : find_core_clr_modules(target))
    out.push_back({module, find_version(target.memory, *module),
                   [&target, module] { return std::make_unique<CoreClr>(target, *module); }});
  if (out.empty()) // as none of the others can be in a process beside them
    for (const Module *module : find_nf16_modules(target))
      out.push_back({module, "", [&target, module] { return std::make_unique<CoreRt>(target, *module); }});
  return out;
}

} // namespace dnheap
