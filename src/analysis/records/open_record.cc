#include "analysis/records/open_record.h"

#include "analysis/verb.h"
#include "base/host/host.h"

#include <algorithm>

namespace dnheap {

namespace {

Record record_of_file(const std::string &path, const SnapshotOptions &options, bool with_findings) {
  if (const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path)) {
    const std::string_view text = as_text(file->bytes());
    if (looks_like_record(text.substr(0, 4096)))
      return parse_record(text, path);
  }
  return record_of(*Snapshot::open(path, options), with_findings);
}

} // namespace

Record record_of(Snapshot &snapshot, bool with_findings) {
  Record out = take_record(snapshot);
  if (with_findings) {
    const auto report = std::ranges::find(verbs(), std::string_view("report"), &Verb::name);
    add_findings(out, ask(*report, snapshot, {}));
  }
  return out;
}

Record open_record(const std::string &path, const SnapshotOptions &options, bool with_findings) {
  try {
    return record_of_file(path, options, with_findings);
  } catch (const Interrupted &) {
    throw;
  } catch (const UsageError &) {
    throw;
  } catch (const Error &error) {
    const std::string what = error.what();
    throw Error(what.find(path) == what.npos ? path + ": " + what : what);
  }
}

} // namespace dnheap
