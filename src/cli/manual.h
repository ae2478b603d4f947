// The manual page, dnheap(1), made from the tables of verbs and options: roff with man(7)'s macros, ASCII only. 50 KB.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

std::string manual_page(std::span<const Verb> verbs);

} // namespace dnheap::cli
