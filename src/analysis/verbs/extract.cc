// `extract`: writes a small core with the data that the other verbs' answers need. No list of these data exists: every
// question is asked, and everything that was read meanwhile is kept.
#include "analysis/verbs/extract.h"

#include "analysis/answer_head.h"
#include "analysis/inspectors/registered_objects.h"
#include "analysis/objects/field_values.h"
#include "analysis/objects/weak_target.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "heap/object_cursor.h"
#include "objects/references.h"
#include "objects/roots.h"

#include <map>
#include <set>

namespace dnheap {

namespace {

using report::Kind;

// One object of each type; for arrays the longest.
struct Specimen {
  Address address = 0;
  u64 size = 0;
  bool is_delegate = false, is_weak = false;
  u64 looked_at = 0;
};

void read_rows(report::Answer answer) {
  for (report::Table &table : answer.tables)
    for (report::Row row(table.columns.size()); table.rows && table.rows(row);)
      row.assign(table.columns.size(), {});
}

// Skips an answer that the dump cannot give: the core cannot give it either.
template <class Ask> void if_it_can_be_told(Ask ask) {
  try {
    ask();
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &) {
  }
}

void ask_all_verbs(const Snapshot &snapshot) {
  Question all;
  all.verbose = true;
  all.references = true;
  if_it_can_be_told([&] { snapshot.index(); }); // all verbs then share one walk
  for (const Verb &verb : verbs())
    if (verb.answer && !verb.makes_file && (!verb.subject || verb.subject.is_optional) && !verb.reads_objects_only)
      if_it_can_be_told([&] { read_rows(verb.answer(snapshot, all)); });
  if_it_can_be_told([&] { snapshot.owners(); });
  if_it_can_be_told([&] { // as `inspect finalizers` does
    Notes ignored;
    each_registered_object(snapshot, ignored, [](Address, const GCFinalizeQueuePart &) {});
  });
}

// Delegates and WeakReferences are asked about one by one, because their targets differ.
std::map<Address, Specimen> collect_specimens(const Snapshot &snapshot) {
  constexpr u64 most_looked_at = 64, most_targets = 64;
  std::map<Address, Specimen> out;
  Fields &fields = snapshot.runtime().fields();
  ObjectCursor cursor(snapshot.heap(), snapshot.runtime());
  Timer timer(snapshot.watch(), "specimens", snapshot.heap().segment_bytes());
  u64 seen = 0;
  Specimen *last = nullptr;
  Address last_type = 0;
  while (const Object *object = cursor.next()) {
    if (++seen % 4096 == 0) {
      snapshot.watch().check();
      if (Progress *progress = snapshot.watch().progress)
        progress->objects = seen;
    }
    const Address mt = cursor.method_table();
    if (!last || mt != last_type) {
      auto [at, is_new] = out.try_emplace(mt);
      last = &at->second, last_type = mt;
      if (is_new)
        last->is_weak = is_weak_reference(snapshot.runtime(), mt);
    }
    if (last->is_weak)
      weak_target(snapshot.runtime(), object->address, mt);
    if (object->size > last->size) {
      last->address = object->address;
      last->size = object->size;
    }
    if (last->is_delegate || last->looked_at < most_looked_at) {
      ++last->looked_at;
      last->is_delegate |= !fields.delegate_targets(object->address, mt, most_targets).empty();
    }
  }
  return out;
}

// Asks about a type's fields, including those of structs in its objects or in their elements. Iterative: a damaged dump
// may nest array types as deeply as there are types.
void ask_about_fields(const Snapshot &snapshot, Address type, std::set<Address> &asked) {
  TypeSystem &types = snapshot.runtime().types();
  Fields &fields = snapshot.runtime().fields();
  std::vector<Address> left = {type};
  while (!left.empty()) {
    const Address mt = left.back();
    left.pop_back();
    if (mt == 0 || !asked.insert(mt).second)
      continue;
    types.name(mt);
    for (const InstanceField &field : std::vector<InstanceField>(fields.instance_fields(mt))) {
      if (field.declaring_type)
        types.name(field.declaring_type);
      left.push_back(field.method_table);
    }
    if (std::optional<ElementShape> elements = fields.elements(mt))
      left.push_back(elements->method_table);
  }
}

// Asks what `show`, `path` and `retained` ask about an object of the type.
void ask_about_type(const Snapshot &snapshot, Address mt, const Specimen &specimen, std::set<Address> &asked,
                    FieldValues &values) {
  constexpr u64 most_slots = 4096;
  TypeSystem &types = snapshot.runtime().types();
  Fields &fields = snapshot.runtime().fields();
  types.name(mt);
  types.assembly(mt);
  ask_about_fields(snapshot, mt, asked);
  values.learn_enums(mt);
  ReferenceReader reader(snapshot.references());
  OpenedObject opened;
  if (!reader.open(specimen.address, opened))
    return;
  u64 slots = 0;
  opened.type->references.for_each_slot(opened.bytes, opened.size, snapshot.references().format(),
                                        [&](const std::byte *slot) {
                                          if (++slots > most_slots)
                                            return;
                                          const u64 offset = static_cast<u64>(slot - opened.bytes);
                                          fields.reference(mt, offset);
                                          fields.exact_reference(specimen.address, mt, offset);
                                        });
}

void ask_about_types(const Snapshot &snapshot) {
  const std::map<Address, Specimen> specimens = collect_specimens(snapshot);
  std::set<Address> asked;
  FieldValues values(snapshot.runtime());
  for (const auto &[mt, specimen] : specimens)
    if_it_can_be_told([&] { ask_about_type(snapshot, mt, specimen, asked, values); });
}

report::Table table_of(const ExtractedCore &core) {
  report::Table table;
  table.name = "extracted";
  table.whole = true;
  table.columns = {{"part", "Part", Kind::text}, {"bytes", "Bytes", Kind::bytes}};
  std::vector<report::Row> rows = {{"heap", core.heap_bytes},
                                   {"stacks", core.stack_bytes},
                                   {"types", core.other_bytes},
                                   {"memory", core.memory_bytes},
                                   {"file", core.file_bytes}};
  table.set_rows(std::move(rows));
  table.notes.push_back("types: types and their names, handles, statics, and what the runtime publishes about itself");
  return table;
}

} // namespace

Plan plan_extract(const Question &question) {
  if (question.output.empty())
    throw UsageError("extract needs a file to write");
  // Nothing is prepared here, because answers that the dump cannot give are left out.
  Plan plan;
  plan.then(Pass::index);
  for (const char *own : {"walk", "tasks", "headers", "async stacks"})
    plan.then(own);
  return plan.then(Pass::owners).then("references").then("specimens").then("extract").perhaps(Pass::live);
}

ExtractedCore ask_and_extract(const Snapshot &snapshot, const ExtractOptions &options) {
  if (!snapshot.reads())
    throw UsageError("extract needs a Snapshot that records what is read");
  ask_all_verbs(snapshot);
  ask_about_types(snapshot);
  return extract_core(snapshot, options);
}

report::Answer answer_extract(const Snapshot &snapshot, const Question &question) {
  const ExtractedCore core = ask_and_extract(snapshot, {question.output, question.no_values});
  report::Answer answer = begin_answer(snapshot, "extract");
  report::Table table = table_of(core);
  if (question.no_values)
    table.notes.push_back("blanked: contents of strings, numbers and everything else that is not a reference; stacks "
                          "except pointers; environment and command line. The file still has names of types, fields, "
                          "methods and files, addresses, sizes, and constants in assemblies' metadata");
  else
    table.notes.push_back("the file has all strings and numbers on the heap, and the contents of stacks; --no-values "
                          "blanks them");
  answer.tables.push_back(std::move(table));
  answer.next_command = "dnheap info " + shell_word(question.output);
  return answer;
}

} // namespace dnheap
