// Windows. Files are numbers of the C runtime, as on other hosts; operations that it lacks use the handle behind the
// number.
#include "base/error.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/host/memory_limit.h"
#include "base/host/named_path.h"
#include "base/host/windows.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <io.h>
#include <malloc.h>
#include <psapi.h>
#include <random>
#include <thread>
#include <utility>
#include <winioctl.h>

namespace dnheap {

namespace {

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

// Takes over the handle. Returns −1 if it is invalid.
int file_of(HANDLE handle) {
  return handle == INVALID_HANDLE_VALUE ? -1 : ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_BINARY);
}

std::string random_word() {
  static constexpr char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::random_device random;
  std::string out;
  for (int i = 0; i < 12; ++i)
    out += letters[random() % 32];
  return out;
}

// Creates a file whose unwritten pages take no room. Returns −1 on failure, with the last error set.
int create_file(const std::string &path, DWORD shared, DWORD flags) {
  const HANDLE handle =
      ::CreateFileW(wide(path).c_str(), GENERIC_READ | GENERIC_WRITE, shared, nullptr, CREATE_NEW, flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE)
    return -1;
  DWORD ignored = 0;
  ::DeviceIoControl(handle, FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &ignored, nullptr);
  return file_of(handle);
}

// Returns false on failure, with the last error set.
bool write_bytes(int file, u64 offset, Bytes bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;
  while (!bytes.empty()) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD written = 0;
    if (!::WriteFile(handle_of(file), bytes.data(), static_cast<DWORD>(std::min(bytes.size(), most)), &written, &place))
      return false;
    offset += written;
    bytes = bytes.subspan(written);
  }
  return true;
}

bool set_size(int file, u64 size) {
  FILE_END_OF_FILE_INFO end;
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(size);
  return ::SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) != 0;
}

} // namespace

// Takes over the file.
MappedFile::MappedFile(int file, u64 size, const std::string &name, bool others_may_write) {
  if (size == 0) {
    ::_close(file);
    return;
  }
  const void *at = nullptr;
  if (const HANDLE section = ::CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr)) {
    at = ::MapViewOfFile(section, FILE_MAP_READ, 0, 0, size);
    const DWORD error = ::GetLastError();
    ::CloseHandle(section); // the view keeps the section alive
    ::SetLastError(error);
  }
  if (!at) {
    const std::string why = what_failed();
    ::_close(file);
    throw Error(name + ": cannot map: " + why);
  }
  bytes_ = {static_cast<const std::byte *>(at), size};
  watched_ = watch_mapping(bytes_, file, name, others_may_write);
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path) {
  if (is_folder(path))
    throw Error(path + ": is a folder, not a file");
  // Shared without write access, so that nobody can change the file: see mapping_faults_windows.cc.
  const HANDLE handle = ::CreateFileW(wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                      OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE)
    throw Error(path + ": " + what_failed());
  LARGE_INTEGER size;
  if (::GetFileType(handle) != FILE_TYPE_DISK || !::GetFileSizeEx(handle, &size)) {
    ::CloseHandle(handle);
    throw Error(path + ": is not a regular file");
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(file_of(handle), static_cast<u64>(size.QuadPart), path, true));
}

std::shared_ptr<const MappedFile>
MappedFile::try_in_memory(u64 most, const std::function<std::optional<u64>(std::span<std::byte>)> &fill) {
  void *at = ::VirtualAlloc(nullptr, most, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (!at)
    return nullptr;
  std::span<std::byte> memory(static_cast<std::byte *>(at), most);
  std::shared_ptr<MappedFile> out(new MappedFile(memory));
  const std::optional<u64> size = fill(memory);
  if (!size || *size == 0 || *size > most)
    return nullptr;
  out->bytes_ = out->bytes_.first(*size);
  DWORD before = 0;
  return ::VirtualProtect(at, *size, PAGE_READONLY, &before) ? out : nullptr;
}

MappedFile::~MappedFile() {
  if (bytes_.empty())
    return;
  void *at = const_cast<std::byte *>(bytes_.data());
  if (!watched_) {
    ::VirtualFree(at, 0, MEM_RELEASE);
    return;
  }
  ::UnmapViewOfFile(at); // before the file is closed, which removes a temporary one
  unwatch_mapping(watched_);
}

// Windows cannot replace a part of a view.
std::span<std::byte> MappedFile::replace_by_memory(Bytes) const { return {}; }
void MappedFile::protect(Bytes) const {}
void MappedFile::will_read(Bytes) {}

TemporaryFile::TemporaryFile(const std::string &folder, const char *what) : what_(what) {
  wchar_t system[MAX_PATH + 1] = {};
  ::GetTempPathW(MAX_PATH + 1, system); // %TMP%, %TEMP%, the user's profile
  std::string tried;
  for (const std::string &candidate :
       folder.empty() ? std::vector<std::string>{environment("TMPDIR"), narrow(system), "."} : std::vector{folder}) {
    if (candidate.empty())
      continue;
    file_ =
        create_file(candidate + "/dnheap-" + random_word(), 0, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
    if (file_ >= 0) {
      folder_ = candidate;
      return;
    }
    tried += (tried.empty() ? "" : ", ") + candidate + " (" + what_failed() + ")";
  }
  throw Error("no folder for a temporary file can be written to: tried " + tried + "; give one with --temp-dir DIR");
}

// A temporary file stays in the cache as long as there is room, so it serves as memory.
TemporaryFile TemporaryFile::in_memory(const char *what) { return TemporaryFile("", what); }

TemporaryFile::~TemporaryFile() {
  if (file_ >= 0)
    ::_close(file_);
}

void TemporaryFile::write_piece(u64 offset, Bytes bytes) const {
  if (!write_bytes(file_, offset, bytes))
    fail_to_write(offset);
}

void TemporaryFile::set_size(u64 size) const {
  if (!dnheap::set_size(file_, size))
    fail_to_write(size);
}

void TemporaryFile::fail_to_write(u64 at) const {
  throw Error("cannot write " + std::string(what_) + " to a temporary file in " + folder_ + " after " +
              std::to_string(at) + " bytes: " + what_failed() + "; give another folder with --temp-dir DIR");
}

std::shared_ptr<const MappedFile> TemporaryFile::map() const {
  std::string name = "the temporary file in " + folder_;
  set_size(size_); // adds zeros at the end, which were not written
  HANDLE copy = INVALID_HANDLE_VALUE;
  const HANDLE self = ::GetCurrentProcess();
  if (!::DuplicateHandle(self, handle_of(file_), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS))
    throw Error("cannot map " + name + ": " + what_failed());
  return std::shared_ptr<const MappedFile>(new MappedFile(file_of(copy), size_, name, false));
}

NewFile::NewFile(const std::string &path) : path_(followed(path)) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw Error("cannot write to " + path + ": it is not a regular file");
  name_for_now_ = path_ + "." + random_word();
  file_ = create_file(name_for_now_, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, FILE_ATTRIBUTE_NORMAL);
  if (file_ < 0)
    throw Error("cannot write to " + path + ": " + what_failed());
}

void NewFile::open_to_others() {} // files have the permissions of their folder

NewFile::~NewFile() {
  if (file_ < 0)
    return;
  ::_close(file_);
  ::DeleteFileW(wide(name_for_now_).c_str());
}

void NewFile::fail() {
  throw Error("cannot write to " + path_ + " after " + std::to_string(size_) + " bytes: " + what_failed() +
              "; the incomplete file is removed");
}

void NewFile::write_at(u64 offset, Bytes bytes) {
  if (!write_bytes(file_, offset, bytes))
    fail();
}

void NewFile::take_size() {
  LARGE_INTEGER size;
  if (!::GetFileSizeEx(handle_of(file_), &size))
    fail();
  size_ = static_cast<u64>(size.QuadPart);
}

void NewFile::commit() {
  if (!set_size(file_, size_) || !::FlushFileBuffers(handle_of(file_)))
    fail();
  ::_close(std::exchange(file_, -1));
  if (!::MoveFileExW(wide(name_for_now_).c_str(), wide(path_).c_str(), MOVEFILE_REPLACE_EXISTING)) {
    const DWORD error = ::GetLastError();
    ::DeleteFileW(wide(name_for_now_).c_str());
    ::SetLastError(error);
    fail();
  }
}

std::string file_name_of(const std::string &path) { return path.substr(path.find_last_of("/\\:") + 1); }

void make_streams_safe() {
  // Write the same bytes as on other hosts: no \r before \n.
  for (int stream = 0; stream <= 2; ++stream)
    ::_setmode(stream, _O_BINARY);
  // Consoles accept UTF-8 and cursor movements only if asked to.
  ::SetConsoleOutputCP(CP_UTF8);
  for (DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE})
    if (DWORD mode = 0; ::GetConsoleMode(::GetStdHandle(stream), &mode))
      ::SetConsoleMode(::GetStdHandle(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

namespace {

std::atomic<void (*)(int)> interrupt_handler{nullptr};
std::atomic<bool> was_interrupted{false};

// Runs in a thread that Windows starts for it.
BOOL WINAPI on_control(DWORD event) {
  if (event != CTRL_C_EVENT || was_interrupted.exchange(true))
    return FALSE; // ends the process
  interrupt_handler.load()(SIGINT);
  return TRUE;
}

} // namespace

void catch_interrupts(void (*handler)(int signal)) {
  interrupt_handler = handler;
  was_interrupted = false;
  static const BOOL once = ::SetConsoleCtrlHandler(on_control, TRUE);
  (void)once;
}

int write_all(std::FILE *stream, std::string_view bytes) {
  constexpr std::size_t most = 1 << 20; // a pipe takes a limited amount at once
  while (!bytes.empty()) {
    const int n = ::_write(::_fileno(stream), bytes.data(), static_cast<unsigned>(std::min(bytes.size(), most)));
    if (n < 0) // EINVAL is also reported for pipes that nobody reads
      return errno == EINVAL && ::GetFileType(handle_of(::_fileno(stream))) == FILE_TYPE_PIPE ? EPIPE : errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    if (!bytes.empty() && was_interrupted)
      return EINTR;
  }
  return 0;
}

void give_back_free_memory() { ::_heapmin(); }

bool limit_memory(u64 bytes) {
  const HANDLE job = ::CreateJobObjectW(nullptr, nullptr); // kept open: the limit is the job's
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit{};
  limit.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
  limit.ProcessMemoryLimit = bytes;
  return job && ::SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limit, sizeof limit) &&
         ::AssignProcessToJobObject(job, ::GetCurrentProcess());
}

bool limit_memory_to_group(unsigned) { return false; }
UncountedMemory::UncountedMemory(u64 bytes) : bytes_(bytes) {}
UncountedMemory::~UncountedMemory() = default;

u64 peak_memory() {
  PROCESS_MEMORY_COUNTERS counters{};
  return ::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

u64 page_size() {
  SYSTEM_INFO about;
  ::GetSystemInfo(&about);
  return about.dwPageSize;
}

unsigned processor_count() {
  DWORD_PTR ours = 0, all = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &ours, &all) && ours)
    return static_cast<unsigned>(std::popcount(static_cast<u64>(ours)));
  return std::max(std::thread::hardware_concurrency(), 1u);
}

bool is_terminal(int descriptor) {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

unsigned terminal_width(int descriptor) {
  CONSOLE_SCREEN_BUFFER_INFO about;
  if (!::GetConsoleScreenBufferInfo(handle_of(descriptor), &about))
    return 0;
  return static_cast<unsigned>(about.srWindow.Right - about.srWindow.Left + 1);
}

std::string environment(const char *name) {
  const wchar_t *value = ::_wgetenv(wide(name).c_str());
  return value ? narrow(value) : "";
}

bool may_open_named(std::string_view path, bool windows) { return may_open_on_windows(path, windows); }

} // namespace dnheap
