// `contract`: which data contract did the target publish, and which values were derived instead? Shows each value with
// its origin.
#include "analysis/answer_head.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

report::Table contracts_table(const ContractDescriptor &d) {
  report::Table table;
  table.name = "contracts";
  table.title = "Contracts";
  table.columns = {
      {"contract", "Contract", Kind::text}, {"version", "Version", Kind::text}, {"origin", "Origin", Kind::text}};
  std::vector<report::Row> rows;
  for (const auto &[name, version] : d.contracts)
    rows.push_back({name, version, name_of(d.contract_origin.find(name)->second)});
  table.set_rows(std::move(rows));
  return table;
}

report::Table descriptors_table(const ContractDescriptor &d) {
  report::Table table;
  table.name = "descriptors";
  table.title = "Descriptors in the target";
  table.columns = {{"name", "Name", Kind::text},
                   {"address", "Address", Kind::address},
                   {"version", "JSON version", Kind::number},
                   {"json", "JSON at", Kind::address},
                   {"json_bytes", "JSON bytes", Kind::number},
                   {"pointers", "Pointers", Kind::number},
                   {"found_by", "Found by", Kind::text},
                   {"problem", "Problem", Kind::text}};
  std::vector<report::Row> rows;
  for (const DescriptorSource &s : d.sources) {
    bool present = s.address != 0;
    auto known = [&](Cell cell) { return present ? cell : Cell(); };
    rows.push_back({s.name.empty() ? "(main)" : s.name, known(s.address), known(s.version), known(s.json),
                    known(s.json_size), known(s.pointer_count), s.name.empty() ? Cell(d.found_by) : Cell("its parent"),
                    report::text_cell(s.problem)});
  }
  table.set_rows(std::move(rows));
  if (d.sources.empty())
    table.notes.push_back(d.found_by.empty() ? "the runtime publishes none, or the dump does not hold it"
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
  report::Table table;
  table.name = "globals";
  table.title = "Globals";
  table.columns = {{"global", "Global", Kind::text},
                   {"value", "Value", Kind::text},
                   {"indirect", "Indirect", Kind::boolean},
                   {"type", "Type", Kind::text},
                   {"origin", "Origin", Kind::text}};
  std::vector<report::Row> rows;
  for (const auto &[name, global] : d.globals)
    rows.push_back({name, global.number && global.text.empty() ? hex(*global.number) : global.text, global.indirect,
                    report::text_cell(global.type), name_of(global.origin)});
  table.set_rows(std::move(rows));
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

report::Answer answer_contract(Snapshot &snapshot, const Question &question) {
  const Runtime &runtime = snapshot.runtime();
  const ContractDescriptor &d = runtime.descriptor();
  report::Answer answer;
  answer.command = "contract";
  answer.target = target_facts(snapshot.target(), &runtime);
  answer.headline = target_headline(snapshot.target(), &runtime) + "; " + count_text(d.types.size()) + " types, " +
                    count_text(d.globals.size()) + " globals, " + count_text(d.contracts.size()) + " contracts";
  answer.tables = {contracts_table(d),   types_table(d),   globals_table(d),
                   descriptors_table(d), missing_table(d), doubted_table(d)};
  answer.next_command = "dnheap info " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
