// ScreenStyle: marks headings, warnings and asides in a text for a terminal. Without colour it returns every text
// unchanged. Its input must be printable and laid out already. No state, any thread.
#pragma once
#include <string>
#include <string_view>

namespace dnheap::report {

class ScreenStyle {
public:
  explicit ScreenStyle(bool color) : color_(color) {}

  std::string heading(std::string_view text) const { return marked("1", text); }
  std::string warning(std::string_view text) const { return marked("33", text); }
  std::string aside(std::string_view text) const { return marked("2", text); }

private:
  std::string marked(std::string_view code, std::string_view text) const {
    if (!color_ || text.empty())
      return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

  bool color_;
};

} // namespace dnheap::report
