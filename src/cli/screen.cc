#include "cli/screen.h"

#include "cli/options/values.h"
#include "dnheap/program.h"

#include <algorithm>
#include <cstdlib>

namespace dnheap::cli {

namespace {

constexpr u64 unknown_terminal = 80; // columns
constexpr u64 narrowest = 40, widest = 10'000;

std::string_view environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

// Returns 0 (no limit) for output that is not a terminal, as programs search it line by line.
u64 columns(bool terminal) {
  if (const std::optional<u64> asked = parse_number(environment("COLUMNS")); asked && *asked)
    return std::clamp(*asked, narrowest, widest);
  if (!terminal)
    return 0;
  const u64 told = terminal_width(1);
  return std::clamp(told ? told : unknown_terminal, narrowest, widest);
}

bool is_colored(const Options &options, bool terminal) {
  if (options.color != "auto")
    return options.color == "always";
  return terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

} // namespace

WriteOptions write_options(const Options &options, bool terminal) {
  WriteOptions out;
  out.top = options.question.top;
  out.exact = options.exact;
  out.verbose = options.question.verbose;
  out.table = options.question.table;
  out.threads = options.threads;
  out.width = columns(terminal);
  out.full_names = options.full_names;
  out.wrap = terminal;
  out.color = is_colored(options, terminal);
  return out;
}

} // namespace dnheap::cli
