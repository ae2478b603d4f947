// `objects`: which objects are there? In order of addresses they stream, so memory does not depend on their number; any
// other order keeps 32 bytes for each object that is shown. --by size keeps a row for each size.
#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/filters/type_filter.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/verbs/tables/instances_table.h"
#include "analysis/verbs/verbs.h"
#include "base/not_found.h"
#include "base/parallel.h"
#include "base/text.h"
#include "heap/object_cursor.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace dnheap {

namespace {

struct Line {
  Address address = 0, method_table = 0;
  u64 bytes = 0;
  GCSegmentGeneration generation = GCSegmentGeneration::gen0;
  u32 type = 0; // the type's number in the cursor, or in the graph
};

// The objects that the question asks for, in order of addresses.
class Selection {
public:
  Selection(const Snapshot &snapshot, const Question &question)
      : watch_(snapshot.watch()), runtime_(snapshot.runtime()), cursor_(snapshot.heap(), snapshot.runtime()),
        types_(snapshot, question), generation_(generation_of(question)), filter_(filter_of(snapshot, question)) {}

  bool next(Line &line) {
    while (const Object *object = cursor_.next()) {
      watch_.check();
      if (filter_.range && object->address >= filter_.range->second)
        return false;
      if (generation_ && static_cast<u8>(cursor_.generation()) != *generation_)
        continue;
      if (!filter_.passes(*object))
        continue;
      Address method_table = cursor_.method_table();
      if (!types_.everything() && !type_passes(method_table))
        continue;
      line = {object->address, method_table, object->size, cursor_.generation(), cursor_.type()};
      return true;
    }
    return false;
  }

  // The same by the graph alone, in parallel: visit(line, worker), in any order. False if there is no graph, or it does
  // not have all these objects.
  template <class Visit> bool each_of_graph(const Snapshot &snapshot, Visit visit) {
    if (!snapshot.has_graph() || types_.everything() || type_passes(runtime_.types().free_object_method_table()))
      return false;
    const ObjectIndex &index = snapshot.index();
    const References &references = snapshot.references();
    const std::span<const TypeId> type_of = snapshot.graph().types();
    std::vector<bool> wanted(references.types().size());
    for (u32 i = 0; i < references.types().size(); ++i)
      wanted[i] = type_passes(references.types()[TypeId{i}].method_table);
    parallel_for(index.places().blocks(), snapshot.threads(), [&](u64 block, unsigned worker) {
      watch_.check();
      ReferenceReader reader(references);
      OpenedObject opened;
      index.for_each(block, [&](ObjectId object, Address address) {
        const u32 type = static_cast<u32>(type_of[static_cast<u32>(object)]);
        if (type >= wanted.size() || !wanted[type] || !reader.open(address, opened))
          return;
        Object known;
        known.address = address;
        known.size = opened.size;
        if (!filter_.passes(known))
          return;
        const ObjectRange *range = range_of(snapshot.heap(), address);
        if (range && (!generation_ || static_cast<u8>(range->generation) == *generation_))
          visit(Line{address, opened.type->method_table, opened.size, range->generation, type}, worker);
      });
    });
    return true;
  }

  const TypeFilter &types() const { return types_; }
  const std::string &name(Address method_table) { return runtime_.types().name(method_table); }
  // Needs no look-up, for millions of rows.
  const std::string &name(const Line &line) {
    if (line.type >= names_.size())
      names_.resize(line.type + 1);
    const std::string *&known = names_[line.type];
    if (!known)
      known = &name(line.method_table);
    return *known;
  }

private:
  bool type_passes(Address method_table) {
    auto it = passes_.find(method_table);
    if (it == passes_.end())
      it = passes_.emplace(method_table, types_.passes(name(method_table))).first;
    return it->second;
  }

  const Watch watch_;
  const Runtime &runtime_;
  ObjectCursor cursor_;
  TypeFilter types_;
  std::optional<u8> generation_;
  ObjectFilter filter_;
  std::unordered_map<Address, bool> passes_;
  std::vector<const std::string *> names_; // by type
};

void fill_row(report::Row &row, const Line &line, const std::string &name) {
  row[0] = line.address;
  row[1] = line.method_table;
  row[2] = line.bytes;
  row[3].borrow(name_of(line.generation));
  row[4].borrow(name);
}

report::RowSource streamed(const std::shared_ptr<Selection> &selection) {
  return [selection](report::Row &row) {
    Line line;
    if (!selection->next(line))
      return false;
    fill_row(row, line, selection->name(line));
    return true;
  };
}

// Returns the first `top` (0: all) in the requested order; ties by address.
report::RowSource sorted(const Snapshot &snapshot, const std::shared_ptr<Selection> &selection,
                         const std::string &column, u64 top) {
  auto before = [selection, by_type = column == "type"](const Line &a, const Line &b) {
    if (by_type && a.method_table != b.method_table) {
      const std::string &x = selection->name(a.method_table), &y = selection->name(b.method_table);
      return x != y ? x < y : a.method_table < b.method_table;
    }
    if (!by_type && a.bytes != b.bytes)
      return a.bytes > b.bytes;
    return a.address < b.address;
  };
  // Keeps one more than is shown, so that the writer can say that there are more.
  const u64 keep = top ? top + 1 : 0;
  auto add = [&](std::vector<Line> &to, const Line &line) {
    to.push_back(line);
    if (keep && to.size() >= 2 * keep + 1024) {
      std::nth_element(to.begin(), to.begin() + static_cast<i64>(keep), to.end(), before);
      to.resize(keep);
    }
  };
  auto lines = std::make_shared<std::vector<Line>>();
  std::vector<std::vector<Line>> parts(snapshot.threads());
  // Names, needed for sorting by type, are only available to one thread.
  if (column != "type" &&
      selection->each_of_graph(snapshot, [&](const Line &line, unsigned worker) { add(parts[worker], line); })) {
    for (const std::vector<Line> &part : parts)
      for (const Line &line : part)
        add(*lines, line);
  } else {
    for (Line line; selection->next(line);)
      add(*lines, line);
  }
  std::sort(lines->begin(), lines->end(), before);
  return [selection, lines, at = u64{0}](report::Row &row) mutable {
    if (at == lines->size())
      return false;
    const Line &line = (*lines)[at++];
    fill_row(row, line, selection->name(line));
    return true;
  };
}

// Sums the objects and holes by size; sizes with most bytes first.
report::Table sizes_table(const Snapshot &snapshot, Selection &selection, u64 top) {
  using report::Kind;
  struct Sum {
    u64 size = 0, objects = 0, holes = 0;
    u64 bytes() const { return size * (objects + holes); }
  };
  std::map<u64, Sum> sums;
  const Address free = snapshot.runtime().types().free_object_method_table();
  for (Line line; selection.next(line);) {
    Sum &sum = sums[line.bytes];
    sum.size = line.bytes;
    ++(line.method_table == free ? sum.holes : sum.objects);
  }
  std::vector<Sum> order;
  Sum all;
  u64 bytes = 0;
  for (const auto &[size, sum] : sums) {
    order.push_back(sum);
    all.objects += sum.objects;
    all.holes += sum.holes;
    bytes += sum.bytes();
  }
  std::stable_sort(order.begin(), order.end(), [](const Sum &a, const Sum &b) { return a.bytes() > b.bytes(); });
  report::Table table;
  table.name = "sizes";
  table.columns = {{"size", "Size", Kind::count},
                   {"objects", "Objects", Kind::count},
                   {"free_objects", "Free", Kind::count},
                   {"bytes", "Bytes", Kind::bytes}};
  std::vector<report::Row> rows;
  for (const Sum &sum : order)
    if (!top || rows.size() <= top) // one more, so that writers see that some were left out
      rows.push_back({sum.size, sum.objects, sum.holes, sum.bytes()});
  table.set_rows(std::move(rows), order.size());
  table.total = total_row(table, {{"objects", all.objects}, {"free_objects", all.holes}, {"bytes", bytes}});
  return table;
}

// Returns the range of three objects on each side of an address, within their segment.
std::pair<Address, Address> around(const Snapshot &snapshot, Address address, std::string &note) {
  constexpr u32 on_each_side = 3;
  const ObjectIndex &index = snapshot.index();
  const ObjectRange *range = range_of(snapshot.heap(), address);
  if (!range || address >= range->end())
    throw NotFound(hex(address) + " is not in a part of the heap that has objects");
  const HeapSegment &segment = snapshot.heap().segments()[range->segment];
  Address first = segment.start, end = segment.end;
  if (const ObjectId here = index.last_at_or_before(address); here != no_object) {
    const u32 id = static_cast<u32>(here);
    const Address at = index.address(here);
    if (at >= segment.start)
      note = at == address
                 ? "an object begins at " + hex(address)
                 : hex(address) + " lies " + count_text(address - at) + (address - at == 1 ? " byte" : " bytes") +
                       " after the beginning of the object at " + hex(at);
    first = std::max(first, index.address(ObjectId(id - std::min(id, on_each_side))));
    if (id + on_each_side + 1 < index.count())
      end = std::min(end, index.address(ObjectId(id + on_each_side + 1)));
  }
  return {first, end};
}

report::Table table_of_instances(const Snapshot &snapshot, const Question &question, Selection &selection) {
  return instances_table(snapshot, question, selection.types(), [&](Instance &out) {
    Line line;
    if (!selection.next(line))
      return false;
    out.address = line.address;
    out.method_table = line.method_table;
    out.bytes = line.bytes;
    out.generation = name_of(line.generation);
    return true;
  });
}

bool is_by_size(const Question &question) { return question.by == "size" || question.table == "sizes"; }

} // namespace

Plan plan_objects(const Question &question) {
  if (question.near && question.range)
    throw UsageError("--near and --range exclude each other: --near chooses the range");
  if (is_by_size(question) && !question.sort.empty())
    throw UsageError("--sort cannot be used with --by size, which always sorts by total bytes");
  check_instances(question);
  const bool needs_index = question.near || question.by == "retained";
  Plan plan(passes_of_life(question) | (needs_index ? Pass::index | Pass::tally : Passes(Pass::tally)));
  if (question.by == "retained")
    foresee_ranked(plan);
  return question.refers_to.empty() ? plan : plan.then("referring objects");
}

report::Answer answer_objects(const Snapshot &snapshot, const Question &asked) {
  using report::Kind;
  Question question = asked;
  question.values &= !snapshot.target().has_blanked_values();
  if (!question.by_field.empty() && !question.values)
    throw NotFound("--by-field: there are no values: " + snapshot.target().why_no_values());
  std::string note;
  if (question.near) {
    const auto [first, end] = around(snapshot, question.near->value(), note);
    question.range = std::pair(v0::Address(first), v0::Address(end));
  }
  report::Answer answer = begin_answer(snapshot, "objects");
  report::Table table;
  table.name = "objects";
  table.columns = {{"address", "Address", Kind::address},
                   {"method_table", "MethodTable", Kind::address,
                    question.verbose ? report::Shown::everywhere : report::Shown::in_data},
                   {"bytes", "Bytes", Kind::bytes},
                   {"generation", "Gen", Kind::text},
                   {"type", "Type", Kind::text}};
  auto selection = std::make_shared<Selection>(snapshot, question);
  bool by_address = question.sort.empty() || question.sort == "address";
  if (is_by_size(question))
    table = sizes_table(snapshot, *selection, question.top);
  else if (is_about_instances(question))
    table = table_of_instances(snapshot, question, *selection);
  else
    table.rows = by_address ? streamed(selection) : sorted(snapshot, selection, question.sort, question.top);
  if (!note.empty())
    table.notes.push_back(note);
  answer.tables.push_back(std::move(table));
  // Names are needed while rows stream; problems with them must be noted before.
  for (const TypeTally &type : snapshot.tally().types)
    selection->name(type.method_table);
  if (asked.values && !question.values)
    answer.completeness->notes.add("there are no values: " + snapshot.target().why_no_values());
  if (question.by == "retained") {
    add_root_notes(snapshot, answer);
    add_reference_notes(snapshot, answer);
  }
  selection->types().add_notes(answer);
  add_name_notes(snapshot, answer);
  add_live_notes(snapshot, question, answer);
  return answer;
}

} // namespace dnheap
