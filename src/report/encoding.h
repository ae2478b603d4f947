// How single values become characters: safe UTF-8, JSON, CSV, and columns of text. Shared by the writers; all append to
// a string that the caller reuses, so that a row costs no allocation. No state, any thread.
#pragma once
#include "report/table.h"

namespace dnheap::report {

// What is not UTF-8 becomes U+FFFD.
void append_utf8(std::string &out, std::string_view text);

// The same, and control characters, which a hostile dump could send to a terminal, and those that turn the direction of
// writing round, become '?'.
void append_printable(std::string &out, std::string_view text);

// The same, and the field behind a property is called as the property is: "<Cart>k__BackingField" is "Cart". For names
// and sentences, not for values of the program's.
void append_named(std::string &out, std::string_view text);

// Columns that printable UTF-8 takes on a screen: of East Asian wide characters two each.
u64 width_of(std::string_view text);

// "text", quoted and escaped.
void append_json_text(std::string &out, std::string_view text);

// Any cell. Addresses are "0x…", absent cells and numbers that are not finite are null.
void append_json(std::string &out, const Cell &cell, Kind kind);

// {"key":value,…}: values are shown by their type.
void append_json_object(std::string &out, const std::vector<Fact> &facts);

// RFC 4180: quoted only where needed. Nested cells as JSON text.
void append_csv(std::string &out, const Cell &cell, Kind kind);
void append_csv_text(std::string &out, std::string_view text);

constexpr u64 widest_bar = 30; // what the whole has, of a Kind::bar

// Numbers.
bool is_right_aligned(Kind kind);
// What a lead says, one paragraph after the other: an empty line stands between them.
std::vector<std::string_view> paragraphs_of(std::string_view lead);
// Indices of the columns that are shown to people.
std::vector<u64> columns_in_text(const Table &table);

// For people. `exact`: bytes as digits instead of 861.0 MiB.
void append_text(std::string &out, const Cell &cell, const Column &column, bool exact);

} // namespace dnheap::report
