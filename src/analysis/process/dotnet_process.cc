#include "analysis/process/dotnet_process.h"

#include "base/host/host.h"
#include "base/process/process.h"
#include "image/module_image.h"
#include "runtime/library_names.h"

#include <algorithm>

namespace dnheap {

namespace {

// Tools that read .NET dumps may have the library mapped as well, but only as data.
bool has_runtime_library(const std::vector<std::string> &files) {
  return std::ranges::any_of(files, [](const std::string &file) { return is_core_clr_library(file_name_of(file)); });
}

// True if the program's file exports the runtime's symbols. The file is read as it was when the program started; the
// process's memory is not needed.
bool brings_runtime(u64 pid) {
  std::shared_ptr<const MappedFile> file = MappedFile::try_open(program_file(pid));
  return file && exports_any(file->bytes(), embedded_runtime_exports());
}

} // namespace

bool has_dotnet(u64 pid, const std::vector<std::string> &files) {
  return has_runtime_library(files) || brings_runtime(pid);
}

std::vector<u64> dotnet_processes(std::vector<u64> &refused) {
  std::vector<u64> out;
  for (const u64 pid : list_processes()) {
    const std::optional<std::vector<std::string>> files = loaded_files(pid);
    if (!files && process_start(pid))
      refused.push_back(pid);
    else if (files && !files->empty() && has_dotnet(pid, *files))
      out.push_back(pid);
  }
  std::ranges::sort(out);
  std::ranges::sort(refused);
  return out;
}

} // namespace dnheap
