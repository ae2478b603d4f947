#include "report/encoding.h"

#include "base/text.h"
#include "base/utf8.h"
#include "report/character_width.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace dnheap::report {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

bool is_control(std::string_view character) {
  u8 lead = static_cast<u8>(character[0]);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && static_cast<u8>(character[1]) < 0xa0);
}

// Appends a control character as in JSON: `\n`, or `\u001b` if there is no letter.
void append_json_escape(std::string &out, std::string_view control) {
  switch (control[0]) {
  case '\n': out += "\\n"; break;
  case '\r': out += "\\r"; break;
  case '\t': out += "\\t"; break;
  default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<u8>(control.back())); // U+009B is c2 9b
  }
}

// Calls visit(character) for each character, with U+FFFD for invalid bytes.
template <class Visit> void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    u64 length = utf8_length(text);
    visit(length ? text.substr(0, length) : replacement);
    text.remove_prefix(std::max<u64>(length, 1));
  }
}

// True for ASCII that every format takes unchanged: nearly all texts, so worth a fast loop.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// The same for eight characters at once, one per byte. The usual test for a zero byte is exact for "is there any".
bool are_plain(u64 eight) {
  constexpr u64 ones = 0x0101010101010101, tops = ones * 0x80;
  auto any_is = [&](char c) {
    const u64 differs = eight ^ ones * static_cast<u8>(c);
    return (differs - ones) & ~differs & tops;
  };
  const u64 controls = (eight - ones * 0x20) & ~eight & tops;
  return ((eight & tops) | controls | any_is(0x7f) | any_is('"') | any_is('\\')) == 0;
}

bool is_plain(std::string_view text) {
  for (; text.size() >= sizeof(u64); text.remove_prefix(sizeof(u64))) {
    u64 eight;
    std::memcpy(&eight, text.data(), sizeof eight);
    if (!are_plain(eight))
      return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
}

template <class T> void append_number(std::string &out, T value) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// `quote` is put on both sides unless 0. Appended in one call, as addresses are a large part of long tables.
void append_hex(std::string &out, u64 value, char quote = 0) {
  char digits[20], *const end = digits + sizeof digits, *at = end;
  if (quote)
    *--at = quote;
  do
    *--at = "0123456789abcdef"[value & 15];
  while (value >>= 4);
  *--at = 'x';
  *--at = '0';
  if (quote)
    *--at = quote;
  out.append(at, end);
}

void append_json_list(std::string &out, const std::vector<Cell> &list) {
  out += '[';
  for (u64 i = 0; i < list.size(); ++i) {
    if (i)
      out += ',';
    append_json(out, list[i], Kind::nested);
  }
  out += ']';
}

// A number of bytes that may be negative (for shrinking).
std::string signed_bytes(i64 bytes, bool exact) {
  u64 size = bytes < 0 ? u64{0} - static_cast<u64>(bytes) : static_cast<u64>(bytes);
  return (bytes < 0 ? "-" : "") + (exact ? count_text(size) : bytes_text(size));
}

std::string number_text(double value, Kind kind) {
  if (kind == Kind::real)
    return fmt::format("{}", value);
  if (!std::isfinite(value))
    return "-";
  if (kind == Kind::bar)
    return std::string(static_cast<u64>(std::clamp(value, 0.0, 1.0) * static_cast<double>(widest_bar) + 0.5), '#');
  return kind == Kind::percent ? fmt::format("{:.1f}%", value * 100) : fmt::format("{:.2f}", value);
}

std::string integer_text(u64 value, Kind kind, bool exact) {
  switch (kind) {
  case Kind::bytes: return exact ? count_text(value) : bytes_text(value);
  case Kind::bytes_change: return (value ? "+" : "") + (exact ? count_text(value) : bytes_text(value));
  case Kind::count: return count_text(value);
  case Kind::count_change: return (value ? "+" : "") + count_text(value);
  case Kind::address: return hex(value);
  case Kind::percent: return number_text(static_cast<double>(value), kind);
  default: return std::to_string(value);
  }
}

std::string signed_text(i64 value, Kind kind, bool exact) {
  if (value >= 0)
    return integer_text(static_cast<u64>(value), kind, exact);
  switch (kind) {
  case Kind::bytes_change:
  case Kind::bytes: return signed_bytes(value, exact);
  case Kind::count_change:
  case Kind::count: return "-" + count_text(u64{0} - static_cast<u64>(value));
  case Kind::percent: return number_text(static_cast<double>(value), kind);
  default: return std::to_string(value);
  }
}

} // namespace

void append_utf8(std::string &out, std::string_view text) {
  for_each_character(text, [&](std::string_view character) { out += character; });
}

void append_printable(std::string &out, std::string_view text) {
  if (is_plain(text))
    out += text;
  else
    for_each_character(text,
                       [&](std::string_view c) { out += is_control(c) || misleads(c) ? std::string_view("?") : c; });
}

u64 width_of(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<u8>(c) < 0x80; }))
    return text.size();
  u64 width = 0;
  for_each_character(text, [&](std::string_view character) { width += character_width(character); });
  return width;
}

void append_json_text(std::string &out, std::string_view text) {
  out += '"';
  if (is_plain(text)) {
    out += text;
  } else {
    for_each_character(text, [&](std::string_view character) {
      if (is_control(character))
        append_json_escape(out, character);
      else if (character == "\"" || character == "\\")
        (out += '\\') += character;
      else
        out += character;
    });
  }
  out += '"';
}

void append_json(std::string &out, const Cell &cell, Kind kind) {
  if (const u64 *u = cell.get_if<u64>()) {
    if (kind == Kind::address)
      append_hex(out, *u, '"');
    else
      append_number(out, *u);
  } else if (std::optional<std::string_view> text = cell.text()) {
    append_json_text(out, *text);
  } else if (const i64 *i = cell.get_if<i64>()) {
    append_number(out, *i);
  } else if (const double *d = cell.get_if<double>(); d && std::isfinite(*d)) {
    append_number(out, *d);
  } else if (const bool *b = cell.get_if<bool>()) {
    out += *b ? "true" : "false";
  } else if (const std::vector<Cell> *list = cell.get_if<std::vector<Cell>>()) {
    append_json_list(out, *list);
  } else if (const std::vector<Fact> *object = cell.get_if<std::vector<Fact>>()) {
    append_json_object(out, *object);
  } else {
    out += "null";
  }
}

void append_json_object(std::string &out, const std::vector<Fact> &facts) {
  out += '{';
  for (u64 i = 0; i < facts.size(); ++i) {
    if (i)
      out += ',';
    append_json_text(out, facts[i].key);
    out += ':';
    append_json(out, facts[i].value, Kind::nested);
  }
  out += '}';
}

void append_csv_text(std::string &out, std::string_view text) {
  const bool plain = is_plain(text);
  const bool quotes = plain ? text.find(',') != text.npos : text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quotes)
    out += '"';
  if (plain)
    out += text;
  else
    for_each_character(text, [&](std::string_view c) {
      if (c == "\"")
        out += '"';
      const bool is_space = c == "\n" || c == "\r" || c == "\t";
      out += is_control(c) && !is_space ? std::string_view("\ufffd") : c; // readers stop at a NUL, or reject the text
    });
  if (quotes)
    out += '"';
}

void append_csv(std::string &out, const Cell &cell, Kind kind) {
  const u64 *number = cell.get_if<u64>();
  if (number && kind == Kind::address) {
    append_hex(out, *number);
  } else if (std::optional<std::string_view> text = cell.text()) {
    // Texts that spreadsheets would take for a formula get an apostrophe in front, so that they are shown as text.
    const bool is_formula =
        !text->empty() && std::string_view("=+-@\t\r").find(text->front()) != std::string_view::npos;
    if (is_formula)
      append_csv_text(out, "'" + std::string(*text));
    else
      append_csv_text(out, *text);
  } else if (cell.get_if<std::vector<Cell>>() || cell.get_if<std::vector<Fact>>()) {
    std::string json;
    append_json(json, cell, kind);
    append_csv_text(out, json);
  } else if (const double *d = cell.get_if<double>(); !cell.is_absent() && !(d && !std::isfinite(*d))) {
    append_json(out, cell, kind);
  }
}

void append_named(std::string &out, std::string_view text) {
  constexpr std::string_view behind = ">k__BackingField";
  for (std::size_t at = text.find(behind); at != text.npos; at = text.find(behind)) {
    const std::size_t open = text.rfind('<', at);
    if (open == text.npos)
      break;
    append_printable(out, text.substr(0, open));
    append_printable(out, text.substr(open + 1, at - open - 1));
    text.remove_prefix(at + behind.size());
  }
  append_printable(out, text);
}

void append_text(std::string &out, const Cell &cell, const Column &column, bool exact) {
  const Kind kind = column.kind;
  if (const u64 *u = cell.get_if<u64>()) {
    out += integer_text(*u, kind, exact);
  } else if (const i64 *i = cell.get_if<i64>()) {
    out += signed_text(*i, kind, exact);
  } else if (const double *d = cell.get_if<double>()) {
    out += number_text(*d, kind);
  } else if (const bool *b = cell.get_if<bool>()) {
    out += *b ? "yes" : "no";
  } else if (std::optional<std::string_view> text = cell.text()) {
    (column.is_value ? append_printable : append_named)(out, *text);
  } else if (cell.is_absent()) {
    out += '-';
  } else {
    std::string json;
    append_json(json, cell, kind);
    append_printable(out, json);
  }
}

bool is_right_aligned(Kind kind) {
  return kind != Kind::text && kind != Kind::boolean && kind != Kind::nested && kind != Kind::bar;
}

std::vector<std::string_view> paragraphs_of(std::string_view lead) {
  constexpr std::string_view between = "\n\n";
  std::vector<std::string_view> out;
  while (!lead.empty()) {
    const u64 end = std::min(lead.find(between), lead.size());
    out.push_back(lead.substr(0, end));
    lead.remove_prefix(std::min(end + between.size(), lead.size()));
  }
  return out;
}

std::vector<u64> columns_in_text(const Table &table) {
  std::vector<u64> out;
  for (u64 i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].shown != Shown::in_data)
      out.push_back(i);
  return out;
}

} // namespace dnheap::report
