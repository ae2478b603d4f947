#include "base/error.h"
#include "base/host/host.h"
#include "base/host/kernel_text.h"
#include "base/process/process.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <limits.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dnheap {

namespace {

const char *const more_rights = "CAP_SYS_PTRACE (sudo; docker: --cap-add SYS_PTRACE; Kubernetes: "
                                "securityContext.capabilities.add: [SYS_PTRACE]; kubectl debug: --profile=sysadmin)";

std::vector<u64> numbers_in_folder(const std::string &path) {
  std::vector<u64> out;
  DIR *folder = ::opendir(path.c_str());
  if (!folder)
    return out;
  while (const dirent *entry = ::readdir(folder))
    if (std::string_view name = entry->d_name; name.find_first_not_of("0123456789") == name.npos)
      if (std::optional<u64> number = number_in(name))
        out.push_back(*number);
  ::closedir(folder);
  return out;
}

std::string process_path(u64 pid, const std::string &name) { return "/proc/" + std::to_string(pid) + "/" + name; }

const char *const seccomp_forbids =
    "a seccomp or security profile of this container forbids it (docker: --security-opt seccomp=unconfined; "
    "Kubernetes: "
    "securityContext.seccompProfile.type: Unconfined); change that, or run dnheap outside of the container";

const char *const no_proc = "/proc is not mounted: mount -t proc proc /proc";

// Asks by kill() with signal 0, which sends nothing, and not by /proc, which may hide processes.
bool exists(u64 pid) {
  return pid > 0 && pid <= INT32_MAX && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

// True in a user namespace that does not map all users of the machine.
bool is_in_user_namespace() {
  std::optional<std::string> map = kernel_text("/proc/self/uid_map");
  return map && map->find("4294967295") == map->npos;
}

[[noreturn]] void fail_to_read(u64 pid, int error) {
  std::string name = "process " + std::to_string(pid);
  if ((error == ESRCH || error == ENOENT) && !exists(pid))
    throw Error("there is no " + name);
  if (error == EMFILE || error == ENFILE)
    throw Error(name + " cannot be read: " + std::strerror(error) + " (ulimit -n)");
  if (numbers_in_folder("/proc").empty())
    throw Error(name + " cannot be read: " + no_proc);
  if (error == ENOENT)
    throw Error(name + " is there, but /proc hides it (hidepid): it may be read by its own user, and with " +
                more_rights);
  if (error == ENOSYS) // Linux always has ptrace(); a security profile that forbids it returns this, or EPERM
    throw Forbidden(name + " may not be read: " + seccomp_forbids);
  if (error != EPERM && error != EACCES)
    throw Error(name + " cannot be read: " + std::strerror(error));
  throw Forbidden(name + " may not be read: " + what_forbids_reading(pid));
}

} // namespace

std::optional<std::string> process_text(u64 pid, const std::string &name, u64 limit) {
  return kernel_text(process_path(pid, name), limit);
}

std::vector<u64> list_processes() {
  std::vector<u64> out = numbers_in_folder("/proc");
  if (out.empty()) // this process is among them
    throw Error(std::string("the running processes cannot be listed: ") + no_proc);
  return out;
}

bool processes_are_hidden() { return exists(1) && ::access(process_path(1, "").c_str(), F_OK) != 0; }

namespace {

// Returns the path of a line of /proc/PID/maps, "START-END r-xp OFFSET DEVICE INODE PATH", if that file is mapped as
// code; else an empty text.
std::string_view code_file_of(std::string_view line) {
  const std::size_t rights = line.find(' '), path = line.find('/');
  if (path == line.npos || rights + 3 >= path || line[rights + 3] != 'x')
    return {};
  return line.substr(path);
}

} // namespace

std::optional<std::vector<std::string>> loaded_files(u64 pid) {
  const std::optional<std::string> maps = process_text(pid, "maps");
  if (!maps)
    return std::nullopt;
  std::vector<std::string> out;
  for (std::string_view text = *maps; !text.empty();) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const std::string_view path = code_file_of(line); !path.empty() && (out.empty() || out.back() != path))
      out.emplace_back(path);
  }
  return out;
}

std::string program_file(u64 pid) { return process_path(pid, "exe"); }

std::vector<u64> list_threads(u64 pid) { return numbers_in_folder(process_path(pid, "task")); }

std::string what_forbids_reading(u64 pid) {
  constexpr u64 ptrace_capability = 19;
  const std::string how = more_rights;
  if (pid == static_cast<u64>(::getpid()))
    return "it is this program itself, which cannot stop itself";
  std::optional<std::string> status = process_text(pid, "status"), own = kernel_text("/proc/self/status");
  if (u64 tracer = number_behind(status, "TracerPid:").value_or(0))
    return "process " + std::to_string(tracer) +
           " is debugging it, and only one process can do that: end the debugger first";
  bool capable = (number_behind(own, "CapEff:", 16).value_or(0) >> ptrace_capability & 1) != 0;
  u64 scope = number_in(kernel_text("/proc/sys/kernel/yama/ptrace_scope").value_or("0")).value_or(0);
  if (scope == 3)
    return "kernel.yama.ptrace_scope is 3, which nobody can change before the next start of the machine: have "
           "createdump write a dump instead";
  if (capable && is_in_user_namespace())
    return "CAP_SYS_PTRACE counts in this user namespace only, and the process belongs to another one, or a seccomp "
           "profile forbids it: run dnheap in the same pod (Kubernetes: kubectl debug --target, or "
           "shareProcessNamespace: true), or outside of containers";
  if (capable)
    return std::string("CAP_SYS_PTRACE is set, but ") + seccomp_forbids;
  std::optional<u64> owner = number_behind(status, "Uid:");
  if (owner && *owner != ::geteuid())
    return "it belongs to user " + std::to_string(*owner) + ", this is user " + std::to_string(::geteuid()) +
           ": run as that user, or with " + how;
  if (scope == 2)
    return "kernel.yama.ptrace_scope is 2: run with " + how + ", or: sysctl kernel.yama.ptrace_scope=0";
  if (scope == 1)
    return "kernel.yama.ptrace_scope is 1: sysctl kernel.yama.ptrace_scope=0, or run with " + how;
  return "it has more rights than dnheap, or is not dumpable: run with " + how;
}

ProcessMemory::ProcessMemory(u64 pid) : pid_(pid) {
  file_ = ::open(process_path(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0)
    fail_to_read(pid, errno);
  pages_ = ::open(process_path(pid, "pagemap").c_str(), O_RDONLY | O_CLOEXEC);
}

ProcessMemory::~ProcessMemory() {
  ::close(file_);
  ::close(pages_);
}

u64 ProcessMemory::read(Address address, std::span<std::byte> out) const {
  u64 done = 0;
  while (done < out.size()) {
    iovec here{out.data() + done, out.size() - done};
    iovec there{reinterpret_cast<void *>(address + done), out.size() - done};
    ssize_t n = ::process_vm_readv(static_cast<pid_t>(pid_), &here, 1, &there, 1, 0);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) // some containers forbid the call
      n = ::pread(file_, out.data() + done, out.size() - done, static_cast<off_t>(address + done));
    if (n <= 0) {
      if (n < 0 && errno == ESRCH)
        has_ended_ = true;
      break;
    }
    done += static_cast<u64>(n);
  }
  return done;
}

namespace {

constexpr u64 frame_of_page =
    (u64{1} << 55) - 1; // mask of the frame number in a pagemap word; the kernel shows 0 to all but root

// Returns the frame of the kernel's one page of zeros. It is mapped wherever memory was only read, and takes no memory.
// 0: unknown.
u64 find_zero_frame() {
  void *page = ::mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return 0;
  [[maybe_unused]] const char read = *static_cast<const volatile char *>(page);
  u64 word = 0;
  const int pages = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto at = static_cast<off_t>(reinterpret_cast<u64>(page) / page_size() * sizeof word);
  if (pages < 0 || ::pread(pages, &word, sizeof word, at) != sizeof word)
    word = 0;
  ::close(pages);
  ::munmap(page, page_size());
  return word & frame_of_page;
}

} // namespace

// Documentation/admin-guide/mm/pagemap.rst.
void ProcessMemory::find_pages(Address address, std::span<Page> out) const {
  constexpr u64 is_present = u64{1} << 63, is_swapped = u64{1} << 62, is_of_file = u64{1} << 61;
  static const u64 zero_frame = find_zero_frame();
  std::vector<u64> words(out.size(), is_present);
  const u64 at = address / page_size() * sizeof(u64);
  if (pages_ < 0 ||
      ::pread(pages_, words.data(), 8 * words.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(8 * words.size()))
    words.assign(out.size(), is_present);
  auto is_of_zeros = [&](u64 word) {
    return zero_frame && (word & is_present) && !(word & is_of_file) && (word & frame_of_page) == zero_frame;
  };
  for (u64 i = 0; i < out.size(); ++i)
    out[i] = !(words[i] & (is_present | is_swapped)) || is_of_zeros(words[i]) ? Page::absent
             : (words[i] & is_present) && (words[i] & is_of_file) != 0        ? Page::of_file
                                                                              : Page::present;
}

u64 device_of(u32 major, u32 minor) { return makedev(major, minor); }

ProcessFiles::ProcessFiles(u64 pid) {
  const std::string root = process_path(pid, "root");
  root_ = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::string path(PATH_MAX, '\0');
  path.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::readlink(root.c_str(), path.data(), path.size()))));
  if (path.starts_with('/') && path != "/")
    prefix_ = path;
}

ProcessFiles::~ProcessFiles() { ::close(root_); }

int ProcessFiles::open(const MappedPath &file) const {
  std::size_t start = file.path.find_first_not_of('/');
  if (root_ < 0 || start == std::string::npos)
    return -1;
  const char *path = file.path.c_str() + start;
  struct stat status = {};
  auto is_it = [&] { return S_ISREG(status.st_mode) && status.st_ino == file.inode && status.st_dev == file.device; };
  // Checked before it is opened, as opening a device may have side effects.
  if (::fstatat(root_, path, &status, 0) != 0 || !is_it())
    return -1;
  int opened = ::openat(root_, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened >= 0 && (::fstat(opened, &status) != 0 || !is_it())) {
    ::close(opened);
    return -1;
  }
  return opened;
}

bool ProcessFiles::has(const MappedPath &file) const {
  int opened = open(file);
  ::close(opened);
  return opened >= 0;
}

u64 ProcessFiles::read(const MappedPath &file, u64 offset, std::span<std::byte> out) const {
  int opened = open(file);
  u64 done = 0;
  while (opened >= 0 && done < out.size()) {
    ssize_t n = ::pread(opened, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n <= 0)
      break;
    done += static_cast<u64>(n);
  }
  ::close(opened);
  return done;
}

std::optional<u64> resident_memory(u64 pid) {
  const std::optional<u64> kilobytes = number_behind(process_text(pid, "status"), "VmRSS:");
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

std::optional<u64> private_memory(u64 pid) {
  std::optional<std::string> status = process_text(pid, "status");
  std::optional<u64> anonymous = number_behind(status, "RssAnon:");
  if (!anonymous)
    return std::nullopt;
  return (*anonymous + number_behind(status, "RssShmem:").value_or(0) + number_behind(status, "VmSwap:").value_or(0)) *
         1024;
}

namespace {

// Returns what follows "PID (NAME) " in /proc/PID/stat, beginning with the state; empty: the process has ended or is a
// zombie.
std::string state_and_more(u64 pid) {
  std::string stat = process_text(pid, "stat").value_or("");
  const std::size_t name_end = stat.rfind(") ");
  stat.erase(0, name_end == std::string::npos ? stat.size() : name_end + 2);
  return stat.starts_with('Z') || stat.starts_with('X') ? "" : stat;
}

} // namespace

std::optional<u64> process_start(u64 pid) {
  constexpr int fields_before = 19; // the value is field 22, the state is field 3
  const std::string stat = state_and_more(pid);
  std::string_view rest = stat;
  for (int i = 0; i < fields_before; ++i)
    // If there is no further space, npos + 1 is 0: the rest stays, and has no number there.
    rest = rest.substr(std::min(rest.find(' ') + 1, rest.size()));
  return rest.empty() ? std::nullopt : number_in(rest);
}

std::optional<double> process_age(u64 pid) {
  const std::optional<u64> start = process_start(pid);
  double now = 0; // seconds since the machine was started, the clock of the start time
  if (std::ifstream uptime("/proc/uptime"); !start || !(uptime >> now))
    return std::nullopt;
  return now - static_cast<double>(*start) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool be_first_to_go() {
  std::FILE *file = std::fopen("/proc/self/oom_score_adj", "we");
  if (!file)
    return false;
  const bool is_written = std::fputs("1000", file) >= 0;
  return std::fclose(file) == 0 && is_written;
}

void StoppedProcess::begin_stop() {}

bool StoppedProcess::stop_thread(u64 id) {
  if (::ptrace(PTRACE_SEIZE, static_cast<pid_t>(id), nullptr, nullptr) != 0) {
    const int error = errno;
    if (error == ESRCH || state_and_more(id).empty())
      return false;
    fail_to_read(pid_, error);
  }
  threads_.push_back({id});
  ::ptrace(PTRACE_INTERRUPT, static_cast<pid_t>(id), nullptr, nullptr);
  return true;
}

void StoppedProcess::wait_for_all(const Patience &patience) {
  for (Thread &thread : threads_)
    for (int tries = 0; !thread.stopped && !wait_for(thread); ++tries) {
      patience.check("thread " + std::to_string(thread.id) + " of process " + std::to_string(pid_) +
                     " cannot be stopped: it waits in the kernel");
      if (tries > 20)
        ::usleep(100);
    }
  std::erase_if(threads_, [](const Thread &t) { return t.id == 0; });
}

void StoppedProcess::fail_without_threads() const {
  if (exists(pid_) && !list_threads(pid_).empty()) // nobody has waited for it yet
    throw Error("process " + std::to_string(pid_) + " has ended");
  fail_to_read(pid_, ESRCH);
}

// Returns false if the thread is not stopped yet. A thread that has ended gets the id 0.
bool StoppedProcess::wait_for(Thread &thread) {
  int status = 0;
  pid_t id = ::waitpid(static_cast<pid_t>(thread.id), &status, __WALL | WNOHANG);
  if (id == 0 || (id < 0 && errno == EINTR))
    return false;
  thread.stopped = true;
  if (id < 0 || !WIFSTOPPED(status)) {
    thread.id = 0;
    return true;
  }
  // This is either our stop, or the process's own stop, or a signal that the thread was about to get.
  if (status >> 16 == 0)
    thread.signal = WSTOPSIG(status);
  return true;
}

std::vector<std::byte> StoppedProcess::registers(const Thread &thread) const {
  std::vector<std::byte> out(4096);
  iovec set{out.data(), out.size()};
  if (until_ || ::ptrace(PTRACE_GETREGSET, static_cast<pid_t>(thread.id), NT_PRSTATUS, &set) != 0)
    return {};
  out.resize(set.iov_len);
  return out;
}

void StoppedProcess::release() {
  if (until_)
    return;
  for (Thread &thread : threads_) {
    if (!thread.stopped) { // only a stopped thread can be released
      auto last = Clock::now() + std::chrono::milliseconds(100);
      while (!wait_for(thread) && Clock::now() < last)
        ::usleep(100);
    }
    if (thread.id)
      ::ptrace(PTRACE_DETACH, static_cast<pid_t>(thread.id), nullptr,
               reinterpret_cast<void *>(static_cast<std::intptr_t>(thread.signal)));
  }
  until_ = Clock::now();
}

double StoppedProcess::seconds() const {
  return std::chrono::duration<double>(until_.value_or(Clock::now()) - since_).count();
}

} // namespace dnheap
