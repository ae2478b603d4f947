// What tests of readers do to files, and see of dumps.
#pragma once
#include "target/target.h"

#include <random>

namespace dnheap::test {

// One to six bytes changed at random; one time in four the end is missing, too.
std::vector<std::byte> damaged(std::vector<std::byte> file, std::mt19937 &random);

// What an opener of dump/ says of a file: the target, or its failure's text in place of the exception.
struct OpenedFile {
  std::unique_ptr<Target> target;
  std::string error;

  template <class Open> OpenedFile(Open open, Bytes file) {
    try {
      target = open(file, nullptr);
    } catch (const Error &thrown) {
      error = thrown.what();
    }
  }
  const Target *operator->() const { return target.get(); }
};

// Does one of the opener's notes say that?
bool has_note(const Target &target, std::string_view part);

} // namespace dnheap::test
