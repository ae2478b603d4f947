// The page's files, as web/ makes them and the build lays them into the program: web/dist/. Any thread; cost nothing.
#pragma once
#include <string_view>

namespace dnheap::explore {

struct PageFile {
  std::string_view name; // "app.js"
  std::string_view type; // as HTTP says it
  std::string_view text;
};

// Null: the page has no such file.
const PageFile *page_file(std::string_view name);

} // namespace dnheap::explore
