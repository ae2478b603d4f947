// One line on the terminal that shows how far a long pass is. A thread of its own draws it and only reads the Progress.
// The destructor or stop() erases it.
#pragma once
#include "cli/options/integers.h"
#include "dnheap/snapshot.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace dnheap::cli {

// The state of the running pass. seconds: since it began.
struct PassState {
  std::string pass;
  u64 done = 0, total = 0, objects = 0;
  double seconds = 0;
  u64 number = 0, count = 0; // pass 5 of 9; 0: unknown
};

// Returns "walk (pass 6 of 7): 31% of 40.0 GiB, 8,112,345 objects, 3,200,000 objects/s, 9 s left", at most `width`
// characters.
std::string progress_text(const PassState &state, u64 width);

class ProgressLine {
public:
  // Draws to standard error if `enabled`; otherwise does nothing. `passes`: the expected ones.
  ProgressLine(const Progress &progress, std::vector<std::string_view> passes, bool enabled);
  ~ProgressLine() { stop(); }
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  void stop();

private:
  void draw_until_stopped();

  const Progress &progress_;
  const std::vector<std::string_view> passes_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

} // namespace dnheap::cli
