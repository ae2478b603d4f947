// ScreenStyle: the few marks that a text for a terminal has: headings, warnings, what is said aside. Without colour it
// gives every text back as it is. What it is given must be printable and laid out already. No state, any thread.
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
