// `show`: what is this object? Shows its type, size and fields, the objects that it refers to, its referrers, and what
// would be freed with it.
#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/named_types.h"
#include "analysis/names/subject.h"
#include "analysis/objects/field_values.h"
#include "analysis/objects/object_view.h"
#include "analysis/objects/weak_target.h"
#include "analysis/threads/task_state.h"
#include "analysis/verbs/tables/entries_table.h"
#include "analysis/verbs/tables/series_table.h"
#include "analysis/verbs/tables/show_type.h"
#include "analysis/verbs/verbs.h"
#include "base/not_found.h"
#include "base/text.h"
#include "objects/find_referrers.h"
#include "objects/live.h"
#include "report/columns_of.h"
#include "report/encoding.h"
#include "runtime/array_bounds.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 most_referrers = 10000;
constexpr u64 most_elements = 1'000'000;

struct ObjectHolding {
  bool reached = false;   // by any root
  bool precisely = false; // by a precise one
  LiveStage retained = {};
  std::optional<LiveStage> closure = {}; // if asked for
  u64 bad_references = 0;                // in objects that precise roots reach
};

// Returns what would be freed with the object: marks everything else first, then what is reached only through it. As in
// `retained`, conservative roots only count for objects that no precise root reaches.
ObjectHolding holding_of(const Snapshot &snapshot, Address object, const std::vector<ObjectId> &referrers,
                         bool closure) {
  Timer timer(snapshot.watch(), "mark");
  LiveMarking marking(snapshot.index(), snapshot.references(), snapshot.threads(), snapshot.watch());
  marking.hold_back(object);
  ObjectHolding out;
  for (bool conservative : {false, true}) {
    RootStage roots;
    bool reached = false;
    for (const Root &root : snapshot.roots().roots)
      if (root.is_conservative() == conservative) {
        roots.objects.push_back(root.object);
        reached |= root.object == object;
      }
    const LiveStage others = marking.mark(roots);
    out.bad_references += conservative ? 0 : others.bad_references;
    for (ObjectId referrer : referrers) {
      Address address = snapshot.index().address(referrer);
      reached |= address != object && marking.found(address);
    }
    if (!reached)
      continue;
    marking.let_through(object);
    out.reached = true;
    out.precisely = !conservative;
    if (closure) {
      LiveMarking::Closure found = marking.mark_closure(object);
      out.retained = std::move(found.fresh);
      out.closure = std::move(found.all);
    } else {
      out.retained = marking.mark({"", {object}});
    }
    out.bad_references += conservative ? 0 : out.retained.bad_references;
    break;
  }
  if (closure && !out.reached) {
    marking.let_through(object);
    out.closure = marking.mark_closure(object).all;
  }
  return out;
}

std::string weak_text(const Snapshot &snapshot, ObjectView &view, Address target) {
  const ObjectId object = target ? snapshot.index().find(target) : no_object;
  if (object == no_object)
    return target ? hex(target) + ", where no object begins" : "none any more";
  return hex(target) + " " + view.type_name(object) + ", held weakly";
}

// Shows the facts about the object, as a table of two columns for people and as one row for programs.
void add_object_tables(const Snapshot &snapshot, ObjectView &view, ObjectId object,
                       const std::vector<ObjectId> &referrers, const std::string &inside, const Question &question,
                       report::Answer &answer) {
  const ObjectHolding holding = holding_of(snapshot, view.address(object), referrers, question.closure);
  const std::optional<LiveStage> &whole = holding.closure;
  const std::optional<u32> length = view.elements(object);
  std::string bounds; // of an array that is not a vector
  if (length)
    if (const std::optional<ArrayBounds> known =
            ArrayBounds::of(snapshot.runtime().memory(), view.address(object),
                            *snapshot.runtime().fields().elements(view.method_table(object))))
      bounds = known->text();
  const std::string &calls = view.delegate_text(object);
  const u64 targets = view.delegate_targets(object);
  const std::optional<CollectionFill> fill = view.fill(object);
  const std::string call = view.call_of(object);
  auto if_reached = [&](u64 value) { return holding.reached ? Cell(value) : Cell(); };

  const std::optional<Address> weak = weak_target(snapshot.runtime(), view.address(object), view.method_table(object));
  const std::optional<TaskStatus> task =
      task_status(snapshot.runtime(), view.address(object), view.method_table(object));
  FieldValue value;
  if (question.values)
    value = FieldValues(snapshot.runtime()).whole(view.address(object), view.method_table(object));

  report::Table data = report::one_row(
      "object", {{{"address", "", Kind::address}, view.address(object)},
                 {{"method_table", "", Kind::address}, view.method_table(object)},
                 {{"type", "", Kind::text}, view.type_name(object)},
                 {{"bytes", "", Kind::bytes}, view.size(object)},
                 {{"aligned_bytes", "", Kind::bytes}, view.aligned_size(object)},
                 {{"generation", "", Kind::text}, view.generation(object)},
                 {{"elements", "", Kind::count}, length},
                 {{"calls", "", Kind::text}, report::text_cell(calls)},
                 {{"reachable", "", Kind::boolean}, holding.reached},
                 {{"conservative", "", Kind::boolean}, holding.reached ? Cell(!holding.precisely) : Cell()},
                 {{"retained", "", Kind::bytes}, if_reached(holding.retained.aligned_bytes)},
                 {{"retained_objects", "", Kind::count}, if_reached(holding.retained.objects)},
                 {{"closure_bytes", "", Kind::bytes}, whole ? Cell(whole->aligned_bytes) : Cell()},
                 {{"closure_objects", "", Kind::count}, whole ? Cell(whole->objects) : Cell()},
                 {{"targets", "", Kind::count}, targets ? Cell(targets) : Cell()},
                 {{"value", "", Kind::text, Shown::everywhere, false, true}, value.value},
                 {{"bounds", "", Kind::text}, report::text_cell(bounds)},
                 {{"weak_target", "", Kind::address}, weak && *weak ? Cell(*weak) : Cell()},
                 {{"entries", "", Kind::count}, fill ? Cell(fill->count) : Cell()},
                 {{"capacity", "", Kind::count}, fill ? Cell(fill->capacity) : Cell()},
                 {{"call", "", Kind::text}, report::text_cell(call)},
                 {{"task_status", "", Kind::text}, task ? Cell(name_of(*task)) : Cell()}});
  data.shown = Shown::in_data;

  std::vector<report::Row> rows;
  auto fact = [&](const char *what, std::string value) { rows.push_back({what, std::move(value)}); };
  auto sum = [&](const LiveStage &r) {
    return bytes_text(r.aligned_bytes) + " in " + count_text(r.objects) + (r.objects == 1 ? " object" : " objects");
  };
  if (!inside.empty())
    fact("address", inside);
  fact("object", hex(view.address(object)));
  fact("type", view.type_name(object));
  fact("MethodTable", hex(view.method_table(object)));
  fact("size", count_text(view.size(object)) + " bytes");
  fact("generation", view.generation(object));
  if (length)
    fact("elements", count_text(*length) + (bounds.empty() ? "" : ": " + bounds));
  if (fill)
    fact("holds", count_text(fill->count) + (fill->is_builder ? " character" : " element") +
                      (fill->count == 1 ? "" : "s") +
                      (fill->capacity ? " in room for " + count_text(*fill->capacity) : "") +
                      (view.type_name(object).starts_with("System.Runtime.CompilerServices.ConditionalWeakTable")
                           ? ", including those whose keys have died"
                           : ""));
  if (!call.empty())
    fact("call", "of " + call + ", an async method");
  if (task)
    fact("status", name_of(*task));
  if (!calls.empty())
    fact("calls", targets > 1 ? count_text(targets) + " targets: " + calls : calls);
  if (weak)
    fact("target", weak_text(snapshot, view, *weak));
  if (!value.text.empty())
    fact(view.type_name(object) == "System.String" ? "text" : "value", value.text);
  if (snapshot.heap().is_frozen(view.address(object)))
    fact("retained", std::string("nothing: it lies in a frozen segment, ") + never_freed);
  else
    fact("retained",
         holding.reached ? sum(holding.retained) + " would be freed with it"
         : knows_all_roots(snapshot)
             ? std::string("nothing holds it any more: it is garbage")
             : std::string("nothing that could be read holds it; not all roots could be read, so it may be alive"));
  if (holding.reached && !holding.precisely)
    fact("held by", "words on stacks that may be chance, nothing else");
  if (whole)
    fact("closure", sum(*whole) + " can be reached from it");
  report::Table text;
  text.name = "object";
  text.shown = Shown::in_text;
  text.whole = true;
  text.columns = {{"what", "What", Kind::text}, {"value", "Value", Kind::text, report::Shown::everywhere, true, true}};
  text.set_rows(std::move(rows));
  explain_compiled_names(view.type_name(object), text.notes);
  explain_compiled_names(calls, text.notes);
  answer.tables.push_back(std::move(data));
  answer.tables.push_back(std::move(text));
  add_reference_notes(holding.bad_references, answer);
}

report::Table value_table(const char *name, const char *title, const std::vector<FieldValue> &values,
                          const Question &question) {
  using F = FieldValue;
  report::ColumnsOf<F> columns = {
      {{"offset", "Offset", Kind::number}, &F::offset},
      {{"field", "Field", Kind::text}, &F::name},
      {{"type", "Type", Kind::text}, [](const F &f) { return report::text_cell(f.type); }},
      {{"reference", "Refers to", Kind::address}, [](const F &f) { return f.reference ? Cell(f.reference) : Cell(); }},
      {{"value", "", Kind::text, Shown::in_data}, &F::value},
      {{"declared_by", "Declared by", Kind::text, Shown::in_data},
       [](const F &f) { return report::text_cell(f.declared_by); }}};
  if (question.values)
    columns.add({{"value_text", "Value", Kind::text, Shown::in_text, false, true},
                 [](const F &f) { return report::text_cell(f.text); }});
  report::Table table = columns.table(name, title, values);
  for (const F &field : values)
    explain_compiled_names("." + field.name, table.notes);
  return table;
}

void add_values(const Snapshot &snapshot, ObjectView &view, ObjectId object, const Question &question,
                report::Answer &answer) {
  const Address at = view.address(object), type = view.method_table(object);
  const std::optional<ElementShape> shape = snapshot.runtime().fields().elements(type);
  if (!shape) {
    answer.tables.push_back(
        value_table("fields", "Fields", FieldValues(snapshot.runtime()).fields(at, type, question.values), question));
    answer.tables.back().whole = true;
    if (answer.tables.back().row_count == FieldValues::most_fields)
      answer.tables.back().notes.push_back("only the first " + count_text(FieldValues::most_fields) +
                                           " fields are listed");
  } else if (question.values) {
    const u64 most = question.top ? question.top + 1 : most_elements; // one more, so that the writer can say that there
                                                                      // are more
    std::vector<FieldValue> values = FieldValues(snapshot.runtime()).elements(at, view.size(object), *shape, most);
    answer.tables.push_back(value_table("elements", "Elements", values, question));
    if (shape->type == ElementType::Class && // references are listed in any case; texts are not
        std::ranges::all_of(values, [](const FieldValue &value) { return value.text.empty(); }))
      answer.tables.back().shown = Shown::in_data;
    if (values.size() == most)
      answer.tables.back().row_count.reset(); // the number of further ones is unknown
    if (!question.top && values.size() == most)
      answer.tables.back().notes.push_back("only the first " + count_text(most) + " values are listed");
  }
}

// Lists the references of an array's elements, or of an object's fields, including those inside structs.
report::Table references_table(const Snapshot &snapshot, ObjectView &view, ObjectId object, u64 top) {
  report::Table table;
  table.name = "references";
  table.title = "Refers to";
  table.columns = {{"field", "Field", Kind::text}, {"address", "Address", Kind::address}, {"type", "Type", Kind::text}};
  std::vector<report::Row> rows;
  u64 count = 0;
  view.for_each_reference(object, [&](const ObjectView::Reference &reference) {
    if (++count > top && top)
      return true; // only counted
    ObjectId target = snapshot.index().find(reference.target);
    rows.push_back({view.field(object, reference, ObjectView::Indices::told), reference.target,
                    target == no_object ? Cell("(no object)") : Cell(view.type_name(target))});
    return true;
  });
  if (count > rows.size())
    rows.emplace_back(3); // an extra row, so that the writer says that there are more
  table.set_rows(std::move(rows), count);
  return table;
}

report::Table referrers_table(const Snapshot &snapshot, ObjectView &view, ObjectId object,
                              const std::vector<ObjectId> &sources, u64 top) {
  report::Table table;
  table.name = "referrers";
  table.title = "Referred to by";
  table.columns = {{"address", "Address", Kind::address}, {"field", "Field", Kind::text}, {"type", "Type", Kind::text}};
  std::vector<report::Row> rows;
  const RootSet &roots = snapshot.roots();
  const RootOwners &owners = snapshot.owners();
  for (u64 i = 0; i < roots.roots.size(); ++i)
    if (roots.roots[i].object == view.address(object))
      rows.push_back(
          {roots.roots[i].slot ? Cell(roots.roots[i].slot) : Cell(), owners.owners[owners.owner_of[i]].name, "(root)"});
  u64 count = rows.size() + sources.size();
  for (ObjectId source : sources) {
    if ((top && rows.size() > top) || rows.size() >= most_referrers)
      break;
    rows.push_back({view.address(source), view.fields_between(source, object), view.type_name(source)});
  }
  if (rows.size() == most_referrers && count > rows.size())
    table.notes.push_back("only the first " + count_text(most_referrers) + " of " + count_text(count) + " are listed");
  table.set_rows(std::move(rows), count);
  return table;
}

Address struct_method_table(const Snapshot &snapshot, const std::string &type) {
  if (const std::optional<Address> address = find_address(snapshot, type);
      address && is_method_table(snapshot, *address))
    return *address;
  const NamedTypes named = types_called(snapshot, type);
  TypeSystem &types = snapshot.runtime().types();
  for (const TypeTally &tally : snapshot.tally().types)
    if (named.has(types.name(tally.method_table)))
      return tally.method_table;
  throw NotFound("no type of this heap is called '" + type + "'; the address of a MethodTable works, too");
}

// Shows memory at an address as a struct of a type, because a struct has no MethodTable of its own there.
report::Answer show_struct(const Snapshot &snapshot, const Question &question, Address address) {
  const Address type = struct_method_table(snapshot, question.struct_type);
  if (snapshot.runtime().fields().elements(type))
    throw UsageError("--struct: " + snapshot.runtime().types().name(type) + " is an array");
  if (snapshot.runtime().types().is_value_type(type) == false)
    throw UsageError("--struct: " + snapshot.runtime().types().name(type) +
                     " is a class: dnheap show ADDRESS shows the fields of its objects");
  if (!snapshot.runtime().memory().try_load<u8>(address))
    throw NotFound(hex(address) + " is not in the dump");
  report::Answer answer = show_type(snapshot, question, type);
  // Offsets of fields are those of a boxed struct, after its MethodTable.
  const u64 before = snapshot.runtime().memory().format().pointer_size;
  FieldValues reader(snapshot.runtime());
  std::vector<FieldValue> fields = reader.fields(address - before, type, question.values);
  for (FieldValue &field : fields)
    field.offset -= std::min(field.offset, before);
  if (question.values)
    if (FieldValue whole = reader.whole(address - before, type); !whole.text.empty()) {
      whole.offset = 0;
      whole.name = "(all of it)";
      fields.insert(fields.begin(), std::move(whole));
    }
  std::erase_if(answer.tables, [](const report::Table &table) { return table.name == "series"; });
  for (report::Table &table : answer.tables)
    table.notes.clear(); // they are about the type's address, which was not asked about
  answer.tables.push_back(value_table("fields", "Fields", fields, question));
  answer.tables.back().title += " of the struct at " + hex(address);
  answer.tables.back().whole = true;
  answer.next_command.clear();
  return answer;
}

bool is_wanted(const Question &question, std::string_view table) {
  return question.table.empty() || question.table == table;
}

// True if the heap is needed: finding the referrers takes a look at all of it, and the retained size a second one.
bool is_of_heap(const Question &question) { return is_wanted(question, "object") || is_wanted(question, "referrers"); }

} // namespace

Plan plan_show(const Question &question) {
  if (question.table == "elements" && !question.values)
    throw UsageError("--table elements shows contents: it needs --values");
  if (!question.struct_type.empty() && question.closure)
    throw UsageError("--closure needs an object: a struct is only a part of one");
  // A MethodTable needs only counts, without numbers of objects.
  Plan plan;
  plan.then(Pass::owners);
  if (is_of_heap(question))
    plan.then("referrers").then("mark");
  return plan;
}

report::Answer answer_show(const Snapshot &snapshot, const Question &asked) {
  Question question = asked;
  question.values &= !snapshot.target().has_blanked_values();
  const Address address = address_of_subject(snapshot, question);
  if (!question.struct_type.empty()) {
    report::Answer answer = show_struct(snapshot, question, address);
    if (asked.values && !question.values)
      answer.completeness->notes.add("there are no values: " + snapshot.target().why_no_values());
    return answer;
  }
  if (!snapshot.heap().holds(address) && is_method_table(snapshot, address))
    return show_type(snapshot, question, address);
  snapshot.index();
  report::Answer answer = begin_answer(snapshot, "show");
  ObjectView view(snapshot);
  std::string note;
  ObjectId object = view.at(address, note);
  if (!note.empty())
    answer.completeness->notes.add_first(Note{.text = note});
  std::vector<ObjectId> referrers;
  if (is_of_heap(question)) {
    referrers = find_referrers(snapshot.index(), snapshot.references(), view.address(object), snapshot.threads(),
                               snapshot.watch());
    // The elements of holders are roots themselves.
    std::erase_if(referrers, [&](ObjectId referrer) { return snapshot.roots().is_holder(view.address(referrer)); });
  }
  if (is_wanted(question, "object"))
    add_object_tables(snapshot, view, object, referrers, note, question, answer);
  if (is_wanted(question, "entries"))
    add_entries_table(snapshot, view.address(object), question, answer);
  add_values(snapshot, view, object, question, answer);
  if (is_wanted(question, "references"))
    answer.tables.push_back(references_table(snapshot, view, object, question.top));
  if (is_wanted(question, "referrers"))
    answer.tables.push_back(referrers_table(snapshot, view, object, referrers, question.top));
  answer.tables.push_back(series_table(snapshot.runtime(), view.method_table(object)));
  answer.tables.back().shown = Shown::in_data; // people see this table when they ask for the type
  if (asked.values && snapshot.target().has_blanked_values())
    answer.completeness->notes.add("there are no values: " + snapshot.target().why_no_values());
  add_root_notes(snapshot, answer);
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap path " + shell_word(question.target) + " " + hex(view.address(object));
  return answer;
}

} // namespace dnheap
