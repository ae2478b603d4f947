// The page's files, made in web/ and compiled into the program: web/dist/. Any thread; cost nothing.
#pragma once
#include <string_view>

namespace dnheap::explore {

struct PageFile {
  std::string_view name; // "app.js"
  std::string_view type; // its HTTP content type
  std::string_view text;
};

// Returns null if the page has no such file.
const PageFile *page_file(std::string_view name);

} // namespace dnheap::explore
