// For programs around the library, not for other libraries: what they need of the operating system so that long passes
// can be stopped and broken files, closed pipes and want of memory are errors. These change the whole process: once, at
// its start, before it has other threads.
#pragma once
#include "dnheap/snapshot.h"

#include <memory>
#include <string>

namespace dnheap::DNHEAP_ABI {

// Takes SIGBUS: a page of a mapped file that cannot be loaded is replaced by zeros and counts as lost, which answers
// then say. Without it that ends the process. Faults anywhere else go to whatever handled them before.
void survive_mapping_faults();
// A standard stream that was closed by whoever started the program stays closed: no file opened later takes its number,
// and with it what is written to the stream. Writing to a pipe that nobody reads, or beyond the largest file allowed,
// is an error, not a signal.
void make_streams_safe();
// The first SIGINT, SIGTERM or SIGHUP cancels `progress`, which must stay until the process ends; the second one ends
// it. What was ignored stays ignored.
void cancel_on_interrupt(Progress &progress);
// Makes allocations beyond `bytes` fail (std::bad_alloc); mapped files do not count. False where the host cannot do it.
bool limit_memory(std::uint64_t bytes);
// The same at what the process's control group, as a container is one, has left. False where none has a limit.
bool limit_memory_to_group(unsigned threads); // 0: one per processor
// When there is no memory left, the system ends this process rather than another: for one that looks after others.
// False where it has no such choice.
bool be_first_to_go();

// A file that has its name only once it is whole: until commit() it has another one, in the same folder, and goes when
// the object does; what was there under its name stays until then. A symbolic link stays one: what it leads to is
// replaced. Its owner alone can read it, unless it holds nothing private: then it is as a file that it replaces, or as
// the process makes files.
class WholeFile {
public:
  // Throws Error when the folder cannot be written to, or something that is no regular file has that name. Before there
  // are other threads.
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
