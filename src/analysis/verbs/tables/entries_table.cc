#include "analysis/verbs/tables/entries_table.h"

#include "analysis/objects/entry_values.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/object_1.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 most_listed_entries = 1'000'000;

struct ListedEntry {
  u64 position = 0;
  EntryValue key, value;
};

bool lacks_content(const ListedEntry &entry) {
  return entry.value.text.empty() || (!entry.key.type.empty() && entry.key.text.empty());
}

report::ColumnsOf<ListedEntry> entry_columns(bool has_keys) {
  using E = ListedEntry;
  auto address = [](const EntryValue &one) { return one.object ? Cell(one.object) : Cell(); };
  report::ColumnsOf<E> out = {{{"position", "Position", Kind::number}, &E::position}};
  if (has_keys)
    out.add({{"key_text", "Key", Kind::text, Shown::in_text, false, true},
             [](const E &e) { return report::text_cell(e.key.text); }});
  out.add({{"value_text", "Value", Kind::text, Shown::in_text, true, true},
           [](const E &e) { return report::text_cell(e.value.text); }});
  out.add({{"key", "", Kind::text, Shown::in_data}, [](const E &e) { return e.key.value; }});
  out.add({{"key_object", "", Kind::address, Shown::in_data}, [=](const E &e) { return address(e.key); }});
  out.add({{"key_type", "", Kind::text, Shown::in_data}, [](const E &e) { return report::text_cell(e.key.type); }});
  out.add({{"value", "", Kind::text, Shown::in_data}, [](const E &e) { return e.value.value; }});
  out.add({{"value_object", "", Kind::address, Shown::in_data}, [=](const E &e) { return address(e.value); }});
  out.add({{"value_type", "", Kind::text, Shown::in_data}, [](const E &e) { return report::text_cell(e.value.type); }});
  return out;
}

void add_state_note(const Snapshot &snapshot, const CollectionContents &contents, report::Answer &answer) {
  if (contents.state == CollectionContents::State::blanked)
    answer.completeness->notes.add("the entries of collections are not listed, as their numbers are values: " +
                                   snapshot.target().why_no_values());
  if (contents.state == CollectionContents::State::unknown)
    answer.completeness->notes.add(contents.unlisted + " does not have the fields that such a collection should have: "
                                                       "its entries are not listed");
  if (contents.state == CollectionContents::State::damaged)
    answer.completeness->notes.add(
        Note{.effect = Effect::numbers,
             .text = "what is in the collection is impossible, or not all in the dump: the entries after the first " +
                     count_text(contents.entries.count()) + " are not listed"});
}

} // namespace

void add_entries_table(const Snapshot &snapshot, Address object, const Question &question, report::Answer &answer) {
  const Runtime &runtime = snapshot.runtime();
  if (runtime.fields().elements(method_table_of(runtime.memory(), object)))
    return;
  CollectionEntries reader(snapshot);
  // One more than is shown, so that writers see that some were left out.
  const u64 most = question.top ? question.top + 1 : most_listed_entries;
  const CollectionContents contents = reader.read(object, most);
  if (contents.state == CollectionContents::State::none)
    return;
  add_state_note(snapshot, contents, answer);
  if (contents.state == CollectionContents::State::unknown || contents.state == CollectionContents::State::blanked)
    return; // no rows would mean that it is empty
  EntryValues values(runtime, reader);
  std::vector<ListedEntry> rows;
  CollectionEntry entry;
  for (EntryList::Cursor cursor(contents.entries); cursor.next(entry);) {
    snapshot.watch().check();
    rows.push_back({rows.size(), values.of(entry.key, question.values), values.of(entry.value, question.values)});
  }
  report::Table table = entry_columns(contents.entries.has_keys()).table("entries", "Entries", rows);
  if (!question.values && std::ranges::any_of(rows, lacks_content))
    table.notes.push_back("--values shows numbers, texts and other values");
  if (contents.is_cut)
    table.row_count.reset(); // the number of further ones is unknown
  if (contents.is_cut && !question.top)
    table.notes.push_back("only the first " + count_text(most) +
                          " entries are listed; the table `entries` of `dnheap "
                          "query` has all");
  answer.tables.push_back(std::move(table));
}

} // namespace dnheap
