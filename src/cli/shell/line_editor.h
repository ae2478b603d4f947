// LineEditor: reads lines typed at a terminal with the usual editing: arrows, a history, Ctrl-R, TAB. This is the only
// file that uses libedit. Takes as long as the user types. Not for several threads at once, and only one LineEditor may
// exist at a time.
#pragma once
#include "cli/shell/history_file.h"
#include "cli/shell/line_completion.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace dnheap::cli {

class LineEditor {
public:
  using Complete = std::function<Completion(std::string_view before)>;

  // Returns null if standard input and output are no terminal, or an unknown one (no terminfo, or TERM=dumb): use a
  // plain prompt then. `complete` is called while a line is typed, with the terminal in its usual mode, so that Ctrl-C
  // sends a signal. It must not throw.
  static std::unique_ptr<LineEditor> open(std::string prompt, Complete complete, HistoryFile history);
  virtual ~LineEditor() = default;

  // Nullopt: Ctrl-D, or the terminal is gone. Ctrl-C returns an empty line. Lines that begin with a space are not kept.
  virtual std::optional<std::string> next() = 0;
};

} // namespace dnheap::cli
