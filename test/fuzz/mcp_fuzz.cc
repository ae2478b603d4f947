// Messages of the Model Context Protocol, one per line, and what tools are called with: answered, or taken for a call,
// of which the command line's parser makes a question or a UsageError. Nothing is opened.
#include "cli/commands.h"
#include "cli/mcp_tools.h"
#include "dnheap/error.h"
#include "fuzz/check.h"

using namespace dnheap;
using dnheap::test::check;

namespace {

const std::vector<std::string> names = {"a.core", "b.core"};

void call(const mcp::Call &asked) {
  const Verb &verb = verb_called(asked.tool);
  try {
    const cli::ToolWords words = cli::words_of_call(verb, asked.arguments, names, false);
    const std::vector<std::string_view> line(words.words.begin(), words.words.end());
    const cli::Options options = cli::parse_options(line, cli::verbs_and_commands());
    // A model's words never become another verb, a file to write or contents.
    check(!options.help && !options.version && options.verb && options.verb->name == verb.name);
    check(options.output.empty() && options.question.output.empty() && !options.question.values && !options.process);
  } catch (const UsageError &error) {
    check(*error.what());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const mcp::Protocol protocol("1.0", "", cli::mcp_tools(verbs(), names, false));
  std::string_view text(reinterpret_cast<const char *>(data), size);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const mcp::Taken taken = protocol.take(text.substr(0, end));
    check(!taken.answer || !taken.call);
    if (taken.answer)
      check(taken.answer->contains("result") != taken.answer->contains("error"));
    if (taken.call) {
      call(*taken.call);
      check(protocol.answer_to(*taken.call, {.texts = {"done"}})["id"] == taken.call->id);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
