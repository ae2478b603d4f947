// Everything that differs between hosts: mapping files, temporary files, memory and CPU counts, the terminal. Code
// common to all hosts is in host.cc; each host has one file (host_posix.cc, host_windows.cc). Except for sockets and
// other processes nothing else may call the operating system directly.
#pragma once
#include "base/bytes.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct WatchedMapping;

// A read-only mapping of a whole file; its bytes stay valid as long as the object lives. Pages are loaded on demand, so
// a file may be larger than memory. For pages that cannot be loaded see base/host/mapping_faults.h.
class MappedFile {
public:
  // Throws Error ("PATH: No such file or directory") if the file cannot be opened or is not a regular file.
  static std::shared_ptr<const MappedFile> open(const std::string &path);
  // Returns null if open() would throw: for files that may be absent.
  static std::shared_ptr<const MappedFile> try_open(const std::string &path);
  // Maps memory instead of a file: up to `most` bytes, zero at first, in huge pages if available, allocated when
  // written. `fill` returns how many bytes to keep. Null if there is no room, or if `fill` returns nullopt.
  static std::shared_ptr<const MappedFile>
  try_in_memory(u64 most, const std::function<std::optional<u64>(std::span<std::byte>)> &fill);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  Bytes bytes() const { return bytes_; }
  // Replaces `part`, whole pages of this mapping, by this program's own memory: zero at first, writable until
  // protect(), in huge pages if available. Returns an empty span, with nothing changed, if there is no memory.
  std::span<std::byte> replace_by_memory(Bytes part) const;
  void protect(Bytes part) const;
  // Hints to the kernel that a loop is about to read these bytes once, front to back.
  static void will_read(Bytes bytes);

private:
  friend class TemporaryFile;
  MappedFile(int file, u64 size, const std::string &name, bool others_may_write);
  explicit MappedFile(Bytes memory) : bytes_(memory) {}
  Bytes bytes_;
  WatchedMapping *watched_ = nullptr; // null if there are no bytes, or no file
};

// A file without a name: it disappears when the process ends, however it ends.
class TemporaryFile {
public:
  // Creates the file in `folder`; if that is empty, in the first writable one of $TMPDIR, /var/tmp, /tmp (Windows: the
  // user's temporary folder), and the current folder. If none is writable, throws Error that names all of them. `what`
  // names the content in errors.
  explicit TemporaryFile(const std::string &folder, const char *what = "the decompressed dump");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  // Uses memory instead: for small contents if no folder is writable.
  static TemporaryFile in_memory(const char *what);
  TemporaryFile(TemporaryFile &&other) noexcept;

  // Appends; throws Error when the disk is full, or nearly so, since other programs need some space, too.
  void write(Bytes bytes);
  // Several threads may write to different places, each place once; size() does not change.
  void write_at(u64 offset, Bytes bytes) const;
  // Makes the file longer or shorter; parts that are zero or were never written take no room.
  void resize(u64 size);
  u64 size() const { return size_; }
  const std::string &folder() const { return folder_; }
  // Maps what has been written so far.
  std::shared_ptr<const MappedFile> map() const;

private:
  struct FreeRoom {
    u64 free, to_leave; // bytes
  };

  explicit TemporaryFile(const char *what) : what_(what) {}
  std::optional<FreeRoom> free_room() const; // nullopt: unknown, or not on a disk
  void write_piece(u64 offset, Bytes bytes) const;
  void set_size(u64 size) const;
  [[noreturn]] void fail_to_write(u64 at) const;

  int file_ = -1;
  u64 size_ = 0;
  bool is_in_memory_ = false;
  const char *what_;
  std::string folder_;
};

// A file that gets its name only once it is complete. Until commit() it has another name in the same folder; without
// commit() the destructor removes it. A symbolic link stays a link: its target is written. Readable by its owner only.
// Pages of zeros take no room on disk.
class NewFile {
public:
  // Throws Error if the folder cannot be written to, or if something other than a regular file has that name.
  explicit NewFile(const std::string &path);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  // For content that others may read: gives it the permissions of the file that it replaces, else the process's usual
  // ones. Call it before there are other threads.
  void open_to_others();
  // Appends; throws Error when the disk is full.
  void write(Bytes bytes);
  u64 size() const { return size_; }
  // path_for_now() is for code that writes to a file by its name; take_size() then accepts what is there as the
  // content.
  const std::string &path_for_now() const { return name_for_now_; }
  void take_size();
  void commit();

private:
  static std::string followed(const std::string &path); // the end of all links, even if nothing is there
  [[noreturn]] void fail();
  void write_at(u64 offset, Bytes bytes);

  int file_ = -1;
  u64 size_ = 0;
  std::string path_, name_for_now_;
};

// Returns the part after the last / (on Windows also \ or :).
std::string file_name_of(const std::string &path);
bool is_folder(const std::string &path);
bool is_file(const std::string &path); // a regular one
// Returns all regular files below `folder`, at most `limit`, in a fixed order.
std::vector<std::string> files_below(const std::string &folder, u64 limit);
// The same without links that lead out of the folder.
std::vector<std::string> files_inside(const std::string &folder, u64 limit);
// True if `path`, with its links followed, is the folder or lies below it.
bool is_inside(const std::string &folder, const std::string &path);

// For programs, at their start. Reserves the number of each standard stream that was closed when the program started:
// otherwise a file opened later could get the number, and receive what is written to the stream. Writing to a pipe that
// nobody reads, or beyond the largest file allowed, becomes an error instead of a signal.
void make_streams_safe();
// Calls `handler`, which must be safe in a signal handler, at the first SIGINT, SIGTERM or SIGHUP; blocking system
// calls then fail with EINTR. A second signal ends the process. Signals that were ignored stay ignored.
void catch_interrupts(void (*handler)(int signal));

// Writes past the stream's own buffer, which must be empty. Returns 0 if everything is written, otherwise errno: EINTR
// if one of these signals came while a pipe's reader kept us waiting.
int write_all(std::FILE *stream, std::string_view bytes);

// Makes allocations beyond `bytes` fail (std::bad_alloc); mapped files do not count. Returns false if the host cannot
// do it.
bool limit_memory(u64 bytes);
// Returns the C library's freed memory to the system as far as possible; takes milliseconds.
void give_back_free_memory();
u64 peak_memory(); // the most memory this process ever held, mapped files included; 0 = unknown

u64 page_size();
unsigned processor_count();                // processors this process may run on, at least 1
bool is_terminal(int descriptor);          // 1 = standard output, 2 = standard error
unsigned terminal_width(int descriptor);   // columns; 0 when not a terminal
std::string environment(const char *name); // empty when unset

} // namespace dnheap
