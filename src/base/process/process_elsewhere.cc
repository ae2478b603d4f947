// macOS and others, where dnheap cannot read processes yet.
#include "base/error.h"
#include "base/process/process.h"

namespace dnheap {

namespace {

[[noreturn]] void refuse() {
  throw Error("running processes can be read on Linux and Windows only; write a dump of the process, and open the dump "
              "(dotnet-dump collect -p PID)");
}

} // namespace

std::optional<std::string> process_text(u64, const std::string &, u64) { return std::nullopt; }
std::vector<u64> list_processes() { refuse(); }
bool processes_are_hidden() { return false; }
std::optional<std::vector<std::string>> loaded_files(u64) { return std::nullopt; }
std::string program_file(u64) { return {}; }
std::vector<u64> list_threads(u64) { return {}; }
std::string what_forbids_reading(u64) { return "this system is neither Linux nor Windows"; }

ProcessMemory::ProcessMemory(u64) : pid_(0) { refuse(); }
ProcessMemory::~ProcessMemory() = default;
u64 ProcessMemory::read(Address, std::span<std::byte>) const { return 0; }
void ProcessMemory::find_pages(Address, std::span<Page>) const {}

u64 device_of(u32, u32) { return 0; }

ProcessFiles::ProcessFiles(u64) {}
ProcessFiles::~ProcessFiles() = default;
bool ProcessFiles::has(const MappedPath &) const { return false; }
u64 ProcessFiles::read(const MappedPath &, u64, std::span<std::byte>) const { return 0; }

std::optional<u64> resident_memory(u64) { return std::nullopt; }
std::optional<u64> private_memory(u64) { return std::nullopt; }
std::optional<u64> process_start(u64) { return std::nullopt; }
std::optional<double> process_age(u64) { return std::nullopt; }
bool be_first_to_go() { return false; }

void StoppedProcess::begin_stop() { refuse(); }
bool StoppedProcess::stop_thread(u64) { return false; }
void StoppedProcess::wait_for_all(const Patience &) {}
void StoppedProcess::fail_without_threads() const { refuse(); }
std::vector<std::byte> StoppedProcess::registers(const Thread &) const { return {}; }
void StoppedProcess::release() {}
double StoppedProcess::seconds() const { return 0; }

} // namespace dnheap
