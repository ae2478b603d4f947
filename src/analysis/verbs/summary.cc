// `summary`: one record of a dump, small enough to keep for many dumps. It asks other verbs, so its figures are theirs.
#include "analysis/owners/ranked_tree.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "report/write.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

// Limits that keep a record below 64 KiB, whatever names the dump has.
constexpr u64 most_owners = 40, most_types = 50, most_waste = 15, most_places = 15;
constexpr u64 longest_name = 240;

constexpr const char *rest = "(rest)";

Cell name_cell(std::string_view name) { return shortened(name, longest_name); }

// The rows of one table of an answer, with access by column key.
class TableRows {
public:
  TableRows(const report::Answer &answer, std::string_view name) {
    for (const report::Table &table : answer.tables)
      if (table.name == name && table.shown != report::Shown::in_text)
        table_ = &table;
  }

  template <class Visit> void for_each(Visit visit) const {
    if (!table_)
      return;
    const report::WriteOptions all;
    report::Rows rows(*table_, all);
    while ((row_ = rows.next()))
      visit(*this);
  }
  const Cell &operator[](std::string_view key) const { return (*row_)[table_->column(key)]; }
  u64 number(std::string_view key) const {
    const u64 *value = (*this)[key].get_if<u64>();
    return value ? *value : 0;
  }
  std::string text(std::string_view key) const { return std::string((*this)[key].text().value_or("")); }

private:
  const report::Table *table_ = nullptr;
  mutable const report::Row *row_ = nullptr;
};

const Cell *find_fact(const std::vector<report::Fact> &facts, std::string_view key) {
  const auto at = std::ranges::find(facts, key, &report::Fact::key);
  return at == facts.end() ? nullptr : &at->value;
}

report::Table table_of(const char *name, std::vector<report::Column> columns, std::vector<report::Row> rows) {
  report::Table out;
  out.name = name;
  out.columns = std::move(columns);
  out.whole = true;
  out.set_rows(std::move(rows));
  return out;
}

u64 most(const Question &question, u64 usual) {
  return !question.top_is_asked ? usual : question.top ? question.top : ~u64{0};
}

// The owners, with those of the same signature merged.
struct OwnerSums {
  report::Table table;
  u64 count = 0, unreachable = 0;
};

OwnerSums owners_of(const report::Answer &retained, const Question &question) {
  struct Owner {
    std::string signature, kind, name;
    u64 retained = 0, objects = 0;
  };
  OwnerSums out;
  std::vector<Owner> owners;
  std::map<std::string, u64> numbers;
  TableRows(retained, "owners").for_each([&](const TableRows &row) {
    const auto [at, is_new] = numbers.emplace(row.text("signature"), owners.size());
    if (is_new)
      owners.push_back({at->first, row.text("kind"), row.text("source"), 0, 0});
    owners[at->second].retained += row.number("retained");
    owners[at->second].objects += row.number("objects");
    if (row.text("kind") == "unreachable")
      out.unreachable += row.number("retained");
  });
  std::ranges::stable_sort(owners, std::greater(), &Owner::retained);
  out.count = owners.size();
  const u64 shown = std::min<u64>(owners.size(), most(question, most_owners));
  std::vector<report::Row> rows;
  Owner others{"", rest, rest, 0, 0};
  for (u64 i = 0; i < owners.size(); ++i)
    if (const Owner &one = owners[i]; i < shown)
      rows.push_back({one.signature, one.kind, name_cell(one.name), one.retained, one.objects});
    else
      others.retained += one.retained, others.objects += one.objects;
  if (shown < owners.size())
    rows.push_back({Cell(), others.kind, others.name, others.retained, others.objects});
  out.table = table_of("owners",
                       {{"signature", "Signature", Kind::text},
                        {"kind", "Kind", Kind::text},
                        {"owner", "Owner", Kind::text},
                        {"retained", "Retained", Kind::bytes},
                        {"objects", "Objects", Kind::count}},
                       std::move(rows));
  return out;
}

// A sum by names. In its table the largest come first, and the last row has those that do not fit.
struct Sum {
  std::vector<std::string> names;
  u64 count = 0, bytes = 0;
};

std::vector<report::Row> rows_of(std::vector<Sum> sums, u64 most, bool with_bytes) {
  std::ranges::stable_sort(sums, [&](const Sum &a, const Sum &b) {
    return with_bytes && a.bytes != b.bytes ? a.bytes > b.bytes : a.count > b.count;
  });
  std::vector<report::Row> rows;
  Sum others;
  for (u64 i = 0; i < sums.size(); ++i) {
    if (i >= most) {
      others.count += sums[i].count;
      others.bytes += sums[i].bytes;
      continue;
    }
    report::Row row;
    for (const std::string &name : sums[i].names)
      row.push_back(name.empty() ? Cell() : name_cell(name));
    row.push_back(sums[i].count);
    if (with_bytes)
      row.push_back(sums[i].bytes);
    rows.push_back(std::move(row));
  }
  if (sums.size() > most) {
    report::Row row(sums.front().names.size());
    row.front() = rest;
    row.push_back(others.count);
    if (with_bytes)
      row.push_back(others.bytes);
    rows.push_back(std::move(row));
  }
  return rows;
}

// Merges types with the same name.
std::vector<Sum> types_of(const report::Answer &stat) {
  std::vector<Sum> out;
  std::map<std::string, u64> numbers;
  TableRows(stat, "types").for_each([&](const TableRows &row) {
    const auto [at, is_new] = numbers.emplace(row.text("type"), out.size());
    if (is_new)
      out.push_back({{at->first}, 0, 0});
    out[at->second].count += row.number("count");
    out[at->second].bytes += row.number("bytes");
  });
  return out;
}

std::vector<Sum> waste_of(const report::Answer &report) {
  std::vector<Sum> out;
  TableRows(report, "waste").for_each([&](const TableRows &row) {
    out.push_back({{row.text("kind"), row.text("what"), row.text("field")}, row.number("count"), row.number("bytes")});
  });
  return out;
}

// Threads by the method that they are in. Their names are left out, because they are the program's own texts.
struct ThreadSums {
  std::vector<Sum> places;
  u64 live = 0;
};

ThreadSums threads_of(const report::Answer &threads) {
  ThreadSums out;
  std::map<std::string, u64> numbers;
  TableRows(threads, "threads").for_each([&](const TableRows &row) {
    if (row["os_id"].is_absent()) // it has ended
      return;
    ++out.live;
    const auto [at, is_new] = numbers.emplace(row.text("method"), out.places.size());
    if (is_new)
      out.places.push_back({{at->first}, 0, 0});
    ++out.places[at->second].count;
  });
  return out;
}

report::Table account_of(const report::Answer &report) {
  std::vector<report::Row> rows;
  TableRows(report, "account").for_each([&](const TableRows &row) {
    rows.push_back({row["class"], row["group"], row["bytes"]});
  });
  return table_of("account",
                  {{"class", "Class", Kind::text}, {"group", "Group", Kind::text}, {"bytes", "Bytes", Kind::bytes}},
                  std::move(rows));
}

report::Table findings_of(const report::Answer &report) {
  std::vector<report::Row> rows;
  TableRows(report, "findings").for_each([&](const TableRows &row) {
    rows.push_back(
        {row["kind"], row["harm"], row["sureness"], shortened(row.text("text"), 1000), row["count"], row["bytes"]});
  });
  return table_of("findings",
                  {{"kind", "Kind", Kind::text},
                   {"harm", "Harm", Kind::text},
                   {"sureness", "Sure", Kind::text},
                   {"text", "", Kind::text, report::Shown::in_data},
                   {"count", "Count", Kind::count},
                   {"bytes", "Bytes", Kind::bytes}},
                  std::move(rows));
}

void add_notes(const report::Answer &from, report::Answer &to) {
  if (!from.completeness || !to.completeness)
    return;
  to.completeness->notes.add_all(from.completeness->notes);
}

u64 bytes_of(const std::vector<Sum> &sums) {
  u64 out = 0;
  for (const Sum &sum : sums)
    out += sum.bytes;
  return out;
}

} // namespace

Plan plan_summary(const Question &) {
  Plan plan = plan_report({});
  foresee_ranked(plan);
  return plan.perhaps(Pass::live);
}

report::Answer answer_summary(const Snapshot &snapshot, const Question &question) {
  Question of;
  of.target = question.target;
  report::Answer answer = answer_report(snapshot, of);
  const std::vector<Sum> waste = waste_of(answer);
  report::Table account = account_of(answer), findings = findings_of(answer);
  std::vector<report::Fact> verdict;
  if (const Cell *fact = find_fact(answer.target, "verdict"))
    verdict = *fact->get_if<std::vector<report::Fact>>();
  std::erase_if(answer.target, [](const report::Fact &fact) { return fact.key == "verdict"; });
  auto judged = [&](const char *key) {
    const Cell *cell = find_fact(verdict, key);
    return cell ? *cell : Cell();
  };

  const report::Answer stat = answer_stat(snapshot, of);
  const std::vector<Sum> types = types_of(stat);
  const report::Answer thread_answer = answer_threads(snapshot, of);
  const ThreadSums threads = threads_of(thread_answer);
  of.table = "owners";
  const report::Answer retained = answer_retained(snapshot, of);
  OwnerSums owners = owners_of(retained, question);
  for (const report::Answer *one : {&stat, &thread_answer, &retained})
    add_notes(*one, answer);

  const Target &target = snapshot.target();
  answer.command = "summary";
  answer.next_command.clear();
  answer.tables.clear();
  answer.tables.push_back(table_of(
      "summary",
      {{"taken", "Taken", Kind::number},
       {"clock", "Says", Kind::text},
       {"verdict", "Verdict", Kind::text},
       {"verdict_text", "", Kind::text, report::Shown::in_data},
       {"hang", "Hang", Kind::text},
       {"hang_text", "", Kind::text, report::Shown::in_data},
       {"unreachable_bytes", "Unreachable", Kind::bytes},
       {"waste_bytes", "Waste", Kind::bytes},
       {"owners_count", "Owners", Kind::count},
       {"types_count", "Types", Kind::count},
       {"threads_count", "Threads", Kind::count}},
      {{target.taken ? Cell(target.taken->seconds) : Cell(), target.taken ? Cell(name_of(target.taken->clock)) : Cell(),
        judged("rule"), shortened(judged("text").text().value_or(""), 1000), judged("hang"),
        report::text_cell(shortened(judged("hang_text").text().value_or(""), 1000)), owners.unreachable,
        target.has_blanked_values() ? Cell() : Cell(bytes_of(waste)), owners.count, u64{types.size()}, threads.live}}));
  answer.tables.push_back(std::move(findings));
  answer.tables.push_back(std::move(account));
  answer.tables.push_back(std::move(owners.table));
  answer.tables.push_back(table_of(
      "types", {{"type", "Type", Kind::text}, {"count", "Count", Kind::count}, {"bytes", "Bytes", Kind::bytes}},
      rows_of(types, most(question, most_types), true)));
  answer.tables.push_back(table_of("waste",
                                   {{"kind", "Kind", Kind::text},
                                    {"what", "What", Kind::text},
                                    {"field", "Field", Kind::text},
                                    {"count", "Count", Kind::count},
                                    {"bytes", "Bytes", Kind::bytes}},
                                   rows_of(waste, most(question, most_waste), true)));
  answer.tables.push_back(table_of("threads", {{"method", "Stand in", Kind::text}, {"count", "Threads", Kind::count}},
                                   rows_of(threads.places, most(question, most_places), false)));
  return answer;
}

} // namespace dnheap
