#include "support/golden.h"

#include "support/places.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>

namespace dnheap::test {

namespace {

bool is_update() { return std::getenv("DNHEAP_UPDATE_GOLDEN") != nullptr; }

} // namespace

Golden::Golden(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path_);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== "))
      sections_.push_back({line.substr(4), ""});
    else
      (sections_.empty() ? comment_ : sections_.back().text) += line + "\n";
  }
  actual_ = sections_;
}

const std::string &Golden::input(std::string_view name) const {
  for (const GoldenSection &section : sections_)
    if (section.name == name)
      return section.text;
  throw std::runtime_error(path_ + ": no section " + std::string(name));
}

void Golden::expect(const GoldenSection &section, const std::string &actual) {
  if (is_update())
    actual_[static_cast<std::size_t>(&section - sections_.data())].text = actual;
  else
    EXPECT_EQ(actual, section.text) << path_ << ", section " << section.name;
}

void Golden::finish() const {
  if (!is_update())
    return;
  std::ofstream file(path_, std::ios::binary);
  file << comment_;
  for (const GoldenSection &section : actual_)
    file << "=== " << section.name << "\n" << section.text;
}

std::vector<std::string> golden_files(const std::string &folder) {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(test_folder() + "/" + folder))
    if (entry.path().extension() == ".txt")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace dnheap::test
