#include "lookout/running_process.h"

#include "analysis/verbs/extract.h"
#include "base/process/process.h"
#include "base/text.h"
#include "snapshot/attached_process.h"
#include "snapshot/self_dump.h"

#include <filesystem>

namespace dnheap {

namespace {

// The size of a core is usually at most the process's own memory divided by this; for most cores it is a tenth of that
// memory.
constexpr u64 core_share = 4;

u64 free_on_disk(const std::string &folder) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return error ? ~u64{0} : space.available;
}

} // namespace

RunningProcess::RunningProcess(u64 pid, const SnapshotOptions &options, bool no_values, std::string folder)
    : pid_(pid), start_(process_start(pid)), options_(options), no_values_(no_values), folder_(std::move(folder)),
      reader_(pid, options) {}

bool RunningProcess::has_ended() const { return !start_ || process_start(pid_) != start_; }

TakenCore RunningProcess::take(const std::string &path) {
  if (!reader_.forbidden().empty())
    return ask_for_dump(path, reader_.forbidden());
  try {
    return read(path);
  } catch (const Forbidden &error) { // it may be looked at, but not stopped
    return ask_for_dump(path, error.what());
  }
}

TakenCore RunningProcess::ask_for_dump(const std::string &path, const std::string &why) {
  SnapshotOptions options = options_;
  options.record_reads = true;
  try {
    ListeningProcess process = find_listening_process(pid_, options.watch);
    SelfDump dump(process, path, SelfDumpKind::heap, options.watch);
    const std::unique_ptr<Snapshot> snapshot = Snapshot::open(dump.path_for_now(), options);
    return {ask_and_extract(*snapshot, {path, no_values_}).file_bytes, std::nullopt, why};
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    throw Error(why + "; asked on its diagnostics port: " + error.what());
  }
}

TakenCore RunningProcess::read(const std::string &path) {
  SnapshotOptions options = options_;
  options.record_reads = true;
  const u64 memory = private_memory(pid_).value_or(0);
  // Keeps the copy in memory only if twice its size is free: the second half is for the analysis, and for other
  // processes.
  if (options.temp_dir.empty() && memory_left().value_or(~u64{0}) / 2 < memory)
    options.temp_dir = folder_;
  const bool copy_on_disk = options.temp_dir == folder_;
  const u64 needed = memory / core_share + (copy_on_disk ? memory : 0);
  if (const u64 free = free_on_disk(folder_); free < needed)
    throw Error(folder_ + " has " + bytes_text(free) + " free, and " + bytes_text(needed) + " may be needed" +
                (copy_on_disk ? ", as the copy of the process has to be there too" : ""));
  const std::unique_ptr<Snapshot> snapshot = Snapshot::attach(pid_, options);
  if (has_ended())
    throw Error("it has ended");
  const ExtractedCore core = ask_and_extract(*snapshot, {path, no_values_});
  return {core.file_bytes, snapshot->process()->pause_seconds(), {}};
}

} // namespace dnheap
