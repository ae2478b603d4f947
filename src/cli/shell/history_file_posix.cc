#include "cli/shell/history_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap::cli {

namespace {

constexpr std::size_t longest_line = 64 * 1024;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

// Opens a regular file that we own and nobody else may read; returns null for links and files of others.
File open_private(const std::string &path, int flags, const char *mode) {
  const int file = ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  struct stat found {};
  if (file < 0)
    return {nullptr, std::fclose};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != ::geteuid() ||
      ((found.st_mode & 077) && ::fchmod(file, 0600) != 0)) {
    ::close(file);
    return {nullptr, std::fclose};
  }
  return {::fdopen(file, mode), std::fclose};
}

// Returns true if the folder exists or could be made, and if we own it.
bool make_folder(const std::filesystem::path &folder) {
  struct stat found {};
  if (::stat(folder.c_str(), &found) == 0)
    return S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
  return errno == ENOENT && folder.has_parent_path() && folder != folder.parent_path() &&
         make_folder(folder.parent_path()) && ::mkdir(folder.c_str(), 0700) == 0;
}

void write(std::FILE *to, const std::string &line) {
  const std::string whole = line + "\n"; // in one write, as another shell may write to it, too
  std::fwrite(whole.data(), 1, whole.size(), to);
  std::fflush(to);
}

} // namespace

HistoryFile HistoryFile::of_user() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  if (state && *state == '/')
    return HistoryFile(std::string(state) + "/dnheap/history");
  return HistoryFile(home && *home == '/' ? std::string(home) + "/.local/state/dnheap/history" : "");
}

HistoryFile::HistoryFile(std::string path) : path_(std::move(path)) {
  if (!path_.empty() && (!make_folder(std::filesystem::path(path_).parent_path()) ||
                         !open_private(path_, O_WRONLY | O_APPEND | O_CREAT, "a")))
    path_.clear();
}

std::vector<std::string> HistoryFile::lines() const {
  std::vector<std::string> out;
  if (path_.empty())
    return out;
  const File file = open_private(path_, O_RDONLY, "r");
  std::string line;
  for (int c; file && (c = std::getc(file.get())) != EOF;) {
    if (c != '\n') {
      if (line.size() < longest_line)
        line += static_cast<char>(c);
      continue;
    }
    out.push_back(std::move(line));
    line.clear();
  }
  if (out.size() <= most_lines)
    return out;
  const bool is_long = out.size() >= 2 * most_lines;
  out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most_lines));
  if (!is_long)
    return out;
  const std::string other = path_ + "." + std::to_string(::getpid());
  if (File shorter = open_private(other, O_WRONLY | O_CREAT | O_EXCL, "w")) {
    for (const std::string &kept : out)
      std::fputs((kept + "\n").c_str(), shorter.get());
    const bool is_whole = std::fflush(shorter.get()) == 0;
    if (!is_whole || std::rename(other.c_str(), path_.c_str()) != 0)
      std::remove(other.c_str());
  }
  return out;
}

void HistoryFile::add(const std::string &line) const {
  if (path_.empty() || line.size() > longest_line || line.find('\n') != line.npos)
    return;
  if (const File file = open_private(path_, O_WRONLY | O_APPEND | O_CREAT, "a"))
    write(file.get(), line);
}

} // namespace dnheap::cli
