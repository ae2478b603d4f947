// All that it takes to use the library: open a dump; here one that is not there.
#include "snapshot/snapshot.h"

#include <cstdio>

int main() {
  try {
    std::printf("%zu segments\n", dnheap::Snapshot::open("/no/such/core")->heap().segments().size());
  } catch (const dnheap::Error &error) {
    std::printf("%s\n", error.what());
  }
}
