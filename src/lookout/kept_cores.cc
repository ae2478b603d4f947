#include "lookout/kept_cores.h"

#include "base/error.h"
#include "base/host/host.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>

namespace dnheap {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view front = "watch-", back = ".core.zst";

bool take_digits(std::string_view &text, u64 least, u64 most) {
  const u64 count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(std::min(count, most));
  return count >= least && count <= most;
}

bool take(std::string_view &text, std::string_view what) {
  if (!text.starts_with(what))
    return false;
  text.remove_prefix(what.size());
  return true;
}

template <class Visit> void for_each_core(const std::string &folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    std::string_view ending;
    if (is_core_name(name, ending) && fs::is_regular_file(at->symlink_status(ignored)))
      visit(at->path().string(), ending);
  }
}

} // namespace

bool is_core_name(std::string_view name, std::string_view &ending) {
  if (!take(name, front) || !take_digits(name, 8, 8) || !take(name, "T") || !take_digits(name, 6, 6) ||
      !take(name, "Z-") || !take_digits(name, 1, 20))
    return false;
  if (take(name, "-") && !take_digits(name, 1, 4))
    return false;
  if (!take(name, back))
    return false;
  ending = name;
  return true;
}

KeptCores::KeptCores(std::string folder, u64 keep) : folder_(std::move(folder)), keep_(keep), lock_(folder_) {
  { NewFile probe(next_path(0, 0)); } // throws if the folder is not writable
  std::vector<std::string> leftovers;
  for_each_core(folder_, [&](const std::string &path, std::string_view ending) {
    if (ending.size() == 7 && ending[0] == '.') // NewFile's name while the file is written
      leftovers.push_back(path);
  });
  std::error_code ignored;
  for (const std::string &path : leftovers)
    fs::remove(path, ignored);
}

std::string KeptCores::next_path(u64 time, u64 pid) const {
  const std::string start =
      (fs::path(folder_) / (std::string(front) + utc_text(time, true) + "-")).string() + std::to_string(pid);
  std::string out = start + std::string(back);
  std::error_code ignored;
  for (int more = 2; fs::exists(out, ignored) && more < 10'000; ++more)
    out = start + "-" + std::to_string(more) + std::string(back);
  return out;
}

std::vector<std::string> KeptCores::paths() const {
  std::vector<std::string> out;
  for_each_core(folder_, [&](const std::string &path, std::string_view ending) {
    if (ending.empty())
      out.push_back(path);
  });
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> KeptCores::remove_oldest(const std::string &newest) const {
  std::vector<std::string> all = paths(), out;
  std::erase(all, newest);
  for (u64 i = 0; i + keep_ <= all.size(); ++i)
    if (std::error_code error; fs::remove(all[i], error))
      out.push_back(all[i]);
  return out;
}

} // namespace dnheap
