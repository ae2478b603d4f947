// JUnit's XML, which CI servers show: each check becomes a test, an exceeded limit a failed test, and an undecided
// check a skipped test.
#include "report/encoding.h"
#include "report/formats/checks.h"

namespace dnheap::report {

namespace {

// XML allows neither control characters nor U+FFFE and U+FFFF.
std::string escaped_xml(std::string_view text) {
  std::string printable, out;
  append_printable(printable, text);
  for (std::size_t at = 0; at < printable.size(); ++at) {
    const std::string_view rest = std::string_view(printable).substr(at);
    if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      out += "\xef\xbf\xbd";
      at += 2;
      continue;
    }
    switch (printable[at]) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    case '\'': out += "&apos;"; break;
    default: out += printable[at];
    }
  }
  return out;
}

} // namespace

void write_junit(const Answer &answer, const WriteOptions &options, Sink &sink) {
  std::string cases;
  u64 tests = 0, failures = 0, skipped = 0;
  for_each_check(answer, options, [&](const Check &check) {
    ++tests;
    cases += "    <testcase classname=\"dnheap." + escaped_xml(check.kind) + "\" name=\"" +
             escaped_xml(check.place + " " + check.name) + "\"";
    if (check.exceeded) {
      ++failures;
      const std::string text = escaped_xml(check.text);
      cases += ">\n      <failure type=\"limit\" message=\"" + text + "\">" + text + "</failure>\n    </testcase>\n";
    } else if (!check.certain) {
      ++skipped;
      cases += ">\n      <skipped message=\"" + escaped_xml(check.text) + "\"/>\n    </testcase>\n";
    } else {
      cases += "/>\n";
    }
  });
  const std::string counts = "tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
                             "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\"";
  std::string said = headline_text(answer) + "\n";
  if (answer.completeness)
    for (const Note &note : answer.completeness->notes)
      said += "note: " + note.sentence() + "\n";
  std::string lines;
  for (std::string_view rest = said; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    lines += escaped_xml(rest.substr(0, end)) + "\n";
    rest.remove_prefix(end + 1);
  }
  sink.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts + ">\n  <testsuite name=\"dnheap " +
             escaped_xml(answer.command) + "\" " + counts + ">\n" + cases + "    <system-out>" + lines +
             "</system-out>\n  </testsuite>\n</testsuites>\n");
  sink.flush();
}

} // namespace dnheap::report
