// Converts single values to characters: safe UTF-8, JSON, CSV, and columns of text. Shared by the writers; all append
// to a string that the caller reuses, so that a row costs no allocation. No state, any thread.
#pragma once
#include "report/table.h"

namespace dnheap::report {

// Invalid UTF-8 becomes U+FFFD.
void append_utf8(std::string &out, std::string_view text);

// The same. Besides, control characters (which a hostile dump could send to a terminal) and characters that reverse the
// direction of writing become '?'.
void append_printable(std::string &out, std::string_view text);

// The same. Besides, a property's backing field is named like the property: "<Cart>k__BackingField" becomes "Cart". For
// names and sentences, not for the program's values.
void append_named(std::string &out, std::string_view text);

// Returns the columns that printable UTF-8 takes on a screen: East Asian wide characters take two.
u64 width_of(std::string_view text);

// Appends the text quoted and escaped.
void append_json_text(std::string &out, std::string_view text);

// Appends any cell. Addresses are "0x…"; absent cells and infinite or NaN numbers are null.
void append_json(std::string &out, const Cell &cell, Kind kind);

// Appends {"key":value,…}, each value according to its type.
void append_json_object(std::string &out, const std::vector<Fact> &facts);

// RFC 4180: quoted only if necessary. Nested cells as JSON text.
void append_csv(std::string &out, const Cell &cell, Kind kind);
void append_csv_text(std::string &out, std::string_view text);

constexpr u64 widest_bar = 30; // columns of a Kind::bar for 100 %

// True for numbers.
bool is_right_aligned(Kind kind);
// Returns the paragraphs of a lead, which empty lines separate.
std::vector<std::string_view> paragraphs_of(std::string_view lead);
// Returns the indices of the columns shown to people.
std::vector<u64> columns_in_text(const Table &table);

// For people. `exact`: bytes as digits instead of 861.0 MiB.
void append_text(std::string &out, const Cell &cell, const Column &column, bool exact);

} // namespace dnheap::report
