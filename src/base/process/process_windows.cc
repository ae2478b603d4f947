// Windows. Threads are suspended one by one: the system's own way to suspend a process is not documented.
#include "base/error.h"
#include "base/host/host.h"
#include "base/host/windows.h"
#include "base/process/process.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <psapi.h>
#include <thread>
#include <tlhelp32.h>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 most_processes = 1 << 20;

class OwnedHandle {
public:
  explicit OwnedHandle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  ~OwnedHandle() {
    if (handle_)
      ::CloseHandle(handle_);
  }
  OwnedHandle(const OwnedHandle &) = delete;
  OwnedHandle &operator=(const OwnedHandle &) = delete;

  HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

private:
  HANDLE handle_;
};

HANDLE open_process(u64 pid, DWORD rights) {
  return pid > 0 && pid <= ~DWORD{0} ? ::OpenProcess(rights, FALSE, static_cast<DWORD>(pid)) : nullptr;
}

std::string process_called(u64 pid) { return "process " + std::to_string(pid); }

[[noreturn]] void fail_to_read(u64 pid, DWORD error) {
  if (error != ERROR_ACCESS_DENIED && !process_start(pid))
    throw Error("there is no " + process_called(pid));
  if (error != ERROR_ACCESS_DENIED)
    throw Error(process_called(pid) + " cannot be read: " + what_failed(error));
  throw Error(process_called(pid) + " may not be read: " + what_forbids_reading(pid));
}

u64 ticks_of_file_time(const FILETIME &time) { return u64{time.dwHighDateTime} << 32 | time.dwLowDateTime; }

std::optional<PROCESS_MEMORY_COUNTERS_EX> memory_counters(u64 pid) {
  const OwnedHandle process(open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION));
  PROCESS_MEMORY_COUNTERS_EX out{};
  if (!process ||
      !::K32GetProcessMemoryInfo(process.get(), reinterpret_cast<PROCESS_MEMORY_COUNTERS *>(&out), sizeof out))
    return std::nullopt;
  return out;
}

bool is_32_bit(HANDLE process) {
  BOOL out = FALSE;
  return ::IsWow64Process(process, &out) && out;
}

} // namespace

std::optional<std::string> process_text(u64, const std::string &, u64) { return std::nullopt; }
bool processes_are_hidden() { return false; }

std::vector<u64> list_processes() {
  const OwnedHandle all(::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  std::vector<u64> out;
  PROCESSENTRY32W entry{};
  entry.dwSize = sizeof entry;
  for (BOOL more = all ? ::Process32FirstW(all.get(), &entry) : FALSE; more && out.size() < most_processes;
       more = ::Process32NextW(all.get(), &entry))
    if (entry.th32ProcessID)
      out.push_back(entry.th32ProcessID);
  if (out.empty()) // this process is among them
    throw Error("the running processes cannot be listed: " + what_failed());
  return out;
}

std::vector<u64> list_threads(u64 pid) {
  const OwnedHandle all(::CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  std::vector<u64> out;
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  for (BOOL more = all ? ::Thread32First(all.get(), &entry) : FALSE; more; more = ::Thread32Next(all.get(), &entry))
    if (entry.th32OwnerProcessID == pid)
      out.push_back(entry.th32ThreadID);
  return out;
}

std::string program_file(u64 pid) {
  const OwnedHandle process(open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION));
  std::wstring path(1 << 15, L'\0');
  DWORD length = static_cast<DWORD>(path.size());
  return process && ::QueryFullProcessImageNameW(process.get(), 0, path.data(), &length)
             ? narrow(path.substr(0, length))
             : std::string();
}

std::string what_forbids_reading(u64 pid) {
  if (pid == ::GetCurrentProcessId())
    return "it is this program itself, which cannot stop itself";
  return "it belongs to another user, or has more rights than dnheap: run as that user, or as administrator; the "
         "system's protected processes cannot be read at all";
}

ProcessMemory::ProcessMemory(u64 pid) : pid_(pid) {
  if (pid == ::GetCurrentProcessId())
    fail_to_read(pid, ERROR_ACCESS_DENIED);
  process_ = open_process(pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | SYNCHRONIZE);
  if (!process_)
    fail_to_read(pid, ::GetLastError());
}

ProcessMemory::~ProcessMemory() { ::CloseHandle(process_); }

// A read that reaches beyond readable memory may copy nothing at all, so it is then made page by page.
u64 ProcessMemory::read(Address address, std::span<std::byte> out) const {
  constexpr u64 page = 4096;
  u64 done = 0;
  auto copy = [&](u64 size) {
    SIZE_T copied = 0;
    const BOOL all =
        ::ReadProcessMemory(process_, reinterpret_cast<const void *>(address + done), out.data() + done, size, &copied);
    done += all ? size : 0;
    return all != FALSE;
  };
  if (out.empty() || copy(out.size()))
    return done;
  while (done < out.size() && copy(std::min(out.size() - done, page - (address + done) % page))) {
  }
  if (done < out.size() && ::WaitForSingleObject(process_, 0) == WAIT_OBJECT_0)
    has_ended_ = true;
  return done;
}

// The system does not say which pages were never written to.
void ProcessMemory::find_pages(Address, std::span<Page> out) const { std::ranges::fill(out, Page::present); }

u64 device_of(u32, u32) { return 0; }

// Mapped files are read through the process.
ProcessFiles::ProcessFiles(u64) {}
ProcessFiles::~ProcessFiles() = default;
bool ProcessFiles::has(const MappedPath &) const { return false; }
u64 ProcessFiles::read(const MappedPath &, u64, std::span<std::byte>) const { return 0; }

std::optional<u64> resident_memory(u64 pid) {
  const auto counters = memory_counters(pid);
  return counters ? std::optional<u64>(counters->WorkingSetSize) : std::nullopt;
}

std::optional<u64> private_memory(u64 pid) {
  const auto counters = memory_counters(pid);
  return counters && counters->PrivateUsage ? std::optional<u64>(counters->PrivateUsage) : std::nullopt; // Wine: 0
}

std::optional<u64> process_start(u64 pid) {
  const OwnedHandle process(open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION));
  FILETIME start{}, end{}, kernel{}, user{};
  DWORD code = 0;
  if (!process || !::GetProcessTimes(process.get(), &start, &end, &kernel, &user) ||
      (::GetExitCodeProcess(process.get(), &code) && code != STILL_ACTIVE)) // others may still have it open
    return std::nullopt;
  return ticks_of_file_time(start);
}

std::optional<double> process_age(u64 pid) {
  constexpr double per_second = 1e7;
  FILETIME now{};
  ::GetSystemTimeAsFileTime(&now);
  const std::optional<u64> start = process_start(pid);
  return start
             ? std::optional((static_cast<double>(ticks_of_file_time(now)) - static_cast<double>(*start)) / per_second)
             : std::nullopt;
}

bool be_first_to_go() { return false; }

namespace {

// All that is stopped at the moment: Ctrl-C and a crash let it go.
std::recursive_mutex stopped_lock;
std::vector<StoppedProcess *> stopped_processes;

void release_all() {
  const std::vector<StoppedProcess *> all = stopped_processes;
  for (StoppedProcess *process : all)
    process->release();
}

BOOL WINAPI on_console_event(DWORD) {
  std::lock_guard lock(stopped_lock);
  release_all();
  return FALSE; // others go on with it
}

// Whether the lock can be had is all that counts: this thread may have crashed with it.
LONG CALLBACK on_crash(EXCEPTION_POINTERS *crash) {
  switch (crash->ExceptionRecord->ExceptionCode) {
  case EXCEPTION_ACCESS_VIOLATION:
  case EXCEPTION_IN_PAGE_ERROR:
  case EXCEPTION_STACK_OVERFLOW:
  case EXCEPTION_ILLEGAL_INSTRUCTION:
    if (std::unique_lock lock(stopped_lock, std::try_to_lock); lock)
      release_all();
  }
  return EXCEPTION_CONTINUE_SEARCH;
}

void watch_for_the_end() {
  static const bool once = [] {
    return ::SetConsoleCtrlHandler(on_console_event, TRUE) && ::AddVectoredExceptionHandler(1, on_crash);
  }();
  (void)once;
}

} // namespace

void StoppedProcess::begin_stop() {
  if (pid_ == ::GetCurrentProcessId())
    fail_to_read(pid_, ERROR_ACCESS_DENIED);
  watch_for_the_end();
  std::lock_guard lock(stopped_lock);
  stopped_processes.push_back(this);
}

bool StoppedProcess::stop_thread(u64 id) {
  constexpr DWORD rights = THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION;
  Thread thread{id, 0, false, nullptr};
  thread.handle = ::OpenThread(rights, FALSE, static_cast<DWORD>(id));
  return thread.handle && wait_for(thread);
}

// Suspends the thread. Returns false if it has ended. GetThreadContext returns when it really stands still.
bool StoppedProcess::wait_for(Thread &thread) {
  std::lock_guard lock(stopped_lock);
  if (until_)
    throw Interrupted(); // let go at Ctrl-C
  thread.stopped = ::SuspendThread(thread.handle) != ~DWORD{0};
  if (!thread.stopped) {
    ::CloseHandle(thread.handle);
    return false;
  }
  threads_.push_back(thread);
  registers(thread);
  return true;
}

void StoppedProcess::wait_for_all(const Patience &) {} // each was stopped at once

void StoppedProcess::fail_without_threads() const {
  if (!process_start(pid_))
    fail_to_read(pid_, ERROR_INVALID_PARAMETER);
  throw Error(process_called(pid_) + " has ended, or its threads may not be stopped: " + what_forbids_reading(pid_));
}

std::vector<std::byte> StoppedProcess::registers(const Thread &thread) const {
  std::lock_guard lock(stopped_lock);
  if (until_)
    return {};
  const OwnedHandle process(open_process(pid_, PROCESS_QUERY_LIMITED_INFORMATION));
  auto bytes_of = [](const auto &context) {
    const Bytes bytes = std::as_bytes(std::span(&context, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  if (process && is_32_bit(process.get())) {
    WOW64_CONTEXT context{};
    context.ContextFlags = WOW64_CONTEXT_FULL;
    return ::Wow64GetThreadContext(thread.handle, &context) ? bytes_of(context) : std::vector<std::byte>();
  }
  alignas(16) CONTEXT context{};
  context.ContextFlags = CONTEXT_FULL;
  return ::GetThreadContext(thread.handle, &context) ? bytes_of(context) : std::vector<std::byte>();
}

void StoppedProcess::release() {
  std::lock_guard lock(stopped_lock);
  if (until_)
    return;
  for (const Thread &thread : threads_) {
    ::ResumeThread(thread.handle);
    ::CloseHandle(thread.handle);
  }
  until_ = Clock::now();
  std::erase(stopped_processes, this);
}

double StoppedProcess::seconds() const {
  std::lock_guard lock(stopped_lock);
  return std::chrono::duration<double>(until_.value_or(Clock::now()) - since_).count();
}

} // namespace dnheap
