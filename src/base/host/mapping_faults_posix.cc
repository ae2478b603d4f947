// Linux and macOS.
#include "base/host/mapping_faults.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap {

// The signal handler reads these without a lock. They are never freed, only reused.
struct WatchedMapping {
  std::atomic<u64> version{0}; // odd while unused or being changed
  std::atomic<u64> start{0}, size{0};
  std::atomic<int> file{-1};
  std::atomic<std::atomic<u64> *> bad_pages{nullptr}; // a bit for each page
  std::atomic<u64> cut{0};                            // bytes from here on are lost
  std::atomic<bool> given_up{false};                  // all bytes are lost
  WatchedMapping *next = nullptr;

  // The signal handler does not look at these.
  std::string name;
  bool others_may_write = false;
  timespec changed_at{};            // as first seen, later as seen after the file was cut
  std::vector<std::byte> beginning; // shows whether a shorter file was cut or replaced
  u64 seen_cut = 0;
  bool was_changed = false;
};

namespace {

constexpr u64 beginning_size = 64 << 10;

std::mutex registry;                          // locked by all functions except the signal handler
std::atomic<WatchedMapping *> first{nullptr}; // list of all entries, free ones included
std::atomic<u64> losses{0};
std::atomic<u64> page_bytes{4096};
struct sigaction previous {};

static_assert(std::atomic<u64>::is_always_lock_free && std::atomic<WatchedMapping *>::is_always_lock_free);

u64 page_count(u64 size) { return (size + page_bytes - 1) / page_bytes; }

bool replace_by_zeros(u64 start, u64 size) {
  return ::mmap(reinterpret_cast<void *>(start), size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

void lower(std::atomic<u64> &value, u64 to) {
  for (u64 now = value; to < now && !value.compare_exchange_weak(now, to);)
    ;
}

// Runs in the signal handler: makes the page at `address` readable. Returns false if it belongs to none of our
// mappings.
bool lose_page(u64 address) {
  for (WatchedMapping *m = first; m; m = m->next) {
    // Skip entries that are free or being changed. The mapping that was just read is in use, so its entry does not
    // change.
    u64 version = m->version, start = m->start, size = m->size;
    if (version % 2 || m->version != version || address - start >= size)
      continue;
    u64 page = (address - start) / page_bytes;
    struct stat about;
    if (::fstat(m->file, &about) == 0 && static_cast<u64>(about.st_size) <= page * page_bytes) {
      // The file was cut: everything after its new end is lost, too.
      u64 from = page_count(static_cast<u64>(about.st_size)) * page_bytes;
      lower(m->cut, static_cast<u64>(about.st_size));
      ++losses;
      if (replace_by_zeros(start + from, size - from))
        return true;
    }
    m->bad_pages.load()[page / 64] |= u64{1} << page % 64;
    ++losses;
    if (replace_by_zeros(start + page * page_bytes, page_bytes))
      return true;
    // The kernel has no room for another mapping: give up the whole file.
    m->given_up = true;
    return replace_by_zeros(start, size);
  }
  return false;
}

void on_bus_error(int signal, siginfo_t *info, void *context) {
  int kept = errno;
  bool mended = info->si_code > 0 && lose_page(reinterpret_cast<u64>(info->si_addr));
  errno = kept;
  if (mended)
    return;
  if (previous.sa_flags & SA_SIGINFO)
    return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

timespec modified(const struct stat &about) {
#ifdef __APPLE__
  return about.st_mtimespec;
#else
  return about.st_mtim;
#endif
}

bool same(const timespec &a, const timespec &b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

Bytes bytes_of(const WatchedMapping &m) {
  return {reinterpret_cast<const std::byte *>(m.start.load()), static_cast<std::size_t>(m.size)};
}

// Checks whether the file was cut or written to.
void look_at_file(WatchedMapping &m) {
  struct stat about;
  if (m.was_changed || ::fstat(m.file, &about) != 0)
    return;
  u64 size = static_cast<u64>(about.st_size);
  bool grew_again = size > m.cut;
  if (size < m.cut) {
    lower(m.cut, size);
    ++losses;
  }
  bool newly_cut = m.cut < m.seen_cut;
  m.seen_cut = m.cut;
  bool written = m.others_may_write && !newly_cut && !same(modified(about), m.changed_at);
  m.changed_at = modified(about);
  u64 kept = std::min<u64>(m.cut, m.beginning.size());
  if (newly_cut && !std::equal(m.beginning.begin(), m.beginning.begin() + static_cast<i64>(kept), bytes_of(m).begin()))
    written = true;
  if (written || (grew_again && m.cut < m.size)) {
    m.was_changed = true;
    ++losses;
  }
}

void add_lost(const WatchedMapping &m, std::vector<LostBytes> &out) {
  Bytes all = bytes_of(m);
  if (m.was_changed) {
    out.push_back({all, m.name + " was changed by somebody else while it was read", true});
    return;
  }
  std::string unreadable = "could not be read from " + m.name + " (I/O error)";
  if (m.given_up) {
    out.push_back({all, unreadable});
    return;
  }
  u64 cut = m.cut;
  const std::atomic<u64> *bits = m.bad_pages;
  auto is_bad = [&](u64 page) { return (bits[page / 64] >> page % 64 & 1) != 0; };
  for (u64 page = 0; page * page_bytes < cut; ++page) {
    if (page % 64 == 0 && bits[page / 64] == 0) {
      page += 63;
      continue;
    }
    u64 begin = page;
    while (page * page_bytes < cut && is_bad(page))
      ++page;
    if (page > begin)
      out.push_back(
          {all.subspan(begin * page_bytes, std::min(page * page_bytes, cut) - begin * page_bytes), unreadable});
  }
  if (cut < all.size())
    out.push_back(
        {all.subspan(cut), "cut off while it was read: " + m.name + " now ends at byte " + std::to_string(cut)});
}

} // namespace

void survive_mapping_faults() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error)
    return;
  previous = now;
  ::sigaction(SIGBUS, &action, nullptr);
}

std::vector<LostBytes> find_lost_bytes() {
  std::lock_guard lock(registry);
  std::vector<LostBytes> out;
  for (WatchedMapping *m = first; m; m = m->next)
    if (m->version % 2 == 0) {
      look_at_file(*m);
      add_lost(*m, out);
    }
  std::sort(out.begin(), out.end(), [](const auto &a, const auto &b) { return a.bytes.data() < b.bytes.data(); });
  return out;
}

u64 count_losses() {
  std::lock_guard lock(registry);
  for (WatchedMapping *m = first; m; m = m->next)
    if (m->version % 2 == 0)
      look_at_file(*m);
  return losses;
}

WatchedMapping *watch_mapping(Bytes bytes, int file, std::string name, bool others_may_write) {
  page_bytes = static_cast<u64>(::sysconf(_SC_PAGESIZE));
  std::unique_lock lock(registry);
  WatchedMapping *m = first;
  while (m && m->version % 2 == 0)
    m = m->next;
  bool is_new = !m;
  if (is_new) {
    m = new WatchedMapping;
    m->version = 1;
    m->next = first;
    first = m;
  }
  struct stat about {};
  ::fstat(file, &about);
  m->start = reinterpret_cast<u64>(bytes.data());
  m->size = bytes.size();
  m->file = file;
  m->bad_pages = new std::atomic<u64>[page_count(bytes.size()) / 64 + 1]();
  m->cut = bytes.size();
  m->name = std::move(name);
  m->others_may_write = others_may_write;
  m->changed_at = modified(about);
  m->seen_cut = bytes.size();
  m->was_changed = m->given_up = false;
  m->beginning.clear();
  ++m->version;
  Bytes beginning = bytes.first(std::min<std::size_t>(bytes.size(), beginning_size));
  m->beginning.assign(beginning.begin(), beginning.end()); // may fault, so it comes after the entry is valid
  return m;
}

void unwatch_mapping(WatchedMapping *m) {
  std::lock_guard lock(registry);
  ++m->version;
  m->size = 0;
  ::close(m->file);
  delete[] m->bad_pages.load();
  m->beginning.clear();
}

} // namespace dnheap
