#include "runtime/find.h"

#include "runtime/corert/core_rt.h"
#include "runtime/corert/nf16_find.h"
#include "runtime/describe/open_core_clr.h"
#include "runtime/describe/open_native_aot.h"
#include "runtime/recorded/recorded_runtime.h"
#include "runtime/version.h"

#include <algorithm>

namespace dnheap {

std::vector<FoundRuntime> find_runtimes(const Target &target, const RuntimeHints &hints) {
  std::vector<FoundRuntime> out;
  if (target.record && !target.modules.empty()) {
    const Module &module = target.modules.front();
    out.push_back({&module, "", [&target, &module] { return std::make_unique<RecordedRuntime>(target, module); }});
    return out;
  }
  for (const Module *module : find_core_clr_modules(target))
    out.push_back({module, find_version(target, *module), [&target, module, hints] {
                     return std::unique_ptr<Runtime>(
                         new CoreClr(open_core_clr(target, *module, shipped_tables(), hints)));
                   }});
  for (const FoundNativeAot &found : find_native_aot(target, out.empty()))
    if (std::none_of(out.begin(), out.end(), [&](const FoundRuntime &r) { return r.module == found.module; }))
      out.push_back({found.module, found.version(), [&target, found, hints] {
                       return std::unique_ptr<Runtime>(new NativeAot(open_native_aot(target, found, hints)));
                     }});
  if (out.empty()) // CoreRT became NativeAOT: no process has both
    for (const Module *module : find_nf16_modules(target))
      out.push_back(
          {module, "", [&target, module, hints] { return std::make_unique<CoreRt>(target, *module, hints); }});
  return out;
}

} // namespace dnheap
