// Linux and macOS.
#include "base/error.h"
#include "base/host/control_group.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/host/memory_limit.h"
#include "base/host/named_path.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#ifdef __linux__
#include <sched.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace dnheap {

// Takes over the descriptor.
MappedFile::MappedFile(int file, u64 size, const std::string &name, bool others_may_write) {
  if (size == 0) {
    ::close(file);
    return;
  }
  void *at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (at == MAP_FAILED) {
    int error = errno;
    ::close(file);
    throw Error(name + ": cannot map: " + std::strerror(error));
  }
  bytes_ = {static_cast<const std::byte *>(at), size};
  watched_ = watch_mapping(bytes_, file, name, others_may_write);
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe without a writer would keep us waiting
  if (file < 0)
    throw Error(path + ": " + std::strerror(errno));
  auto fail = [&](const char *why) {
    ::close(file);
    throw Error(path + ": " + why);
  };
  struct stat about;
  if (::fstat(file, &about) != 0)
    fail(std::strerror(errno));
  if (S_ISDIR(about.st_mode))
    fail("is a folder, not a file");
  if (!S_ISREG(about.st_mode))
    fail("is not a regular file");
  return std::shared_ptr<const MappedFile>(new MappedFile(file, static_cast<u64>(about.st_size), path, true));
}

std::shared_ptr<const MappedFile>
MappedFile::try_in_memory(u64 most, const std::function<std::optional<u64>(std::span<std::byte>)> &fill) {
  void *at = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return nullptr;
#ifdef MADV_HUGEPAGE
  if (most > u64{1} << 24)
    ::madvise(at, most, MADV_HUGEPAGE); // only a hint
#endif
  std::span<std::byte> memory(static_cast<std::byte *>(at), most);
  std::shared_ptr<MappedFile> out(new MappedFile(memory));
  const std::optional<u64> size = fill(memory);
  if (!size || *size == 0 || *size > most)
    return nullptr;
  const u64 page = static_cast<u64>(::sysconf(_SC_PAGESIZE)), kept = (*size + page - 1) & ~(page - 1);
  if (kept < most)
    ::munmap(memory.data() + kept, most - kept);
  out->bytes_ = out->bytes_.first(*size);
  return ::mprotect(at, *size, PROT_READ) == 0 ? out : nullptr;
}

MappedFile::~MappedFile() {
  if (watched_)
    unwatch_mapping(watched_);
  if (!bytes_.empty())
    ::munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

std::span<std::byte> MappedFile::replace_by_memory(Bytes part) const {
  void *at = const_cast<std::byte *>(part.data());
  if (::mmap(at, part.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return {};
#ifdef MADV_HUGEPAGE
  ::madvise(at, part.size(), MADV_HUGEPAGE); // only a hint
#endif
  return {static_cast<std::byte *>(at), part.size()};
}

void MappedFile::protect(Bytes part) const { ::mprotect(const_cast<std::byte *>(part.data()), part.size(), PROT_READ); }

void MappedFile::will_read(Bytes bytes) {
  u64 page = static_cast<u64>(::sysconf(_SC_PAGESIZE));
  u64 start = reinterpret_cast<u64>(bytes.data()) & ~(page - 1);
  u64 end = reinterpret_cast<u64>(bytes.data()) + bytes.size();
  ::madvise(reinterpret_cast<void *>(start), end - start, MADV_SEQUENTIAL);
}

TemporaryFile::TemporaryFile(const std::string &folder, const char *what) : what_(what) {
  std::vector<std::string> folders;
  if (!folder.empty())
    folders = {folder};
  else
    folders = {environment("TMPDIR"), "/var/tmp", "/tmp", "."};
  std::string tried;
  for (const std::string &candidate : folders) {
    if (candidate.empty())
      continue;
#ifdef O_TMPFILE
    file_ = ::open(candidate.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ >= 0) {
      folder_ = candidate;
      return;
    }
#endif
    std::string name = candidate + "/dnheap-XXXXXX"; // fallback, as not every file system has files without a name
    file_ = ::mkstemp(name.data());
    if (file_ >= 0) {
      ::unlink(name.c_str()); // from here on the system frees the file however this process ends
      ::fcntl(file_, F_SETFD, FD_CLOEXEC);
      folder_ = candidate;
      return;
    }
    tried += (tried.empty() ? "" : ", ") + candidate + " (" + std::strerror(errno) + ")";
  }
  throw Error("no folder for a temporary file can be written to: tried " + tried + "; give one with --temp-dir DIR");
}

TemporaryFile TemporaryFile::in_memory(const char *what) {
  TemporaryFile out(what);
#ifdef __linux__
  out.file_ = ::memfd_create("dnheap", MFD_CLOEXEC);
#else
  errno = ENOSYS;
#endif
  if (out.file_ < 0)
    throw Error(std::string("no temporary file can be made in memory: ") + std::strerror(errno) +
                (errno == EMFILE || errno == ENFILE ? "" : "; --temp-dir DIR uses a folder instead"));
  out.is_in_memory_ = true;
  out.folder_ = "memory";
  return out;
}

TemporaryFile::~TemporaryFile() {
  if (file_ >= 0)
    ::close(file_);
}

void TemporaryFile::write_piece(u64 offset, Bytes bytes) const {
  while (!bytes.empty()) {
    ssize_t n = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail_to_write(offset);
    offset += static_cast<u64>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void TemporaryFile::set_size(u64 size) const {
  if (::ftruncate(file_, static_cast<off_t>(size)) != 0)
    fail_to_write(size);
}

void TemporaryFile::fail_to_write(u64 at) const {
  throw Error("cannot write " + std::string(what_) + " to a temporary file in " + folder_ + " after " +
              std::to_string(at) + " bytes: " + std::strerror(errno) + "; give another folder with --temp-dir DIR");
}

std::shared_ptr<const MappedFile> TemporaryFile::map() const {
  std::string name = "the temporary file in " + folder_;
  set_size(size_); // adds zeros at the end, which were not written
  int file = ::fcntl(file_, F_DUPFD_CLOEXEC, 0);
  if (file < 0)
    throw Error("cannot map " + name + ": " + std::strerror(errno));
  return std::shared_ptr<const MappedFile>(new MappedFile(file, size_, name, false));
}

NewFile::NewFile(const std::string &path) : path_(followed(path)) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw Error("cannot write to " + path + ": it is not a regular file");
  name_for_now_ = path_ + ".XXXXXX";
  file_ = ::mkstemp(name_for_now_.data());
  if (file_ < 0)
    throw Error("cannot write to " + path + ": " + std::strerror(errno));
  ::fcntl(file_, F_SETFD, FD_CLOEXEC);
}

void NewFile::open_to_others() {
  struct stat before {};
  mode_t mode = 0666;
  if (::stat(path_.c_str(), &before) == 0) {
    mode = before.st_mode & 0777;
  } else {
    const mode_t kept_back = ::umask(0); // the mask cannot be read without changing it
    ::umask(kept_back);
    mode &= ~kept_back;
  }
  ::fchmod(file_, mode);
}

NewFile::~NewFile() {
  if (file_ < 0)
    return;
  ::close(file_);
  ::unlink(name_for_now_.c_str());
}

void NewFile::fail() {
  throw Error("cannot write to " + path_ + " after " + std::to_string(size_) + " bytes: " + std::strerror(errno) +
              "; the incomplete file is removed");
}

void NewFile::write_at(u64 offset, Bytes bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail();
    offset += static_cast<u64>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void NewFile::take_size() {
  const off_t end = ::lseek(file_, 0, SEEK_END);
  if (end < 0)
    fail();
  size_ = static_cast<u64>(end);
}

void NewFile::commit() {
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0 || ::fsync(file_) != 0)
    fail();
  if (::close(std::exchange(file_, -1)) != 0 || ::rename(name_for_now_.c_str(), path_.c_str()) != 0) {
    int error = errno;
    ::unlink(name_for_now_.c_str());
    errno = error;
    fail();
  }
}

void make_streams_safe() {
  int file;
  do
    file = ::open("/dev/null", O_RDONLY);
  while (file >= 0 && file <= 2);
  if (file >= 0)
    ::close(file);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

namespace {

std::atomic<void (*)(int)> interrupt_handler{nullptr};
std::atomic<bool> was_interrupted{false};

// A signal that arrives just before write() begins to wait for a reader does not interrupt that write(). So SIGALRM
// follows each second.
void on_alarm(int) { ::alarm(1); }

void on_interrupt(int signal) {
  was_interrupted = true;
  interrupt_handler.load()(signal);
  ::alarm(1);
}

} // namespace

void catch_interrupts(void (*handler)(int signal)) {
  interrupt_handler = handler;
  was_interrupted = false;
  ::alarm(0);
  struct sigaction alarmed {};
  alarmed.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &alarmed, nullptr);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {
    }, before{};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

int write_all(std::FILE *stream, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(::fileno(stream), bytes.data(), bytes.size());
    if (n < 0)
      return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    if (!bytes.empty() && was_interrupted)
      return EINTR;
  }
  return 0;
}

void give_back_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

namespace {

// The limit of limit_memory(), and memory in use that it does not count.
struct OwnLimit {
  std::mutex lock;
  std::optional<u64> bytes;
  u64 uncounted = 0;

  bool set() const {
    rlimit limit{};
    if (!bytes || ::getrlimit(RLIMIT_DATA, &limit) != 0)
      return false;
    // Never 0, which Linux takes for no limit (mm/mmap.c, may_expand_vm: "Workaround for Valgrind").
    limit.rlim_cur = std::min<rlim_t>(std::max<u64>(*bytes - std::min(*bytes, uncounted), 1), limit.rlim_max);
    return ::setrlimit(RLIMIT_DATA, &limit) == 0;
  }
};
OwnLimit &own_limit() {
  static OwnLimit limit;
  return limit;
}

} // namespace

bool limit_memory(u64 bytes) {
  OwnLimit &own = own_limit();
  const std::lock_guard guard(own.lock);
  own.bytes = bytes;
  return own.set();
}

bool limit_memory_to_group(unsigned threads) {
  const std::optional<u64> left = group_memory_left();
  if (!left)
    return false;
  constexpr u64 usual_stack = 8 << 20;
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY)
    stack.rlim_cur = usual_stack;
  return limit_memory(*left + threads * u64{stack.rlim_cur});
}

UncountedMemory::UncountedMemory(u64 bytes) : bytes_(bytes) {
  OwnLimit &own = own_limit();
  const std::lock_guard guard(own.lock);
  own.uncounted += bytes_;
  own.set();
}

UncountedMemory::~UncountedMemory() {
  OwnLimit &own = own_limit();
  const std::lock_guard guard(own.lock);
  own.uncounted -= bytes_;
  own.set();
}

u64 peak_memory() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0)
    return 0;
#ifdef __APPLE__
  return static_cast<u64>(usage.ru_maxrss);
#else
  return static_cast<u64>(usage.ru_maxrss) * 1024;
#endif
}

std::string file_name_of(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

u64 page_size() { return static_cast<u64>(::sysconf(_SC_PAGESIZE)); }

unsigned processor_count() {
#ifdef __linux__
  // More threads would be stopped part of the time.
  static const unsigned allowed = group_processors().value_or(~0u);
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return std::min(allowed, static_cast<unsigned>(std::max(CPU_COUNT(&set), 1)));
#endif
  return std::max(std::thread::hardware_concurrency(), 1u);
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

unsigned terminal_width(int descriptor) {
  winsize size{};
  if (!is_terminal(descriptor) || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool may_open_named(std::string_view, bool windows) { return !windows; }

} // namespace dnheap
