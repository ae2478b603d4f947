#include "runtime/find.h"

#include "runtime/core_clr.h"
#include "runtime/core_rt.h"
#include "runtime/native_aot.h"
#include "runtime/nf16_find.h"
#include "runtime/version.h"

namespace dnheap {

std::vector<FoundRuntime> find_runtimes(const Target &target) {
  std::vector<FoundRuntime> out;
  for (const Module *module : find_core_clr_modules(target))
    out.push_back({module, find_version(target.memory, *module),
                   [&target, module] { return std::make_unique<CoreClr>(target, *module); }});
  std::vector<FoundDebugHeader> native_aot = find_debug_headers(target);
  if (native_aot.empty() && out.empty()) // the tables of a lost header
    native_aot = find_debug_tables(target);
  for (const FoundDebugHeader &found : native_aot)
    out.push_back({found.module, net_version(found.place.major),
                   [&target, found] { return std::make_unique<NativeAot>(target, found); }});
  if (out.empty()) // CoreRT became NativeAOT: no process has both
    for (const Module *module : find_nf16_modules(target))
      out.push_back({module, "", [&target, module] { return std::make_unique<CoreRt>(target, *module); }});
  return out;
}

} // namespace dnheap
