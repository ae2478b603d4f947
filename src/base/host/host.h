// Everything that differs between hosts: mapping files, temporary files, memory and CPU counts, the terminal.
// What is the same on all hosts is in host.cc; then one file per host (host_posix.cc, host_windows.cc). But for sockets
// and other processes nothing else may call the operating system directly.
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

// A read-only mapping of a whole file; its bytes stay valid as long as the object lives. Pages are loaded on demand,
// so a file may be larger than memory. What cannot be loaded when it is needed: see base/host/mapping_faults.h.
class MappedFile {
public:
  // Throws Error ("PATH: No such file or directory") if the file cannot be opened or is not a regular file.
  static std::shared_ptr<const MappedFile> open(const std::string &path);
  // Null where open() would throw: for files that may be absent.
  static std::shared_ptr<const MappedFile> try_open(const std::string &path);
  // No file: up to `most` bytes of memory, zero at first, in huge pages where there are such, taken when written to;
  // as many of them as `fill` says. Null when there is no room for them, or `fill` says nothing.
  static std::shared_ptr<const MappedFile>
  try_in_memory(u64 most, const std::function<std::optional<u64>(std::span<std::byte>)> &fill);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  Bytes bytes() const { return bytes_; }
  // Puts memory of the process's own in the place of `part`, whole pages of this mapping: zero, writable until
  // protect(), huge pages where there are such. Empty when there is none: then nothing has changed.
  std::span<std::byte> replace_by_memory(Bytes part) const;
  void protect(Bytes part) const;
  // Tells the kernel that a loop is about to read these bytes once, front to back.
  static void will_read(Bytes bytes);

private:
  friend class TemporaryFile;
  MappedFile(int file, u64 size, const std::string &name, bool others_may_write);
  explicit MappedFile(Bytes memory) : bytes_(memory) {}
  Bytes bytes_;
  WatchedMapping *watched_ = nullptr; // null when there are no bytes, or no file
};

// A file without a name: it is gone when the process ends, however it ends.
class TemporaryFile {
public:
  // In `folder`, or if that is empty in $TMPDIR, /var/tmp, /tmp (Windows: the user's folder for such), the current
  // folder: the first that can be written to. Throws Error naming every folder tried. `what` will be written, for
  // errors.
  explicit TemporaryFile(const std::string &folder, const char *what = "the decompressed dump");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  // In memory instead: for little, where no folder can be written to.
  static TemporaryFile in_memory(const char *what);
  TemporaryFile(TemporaryFile &&other) noexcept;

  // Appends; throws Error when the disk is full, or nearly so: others need some of it, too.
  void write(Bytes bytes);
  // Several threads may write different places, each of them once; size() stays.
  void write_at(u64 offset, Bytes bytes) const;
  // Makes it longer or shorter; what was not written, and what is zero, takes no room.
  void resize(u64 size);
  u64 size() const { return size_; }
  const std::string &folder() const { return folder_; }
  // Maps what was written so far.
  std::shared_ptr<const MappedFile> map() const;

private:
  struct FreeRoom {
    u64 free, to_leave; // bytes
  };

  explicit TemporaryFile(const char *what) : what_(what) {}
  std::optional<FreeRoom> free_room() const; // nothing: not known, or not on a disk
  void write_piece(u64 offset, Bytes bytes) const;
  void set_size(u64 size) const;
  [[noreturn]] void fail_to_write(u64 at) const;

  int file_ = -1;
  u64 size_ = 0;
  bool is_in_memory_ = false;
  const char *what_;
  std::string folder_;
};

// A file that has its name only once it is whole: until commit() it has another one, in the same folder, and goes when
// the object does. A symbolic link stays one: what it leads to is written. Readable by its owner only. Pages of zeros
// take no room on disk.
class NewFile {
public:
  // Throws Error when the folder cannot be written to, or something that is no regular file has that name.
  explicit NewFile(const std::string &path);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  // For what others may read: as a file of that name is that is there already, else as the process makes files. Before
  // there are other threads.
  void open_to_others();
  // Appends; throws Error when the disk is full.
  void write(Bytes bytes);
  u64 size() const { return size_; }
  // For whoever writes to a file by its name alone; and then, that what is there is the file.
  const std::string &path_for_now() const { return name_for_now_; }
  void take_size();
  void commit();

private:
  static std::string followed(const std::string &path); // where links lead, whether something is there or not
  [[noreturn]] void fail();
  void write_at(u64 offset, Bytes bytes);

  int file_ = -1;
  u64 size_ = 0;
  std::string path_, name_for_now_;
};

// What follows the last / of it (on Windows: \ or :, too).
std::string file_name_of(const std::string &path);
bool is_folder(const std::string &path);
bool is_file(const std::string &path); // a regular one
// All regular files below `folder`, at most `limit`, in a fixed order.
std::vector<std::string> files_below(const std::string &folder, u64 limit);

// For programs, at their start. A standard stream that was closed by whoever started the program stays closed: no file
// opened later takes its number, and with it what is written to the stream. Writing to a pipe that nobody reads, or
// beyond the largest file allowed, is an error, not a signal.
void make_streams_safe();
// `handler`, which must be safe in a signal handler, is called at the first SIGINT, SIGTERM or SIGHUP; what waits in
// the operating system then fails with EINTR. A second signal ends the process. What was ignored stays ignored.
void catch_interrupts(void (*handler)(int signal));

// Writes past the stream's own buffer, which must be empty. 0 when all is written, otherwise errno: EINTR when one of
// these signals came while the reader of a pipe kept us waiting.
int write_all(std::FILE *stream, std::string_view bytes);

// Makes allocations beyond `bytes` fail (std::bad_alloc); mapped files do not count. False where the host cannot do it.
bool limit_memory(u64 bytes);
void give_back_free_memory(); // what the C library keeps of freed memory, as far as it can; milliseconds
u64 peak_memory();            // most memory this process ever held, mapped files included; 0 = unknown

u64 page_size();
unsigned processor_count();                // processors this process may run on, at least 1
bool is_terminal(int descriptor);          // 1 = standard output, 2 = standard error
unsigned terminal_width(int descriptor);   // columns; 0 when not a terminal
std::string environment(const char *name); // empty when unset

} // namespace dnheap
