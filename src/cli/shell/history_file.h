// HistoryFile: keeps the lines typed at the prompt from one run to the next: $XDG_STATE_HOME/dnheap/history, else
// ~/.local/state/dnheap/history. Readable by its owner alone; if that is not possible, there is silently no history. It
// has the typed lines, never the answers. A ms for each line. Not for several threads at once; but several shells may
// write to the same file at once.
#pragma once
#include <string>
#include <vector>

namespace dnheap::cli {

class HistoryFile {
public:
  static constexpr std::size_t most_lines = 1000;

  // Returns the user's, according to the environment.
  static HistoryFile of_user();
  // Makes missing folders, for their owner alone; not in a folder that somebody else owns. Empty path: no file.
  explicit HistoryFile(std::string path);

  const std::string &path() const { return path_; } // empty: none
  // Returns the last most_lines, the oldest first. Cuts the file down to these once it has twice as many.
  std::vector<std::string> lines() const;
  void add(const std::string &line) const;

private:
  std::string path_;
};

} // namespace dnheap::cli
