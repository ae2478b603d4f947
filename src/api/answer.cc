#include "dnheap/answer.h"

#include "api/answer_parts.h"
#include "api/state.h"
#include "base/host/host.h"
#include "report/write.h"

namespace dnheap::v0 {

namespace {

using Cells = std::vector<report::Cell>;
using Facts = std::vector<report::Fact>;

const report::Cell absent;

report::WriteOptions inner(const WriteOptions &options, const dnheap::Watch &watch) {
  const unsigned threads = options.threads ? options.threads : processor_count();
  return {options.top, options.exact, options.verbose,    options.table, threads,
          watch,       options.width, options.full_names, options.wrap,  options.color};
}

const report::Writer &writer_called(std::string_view format) {
  if (const report::Writer *writer = report::find_writer(format))
    return *writer;
  throw UsageError("there is no format '" + std::string(format) + "'");
}

bool is_in(report::Shown shown, report::Shown reader) { return shown == report::Shown::everywhere || shown == reader; }

} // namespace

Note outer(const dnheap::Note &note) {
  return {dnheap::name_of(note.subject), dnheap::name_of(note.effect), note.sentence(), note.remedy};
}

std::vector<Note> outer(const Notes &notes) {
  std::vector<Note> out;
  for (const dnheap::Note &note : notes)
    out.push_back(outer(note));
  return out;
}

Completeness outer(const report::Completeness &of) {
  Completeness out{of.complete(), of.is_walked,      of.objects,     of.bytes, of.bad_objects, {},
                   of.more_gaps,  of.more_gap_bytes, outer(of.notes)};
  for (const report::Completeness::Gap &gap : of.gaps)
    out.gaps.push_back({Address(gap.start), Address(gap.end), gap.reason});
  return out;
}

Value::Kind Value::kind() const {
  const report::Cell &cell = AnswerParts::cell(*this);
  if (cell.is_absent())
    return Kind::absent;
  if (cell.get_if<bool>())
    return Kind::boolean;
  if (cell.get_if<u64>() || cell.get_if<i64>())
    return Kind::integer;
  if (cell.get_if<double>())
    return Kind::real;
  if (cell.get_if<Cells>())
    return Kind::list;
  return cell.get_if<Facts>() ? Kind::record : Kind::text;
}

std::optional<bool> Value::boolean() const {
  const bool *value = AnswerParts::cell(*this).get_if<bool>();
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::uint64_t> Value::number() const {
  const report::Cell &cell = AnswerParts::cell(*this);
  if (const u64 *value = cell.get_if<u64>())
    return *value;
  const i64 *value = cell.get_if<i64>();
  return value && *value >= 0 ? std::optional(static_cast<u64>(*value)) : std::nullopt;
}

std::optional<double> Value::real() const {
  const report::Cell &cell = AnswerParts::cell(*this);
  if (const u64 *value = cell.get_if<u64>())
    return static_cast<double>(*value);
  if (const i64 *value = cell.get_if<i64>())
    return static_cast<double>(*value);
  const double *value = cell.get_if<double>();
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::string_view> Value::text() const { return AnswerParts::cell(*this).text(); }

std::size_t Value::size() const {
  const report::Cell &cell = AnswerParts::cell(*this);
  if (const Cells *list = cell.get_if<Cells>())
    return list->size();
  const Facts *record = cell.get_if<Facts>();
  return record ? record->size() : 0;
}

Value Value::operator[](std::size_t part) const {
  const report::Cell &cell = AnswerParts::cell(*this);
  if (part >= size())
    return Value(&absent);
  if (const Cells *list = cell.get_if<Cells>())
    return Value(&(*list)[part]);
  return Value(&(*cell.get_if<Facts>())[part].value);
}

std::string_view Value::key(std::size_t part) const {
  const Facts *record = AnswerParts::cell(*this).get_if<Facts>();
  return record && part < record->size() ? std::string_view((*record)[part].key) : std::string_view();
}

Value Value::find(std::string_view key) const {
  if (const Facts *record = AnswerParts::cell(*this).get_if<Facts>())
    for (const report::Fact &fact : *record)
      if (fact.key == key)
        return Value(&fact.value);
  return Value(&absent);
}

std::size_t Row::size() const { return AnswerParts::row(*this).size(); }

Value Row::operator[](std::size_t column) const {
  const report::Row &row = AnswerParts::row(*this);
  return AnswerParts::value(column < row.size() ? row[column] : absent);
}

Value Row::operator[](std::string_view key) const {
  if (const std::optional<u64> column = AnswerParts::table(*this).find_column(key))
    return (*this)[*column];
  throw NotFound("the table '" + AnswerParts::table(*this).name + "' has no column '" + std::string(key) + "'");
}

const std::string &Table::name() const { return AnswerParts::table(*this).name; }
const std::string &Table::title() const { return AnswerParts::table(*this).title; }
std::optional<std::uint64_t> Table::row_count() const { return AnswerParts::table(*this).row_count; }
bool Table::in_text() const { return is_in(AnswerParts::table(*this).shown, report::Shown::in_text); }
bool Table::in_data() const { return is_in(AnswerParts::table(*this).shown, report::Shown::in_data); }
const std::vector<std::string> &Table::notes() const { return AnswerParts::table(*this).notes; }

std::vector<Column> Table::columns() const {
  static_assert(static_cast<u8>(Column::Kind::real) == static_cast<u8>(report::Kind::real));
  std::vector<Column> out;
  for (const report::Column &column : AnswerParts::table(*this).columns)
    out.push_back({column.key, column.title, static_cast<Column::Kind>(column.kind),
                   is_in(column.shown, report::Shown::in_text), is_in(column.shown, report::Shown::in_data)});
  return out;
}

void Table::for_each_row(const std::function<bool(const Row &)> &visit) const {
  const report::Table &table = AnswerParts::table(*this);
  const report::WriteOptions all;
  report::Rows rows(table, all);
  while (const report::Row *row = rows.next())
    if (!visit(AnswerParts::row(*row, table)))
      return;
}

std::vector<Format> formats() {
  std::vector<Format> out;
  for (const report::Writer &writer : report::writers())
    out.push_back({writer.name, writer.default_top, writer.tells_completeness, writer.table});
  return out;
}

Answer::Answer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Answer::Answer(Answer &&) noexcept = default;
Answer &Answer::operator=(Answer &&) noexcept = default;
Answer::~Answer() = default;

const std::string &Answer::command() const { return inside_->answer.command; }
const std::string &Answer::headline() const { return inside_->headline; }
const std::string &Answer::lead() const { return inside_->answer.lead; }
const std::string &Answer::next_command() const { return inside_->answer.next_command; }

std::vector<std::pair<std::string, Value>> Answer::facts() const {
  std::vector<std::pair<std::string, Value>> out;
  for (const report::Fact &fact : inside_->answer.target)
    out.emplace_back(fact.key, AnswerParts::value(fact.value));
  return out;
}

std::optional<Completeness> Answer::completeness() const {
  const std::optional<report::Completeness> &of = inside_->answer.completeness;
  return of ? std::optional(outer(*of)) : std::nullopt;
}

std::uint64_t Answer::exceeded() const { return inside_->answer.exceeded; }
std::uint64_t Answer::uncertain() const { return inside_->answer.uncertain; }
std::uint64_t Answer::unmatched() const { return inside_->answer.unmatched; }
std::string Answer::unsaid() const { return report::unsaid(inside_->answer); }

std::vector<Table> Answer::tables() const {
  std::vector<Table> out;
  for (const report::Table &table : inside_->answer.tables)
    out.push_back(AnswerParts::table(table));
  return out;
}

Table Answer::table(std::string_view name) const {
  // If two tables have that name, one of them is for people: returns the other one, which is for data.
  for (bool data : {true, false})
    for (const Table &table : tables())
      if (table.name() == name && (!data || table.in_data()))
        return table;
  throw NotFound("no table '" + std::string(name) + "' in the answer of '" + command() + "'");
}

bool Answer::write(std::string_view format, const WriteOptions &options, std::FILE *to, const std::string &name,
                   Progress *progress) const {
  const report::Writer &writer = writer_called(format);
  const dnheap::Watch watch = State::watch(progress);
  Timer timer(watch, "write");
  report::Sink sink(to, name);
  try {
    writer.write(inside_->answer, inner(options, watch), sink);
    return true;
  } catch (const report::OutputClosed &) {
    return false;
  }
}

std::string Answer::text(std::string_view format, const WriteOptions &options) const {
  std::string out;
  report::Sink sink(out);
  writer_called(format).write(inside_->answer, inner(options, {}), sink);
  return out;
}

} // namespace dnheap::v0
