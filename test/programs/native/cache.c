/* A library with a cache: a list of entries that each have a buffer. */
#include <stdlib.h>
#include <string.h>

struct entry {
  struct entry *next;
  void *bytes;
  long size;
};
static struct entry *first;

void cache_add(long size) {
  struct entry *entry = malloc(sizeof *entry + 3400);
  entry->next = first;
  entry->bytes = malloc(size);
  memset(entry->bytes, 7, size);
  entry->size = size;
  first = entry;
}
