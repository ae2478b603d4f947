// Opens snapshots, and answers questions about a snapshot as a whole.
#include "c/opened.h"
#include "dnheap/version.h"

#include <algorithm>

namespace dnheap::c {

namespace {

// Returns the options that the caller's header knows; the rest is zero.
dnheap_options known(const char *function, const dnheap_options *of) {
  dnheap_options out{};
  if (!of)
    return out;
  check_size(function, *of);
  std::memcpy(&out, of, std::min(of->size, sizeof out));
  return out;
}

OpenOptions open_options(const char *function, const dnheap_options &of, Progress &progress) {
  OpenOptions out;
  if (of.module_folder_count)
    require(function, {{"options.module_folders", of.module_folders}});
  for (std::size_t i = 0; i < of.module_folder_count; ++i) {
    require(function, {{"one of options.module_folders", of.module_folders[i]}});
    out.module_folders.emplace_back(of.module_folders[i]);
  }
  if (of.temp_dir)
    out.temp_dir = of.temp_dir;
  if (of.threads > 1024)
    throw UsageError(std::string(function) + ": options.threads is not a number from 0 to 1024");
  out.threads = of.threads;
  out.max_memory = of.max_memory;
  out.pause = !of.runs_on;
  out.by_port = of.by_port;
  if (of.by_port && of.runs_on)
    throw UsageError(std::string(function) + ": options.by_port and options.runs_on exclude each other");
  if (of.runtime)
    out.runtime = of.runtime;
  out.progress = &progress;
  return out;
}

// `how` must return the Snapshot.
template <class How>
void open(const char *function, const dnheap_options *options, std::string target, dnheap_snapshot **snapshot,
          How how) {
  const dnheap_options asked = known(function, options);
  std::shared_ptr<Opened> opened = Opened::make(asked.on_progress, asked.context);
  const OpenOptions with = open_options(function, asked, opened->progress());
  opened->target = std::move(target);
  opened->run([&] {
    opened->snapshot.emplace(how(with));
    opened->info = opened->snapshot->info();
  });
  *snapshot = new dnheap_snapshot{std::move(opened)};
}

} // namespace

} // namespace dnheap::c

using namespace dnheap::c;

const char *dnheap_version(void) { return dnheap::library_version(); }

int dnheap_open(const char *path, const dnheap_options *options, dnheap_snapshot **snapshot) {
  return guarded([&] {
    require("dnheap_open", {{"path", path}, {"snapshot", snapshot}});
    if (known("dnheap_open", options).by_port)
      throw dnheap::UsageError("dnheap_open: options.by_port needs a live process: use dnheap_attach()");
    open("dnheap_open", options, path, snapshot,
         [&](const dnheap::OpenOptions &with) { return dnheap::Snapshot::open(path, with); });
  });
}

int dnheap_attach(uint64_t pid, const dnheap_options *options, dnheap_snapshot **snapshot) {
  return guarded([&] {
    require("dnheap_attach", {{"snapshot", snapshot}});
    open("dnheap_attach", options, "--pid=" + std::to_string(pid), snapshot,
         [&](const dnheap::OpenOptions &with) { return dnheap::Snapshot::attach(pid, with); });
  });
}

int dnheap_release_process(dnheap_snapshot *snapshot) {
  return guarded([&] {
    require("dnheap_release_process", {{"snapshot", snapshot}});
    const std::shared_ptr<Opened> opened = snapshot->opened;
    opened->run([&] { opened->snapshot->release_process(); });
  });
}

void dnheap_close(dnheap_snapshot *snapshot) { delete snapshot; }

void dnheap_cancel(dnheap_snapshot *snapshot) {
  if (snapshot)
    snapshot->opened->progress().cancel();
}

int dnheap_get_info(dnheap_snapshot *snapshot, dnheap_info *info) {
  return guarded([&] {
    require("dnheap_get_info", {{"snapshot", snapshot}, {"info", info}});
    check_size("dnheap_get_info", *info);
    const dnheap::TargetInfo &of = snapshot->opened->info; // does not change
    fill(*info, {0, of.path.c_str(), of.container.c_str(), of.operating_system.c_str(), of.architecture.c_str(),
                 of.runtime.c_str(), of.runtime_version.c_str(), of.pid, of.pointer_size, of.gc_heaps, of.server_gc,
                 of.regions});
  });
}

int dnheap_get_completeness(dnheap_snapshot *snapshot, dnheap_completeness *completeness) {
  return guarded([&] {
    require("dnheap_get_completeness", {{"snapshot", snapshot}, {"completeness", completeness}});
    check_size("dnheap_get_completeness", *completeness);
    const std::shared_ptr<Opened> opened = snapshot->opened;
    opened->run([&] {
      const dnheap::Completeness of = opened->snapshot->heap().completeness();
      std::uint64_t gap_bytes = of.more_gap_bytes;
      for (const dnheap::Gap &gap : of.gaps)
        gap_bytes += gap.end - gap.start;
      fill(*completeness,
           {0, of.objects, of.bytes, of.bad_objects, of.gaps.size() + of.more_gaps, gap_bytes, of.complete, 0});
    });
  });
}

int dnheap_read(dnheap_snapshot *snapshot, uint64_t address, void *to, size_t size, size_t *copied) {
  return guarded([&] {
    require("dnheap_read", {{"snapshot", snapshot}, {"to", to}, {"copied", copied}});
    const std::shared_ptr<Opened> opened = snapshot->opened;
    opened->run([&] {
      *copied = opened->snapshot->read(dnheap::Address(address), {static_cast<std::byte *>(to), size});
    });
  });
}
