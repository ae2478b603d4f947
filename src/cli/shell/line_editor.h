// Lines that are typed at a terminal, with what people are used to: arrows, a history, Ctrl-R, TAB. The only file that
// knows libedit. A line costs what typing it takes; one thread, and one LineEditor at a time.
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

  // Null: standard input and output are no terminal, or one of which nothing is known (no terminfo, or TERM=dumb); a
  // plain prompt has to do then. `complete` is called while a line is typed, in the terminal's usual mode: Ctrl-C comes
  // as a signal there. May throw nothing.
  static std::unique_ptr<LineEditor> open(std::string prompt, Complete complete, HistoryFile history);
  virtual ~LineEditor() = default;

  // Nullopt: Ctrl-D, or the terminal is gone. Ctrl-C gives an empty line. What begins with a space is not kept.
  virtual std::optional<std::string> next() = 0;
};

} // namespace dnheap::cli
