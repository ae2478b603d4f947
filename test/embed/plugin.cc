// What a language binding does: a shared object with the library inside.
#include <dnheap/snapshot.h>

extern "C" int count_types(const char *path);

int count_types(const char *path) {
  try {
    return static_cast<int>(dnheap::Snapshot::open(path).type_count());
  } catch (const dnheap::Error &) {
    return -1;
  }
}
