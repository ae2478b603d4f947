// Assemblies that were made at run time, one after the other, and cannot be freed.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/emitted_assemblies.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// With alike names. Libraries put all types that they make into a few assemblies, but for XmlSerializer: see below.
constexpr u64 least_emitted = 100;

struct EmittedAdvice {
  const char *maker, *words;
};
constexpr EmittedAdvice advices[] = {
    {"XmlSerializer",
     "each XmlSerializer that is created with more arguments than a type and a namespace makes one. Keep these "
     "serializers, and use them again."},
    {"Castle DynamicProxy", "each ProxyGenerator makes some. One generator is enough."}};

const char *advice_on(const EmittedAssemblies &group) {
  for (const EmittedAdvice &one : advices)
    if (group.maker == one.maker)
      return one.words;
  return "the program makes one again and again. Make it once, or with AssemblyBuilderAccess.RunAndCollect.";
}

// Serializers that are created with a type only are cached, with one assembly each, which is as it should be. Keys of
// look-ups, which are garbage, count too: then the rule applies later.
u64 cached_by_library(const Snapshot &snapshot, const EmittedAssemblies &group) {
  if (group.maker != "XmlSerializer")
    return 0;
  return count_called(snapshot, "System.Xml.Serialization.TempAssemblyCacheKey");
}

} // namespace

void find_many_emitted(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (static_cast<u64>(std::ranges::count_if(snapshot.assemblies(), &LoadedAssembly::is_emitted)) < least_emitted)
    return;
  for (const EmittedAssemblies &group : find_emitted_assemblies(snapshot)) {
    const u64 cached = cached_by_library(snapshot, group);
    if (group.is_collectible != false || group.count < least_emitted + cached)
      continue;
    out.push_back({.kind = "made_assemblies",
                   .harm = Harm::resource,
                   .text = fmt::format("{} assemblies called {}{} were made at run time, and stay until the program "
                                       "ends: {}",
                                       count_text(group.count), group.name,
                                       group.maker.empty() ? "" : " (by " + group.maker + ")", advice_on(group)),
                   .count = group.count,
                   .verb = "inspect contexts",
                   .options = " --table emitted"});
    return;
  }
}

} // namespace dnheap
