// `contract`: which data contract did the target publish, and which values were derived instead? Shows each value with
// its origin.
#include "analysis/answer_head.h"
#include "analysis/verbs/tables/contracts_table.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "report/columns_of.h"

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

report::Table descriptors_table(const ContractDescriptor &d) {
  using S = DescriptorSource;
  auto if_present = [](auto S::*member) {
    return [member](const S &s) { return s.address ? Cell(s.*member) : Cell(); };
  };
  report::Table table = report::ColumnsOf<S>{
      {{"name", "Name", Kind::text}, [](const S &s) { return s.name.empty() ? "(main)" : s.name; }},
      {{"address", "Address", Kind::address}, if_present(&S::address)},
      {{"version", "JSON version", Kind::number}, if_present(&S::version)},
      {{"json", "JSON at", Kind::address}, if_present(&S::json)},
      {{"json_bytes", "JSON bytes", Kind::number}, if_present(&S::json_size)},
      {{"pointers", "Pointers", Kind::number}, if_present(&S::pointer_count)},
      {{"found_by", "Found by", Kind::text}, [&](const S &s) { return s.name.empty() ? d.found_by : "its parent"; }},
      {{"problem", "Problem", Kind::text}, [](const S &s) {
         return report::text_cell(s.problem);
       }}}.table("descriptors", "Descriptors in the target", d.sources);
  if (d.sources.empty())
    table.notes.push_back(d.found_by.empty() ? "the runtime publishes no descriptor, or it is not in the dump"
                                             : "none: the runtime describes itself by its " + d.found_by);
  return table;
}

report::Table types_table(const ContractDescriptor &d) {
  report::Table table;
  table.name = "types";
  table.title = "Types and fields";
  table.columns = {
      {"type", "Type", Kind::text},       {"size", "Size", Kind::number},           {"field", "Field", Kind::text},
      {"offset", "Offset", Kind::number}, {"field_type", "Field type", Kind::text}, {"origin", "Origin", Kind::text}};
  std::vector<report::Row> rows;
  for (const auto &[name, type] : d.types) {
    if (type.fields.empty())
      rows.push_back({name, type.size, Cell(), Cell(), Cell(), Cell()});
    for (const auto &[field_name, field] : type.fields)
      rows.push_back({name, type.size, field_name, field.offset, report::text_cell(field.type), name_of(field.origin)});
  }
  table.set_rows(std::move(rows));
  return table;
}

report::Table globals_table(const ContractDescriptor &d) {
  using G = decltype(d.globals)::value_type; // name and value
  report::Table table = report::ColumnsOf<G>{
      {{"global", "Global", Kind::text}, &G::first},
      {{"value", "Value", Kind::text},
       [](const G &g) { return g.second.number && g.second.text.empty() ? hex(*g.second.number) : g.second.text; }},
      {{"indirect", "Indirect", Kind::boolean}, [](const G &g) { return g.second.indirect; }},
      {{"type", "Type", Kind::text}, [](const G &g) { return report::text_cell(g.second.type); }},
      {{"origin", "Origin", Kind::text}, [](const G &g) {
         return name_of(g.second.origin);
       }}}.table("globals", "Globals", d.globals);
  table.notes.push_back("the value of an indirect global is the address of the runtime's variable, not its contents");
  return table;
}

report::Table missing_table(const ContractDescriptor &d) {
  report::Table table;
  table.name = "missing";
  table.title = "Looked for and not found";
  table.columns = {{"value", "Value", Kind::text}, {"tried", "Tried", Kind::text, report::Shown::everywhere, true}};
  std::vector<report::Row> rows;
  for (const auto &[name, tried] : d.missing)
    rows.push_back({name, tried});
  table.set_rows(std::move(rows));
  return table;
}

report::Table doubted_table(const ContractDescriptor &d) {
  report::Table table;
  table.name = "doubted";
  table.title = "Published and used, but not confirmed by memory";
  table.columns = {{"value", "Value", Kind::text}, {"why", "Why", Kind::text, report::Shown::everywhere, true}};
  std::vector<report::Row> rows;
  for (const auto &[name, why] : d.doubted)
    rows.push_back({name, why});
  if (rows.empty())
    table.shown = report::Shown::in_data;
  table.set_rows(std::move(rows));
  return table;
}

} // namespace

report::Answer answer_contract(const Snapshot &snapshot, const Question &question) {
  const Runtime &runtime = snapshot.runtime();
  const ContractDescriptor &d = runtime.descriptor();
  report::Answer answer;
  answer.command = "contract";
  answer.target = target_facts(snapshot.target(), &runtime);
  answer.headline.what = target_headline(snapshot.target(), &runtime) + "; " + count_text(d.types.size()) + " types, " +
                         count_text(d.globals.size()) + " globals, " + count_text(d.contracts.size()) + " contracts";
  answer.tables = {contracts_table(d),   types_table(d),   globals_table(d),
                   descriptors_table(d), missing_table(d), doubted_table(d)};
  answer.next_command = "dnheap info " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
