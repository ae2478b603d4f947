#include "support/synthetic_process.h"

#include "support/sanitized.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dnheap::test {

namespace {

struct Pages {
  Address start = 0, end = 0;
  std::string file; // empty: of none
};

// A page that several have in common is of the first.
void add(std::vector<Pages> &to, Address start, Address end, const std::string &file) {
  start = start / ChildProcess::page * ChildProcess::page;
  end = align_up(end, ChildProcess::page);
  for (const Pages &known : to)
    if (start < known.end && known.start < end)
      start = known.end;
  if (start >= end)
    return;
  to.push_back({start, end, file});
  std::sort(to.begin(), to.end(), [](const Pages &a, const Pages &b) { return a.start < b.start; });
}

bool map(const Pages &pages) {
  const u64 size = pages.end - pages.start;
  int file = -1;
  if (!pages.file.empty()) {
    file = ::open(pages.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0)
      return false;
  }
  void *wanted = reinterpret_cast<void *>(pages.start);
  const bool is_module = file >= 0;
  void *at = ::mmap(wanted, size, PROT_READ | PROT_WRITE | (is_module ? PROT_EXEC : 0),
                    MAP_PRIVATE | MAP_FIXED_NOREPLACE | (is_module ? 0 : MAP_ANONYMOUS), file, 0);
  ::close(file);
  return at == wanted;
}

bool lay_out(const Target &target, const std::string &folder) {
  std::vector<Pages> all;
  for (const Module &module : target.modules)
    for (const Extent &extent : module.extents)
      add(all, extent.start, extent.end, folder + "/" + std::string(module.file_name()));
  for (const Range &range : target.memory.ranges())
    add(all, range.address, range.end(), "");
  if (!std::all_of(all.begin(), all.end(), map))
    return false;
  for (const Range &range : target.memory.ranges())
    std::memcpy(reinterpret_cast<void *>(range.address), range.bytes.data(), range.bytes.size());
  return true;
}

} // namespace

std::unique_ptr<SyntheticProcess> SyntheticProcess::start(const Target &target, const std::function<void()> &repeat) {
  if (test::thread_sanitized)
    return nullptr;
  std::unique_ptr<SyntheticProcess> out(new SyntheticProcess(target, repeat));
  return out->child_.is_prepared() ? std::move(out) : nullptr;
}

SyntheticProcess::SyntheticProcess(const Target &target, const std::function<void()> &repeat)
    : child_([&] { return lay_out(target, folder_.path()); }, repeat) {}

} // namespace dnheap::test
