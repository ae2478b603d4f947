#include "analysis/process/dotnet_process.h"

#include "base/host/host.h"
#include "base/host/process.h"
#include "image/module_image.h"
#include "runtime/library_names.h"

#include <algorithm>

namespace dnheap {

namespace {

// True if the library is mapped as executable. Lines are "START-END r-xp OFFSET … PATH". Tools that read .NET dumps may
// have the library mapped as well, but only as data.
bool has_runtime_library(const std::string &maps) {
  const std::string name = "/" + std::string(core_clr_on_linux);
  for (std::size_t at = maps.find(name); at != maps.npos; at = maps.find(name, at + 1)) {
    std::size_t line = maps.rfind('\n', at) + 1, rights = maps.find(' ', line) + 1;
    if (rights + 2 < at && maps[rights + 2] == 'x')
      return true;
  }
  return false;
}

// True if the program's file exports the runtime's symbols. The file is read as it was when the program started; the
// process's memory is not needed.
bool brings_runtime(u64 pid) {
  std::shared_ptr<const MappedFile> file = MappedFile::try_open("/proc/" + std::to_string(pid) + "/exe");
  return file && exports_any(file->bytes(), embedded_runtime_exports());
}

} // namespace

bool has_dotnet(u64 pid, const std::string &maps) { return has_runtime_library(maps) || brings_runtime(pid); }

std::vector<u64> dotnet_processes(std::vector<u64> &refused) {
  std::vector<u64> out;
  for (const u64 pid : list_processes()) {
    const std::optional<std::string> maps = process_text(pid, "maps");
    if (!maps && process_text(pid, "status"))
      refused.push_back(pid);
    else if (maps && !maps->empty() && has_dotnet(pid, *maps)) // empty: it has ended, or belongs to the kernel
      out.push_back(pid);
  }
  std::ranges::sort(out);
  std::ranges::sort(refused);
  return out;
}

} // namespace dnheap
