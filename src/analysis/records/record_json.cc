// Converts records to answers, and back from JSON: saved records are as untrusted as dumps.
#include "analysis/owners/first_owners.h"
#include "analysis/records/record.h"
#include "base/host/host.h"
#include "base/json.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

constexpr u64 largest_record = 64 << 20;
constexpr u64 largest_number = u64{1} << 62; // limited so that differences have a sign

// Reads values and knows its position: "tables.types[3].count".
class Place {
public:
  Place(const Json &json, std::string path) : json_(&json), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string &what) const {
    throw Error("this is not a valid record: " + (path_.empty() ? "it" : printable(path_, 200)) + " " + what);
  }
  Place at(const char *name) const {
    const Json *found = json_->find(name);
    if (!found)
      refuse(std::string("has no \"") + name + "\"");
    return Place(*found, path_.empty() ? name : path_ + "." + name);
  }
  bool has(const char *name) const { return json_->find(name); }
  bool is_null(const char *name) const {
    const Json *found = json_->find(name);
    return !found || found->is_null();
  }
  u64 number() const {
    if (!json_->is_unsigned())
      refuse("must be a non-negative integer, but is " + printable(json_->shown(), 60));
    if (json_->number() > largest_number)
      refuse("is larger than 2^62");
    return json_->number();
  }
  std::string text() const {
    if (!json_->is_text())
      refuse("is not a text, but " + printable(json_->shown(), 60));
    return json_->text();
  }
  bool boolean() const {
    try {
      return json_->boolean();
    } catch (const Error &) {
      refuse("is neither true nor false");
    }
  }
  template <class Visit> void for_each(Visit visit) const {
    if (!json_->is_list())
      refuse("is not a list");
    for (u64 i = 0; i < json_->list().size(); ++i) {
      const Place one(json_->list()[i], path_ + "[" + std::to_string(i) + "]");
      visit(one);
    }
  }
  std::optional<u64> number_or_null(const char *name) const {
    return is_null(name) ? std::nullopt : std::optional(at(name).number());
  }

private:
  const Json *json_;
  std::string path_;
};

Record record_in(const Place &root, const std::string &name) {
  if (root.at("command").text() != "record" || root.at("schema").text() != "dnheap/1")
    root.refuse("is not what dnheap check --record writes");
  Record out;
  const Place target = root.at("target"), completeness = root.at("completeness"), tables = root.at("tables");
  out.name = name;
  out.description = target.at("description").text();
  out.container = target.at("container").text();
  out.version = target.at("version").text();
  out.is_extract = !target.is_null("extract") && target.at("extract").boolean(); // records of earlier versions do not
                                                                                 // have it
  out.pid = target.number_or_null("pid");
  out.taken = target.number_or_null("taken");
  out.clock = target.is_null("clock") ? "" : target.at("clock").text();
  out.live_objects = target.at("live_objects").number();
  out.live_bytes = target.at("live_bytes").number();
  out.objects = completeness.at("objects").number();
  out.bytes = completeness.at("bytes").number();
  out.bad_objects = completeness.at("bad_objects").number();
  out.complete = completeness.at("complete").boolean();
  completeness.at("notes").for_each([&](const Place &note) { out.notes.add(note.text()); });
  out.has_parts = true;
  tables.at("owners").for_each([&](const Place &row) {
    out.has_parts &= row.has("part");
    out.owners.push_back({row.at("signature").text(), row.at("kind").text(), row.at("owner").text(),
                          row.at("retained").number(), row.at("objects").number(),
                          row.is_null("part") ? "" : row.at("part").text()});
    if (Record::Owner &owner = out.owners.back(); owner.is_shared() && owner.name.ends_with(and_others))
      owner.name.resize(owner.name.size() - std::string_view(and_others).size());
  });
  tables.at("types").for_each([&](const Place &row) {
    out.types.push_back({row.at("type").text(), row.at("count").number(), row.at("bytes").number(),
                         row.at("live").number(), row.at("retained").number()});
  });
  tables.at("account").for_each([&](const Place &row) {
    out.classes.push_back(
        {row.at("class").text(), row.at("group").text(), row.at("what").text(), row.at("bytes").number()});
  });
  out.has_waste = !tables.is_null("waste");
  if (out.has_waste)
    tables.at("waste").for_each([&](const Place &row) {
      out.waste.push_back({row.at("kind").text(), row.at("what").text(), row.at("field").text(),
                           row.at("bytes").number(), row.at("count").number()});
    });
  out.has_findings = !tables.is_null("findings");
  if (out.has_findings)
    tables.at("findings").for_each([&](const Place &row) {
      out.findings.push_back(
          {row.at("kind").text(), row.at("harm").text(), row.at("sureness").text(), row.at("text").text()});
    });
  out.is_saved = true;
  return out;
}

report::Table owners_table(const Record &record) {
  using R = Record::Owner;
  const report::ColumnsOf<R> columns = {
      {{"signature", "Signature", Kind::text}, &R::signature},
      {{"kind", "Kind", Kind::text}, &R::kind},
      {{"retained", "Retained", Kind::bytes}, &R::retained},
      {{"objects", "Objects", Kind::count}, &R::objects},
      {{"owner", "Owner", Kind::text}, [](const R &row) { return row.is_shared() ? row.full_name() : row.name; }},
      {{"part", "Part", Kind::text}, [](const R &row) { return report::text_cell(row.part); }}};
  return columns.table("owners", "", record.owners);
}

report::Table types_table(const Record &record) {
  using R = Record::Type;
  const report::ColumnsOf<R> columns = {{{"count", "Count", Kind::count}, &R::count},
                                        {{"bytes", "Bytes", Kind::bytes}, &R::bytes},
                                        {{"live", "Live", Kind::count}, &R::live},
                                        {{"retained", "Retained", Kind::bytes}, &R::retained},
                                        {{"type", "Type", Kind::text}, &R::name}};
  return columns.table("types", "", record.types);
}

report::Table classes_table(const Record &record) {
  using R = Record::Class;
  const report::ColumnsOf<R> columns = {{{"class", "Class", Kind::text}, &R::name},
                                        {{"group", "Group", Kind::text}, &R::group},
                                        {{"bytes", "Mapped", Kind::bytes}, &R::bytes},
                                        {{"what", "What", Kind::text}, &R::text}};
  return columns.table("account", "", record.classes);
}

report::Table waste_table(const Record &record) {
  using R = Record::Waste;
  const report::ColumnsOf<R> columns = {{{"bytes", "Bytes", Kind::bytes}, &R::bytes},
                                        {{"count", "Count", Kind::count}, &R::count},
                                        {{"kind", "Kind", Kind::text}, &R::kind},
                                        {{"what", "Type", Kind::text}, &R::what},
                                        {{"field", "Held by", Kind::text}, &R::field}};
  return columns.table("waste", "", record.waste);
}

report::Table findings_table(const Record &record) {
  using R = Record::Finding;
  const report::ColumnsOf<R> columns = {{{"kind", "Kind", Kind::text}, &R::kind},
                                        {{"harm", "Harm", Kind::text}, &R::harm},
                                        {{"sureness", "Sure", Kind::text}, &R::sureness},
                                        {{"text", "Text", Kind::text}, &R::text}};
  return columns.table("findings", "", record.findings);
}

} // namespace

std::vector<report::Table> tables_of(const Record &record) {
  std::vector<report::Table> out = {owners_table(record), types_table(record), classes_table(record)};
  if (record.has_waste)
    out.push_back(waste_table(record));
  if (record.has_findings)
    out.push_back(findings_table(record));
  return out;
}

report::Answer answer_of(const Record &record) {
  report::Answer out;
  out.command = "record";
  out.headline.what = file_name_of(record.name) + ": " + record.description;
  out.target = {{"name", file_name_of(record.name)},
                {"description", record.description},
                {"container", record.container},
                {"version", record.version},
                {"extract", record.is_extract},
                {"pid", record.pid},
                {"taken", record.taken},
                {"clock", record.taken ? Cell(record.clock) : Cell()},
                {"live_objects", record.live_objects},
                {"live_bytes", record.live_bytes}};
  out.completeness = report::Completeness();
  out.completeness->objects = record.objects;
  out.completeness->bytes = record.bytes;
  out.completeness->bad_objects = record.bad_objects;
  out.completeness->incomplete_records = !record.complete;
  out.completeness->notes.add_all(record.notes);
  out.tables = tables_of(record);
  return out;
}

Record parse_record(std::string_view json, const std::string &name) {
  if (json.size() > largest_record)
    throw Error("this is not a valid record: it has more than " + bytes_text(largest_record));
  const Json root = parse_json(json);
  return record_in(Place(root, ""), name);
}

bool looks_like_record(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

} // namespace dnheap
