// OQL, the query language of Eclipse MAT, as far as it has to be recognized where SQL is asked for. Linear in the
// question; any thread.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// "select * from Shop.Order s": returns "; " and how to ask that here; empty: it does not look like OQL.
std::string instead_of_oql(std::string_view question);

} // namespace dnheap
