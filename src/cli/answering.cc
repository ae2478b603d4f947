#include "cli/answering.h"

#include "cli/output.h"
#include "dnheap/error.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dnheap::cli {

namespace {

// Opens targets one after the other, so that never more than one dump is open. The baseline comes last in the result,
// but is opened first, as it may be invalid.
std::vector<Record> records_of(const Options &options, Progress &progress) {
  std::vector<Record> out;
  std::optional<Record> baseline;
  if (!options.question.baseline.empty())
    baseline = Record::open(options.question.baseline, open_options(options, progress));
  const bool with_findings = !options.question.no_findings_of.empty();
  for (const std::string &target : options.targets)
    out.push_back(Record::open(target, open_options(options, progress), with_findings));
  if (options.process) {
    Snapshot process = Snapshot::attach(*options.process, open_options(options, progress));
    out.push_back(Record::of(process, with_findings));
  }
  if (baseline)
    out.push_back(std::move(*baseline));
  return out;
}

// Returns the files that a new record must not replace: the targets, and a baseline that is a dump. A record may be
// replaced by the next one.
std::vector<std::string> kept_files(const Options &options) {
  std::vector<std::string> out = options.targets;
  const std::string &baseline = options.question.baseline;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(baseline, ignored) && std::ifstream(baseline).peek() != '{') // as JSON begins
    out.push_back(baseline);
  return out;
}

void keep_record(const Record &record, Output &to) {
  const std::string text = record.answer().text("json");
  std::FILE *file = to.begin();
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size())
    throw Error("cannot write to " + to.name() + ": " + std::strerror(errno));
  to.finish();
}

Answer answer_from_records(const Options &options, Progress &progress) {
  std::optional<Output> to;
  if (std::error_code ignored; std::filesystem::equivalent(options.question.record, options.question.budget, ignored))
    throw UsageError("--record: '" + options.question.record + "' is the budget itself");
  if (!options.question.record.empty())
    to.emplace(options.question.record, kept_files(options), false, "--record");
  const std::vector<Record> records = records_of(options, progress);
  if (to)
    keep_record(records.front(), *to);
  return ask_records(options.verb->name, records, options.question);
}

} // namespace

Answer answer_to(const Options &options, Progress &progress, std::optional<Snapshot> &snapshot) {
  const std::string_view verb = options.verb->name;
  if (options.verb->takes_records)
    return answer_from_records(options, progress);
  if (options.target.empty()) // answers without a target
    return ask_alone(verb, options.question, &progress);
  snapshot.emplace(options.process ? Snapshot::attach(*options.process, open_options(options, progress))
                                   : Snapshot::open(options.target, open_options(options, progress)));
  return ask(*snapshot, verb, options.question);
}

} // namespace dnheap::cli
