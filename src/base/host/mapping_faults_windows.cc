// On Windows nobody can write to, or cut off, a file that MappedFile has open (it shares it for reading only), so only
// failures of a disk or a network can lose bytes. A page of a view cannot be replaced there, so the program ends with a
// message.
#include "base/host/mapping_faults.h"
#include "base/host/windows.h"

#include <atomic>
#include <io.h>
#include <mutex>

namespace dnheap {

// Never freed, only reused: the handler reads them without a lock.
struct WatchedMapping {
  std::atomic<u64> start{0}, size{0}; // size 0: free
  int file = -1;
  char message[400] = {};
  WatchedMapping *next = nullptr;
};

namespace {

std::mutex registry;
std::atomic<WatchedMapping *> first{nullptr};

LONG CALLBACK on_fault(EXCEPTION_POINTERS *fault) {
  const EXCEPTION_RECORD &record = *fault->ExceptionRecord;
  if (record.ExceptionCode != static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR) || record.NumberParameters < 2)
    return EXCEPTION_CONTINUE_SEARCH;
  const u64 address = record.ExceptionInformation[1];
  for (WatchedMapping *m = first; m; m = m->next)
    if (address - m->start < m->size) {
      DWORD written = 0;
      ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), m->message,
                  static_cast<DWORD>(std::char_traits<char>::length(m->message)), &written, nullptr);
      // 3 is the exit code for targets that cannot be read. The system removes temporary files.
      ::TerminateProcess(::GetCurrentProcess(), 3);
    }
  return EXCEPTION_CONTINUE_SEARCH;
}

} // namespace

void survive_mapping_faults() {
  static const PVOID handler = ::AddVectoredExceptionHandler(1, on_fault);
  (void)handler;
}

std::vector<LostBytes> find_lost_bytes() { return {}; }
u64 count_losses() { return 0; }

WatchedMapping *watch_mapping(Bytes bytes, int file, std::string name, bool) {
  std::lock_guard lock(registry);
  WatchedMapping *m = first;
  while (m && m->size != 0)
    m = m->next;
  if (!m) {
    m = new WatchedMapping;
    m->next = first;
    first = m;
  }
  const std::string message = "dnheap: could not be read any further (I/O error): " + name.substr(0, 300) + "\n";
  m->message[message.copy(m->message, sizeof m->message - 1)] = '\0';
  m->file = file;
  m->start = reinterpret_cast<u64>(bytes.data());
  m->size = bytes.size();
  return m;
}

void unwatch_mapping(WatchedMapping *m) {
  std::lock_guard lock(registry);
  m->size = 0;
  ::_close(m->file);
}

} // namespace dnheap
