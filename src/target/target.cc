#include "target/target.h"

#include "target/heap_record.h"

#include <algorithm>

namespace dnheap {

const char *name_of(Architecture architecture) {
  switch (architecture) {
  case Architecture::x64: return "x64";
  case Architecture::x86: return "x86";
  case Architecture::arm64: return "arm64";
  case Architecture::arm: return "arm";
  case Architecture::riscv64: return "riscv64";
  case Architecture::loongarch64: return "loongarch64";
  case Architecture::s390x: return "s390x";
  case Architecture::ppc64: return "ppc64";
  case Architecture::unknown: break;
  }
  return "unknown";
}

std::string Target::why_no_values() const {
  if (record)
    return record->source + " has no contents of objects";
  return has_blanked_values() ? "this core was extracted with --no-values" : "";
}

const char *name_of(TakenAt::Clock clock) {
  constexpr const char *names[] = {"dump", "file", "now"};
  return names[static_cast<u8>(clock)];
}

const char *name_of(OperatingSystem os) {
  switch (os) {
  case OperatingSystem::linux_os: return "linux";
  case OperatingSystem::windows: return "windows";
  case OperatingSystem::macos: return "macos";
  case OperatingSystem::unknown: break;
  }
  return "unknown";
}

std::string_view name_in_path(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == path.npos ? path : path.substr(slash + 1);
}

const Module *Target::find_module(Address address) const {
  auto it =
      std::upper_bound(modules.begin(), modules.end(), address, [](Address a, const Module &m) { return a < m.base; });
  if (it == modules.begin())
    return nullptr;
  --it;
  return address < it->end() ? &*it : nullptr;
}

} // namespace dnheap
