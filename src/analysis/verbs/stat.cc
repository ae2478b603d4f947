// `stat`: which types fill the heap? One row per MethodTable, as dotnet-dump's dumpheap -stat has them.
#include "algorithms/retained_by_group.h"
#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/filters/type_filter.h"
#include "analysis/names/compiled_names.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/verbs/verbs.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_graph.h"
#include "report/columns_of.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

struct TypeLine {
  const TypeTally *tally = nullptr;
  const std::string *name = nullptr;
  Tally total;
  u64 retained = 0; // if it was asked for
  u64 key = 0;      // the number to sort by, if any
};

std::vector<TypeLine> lines_of(const Snapshot &snapshot, const HeapTally &tally, const TypeFilter &filter,
                               const Question &question) {
  std::optional<u8> generation = generation_of(question);
  std::vector<TypeLine> out;
  for (const TypeTally &type : tally.types) {
    TypeLine line;
    line.tally = &type;
    line.total = generation ? type.generations[*generation] : type.total();
    if (line.total.count == 0)
      continue;
    line.name = &snapshot.runtime().types().name(type.method_table);
    if (filter.passes(*line.name))
      out.push_back(line);
  }
  return out;
}

u64 key_of(const TypeLine &line, const std::string &column) {
  return column == "count"           ? line.total.count
         : column == "retained"      ? line.retained
         : column == "aligned_bytes" ? line.total.aligned_bytes
         : column == "type"          ? 0
                                     : line.total.bytes;
}

// Sorts the largest first; ties by name, then by MethodTable.
void sort_lines(std::vector<TypeLine> &lines, const std::string &column) {
  for (TypeLine &line : lines)
    line.key = key_of(line, column);
  std::sort(lines.begin(), lines.end(), [](const TypeLine &a, const TypeLine &b) {
    if (a.key != b.key)
      return a.key > b.key;
    if (const int names = a.name->compare(*b.name); names != 0)
      return names < 0;
    return a.tally->method_table < b.tally->method_table;
  });
}

// True if a visible row shares its type name with another type.
bool shows_equal_names(const std::vector<TypeLine> &lines, u64 shown) {
  std::unordered_set<std::string_view> names;
  for (u64 i = 0; i < shown; ++i)
    if (!names.insert(*lines[i].name).second)
      return true;
  return std::any_of(lines.begin() + static_cast<i64>(shown), lines.end(),
                     [&](const TypeLine &line) { return names.contains(*line.name); });
}

report::Table types_table(const std::vector<TypeLine> &lines, const Question &question) {
  using report::Kind;
  using report::Shown;
  const Shown in_detail = question.verbose ? Shown::everywhere : Shown::in_data;
  std::optional<u8> generation = generation_of(question);
  const bool retained = question.by == "retained";
  Tally all;
  for (const TypeLine &line : lines)
    all.add(line.total);
  using L = TypeLine;
  report::ColumnsOf<L> columns = {
      {{"method_table", "MethodTable", Kind::address, in_detail}, [](const L &l) { return l.tally->method_table; }},
      {{"count", "Count", Kind::count}, [](const L &l) { return l.total.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const L &l) { return l.total.bytes; }},
      {{"share", "Share", Kind::percent, Shown::in_text},
       [&](const L &l) { return share_of(l.total.bytes, all.bytes); }},
      {{"aligned_bytes", "Aligned", Kind::bytes, in_detail}, [](const L &l) { return l.total.aligned_bytes; }}};
  if (retained)
    columns.add({{"retained", "Retained", Kind::bytes}, &L::retained});
  for (u8 g = 0; g < generation_count; ++g) {
    const char *name = name_of(static_cast<GCSegmentGeneration>(g));
    const bool is_asked = !generation || g == *generation;
    columns.add({{name, name, Kind::bytes, in_detail},
                 [=](const L &l) { return is_asked ? l.tally->generations[g].aligned_bytes : 0; }});
  }
  columns.add({{"type", "Type", Kind::text}, [](const L &l) { return *l.name; }});
  const u64 shown = question.top ? std::min<u64>(question.top, lines.size()) : lines.size();
  // One more, so that writers see that some were left out.
  report::Table table = columns.table("types", "", std::span(lines).first(std::min<u64>(shown + 1, lines.size())));
  table.row_count = lines.size();
  table.total = total_row(table, {{"count", all.count},
                                  {"bytes", all.bytes},
                                  {"aligned_bytes", all.aligned_bytes},
                                  {"type", total_of(lines.size(), "type")}});
  if (retained)
    table.notes.push_back(
        "Retained: each instance counts separately, with owners as in dnheap retained; objects that only several "
        "instances hold together are in no row; dnheap path TARGET TYPE counts them, too");
  if (!question.verbose && shows_equal_names(lines, shown))
    table.notes.push_back("equal names are different types (loaded twice, say); -v shows their MethodTables");
  if (std::any_of(lines.begin(), lines.begin() + static_cast<i64>(shown), [](const TypeLine &line) {
        return line.name->starts_with("Continuation_") && is_of_suspended_call(*line.name);
      }))
    table.notes.push_back(
        "Continuation_…: data of suspended calls of runtime-async methods, by layout; dnheap async names the methods");
  return table;
}

// Decides whether an object of the graph is one of those that the question is about. Any thread.
class Chosen {
public:
  Chosen(const Snapshot &snapshot, const ObjectFilter &filter, std::optional<u8> generation)
      : index_(snapshot.index()), references_(snapshot.references()), heap_(snapshot.heap()), filter_(filter),
        generation_(generation) {}

  bool everything() const { return filter_.everything() && !generation_; }
  bool has(ObjectId id) const {
    OpenedObject opened;
    const Address address = index_.address(id);
    if (!ReferenceReader(references_).open(address, opened))
      return false;
    Object object;
    object.address = address;
    object.size = opened.size;
    return filter_.passes(object) && (!generation_ || is_of_generation(address));
  }

private:
  bool is_of_generation(Address object) const {
    const ObjectRange *range = range_of(heap_, object);
    return range && static_cast<u8>(range->generation) == *generation_;
  }

  const ObjectIndex &index_;
  const References &references_;
  const Heap &heap_;
  const ObjectFilter filter_;
  const std::optional<u8> generation_;
};

// Adds what would be freed with the chosen instances of each type; an instance below another one of its type counts for
// that one.
void add_retained(const Snapshot &snapshot, const Chosen &chosen, std::vector<TypeLine> &lines) {
  const HeapTypes &types = snapshot.references().types();
  const ObjectGraph &graph = snapshot.graph();
  std::vector<GroupRetained> sums = retained_by_group(
      ranked_tree(snapshot)->tree, types.size(), snapshot.threads(), snapshot.watch(), [&](ObjectId object) {
        return chosen.everything() || chosen.has(object) ? static_cast<u32>(graph.type(object)) : types.size();
      });
  std::unordered_map<Address, u64> by_method_table;
  for (u32 i = 0; i < types.size(); ++i)
    by_method_table[types[TypeId{i}].method_table] = sums[i].retained.bytes;
  for (TypeLine &line : lines)
    line.retained = by_method_table[line.tally->method_table];
}

// Returns the filters other than the type, as options of the next command.
std::string filter_words(const Question &question) {
  std::string out;
  if (question.generation)
    out += std::string(" --gen ") + name_of(inner(*question.generation));
  if (question.min_bytes)
    out += " --min " + std::to_string(question.min_bytes);
  if (question.max_bytes != ~u64{0})
    out += " --max " + std::to_string(question.max_bytes);
  if (!question.refers_to.empty())
    out += " --refers-to " + question.refers_to;
  if (question.life != Life::any)
    out += question.life == Life::live ? " --live" : " --dead";
  if (question.range)
    out += " --range " + hex(question.range->first.value()) + "-" + hex(question.range->second.value());
  return out;
}

} // namespace

Plan plan_stat(const Question &question) {
  const bool retained = question.by == "retained";
  if (retained && question.life == Life::dead)
    throw UsageError("--by retained shows what would be freed: dead objects hold nothing that is alive");
  Plan plan(passes_of_life(question) | (retained ? Pass::index : Pass::tally));
  if (!question.refers_to.empty())
    plan.then("referring objects");
  if (question.life != Life::any || question.min_bytes || question.max_bytes != ~u64{0} || question.range ||
      !question.refers_to.empty())
    plan.then("walk");
  if (retained) {
    foresee_ranked(plan);
    plan.then("retained by group");
  }
  return plan;
}

report::Answer answer_stat(const Snapshot &snapshot, const Question &question) {
  ObjectFilter filter = filter_of(snapshot, question);
  report::Answer answer = begin_answer(snapshot, "stat", HeapSum::in_table);
  HeapTally filtered;
  if (!filter.everything())
    filtered = snapshot.tally(filter);
  const HeapTally &tally = filter.everything() ? snapshot.tally() : filtered;
  const TypeFilter types(snapshot, question);
  std::vector<TypeLine> lines = lines_of(snapshot, tally, types, question);
  if (question.by == "retained") {
    if (question.life == Life::live)
      filter.among = nullptr; // all objects in the tree are alive
    add_retained(snapshot, Chosen(snapshot, filter, generation_of(question)), lines);
    add_root_notes(snapshot, answer);
    add_reference_notes(snapshot, answer);
  }
  sort_lines(lines, !question.sort.empty() ? question.sort : !question.by.empty() ? question.by : "bytes");
  answer.tables.push_back(types_table(lines, question));
  types.add_notes(answer);
  add_name_notes(snapshot, answer);
  add_live_notes(snapshot, question, answer);
  for (const TypeLine &line : lines)
    if (line.tally->method_table != snapshot.runtime().types().free_object_method_table()) {
      answer.next_command = "dnheap objects " + shell_word(question.target) + " --type-exact " +
                            shell_word(*line.name) + filter_words(question);
      break;
    }
  return answer;
}

} // namespace dnheap
