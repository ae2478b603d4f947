// What a language binding does: a shared object with the library inside.
#include "snapshot/snapshot.h"

extern "C" int count_types(const char *path);

int count_types(const char *path) {
  try {
    return static_cast<int>(dnheap::Snapshot::open(path)->tally().types.size());
  } catch (const dnheap::Error &) {
    return -1;
  }
}
