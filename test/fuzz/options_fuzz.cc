// The command line, its words one per line: understood, or a UsageError of one printable line. Nothing is opened.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options/options.h"
#include "dnheap/error.h"
#include "fuzz/check.h"

using namespace dnheap;
using dnheap::test::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  if (text.find('\0') != text.npos) // no system passes such a word
    return 0;
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  try {
    const cli::Options options = cli::parse_options(words, cli::verbs_and_commands());
    check(options.verb || options.help || options.version);
    if (!options.help && !options.version)
      check(options.format.has_value());
    if (options.help)
      check(!(options.verb ? cli::verb_help(*options.verb) : cli::general_help(cli::verbs_and_commands())).empty());
  } catch (const UsageError &e) {
    const std::string_view what = e.what();
    check(what.size() > 5 && what.size() < 4000);
  }
  return 0;
}
