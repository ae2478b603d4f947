// Golden files: an input and the outputs expected of it, in one file that reads as documentation. Sections start with
// a line "=== NAME"; what precedes the first is a comment. With DNHEAP_UPDATE_GOLDEN=1 in the environment, finish()
// writes what came out into the file instead of failing: look at the diff, then commit it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::test {

struct GoldenSection {
  std::string name, text;
};

class Golden {
public:
  explicit Golden(std::string path); // throws std::runtime_error when it cannot be read

  const std::vector<GoldenSection> &sections() const { return sections_; }
  // The text of the section of that name.
  const std::string &input(std::string_view name) const;
  // Fails the current test, with both texts, when `actual` is not the section's text.
  void expect(const GoldenSection &section, const std::string &actual);
  void finish() const;

private:
  std::string path_, comment_;
  std::vector<GoldenSection> sections_, actual_;
};

// Files *.txt of a folder below test/, sorted.
std::vector<std::string> golden_files(const std::string &folder);

} // namespace dnheap::test
