// What `exceptions` leads with if the dump is one that does not say what it was taken for, as those that the runtime
// makes on Windows. For test/real/crashes.py. Usage: unmarked DUMP
#include "analysis/verb.h"
#include "base/error.h"
#include "dump/open.h"
#include "snapshot/files/module_files.h"
#include "snapshot/snapshot.h"

#include <cstdio>

using namespace dnheap;

int main(int count, char **arguments) {
  if (count != 2) {
    std::fputs("usage: unmarked DUMP\n", stderr);
    return 2;
  }
  try {
    std::unique_ptr<Target> target = open_dump(arguments[1]);
    lay_module_files(*target, {});
    target->crash.reset();
    target->container = "minidump";
    Snapshot snapshot(std::move(target), {});
    for (const Verb &verb : verbs())
      if (std::string_view(verb.name) == "exceptions")
        std::puts(ask(verb, snapshot, {}).lead.c_str());
  } catch (const Error &error) {
    std::fprintf(stderr, "unmarked: %s\n", error.what());
    return 3;
  }
}
