#include "analysis/inspect/duplicate_strings.h"
#include "analysis/waste.h"

#include <algorithm>

namespace dnheap {

const char *name_of(WasteKind kind) {
  switch (kind) {
  case WasteKind::duplicate_strings: return "duplicate_strings";
  }
  return "";
}

Passes passes_of_waste() { return Pass::index | Pass::tally | Pass::references; }

Waste find_waste(Snapshot &snapshot, const ObjectFilter &filter) {
  Waste out;
  DuplicateStrings strings(snapshot, filter);
  for (const DuplicateStrings::Field &field : strings.fields())
    out.rows.push_back({WasteKind::duplicate_strings, "System.String", field.text, field.copies, field.bytes});
  out.bytes = strings.wasted();
  if (strings.are_blanked())
    out.notes.push_back("contents were blanked when this core was extracted: what is equal cannot be told");
  else if (!strings.is_type_known())
    out.notes.push_back("no type is known to be that of strings");
  return out;
}

Waste find_waste(Snapshot &snapshot) { return find_waste(snapshot, ObjectFilter()); }

} // namespace dnheap
