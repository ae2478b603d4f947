// Small text forms used in messages and tables: addresses, byte sizes, counts.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>

namespace dnheap {

std::string hex(u64 value);                        // 0x7fb27a49c050: lower case, no leading zeros
std::string hex_bytes(const u8 *data, u64 size);   // a1b2c3
std::string bytes_text(u64 bytes);                 // 861.0 MiB, 12 B
std::string count_text(u64 count);                 // 46,077,786
std::string milliseconds_text(u64 ms);             // 250 ms, 95.32 s, 2.5 min, 36 h, 12 d
std::string lower_case(std::string_view text);     // of ASCII letters
std::string total_of(u64 count, const char *what); // total of 1 row, total of 1,234 rows: `what` is the singular
// 2026-11-25T02:10:07Z, 20261125T021007Z; `time` in seconds since 1970
std::string utc_text(u64 time, bool compact = false);

// Cuts a text longer than `limit` with "…". For names: the writer handles control characters.
std::string shortened(std::string_view text, u64 limit = 1024);
// Makes one line that is safe to print: control characters of a hostile dump become '?', text longer than `limit` is
// cut with "…".
std::string printable(std::string_view text, u64 limit = 1024);

} // namespace dnheap
