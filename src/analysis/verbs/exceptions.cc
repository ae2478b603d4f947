// `exceptions`: what was thrown? One row for exceptions of the same type, HResult and calls that they passed through;
// those that a thread is handling come first, with their stacks. Or one exception, with its stack.
#include "analysis/answer_head.h"
#include "analysis/filters/type_filter.h"
#include "analysis/names/subject.h"
#include "analysis/threads/exception_objects.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "base/not_found.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/string_object.h"
#include "snapshot/source_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 longest_message = 200;
constexpr u64 most_frames = 1000; // of one stack; a longer stack is a recursion

struct Group {
  ExceptionObject first;
  std::optional<ExceptionInFlight> in_flight;
  std::string inner_types;
  u64 count = 0;
};

// The common properties of the exceptions in a group. Those in flight have groups of their own.
struct GroupKey {
  Address in_flight = 0, method_table = 0;
  std::optional<u32> hresult;
  std::string inner_types;
  std::vector<Address> methods;
  std::vector<std::string> earlier;
  auto operator<=>(const GroupKey &) const = default;
};

class Grouping {
public:
  Grouping(const Snapshot &snapshot, const Question &question)
      : snapshot_(snapshot), question_(question), filter_(snapshot, question), objects_(snapshot), lines_(snapshot) {
    if (!question.subject.empty())
      only_ = address_of_subject(snapshot, question);
    for (const ExceptionInFlight &one : objects_.in_flight(problems_))
      in_flight_.try_emplace(one.object, one);
    std::map<GroupKey, Group> groups;
    std::set<Address> met;
    auto add_object = [&](const TypedObject &object) {
      if ((!only_ || object.address == *only_) &&
          (filter_.everything() || filter_.passes(type_name(object.method_table))) && met.insert(object.address).second)
        add(objects_.read(object), groups);
    };
    for (const TypedObject &object : objects_.all())
      add_object(object);
    // If the heap has gaps, a walk does not find every object.
    for (const auto &[address, flight] : in_flight_)
      add_object({address, method_table_of(snapshot.runtime().memory(), address)});
    for (auto &[key, group] : groups)
      groups_.push_back(std::move(group));
    if (only_ && groups_.empty())
      throw NotFound("no exception begins at " + hex(*only_) + ": dnheap show shows what is there");
    sort();
  }

  const std::vector<Group> &groups() const { return groups_; }
  bool is_of_one() const { return only_.has_value(); }
  const Notes &problems() const { return problems_; }
  const TypeFilter &filter() const { return filter_; }
  u64 without_stack() const { return without_stack_; }
  u64 total() const { return total_; }
  const std::string &type_name(Address mt) { return snapshot_.runtime().types().name(mt); }
  std::string inner_type(const ExceptionObject &e) {
    Address mt = e.inner ? method_table_of(snapshot_.runtime().memory(), e.inner) : 0;
    return mt && objects_.is_exception(e.inner) ? type_name(mt) : "";
  }
  Cell message(const ExceptionObject &e) const {
    if (!question_.values || !e.message || !snapshot_.heap().holds(e.message))
      return {};
    std::optional<StringText> text = string_text(snapshot_.runtime(), e.message, longest_message);
    return text ? Cell(text->text + (text->is_cut ? "…" : "")) : Cell();
  }
  // Returns the first `most_frames` calls, after those from before it was thrown again.
  std::vector<std::string> stack(const ExceptionObject &e) {
    std::vector<std::string> out = e.earlier;
    for (Address method : std::span(e.methods).first(std::min<u64>(e.methods.size(), most_frames)))
      out.push_back(snapshot_.runtime().method_text(method).name);
    if (e.methods.size() > most_frames)
      out.push_back(fmt::format("… {} more", count_text(e.methods.size() - most_frames)));
    return out;
  }

  // Returns the source place in the method of that number on its stack.
  SourcePlace place(const ExceptionObject &e, u64 index) {
    const u64 at = index - e.earlier.size(); // wraps for an earlier call, whose place is unknown
    return at < std::min<u64>(e.ips.size(), most_frames) ? lines_.find(e.methods[at], e.ips[at], false) : SourcePlace();
  }
  const SourceLines &lines() const { return lines_; }

private:
  void add(ExceptionObject e, std::map<GroupKey, Group> &to) {
    ++total_;
    without_stack_ += !e.is_stack_known;
    auto flying = in_flight_.find(e.address);
    GroupKey key{flying == in_flight_.end() ? 0 : e.address,
                 e.method_table,
                 e.hresult,
                 objects_.inner_types(e),
                 e.methods,
                 e.earlier};
    auto [it, is_new] = to.try_emplace(std::move(key));
    if (is_new) {
      it->second.inner_types = it->first.inner_types;
      it->second.first = std::move(e);
      if (flying != in_flight_.end())
        it->second.in_flight = flying->second;
    }
    ++it->second.count;
  }

  void sort() {
    auto rank = [](const Group &g) { return !g.in_flight ? 2 : g.in_flight->is_nested ? 1 : 0; };
    std::sort(groups_.begin(), groups_.end(), [&](const Group &a, const Group &b) {
      if (rank(a) != rank(b))
        return rank(a) < rank(b);
      if (a.count != b.count)
        return a.count > b.count;
      const std::string &x = type_name(a.first.method_table), &y = type_name(b.first.method_table);
      return x != y ? x < y : a.first.address < b.first.address;
    });
  }

  const Snapshot &snapshot_;
  const Question &question_;
  std::optional<Address> only_;
  TypeFilter filter_;
  ExceptionObjects objects_;
  SourceLines lines_;
  std::map<Address, ExceptionInFlight> in_flight_;
  std::vector<Group> groups_;
  Notes problems_;
  u64 without_stack_ = 0, total_ = 0;
};

std::string with_line(const std::string &method, const SourceLine &line) {
  return line ? method + " " + line.text() : method;
}

report::Table exceptions_table(Grouping &grouping, const Question &question) {
  struct Line {
    const Group *group;
    Cell thrown_in;
    std::vector<Cell> stack, sources, lines; // by call
    const ExceptionObject &example() const { return group->first; }
    const ExceptionInFlight *flying() const { return group->in_flight ? &*group->in_flight : nullptr; }
  };
  std::vector<Line> all;
  for (const Group &group : grouping.groups()) {
    Line &line = all.emplace_back();
    line.group = &group;
    for (const std::string &method : grouping.stack(group.first)) {
      const SourceLine at = grouping.place(group.first, line.stack.size()).at;
      if (line.stack.empty())
        line.thrown_in = with_line(method, at);
      line.stack.push_back(method);
      line.sources.push_back(report::text_cell(at.file));
      line.lines.push_back(at ? Cell(u64{at.line}) : Cell());
    }
    if (line.stack.empty() && group.first.is_stack_known)
      line.thrown_in = line.flying() ? "(by the runtime)" : "(never thrown)";
  }
  using L = Line;
  auto if_known = [](auto L::*member) {
    return [member](const L &l) { return l.example().is_stack_known ? Cell(l.*member) : Cell(); };
  };
  report::Table table = report::ColumnsOf<L>{
      {{"count", "Count", Kind::count}, [](const L &l) { return l.group->count; }},
      {{"type", "Type", Kind::text}, [&](const L &l) { return grouping.type_name(l.example().method_table); }},
      {{"hresult", "HResult", Kind::text},
       [](const L &l) { return l.example().hresult ? Cell(fmt::format("0x{:08x}", *l.example().hresult)) : Cell(); }},
      {{"os_id", "Thread", Kind::number}, [](const L &l) { return l.flying() ? Cell(l.flying()->os_id) : Cell(); }},
      {{"managed_id", "Managed", Kind::number, Shown::in_data},
       [](const L &l) { return l.flying() ? Cell(l.flying()->managed_id) : Cell(); }},
      {{"nested", "Nested", Kind::boolean, Shown::in_data},
       [](const L &l) { return l.flying() && l.flying()->is_nested; }},
      {{"address", "Example", Kind::address}, [](const L &l) { return l.example().address; }},
      {{"inner", "Inner", Kind::address, Shown::in_data},
       [](const L &l) { return l.example().inner ? Cell(l.example().inner) : Cell(); }},
      {{"inner_type", "", Kind::text, Shown::in_data},
       [&](const L &l) { return report::text_cell(grouping.inner_type(l.example())); }},
      {{"inner_types", "Inner exception", Kind::text},
       [](const L &l) { return report::text_cell(l.group->inner_types); }},
      {{"message", "Message", Kind::text, question.values ? Shown::everywhere : Shown::in_data, false, true},
       [&](const L &l) { return grouping.message(l.example()); }},
      {{"thrown_in", "Thrown in", Kind::text, Shown::in_text}, &L::thrown_in},
      {{"stack", "Stack", Kind::nested, Shown::in_data}, if_known(&L::stack)},
      {{"sources", "", Kind::nested, Shown::in_data}, if_known(&L::sources)},
      {{"lines", "", Kind::nested, Shown::in_data},
       if_known(&L::lines)}}.table("exceptions", "", all);
  table.total = total_row(table, {{"count", grouping.total()}, {"type", total_of(all.size(), "kind")}});
  return table;
}

// Shows the calls of each exception that a thread is handling, or of the one that was asked about.
report::Table stacks_table(Grouping &grouping) {
  const auto flies = [](const Group &group) { return group.in_flight.has_value(); };
  // If only one exception is shown, its columns are left out.
  const bool is_one =
      grouping.is_of_one() || std::count_if(grouping.groups().begin(), grouping.groups().end(), flies) == 1;
  struct Call {
    const Group *group;
    u64 index;
    std::string method;
    SourcePlace place;
  };
  std::vector<Call> calls;
  for (const Group &group : grouping.groups()) {
    if (!group.in_flight && !grouping.is_of_one())
      break;
    u64 index = 0;
    for (const std::string &method : grouping.stack(group.first)) {
      calls.push_back({&group, index, method, grouping.place(group.first, index)});
      ++index;
    }
  }
  using C = Call;
  report::Table table = report::ColumnsOf<C>{
      {{"address", "Exception", Kind::address, Shown::in_data}, [](const C &c) { return c.group->first.address; }},
      {{"os_id", "Thread", Kind::number},
       [](const C &c) { return c.group->in_flight ? Cell(c.group->in_flight->os_id) : Cell(); }},
      {{"type", "Exception", Kind::text, is_one ? Shown::in_data : Shown::everywhere},
       [&](const C &c) { return grouping.type_name(c.group->first.method_table); }},
      {{"index", "Call", Kind::number}, &C::index},
      {{"method", "Method", Kind::text, Shown::in_data}, &C::method},
      {{"where", "Method", Kind::text, Shown::in_text}, [](const C &c) { return with_line(c.method, c.place.at); }},
      {{"il_offset", "", Kind::number, Shown::in_data},
       [](const C &c) { return c.place.il_offset ? Cell(u64{*c.place.il_offset}) : Cell(); }},
      {{"source", "", Kind::text, Shown::in_data}, [](const C &c) { return report::text_cell(c.place.at.file); }},
      {{"line", "", Kind::number, Shown::in_data}, [](const C &c) {
         return c.place.at ? Cell(u64{c.place.at.line}) : Cell();
       }}}.table("stacks", "", calls);
  if (calls.empty())
    table.shown = Shown::in_data;
  else
    table.title = grouping.is_of_one() ? "Calls that it has passed through, innermost first"
                                       : "Calls that the exceptions in flight have passed through, innermost first";
  return table;
}

} // namespace

report::Answer answer_exceptions(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "exceptions");
  Grouping grouping(snapshot, question);
  answer.tables = {exceptions_table(grouping, question), stacks_table(grouping)};
  grouping.filter().add_notes(answer);
  answer.completeness->notes.add_all(grouping.problems());
  if (grouping.without_stack())
    answer.completeness->notes.add(fmt::format("the calls that {} of the exceptions passed through are unknown",
                                               count_text(grouping.without_stack())));
  answer.completeness->notes.add_all(grouping.lines().notes());
  add_crash(snapshot, answer);
  add_name_notes(snapshot, answer);
  const auto may_be_thrown =
      [&](const Group &group) { // an exception that was made in advance, such as the runtime's own, was never thrown
        return group.in_flight || !group.first.is_stack_known || !grouping.stack(group.first).empty();
      };
  const std::vector<Group> &groups = grouping.groups();
  if (const auto next = std::find_if(groups.begin(), groups.end(), may_be_thrown); next != groups.end())
    answer.next_command = "dnheap path " + shell_word(question.target) + " " + hex(next->first.address);
  return answer;
}

} // namespace dnheap
