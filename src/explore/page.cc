#include "explore/page.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

extern "C" const char *const dnheap_page_files[]; // name, text, …, null: made by the build

namespace dnheap::explore {

namespace {

std::string_view type_of(std::string_view name) {
  using namespace std::string_view_literals;
  for (auto [ending, type] :
       {std::pair(".html"sv, "text/html; charset=utf-8"sv), std::pair(".js"sv, "text/javascript; charset=utf-8"sv),
        std::pair(".css"sv, "text/css; charset=utf-8"sv), std::pair(".svg"sv, "image/svg+xml"sv)})
    if (name.ends_with(ending))
      return type;
  return "application/octet-stream";
}

} // namespace

const PageFile *page_file(std::string_view name) {
  static const std::vector<PageFile> files = [] {
    std::vector<PageFile> out;
    for (const char *const *at = dnheap_page_files; *at; at += 2)
      out.push_back({at[0], type_of(at[0]), at[1]});
    return out;
  }();
  for (const PageFile &file : files)
    if (file.name == name)
      return &file;
  return nullptr;
}

} // namespace dnheap::explore
