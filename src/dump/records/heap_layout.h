// lay_out_heap: makes memory of a listing of a heap, so that all that walks a process's heap can walk it. Each object
// lies at its own address, has its own size, and holds the references that are listed; what is no reference is zero.
// A type is given a MethodTable and a GCDesc by which every word of its objects behind the first (in types whose
// objects differ in size: behind the second, which holds their number of components) is a reference. That is always
// room enough for the references that are fields. Takes as much memory as the pages that the objects touch; three
// passes by all threads.
#pragma once
#include "base/watch.h"
#include "dump/records/listed_objects.h"
#include "target/heap_record.h"
#include "target/target.h"

#include <memory>

namespace dnheap {

// Fills `record`'s types (which come with names), segments and hidden references, and `target`'s memory, in this
// machine's order of bytes, its notes, its record, and the module that stands for the runtime. `record->segments` may
// have the segments that the listing has; they are replaced by those that hold objects. Objects that no process can
// have (inside of another one, at odd addresses) are left out, with a note. Throws Error if the objects are scattered
// more widely than those of any real heap, std::bad_alloc if memory does not suffice.
void lay_out_heap(const ListedObjects &objects, u8 pointer_size, unsigned threads, const Watch &watch, Target &target,
                  std::shared_ptr<HeapRecord> record);

} // namespace dnheap
