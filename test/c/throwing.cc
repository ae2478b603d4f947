// A C++ program whose on_progress throws: the call ends as if it was cancelled, nothing of it goes on, and the thread
// may ask again. Usage: throwing SAMPLE
#include "dnheap.h"

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

int told = 0, wrong = 0;

int throws(void *context, const dnheap_progress *) {
  ++told;
  if (context)
    throw 7;
  throw std::runtime_error("enough");
}

void check(int code, const char *words) {
  if (code == DNHEAP_INTERRUPTED && std::strstr(dnheap_error(), words))
    return;
  std::printf("throwing.cc: code %d, %s\n", code, dnheap_error());
  wrong = 1;
}

} // namespace

int main(int, char **arguments) {
  std::vector<const char *> words(30, arguments[1]); // long enough for on_progress to be called
  words[0] = "diff";
  char *answer = nullptr;
  check(dnheap_command(words.data(), words.size(), throws, nullptr, &answer, nullptr),
        "on_progress threw an exception: enough");
  check(dnheap_command(words.data(), words.size(), throws, &told, &answer, nullptr), "on_progress threw an exception");
  if (answer || told != 2) {
    std::printf("throwing.cc: on_progress was called %d times\n", told);
    wrong = 1;
  }
  return wrong;
}
