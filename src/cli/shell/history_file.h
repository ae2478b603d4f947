// What was typed at the prompt, from one run to the next: $XDG_STATE_HOME/dnheap/history, else ~/.local/state/dnheap/
// history. Readable by its owner alone; where that cannot be had there is none, without a word. Lines as they were
// typed: never what was answered. A ms for each line; one thread; several shells may write to it at once.
#pragma once
#include <string>
#include <vector>

namespace dnheap::cli {

class HistoryFile {
public:
  static constexpr std::size_t most_lines = 1000;

  // The user's, by the environment.
  static HistoryFile of_user();
  // Makes the folders that lack, for their owner alone; not in a folder that somebody else owns. Empty: no file.
  explicit HistoryFile(std::string path);

  const std::string &path() const { return path_; } // empty: there is none
  // The last most_lines, the oldest first. Cuts the file down to these once it has twice as many.
  std::vector<std::string> lines() const;
  void add(const std::string &line) const;

private:
  std::string path_;
};

} // namespace dnheap::cli
