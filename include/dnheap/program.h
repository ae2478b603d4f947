// For programs around the library, not for other libraries: the set-up with which long passes can be stopped, and
// broken files, closed pipes and lack of memory become errors. These functions change the whole process: call them
// once, at its start, before it has other threads.
#pragma once
#include "dnheap/snapshot.h"

#include <memory>
#include <string>

namespace dnheap::DNHEAP_ABI {

// Takes SIGBUS: a page of a mapped file that cannot be loaded is replaced by zeros and counts as lost, which answers
// then report. Without this call it would end the process. Faults anywhere else go to the previous handler.
void survive_mapping_faults();
// Reserves the number of each standard stream that was closed when the program started: otherwise a file opened later
// could get the number, and receive what is written to the stream. Writing to a pipe that nobody reads, or beyond the
// largest file allowed, becomes an error instead of a signal.
void make_streams_safe();
// The first SIGINT, SIGTERM or SIGHUP cancels `progress`, which must exist until the process ends; the second one ends
// the process. Signals that were ignored stay ignored.
void cancel_on_interrupt(Progress &progress);
// Makes allocations beyond `bytes` fail (std::bad_alloc); mapped files do not count. Returns false if the host cannot
// do it.
bool limit_memory(std::uint64_t bytes);
// Makes allocations fail before the process's control group (a container, say) has no memory left. Returns false if no
// control group has a limit.
bool limit_memory_to_group(unsigned threads); // 0: one per processor
// Makes the system end this process before others when memory runs out: for a process that looks after others. Returns
// false if the system has no such choice.
bool be_first_to_go();

// A file that gets its name only once it is complete. Until commit() it has another name in the same folder, and the
// old file stays; without commit() the destructor removes it. A symbolic link stays a link: its target is replaced. If
// the content is private, only the owner can read the file; otherwise it gets the permissions of the file that it
// replaces, or the process's usual ones.
class WholeFile {
public:
  // Throws Error if the folder cannot be written to, or if something other than a regular file has that name. Call it
  // before there are other threads.
  WholeFile(const std::string &path, bool is_private);
  ~WholeFile();
  WholeFile(const WholeFile &) = delete;
  WholeFile &operator=(const WholeFile &) = delete;

  const std::string &path_for_now() const; // where to write it
  void commit();                           // once all is written; throws Error

private:
  struct State;
  std::unique_ptr<State> state_;
};

bool is_terminal(int descriptor);        // 1 = standard output, 2 = standard error
unsigned terminal_width(int descriptor); // columns; 0 when not a terminal

} // namespace dnheap::DNHEAP_ABI
