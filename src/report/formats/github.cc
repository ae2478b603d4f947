// Workflow commands of GitHub Actions: an exceeded limit becomes an error beside the job, and a heap that was not read
// in full becomes a warning.
#include "report/encoding.h"
#include "report/formats/checks.h"

namespace dnheap::report {

namespace {

// Escapes characters that would end a command, or begin one of its properties.
std::string escaped_command(std::string_view text) {
  std::string printable, out;
  append_printable(printable, text);
  for (char c : printable)
    if (c == '%')
      out += "%25";
    else
      out += c;
  return out;
}

} // namespace

void write_github(const Answer &answer, const WriteOptions &options, Sink &sink) {
  std::string out;
  for_each_check(answer, options, [&](const Check &check) {
    if (check.exceeded || !check.certain)
      out += (check.exceeded ? "::error title=dnheap " : "::warning title=dnheap ") + answer.command +
             "::" + escaped_command(check.text + " (" + check.place + ")") + "\n";
  });
  if (answer.completeness && !answer.completeness->complete())
    for (const Note &note : answer.completeness->notes)
      out += "::warning title=dnheap " + answer.command + "::" + escaped_command(note.sentence()) + "\n";
  out += "::notice title=dnheap " + answer.command +
         "::" + escaped_command(headline_text(answer) + (answer.lead.empty() ? "" : ". " + answer.lead)) + "\n";
  sink.write(out);
  sink.flush();
}

} // namespace dnheap::report
