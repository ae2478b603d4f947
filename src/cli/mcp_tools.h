// Verbs as tools of the Model Context Protocol: what a tool takes follows from the verb's row and the options' rows,
// and what it is called with becomes the words of a command line, so that one parser checks both. A µs each; any
// thread.
#pragma once
#include "cli/options/option_table.h"
#include "mcp/protocol.h"

namespace dnheap::cli {

// The names by which the targets are told apart: their files' names, where these differ.
std::vector<std::string> names_of_targets(const std::vector<std::string> &targets);

// Those that ask about the targets and make no files. `values`: contents may be shown.
std::vector<mcp::Tool> mcp_tools(std::span<const Verb> verbs, const std::vector<std::string> &names, bool values);

// What it is called with, as words of a command line, in which a target stands by its number: "0". Throws UsageError.
struct ToolWords {
  std::vector<std::string> words;
  std::vector<std::size_t> targets; // of the names
};
ToolWords words_of_call(const Verb &verb, const mcp::Json &arguments, const std::vector<std::string> &names,
                        bool values);

// Of which tables there are more rows than were asked for, and how to get them; empty: of none.
std::string left_out_text(const mcp::Json &answer);

// At most that many bytes of JSON: the longest tables, and lists of gaps and notes, lose their last rows. Says what was
// left out, and how to get it; empty: nothing.
std::string cut_to_size(mcp::Json &answer, std::size_t most_bytes);

} // namespace dnheap::cli
