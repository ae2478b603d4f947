// Windows has no line editing (line_editor.cc), so there is no history.
#include "cli/shell/history_file.h"

namespace dnheap::cli {

HistoryFile HistoryFile::of_user() { return HistoryFile(""); }
HistoryFile::HistoryFile(std::string) {}
std::vector<std::string> HistoryFile::lines() const { return {}; }
void HistoryFile::add(const std::string &) const {}

} // namespace dnheap::cli
