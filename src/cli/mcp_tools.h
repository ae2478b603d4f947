// Verbs as tools of the Model Context Protocol: a tool's parameters follow from the verb's row and the options' rows,
// and its arguments become the words of a command line, so that one parser checks both. A µs each; any thread.
#pragma once
#include "cli/options/option_table.h"
#include "mcp/protocol.h"

namespace dnheap::cli {

// Returns distinct names for the targets: the file names if these differ.
std::vector<std::string> names_of_targets(const std::vector<std::string> &targets);

// Returns the verbs that ask about the targets and make no files. `values`: contents may be shown.
std::vector<mcp::Tool> mcp_tools(std::span<const Verb> verbs, const std::vector<std::string> &names, bool values);

// A tool's arguments as words of a command line, in which a target is given by its number: "0". Throws UsageError.
struct ToolWords {
  std::vector<std::string> words;
  std::vector<std::size_t> targets; // indices into the names
};
ToolWords words_of_call(const Verb &verb, const mcp::Json &arguments, const std::vector<std::string> &names,
                        bool values);

// Returns the tool call that a command stands for, `path {"file":"app.core","subject":"@1"}`; the command itself if no
// tool does what it does. `target`: the name of the target that the command is about.
std::string tool_call_text(const std::string &command, const std::string &target,
                           const std::vector<std::string> &names);

// Says which tables have more rows than were asked for, and how to get them; empty if none has.
std::string left_out_text(const mcp::Json &answer);

// Cuts the answer to so many bytes of JSON: the longest tables, and lists of gaps and notes, lose their last rows.
// Returns a text that says what was left out, and how to get it; empty: nothing was.
std::string cut_to_size(mcp::Json &answer, std::size_t most_bytes);

} // namespace dnheap::cli
