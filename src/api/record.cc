#include "dnheap/record.h"

#include "analysis/verb.h"
#include "api/answer_parts.h"
#include "api/record_parts.h"
#include "api/state.h"
#include "base/host/host.h"

#include <algorithm>

namespace dnheap::v0 {

namespace {

dnheap::Record record_of(dnheap::Snapshot &snapshot, bool with_findings) {
  dnheap::Record out = take_record(snapshot);
  if (with_findings) {
    const auto report = std::ranges::find(dnheap::verbs(), std::string_view("report"), &dnheap::Verb::name);
    add_findings(out, dnheap::ask(*report, snapshot, {}));
  }
  return out;
}

dnheap::Record record_of_file(const std::string &path, const OpenOptions &options, bool with_findings) {
  if (const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path)) {
    const std::string_view text = dnheap::as_text(file->bytes());
    if (looks_like_record(text.substr(0, 4096)))
      return parse_record(text, path);
  }
  const std::unique_ptr<dnheap::Snapshot> snapshot = dnheap::Snapshot::open(path, State::inner(options));
  return record_of(*snapshot, with_findings);
}

} // namespace

Record::Record(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}

Record Record::of(Snapshot &snapshot, bool with_findings) {
  return RecordParts::record(record_of(State::of(snapshot).inside(), with_findings));
}

Record Record::open(const std::string &path, const OpenOptions &options, bool with_findings) {
  try {
    return RecordParts::record(record_of_file(path, options, with_findings));
  } catch (const Interrupted &) {
    throw;
  } catch (const UsageError &) {
    throw;
  } catch (const Error &error) {
    const std::string what = error.what();
    throw Error(what.find(path) == what.npos ? path + ": " + what : what);
  }
}

Record Record::parse(std::string_view json, const std::string &name) {
  return RecordParts::record(parse_record(json, name));
}

const std::string &Record::name() const { return inside_->record.name; }

Answer Record::answer() const { return AnswerParts::answer(answer_of(inside_->record)); }

} // namespace dnheap::v0
