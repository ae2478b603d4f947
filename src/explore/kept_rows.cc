#include "explore/kept_rows.h"

#include "base/error.h"
#include "base/text.h"
#include "report/encoding.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace dnheap::explore {

namespace {

constexpr u64 most_rows_at_once = 1000;
constexpr const char *kind_names[] = {"count",   "bytes",  "address",      "text",         "percent", "number",
                                      "boolean", "nested", "bytes_change", "count_change", "bar",     "real"};
constexpr const char *shown_names[] = {"everywhere", "in_text", "in_data"};

std::string words_of(const report::Cell &cell, const report::Column &column) {
  std::string out;
  report::append_text(out, cell, column, false);
  return out;
}

// A question in SQL may have two columns of one name.
void name_apart(std::vector<report::Column> &columns) {
  std::set<std::string> taken;
  for (report::Column &column : columns) {
    const std::string name = column.key;
    for (u64 again = 2; !taken.insert(column.key).second; ++again)
      column.key = name + ' ' + std::to_string(again);
  }
}

double number_of(bool is_negative, bool is_fraction, u64 bits) {
  if (is_fraction)
    return std::bit_cast<double>(bits);
  return is_negative ? static_cast<double>(std::bit_cast<i64>(bits)) : static_cast<double>(bits);
}

} // namespace

KeptRows::KeptRows(const report::Table &table, u64 most_cells, const Watch &watch)
    : name_(table.name), title_(table.title), columns_(table.columns), notes_(table.notes), row_count_(table.row_count),
      stored_(table.columns.size()) {
  name_apart(columns_);
  const u64 most = most_cells / std::max<u64>(columns_.size(), 1);
  report::Row row(columns_.size());
  while (table.rows && table.rows(row)) {
    watch.check();
    if (kept_ == most) {
      is_whole_ = false;
      break;
    }
    add(row);
    for (report::Cell &cell : row)
      cell.clear();
  }
  if (table.total) {
    total_ = ordered_json::array();
    for (u64 i = 0; i < columns_.size(); ++i)
      total_.push_back((*table.total)[i].is_absent() ? ordered_json()
                                                     : ordered_json(words_of((*table.total)[i], columns_[i])));
  }
}

u64 KeptRows::number_of(std::string text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end())
    return known->second;
  texts_.push_back(std::move(text));
  numbers_.emplace(texts_.back(), texts_.size() - 1);
  return texts_.size() - 1;
}

void KeptRows::add(const report::Row &row) {
  for (u64 i = 0; i < columns_.size(); ++i) {
    Tag tag = Tag::absent;
    u64 bits = 0;
    if (const u64 *positive = row[i].get_if<u64>())
      tag = Tag::positive, bits = *positive;
    else if (const i64 *negative = row[i].get_if<i64>())
      tag = Tag::negative, bits = std::bit_cast<u64>(*negative);
    else if (const double *fraction = row[i].get_if<double>())
      tag = Tag::fraction, bits = std::bit_cast<u64>(*fraction);
    else if (!row[i].is_absent())
      tag = Tag::text, bits = number_of(words_of(row[i], columns_[i]));
    stored_[i].tags.push_back(tag);
    stored_[i].bits.push_back(bits);
  }
  ++kept_;
}

ordered_json KeptRows::head() const {
  ordered_json columns = ordered_json::array();
  for (const report::Column &column : columns_)
    columns.push_back({{"key", column.key},
                       {"title", column.title},
                       {"kind", kind_names[static_cast<u8>(column.kind)]},
                       {"shown", shown_names[static_cast<u8>(column.shown)]},
                       {"wraps", column.wraps}});
  const bool has_all = is_whole_ && row_count_.value_or(0) <= kept_;
  const ordered_json count = has_all ? ordered_json(kept_) : row_count_ ? ordered_json(*row_count_) : ordered_json();
  return {{"name", name_}, {"title", title_}, {"columns", columns}, {"count", count},
          {"kept", kept_}, {"notes", notes_}, {"total", total_}};
}

std::string KeptRows::text_at(u64 column, u64 row) const {
  const Stored &in = stored_[column];
  if (in.tags[row] == Tag::text)
    return texts_[in.bits[row]];
  return in.tags[row] == Tag::positive && columns_[column].kind == report::Kind::address ? hex(in.bits[row]) : "";
}

ordered_json KeptRows::cell(u64 column, u64 row) const {
  const Stored &in = stored_[column];
  switch (in.tags[row]) {
  case Tag::absent: return {};
  case Tag::negative: return std::bit_cast<i64>(in.bits[row]);
  case Tag::fraction: return std::bit_cast<double>(in.bits[row]);
  case Tag::text: return texts_[in.bits[row]];
  case Tag::positive: break;
  }
  return columns_[column].kind == report::Kind::address ? ordered_json(hex(in.bits[row])) : ordered_json(in.bits[row]);
}

// Columns that a filter looks into.
bool KeptRows::is_wordy(u64 column) const {
  const report::Kind kind = columns_[column].kind;
  return columns_[column].shown != report::Shown::in_data &&
         (kind == report::Kind::text || kind == report::Kind::nested || kind == report::Kind::address);
}

void KeptRows::sort_by(const std::string &order) {
  const bool is_reversed = order.starts_with('-');
  const std::string key = order.substr(is_reversed);
  const auto found = std::ranges::find(columns_, key, &report::Column::key);
  if (found == columns_.end())
    throw UsageError("order: '" + printable(key, 100) + "' is not a column of this table");
  const Stored &in = stored_[static_cast<u64>(found - columns_.begin())];
  const bool is_address = found->kind == report::Kind::address;
  std::vector<u32> rank(texts_.size()), by_text(texts_.size()); // texts in their order
  std::iota(by_text.begin(), by_text.end(), 0);
  std::ranges::sort(by_text, {}, [&](u32 text) -> const std::string & { return texts_[text]; });
  for (u64 i = 0; i < by_text.size(); ++i)
    rank[by_text[i]] = static_cast<u32>(i);
  // What has no value stands last in either direction; a text stands behind numbers.
  auto less = [&](u32 a, u32 b) {
    const Tag tag_a = in.tags[a], tag_b = in.tags[b];
    if ((tag_a == Tag::absent) != (tag_b == Tag::absent))
      return tag_b == Tag::absent;
    if ((tag_a == Tag::text) != (tag_b == Tag::text))
      return tag_b == Tag::text;
    if (tag_a == Tag::absent)
      return false;
    if (tag_a == Tag::text)
      return is_reversed ? rank[in.bits[a]] > rank[in.bits[b]] : rank[in.bits[a]] < rank[in.bits[b]];
    if (tag_a == Tag::positive && tag_b == Tag::positive)
      return is_reversed != is_address ? in.bits[a] < in.bits[b] : in.bits[a] > in.bits[b];
    const double x = explore::number_of(tag_a == Tag::negative, tag_a == Tag::fraction, in.bits[a]);
    const double y = explore::number_of(tag_b == Tag::negative, tag_b == Tag::fraction, in.bits[b]);
    return is_reversed ? x < y : x > y;
  };
  std::ranges::stable_sort(selected_, less);
}

void KeptRows::select(const RowsWanted &wanted) {
  if (selected_for_ == std::pair(wanted.order, wanted.containing))
    return;
  selected_for_.reset();
  selected_.clear();
  const std::string text = lower_case(wanted.containing);
  std::vector<bool> has(texts_.size());
  for (u64 i = 0; i < texts_.size() && !text.empty(); ++i)
    has[i] = lower_case(texts_[i]).find(text) != std::string::npos;
  auto matches = [&](u64 column, u64 row) {
    const Stored &in = stored_[column];
    if (!is_wordy(column))
      return false;
    return in.tags[row] == Tag::text ? has[in.bits[row]] : text_at(column, row).find(text) != std::string::npos;
  };
  for (u64 row = 0; row < kept_; ++row) {
    bool shows = text.empty();
    for (u64 column = 0; column < columns_.size() && !shows; ++column)
      shows = matches(column, row);
    if (shows)
      selected_.push_back(static_cast<u32>(row));
  }
  if (!wanted.order.empty())
    sort_by(wanted.order);
  selected_for_.emplace(wanted.order, wanted.containing);
}

ordered_json KeptRows::rows(const RowsWanted &wanted) {
  select(wanted);
  ordered_json rows = ordered_json::array();
  const u64 first = std::min<u64>(wanted.from, selected_.size());
  const u64 end = first + std::min({wanted.count, most_rows_at_once, selected_.size() - first});
  for (u64 i = first; i < end; ++i) {
    ordered_json row = ordered_json::array();
    for (u64 column = 0; column < columns_.size(); ++column)
      row.push_back(columns_[column].kind == report::Kind::nested && columns_[column].shown == report::Shown::in_data
                        ? ordered_json()
                        : cell(column, selected_[i]));
    rows.push_back(std::move(row));
  }
  return {{"total", selected_.size()}, {"rows", std::move(rows)}};
}

} // namespace dnheap::explore
