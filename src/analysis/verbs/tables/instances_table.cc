#include "analysis/verbs/tables/instances_table.h"

#include "analysis/objects/entry_values.h"
#include "analysis/objects/field_path.h"
#include "analysis/owners/holding.h"
#include "base/error.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "report/columns_of.h"
#include "runtime/string_object.h"

#include <algorithm>
#include <unordered_map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 longest_group = 1 << 16;  // of a string, in UTF-16 code units: longer ones are groups of their own
constexpr u64 largest_struct = 1 << 16; // bytes that are compared

struct ListedInstance : Instance {
  std::optional<u64> retained;
};

// The objects whose rows are shown: the first by address or by size, kept as few as possible.
class KeptInstances {
public:
  KeptInstances(const Question &question, bool by_retained)
      : keep_(question.top ? question.top + 1 : 0), by_retained_(by_retained), by_bytes_(question.sort == "bytes") {}

  // Returns false if no further object can be shown.
  bool add(const ListedInstance &one) {
    kept_.push_back(one);
    if (!by_retained_ && !by_bytes_)
      return !keep_ || kept_.size() < keep_;
    if (keep_ && kept_.size() >= 2 * keep_ + 1024) {
      std::nth_element(kept_.begin(), kept_.begin() + static_cast<i64>(keep_), kept_.end(), before());
      kept_.resize(keep_);
    }
    return true;
  }
  std::vector<ListedInstance> sorted() {
    std::sort(kept_.begin(), kept_.end(), before());
    if (keep_ && kept_.size() > keep_)
      kept_.resize(keep_);
    return std::move(kept_);
  }

private:
  // What the rows are sorted by, the largest first.
  u64 rank(const ListedInstance &one) const {
    return by_retained_ ? one.retained.value_or(0) : by_bytes_ ? one.bytes : 0;
  }
  std::function<bool(const ListedInstance &, const ListedInstance &)> before() const {
    return [this](const ListedInstance &a, const ListedInstance &b) {
      return rank(a) != rank(b) ? rank(a) > rank(b) : a.address < b.address;
    };
  }

  const u64 keep_;
  const bool by_retained_, by_bytes_;
  std::vector<ListedInstance> kept_;
};

struct InstanceGroup {
  EntryValue value;
  u64 objects = 0, bytes = 0;
  Address example = 0;
};

class InstanceReader {
public:
  InstanceReader(const Snapshot &snapshot, const Question &question, const TypeFilter &types)
      : snapshot_(snapshot), question_(question), runtime_(snapshot.runtime()), places_(runtime_), reader_(snapshot),
        values_(runtime_, reader_) {
    for (const std::string &text : question.fields)
      fields_.emplace_back(runtime_, places_, text);
    if (!question.by_field.empty())
      by_.emplace(runtime_, places_, question.by_field);
    for (FieldPath &one : fields_)
      check(one, types, "--fields");
    if (by_)
      check(*by_, types, "--by-field");
    if (question.by == "retained")
      holding_.emplace(snapshot, Question());
  }

  report::Table listed(const std::function<bool(Instance &)> &next) {
    KeptInstances kept(question_, holding_.has_value());
    for (ListedInstance one; next(one);) {
      if (holding_)
        one.retained = retained(one.address);
      if (!kept.add(one))
        break;
    }
    return listed_table(kept.sorted());
  }

  report::Table grouped(const std::function<bool(Instance &)> &next) {
    std::unordered_map<std::string, InstanceGroup> groups;
    u64 objects = 0, bytes = 0;
    for (Instance one; next(one);) {
      const EntryPart part = by_->in(one.address);
      InstanceGroup &group = groups[key_of(part)];
      if (group.objects == 0) {
        group.value = values_.of(part, true);
        group.example = one.address;
      }
      ++group.objects;
      group.bytes += one.bytes;
      ++objects;
      bytes += one.bytes;
    }
    std::vector<InstanceGroup> sorted;
    for (auto &[key, group] : groups)
      sorted.push_back(std::move(group));
    std::ranges::sort(sorted, [](const InstanceGroup &a, const InstanceGroup &b) {
      return a.objects != b.objects ? a.objects > b.objects : a.example < b.example;
    });
    return grouped_table(sorted, objects, bytes);
  }

private:
  void check(FieldPath &path, const TypeFilter &types, const char *option) {
    for (const TypeTally &one : snapshot_.tally().types)
      if (types.passes(runtime_.types().name(one.method_table)) && path.begins_in(one.method_table))
        return;
    throw UsageError(std::string("objects ") + option + ": no object that is asked for has a field '" +
                     printable(path.text(), 200) + "'; dnheap show TARGET ADDR lists the fields of one");
  }

  std::optional<u64> retained(Address object) {
    const ObjectId id = snapshot_.index().find(object);
    const std::optional<TreePlace> place = id == no_object ? std::nullopt : holding_->tree().place(id);
    return place ? std::optional(holding_->tree().retained(*place).bytes) : std::nullopt;
  }

  // Equal strings are one group, however long; other objects are groups by their addresses. Structs whose text does not
  // have all of them are groups by their bytes.
  std::string key_of(const EntryPart &part) {
    if (!part)
      return "";
    const EntryValue value = values_.of(part, true);
    if (value.object && value.type == "System.String")
      if (const std::optional<StringText> text = string_text(runtime_, value.object, longest_group);
          text && !text->is_cut)
        return "\"" + text->text;
    const bool is_boxed = value.object && !value.value.is_absent() && value.type != "System.String";
    const bool is_cut = value.text.find("…") != value.text.npos;
    if (value.object && (!is_boxed || is_cut))
      return "@" + hex(value.object);
    std::string key = "=" + value.text;
    if (is_cut)
      key += as_text(runtime_.memory().view_up_to(part.at, std::min(part.type->size.value_or(0), largest_struct)));
    return key;
  }

  report::Table listed_table(const std::vector<ListedInstance> &instances) {
    using I = ListedInstance;
    report::ColumnsOf<I> columns = {
        {{"address", "Address", Kind::address}, &I::address},
        {{"method_table", "MethodTable", Kind::address, question_.verbose ? Shown::everywhere : Shown::in_data},
         &I::method_table},
        {{"bytes", "Bytes", Kind::bytes}, &I::bytes},
        {{"generation", "Gen", Kind::text}, [](const I &i) { return Cell(i.generation); }}};
    if (holding_)
      columns.add({{"retained", "Retained", Kind::bytes}, &I::retained});
    for (FieldPath &field : fields_) {
      auto value = [this, &field](const I &i) { return values_.of(field.in(i.address), question_.values); };
      columns.add({{field.text(), field.text(), Kind::text, Shown::in_text, false, true},
                   [=](const I &i) { return report::text_cell(value(i).text); }});
    }
    if (!fields_.empty())
      columns.add({{"fields", "", Kind::nested, Shown::in_data}, [this](const I &i) { return fields_cell(i); }});
    columns.add(
        {{"type", "Type", Kind::text}, [this](const I &i) { return Cell(runtime_.types().name(i.method_table)); }});
    report::Table table = columns.table("objects", "", instances);
    table.row_count.reset();
    if (!fields_.empty() && !question_.values)
      table.notes.push_back("--values shows numbers, texts and other values");
    return table;
  }

  // By field: the value, or the address of the object that it refers to.
  Cell fields_cell(const ListedInstance &one) {
    std::vector<report::Fact> out;
    for (FieldPath &field : fields_) {
      const EntryValue value = values_.of(field.in(one.address), question_.values);
      out.push_back({field.text(), value.value.is_absent() && value.object ? Cell(hex(value.object)) : value.value});
    }
    return Cell(std::move(out));
  }

  report::Table grouped_table(const std::vector<InstanceGroup> &groups, u64 objects, u64 bytes) {
    using G = InstanceGroup;
    report::Table table = report::ColumnsOf<G>{
        {{"objects", "Objects", Kind::count}, &G::objects},
        {{"bytes", "Bytes", Kind::bytes}, &G::bytes},
        {{"value_text", question_.by_field, Kind::text, Shown::in_text, true, true},
         [](const G &g) { return report::text_cell(g.value.text); }},
        {{"value", "", Kind::text, Shown::in_data}, [](const G &g) { return g.value.value; }},
        {{"value_object", "", Kind::address, Shown::in_data},
         [](const G &g) { return g.value.object ? Cell(g.value.object) : Cell(); }},
        {{"value_type", "", Kind::text, Shown::in_data}, [](const G &g) { return report::text_cell(g.value.type); }},
        {{"example", "Example", Kind::address},
         &G::example}}.table("groups", "", groups);
    table.total = total_row(table, {{"objects", objects}, {"bytes", bytes}});
    return table;
  }

  const Snapshot &snapshot_;
  const Question &question_;
  const Runtime &runtime_;
  EntryPlaces places_;
  CollectionEntries reader_;
  EntryValues values_;
  std::vector<FieldPath> fields_;
  std::optional<FieldPath> by_;
  std::optional<Holding> holding_;
};

} // namespace

bool is_about_instances(const Question &question) {
  return question.by == "retained" || !question.fields.empty() || !question.by_field.empty();
}

void check_instances(const Question &question) {
  if (!question.by_field.empty() && !question.values)
    throw UsageError("--by-field shows contents: it needs --values");
  if (!question.by_field.empty() && (!question.by.empty() || !question.fields.empty() || !question.sort.empty()))
    throw UsageError("--by-field sums objects up: it cannot be used with --by, --fields or --sort");
  if (question.by == "size" && !question.fields.empty())
    throw UsageError("--by size sums objects up: it cannot be used with --fields");
  if (question.by == "retained" && !question.sort.empty())
    throw UsageError("--sort cannot be used with --by retained, which sorts by retained size");
  if (!question.fields.empty() && question.sort == "type")
    throw UsageError("--sort type cannot be used with --fields");
}

report::Table instances_table(const Snapshot &snapshot, const Question &question, const TypeFilter &types,
                              const std::function<bool(Instance &)> &next) {
  InstanceReader reader(snapshot, question, types);
  return question.by_field.empty() ? reader.listed(next) : reader.grouped(next);
}

} // namespace dnheap
