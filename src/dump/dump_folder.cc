#include "dump/dump_folder.h"

#include "base/digits.h"
#include "base/error.h"
#include "base/host/host.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_files_in_folder = 10000;
constexpr u64 most_listed_dumps = 10;
constexpr u64 longest_listed_name = 200;

// The name of a part: "core.0001", or "core.aa" as `split` calls them.
struct PartName {
  std::string stem;
  u64 digits = 0; // of the suffix; 0 where their count does not matter
  u64 number = 0;
};

std::optional<PartName> numbered_part(const std::string &path) {
  constexpr u64 most_digits = 9;
  const u64 behind_stem = path.find_last_not_of("0123456789") + 1;
  const std::optional<u64> number =
      path.size() - behind_stem <= most_digits ? number_of_digits(path.substr(behind_stem)) : std::nullopt;
  return number ? std::optional(PartName{path.substr(0, behind_stem), 0, *number}) : std::nullopt;
}

std::optional<PartName> lettered_part(const std::string &path) {
  constexpr u64 fewest_letters = 2, most_letters = 4;
  const u64 dot = path.find_last_of("./"), letters = path.size() - dot - 1;
  if (dot == path.npos || path[dot] != '.' || letters < fewest_letters || letters > most_letters)
    return std::nullopt;
  PartName out{path.substr(0, dot + 1), letters, 0};
  for (char c : path.substr(dot + 1)) {
    if (c < 'a' || c > 'z')
      return std::nullopt;
    out.number = out.number * 26 + static_cast<u64>(c - 'a');
  }
  return out;
}

std::optional<PartName> part_name(const std::string &path) {
  const std::optional<PartName> numbered = numbered_part(path);
  return numbered ? numbered : lettered_part(path);
}

class FolderSearch {
public:
  FolderSearch(const std::string &folder, const DumpLength &length_of) : folder_(folder), length_of_(length_of) {}

  std::vector<std::string> find() {
    std::error_code error;
    std::filesystem::directory_iterator(folder_, error);
    if (error)
      fail(error.message());
    files_ = files_below(folder_, most_files_in_folder + 1);
    if (files_.size() > most_files_in_folder)
      fail(fmt::format("more than {} files lie below it; name the dump itself", count_text(most_files_in_folder)));
    // A link inside leads to a file that is here, too.
    links_ = std::erase_if(files_, [](const std::string &file) { return std::filesystem::is_symlink(file); });
    for (const std::string &file : files_)
      look_at(file);
    if (dumps_.size() == 1)
      return with_parts(*dumps_.begin());
    fail(dumps_.empty() ? why_none() : "it has " + count_text(dumps_.size()) + " dumps: " + list() + "; name one");
  }

private:
  struct Length {
    u64 of_dump = 0, of_file = 0;
  };

  [[noreturn]] void fail(const std::string &why) const { throw Error(folder_ + ": " + why); }

  void look_at(const std::string &path) {
    const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path);
    if (!file && unreadable_.empty())
      unreadable_ = path;
    if (const std::optional<u64> length = file ? length_of_(file->bytes()) : std::nullopt)
      dumps_[path] = {*length, file->bytes().size()};
  }

  std::string short_name(const std::string &path) const {
    return printable(std::filesystem::path(path).lexically_relative(folder_).generic_string(), longest_listed_name);
  }

  std::string why_none() const {
    return (files_.empty()       ? "it has no files"
            : files_.size() == 1 ? "its only file is no dump"
                                 : "none of its " + count_text(files_.size()) + " files is a dump") +
           (links_ ? "; links are not followed" : "") +
           (unreadable_.empty() ? "" : "; not all of them can be read: " + short_name(unreadable_));
  }

  std::string list() const {
    std::string out;
    u64 listed = 0;
    for (const auto &[path, length] : dumps_)
      if (++listed <= most_listed_dumps)
        out += (listed > 1 ? ", " : "") + short_name(path);
    return out + (listed > most_listed_dumps ? ", …" : "");
  }

  // A number may also be a process's: the file is a part only if its own headers promise more than it has.
  std::vector<std::string> with_parts(const std::pair<const std::string, Length> &dump) const {
    const std::optional<PartName> first = part_name(dump.first);
    if (!first || first->number > 1 || dump.second.of_dump <= dump.second.of_file)
      return {dump.first};
    std::map<u64, std::string> parts;
    for (const std::string &file : files_)
      if (const std::optional<PartName> part = part_name(file))
        if (part->stem == first->stem && part->digits == first->digits && part->number >= first->number)
          parts.try_emplace(part->number, file);
    std::vector<std::string> out;
    for (const auto &[number, file] : parts) {
      if (number != first->number + out.size())
        fail("a part of the dump is missing between " + short_name(out.back()) + " and " + short_name(file));
      out.push_back(file);
    }
    return out;
  }

  const std::string &folder_;
  const DumpLength &length_of_;
  std::vector<std::string> files_;
  std::map<std::string, Length> dumps_;
  std::string unreadable_;
  u64 links_ = 0;
};

} // namespace

std::vector<std::string> find_dump_in(const std::string &folder, const DumpLength &length_of) {
  return FolderSearch(folder, length_of).find();
}

} // namespace dnheap
