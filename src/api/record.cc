#include "dnheap/record.h"

#include "analysis/records/open_record.h"
#include "api/answer_parts.h"
#include "api/record_parts.h"
#include "api/state.h"

namespace dnheap::v0 {

Record::Record(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}

Record Record::of(Snapshot &snapshot, bool with_findings) {
  return RecordParts::record(record_of(State::of(snapshot).inside(), with_findings));
}

Record Record::open(const std::string &path, const OpenOptions &options, bool with_findings) {
  return RecordParts::record(open_record(path, State::inner(options), with_findings));
}

Record Record::parse(std::string_view json, const std::string &name) {
  return RecordParts::record(parse_record(json, name));
}

const std::string &Record::name() const { return inside_->record.name; }

Answer Record::answer() const { return AnswerParts::answer(answer_of(inside_->record)); }

} // namespace dnheap::v0
