#include "cli/shell_line.h"

#include "dnheap/error.h"

#include <algorithm>

namespace dnheap::cli {

namespace {

struct SosCommand {
  std::string_view name, option; // what must stand behind the name; empty: nothing
  std::vector<std::string> ours;
  std::string_view instead = {}; // of what is not there: a sentence
};

// The first that fits counts.
const std::vector<SosCommand> &sos_commands() {
  static const std::vector<SosCommand> all = {
      {"dumpheap", "-stat", {"stat"}},
      {"dumpheap", "-strings", {"strings"}},
      {"dumpheap", "", {"objects"}},
      {"gcroot", "", {"path"}},
      {"objsize", "", {"show", "--closure"}},
      {"dumpobj", "", {"show", "--values"}},
      {"do", "", {"show", "--values"}},
      {"dumparray", "", {"show", "--values"}},
      {"da", "", {"show", "--values"}},
      {"dumpmt", "", {"show"}},
      {"gcwhere", "", {"show"}},
      {"eeheap", "-gc", {"segments"}},
      {"eeversion", "", {"info"}},
      {"gchandles", "", {"handles"}},
      {"gcheapstat", "", {"segments"}},
      {"finalizequeue", "", {"inspect", "finalizers"}},
      {"clrthreads", "", {"threads"}},
      {"clrstack", "-all", {"stack", "--all"}},
      {"clrstack", "", {"stack"}},
      {"parallelstacks", "", {"stack", "--all", "--merge"}},
      {"pe", "", {"exceptions"}},
      {"printexception", "", {"exceptions"}},
      {"dumpexceptions", "", {"exceptions"}},
      {"syncblk", "", {"locks"}},
      {"dumpasync", "", {"async"}},
      {"timerinfo", "", {"inspect", "timers"}},
      {"analyzeoom", "", {"gc", "--table", "oom"}},
      {"verifyheap", "", {"verify"}},
      {"eeheap", "", {"account"}},
      {"dumpgen", "", {"stat", "--gen"}},
      {"threadpool", "", {"async"}},
      {"ephrefs", "", {}, "which old objects refer to young ones is not told; handles lists dependent handles"},
      {"pathto", "", {}, "a way from one object to another is not told; path ADDR tells what holds an object"},
      {"dumpvc",
       "",
       {},
       "a struct has no address of its own here: show ADDR tells the fields of those inside an object"},
      {"sizestats", "", {}, "sizes are not grouped here: objects --sort bytes, or query with SQL, tells them"},
      {"listnearobj",
       "",
       {},
       "objects --range A-B lists what lies between two addresses, and show takes pointers into objects"},
  };
  return all;
}

std::string lower(std::string text) {
  for (char &c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

} // namespace

ShellLine parse_line(std::string_view line) {
  ShellLine out;
  std::string word;
  bool has_word = false, wants_file = false;
  char quote = 0;
  auto end_word = [&] {
    if (!has_word)
      return;
    if (wants_file)
      out.file = word;
    else
      out.words.push_back(word);
    wants_file = has_word = false;
    word.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (is_space(c)) {
      end_word();
    } else if (c == '|') {
      end_word();
      out.program = line.substr(i + 1);
      if (std::all_of(out.program.begin(), out.program.end(), is_space))
        throw UsageError("which program? it stands behind the |");
      break;
    } else if (c == '>') {
      end_word();
      if (wants_file || !out.file.empty())
        throw UsageError("one file behind > is enough");
      wants_file = true;
      out.appends = i + 1 < line.size() && line[i + 1] == '>';
      i += out.appends;
    } else if (c == '#' && !has_word) {
      break;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote)
    throw UsageError(std::string("a ") + quote + " is not closed");
  end_word();
  if (wants_file)
    throw UsageError("which file? it stands behind the >");
  if (!out.file.empty() && !out.program.empty())
    throw UsageError("either > FILE or | PROGRAM");
  return out;
}

std::vector<std::string> our_words(const std::vector<std::string> &words) {
  if (words.empty())
    return words;
  std::string name = lower(words[0]);
  name.erase(0, name.starts_with('!'));
  for (const SosCommand &sos : sos_commands()) {
    if (sos.name != name)
      continue;
    auto option = std::find_if(words.begin() + 1, words.end(), [&](const auto &w) { return lower(w) == sos.option; });
    if (!sos.option.empty() && option == words.end())
      continue;
    if (!sos.instead.empty())
      throw UsageError(name + ": " + std::string(sos.instead));
    std::vector<std::string> out = sos.ours;
    for (auto at = words.begin() + 1; at != words.end(); ++at)
      if (sos.option.empty() || at != option) {
        const std::string small = lower(*at);
        if (small == "-max")
          throw UsageError("-max: there is no upper limit here; objects --sort bytes begins with the largest");
        if (small == "-short")
          throw UsageError("-short: --format csv writes one row per line, addresses first");
        const bool is_known = small == "-type" || small == "-min" || small == "-live" || small == "-dead";
        out.push_back(small == "-mt" ? "--type-exact" : is_known ? "-" + small : *at);
      }
    return out;
  }
  return words;
}

} // namespace dnheap::cli
