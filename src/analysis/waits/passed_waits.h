// PassedWaits: semaphores for which a thread has waited in a method that has not returned, by the method's IL: it calls
// Wait on a field before the place where it is, and does not call Release on that field in between. So the thread has
// taken a permit, wherever others wait. Takes IL from MethodBodies; where it is unknown, nothing is found. Looks for
// the objects that have the field by one walk of the heap, once. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "snapshot/method_bodies.h"
#include "snapshot/snapshot.h"

#include <set>
#include <string>
#include <vector>

namespace dnheap {

// Returns the fields on which a method's IL calls SemaphoreSlim.Wait before `il_offset`, without a later Release.
std::set<std::string> fields_waited_for(const std::vector<MethodBodies::Call> &calls, u32 il_offset);

class PassedWaits {
public:
  PassedWaits(const Snapshot &snapshot, MethodBodies &bodies);

  struct Passed {
    std::string type, field, method; // the type that may have the field: "Shop.Stock", "_gate", "Shop.Stock.Save()"
  };
  std::vector<Passed> by(const StackFrame &frame);
  // Returns the objects of these types, in all some thousands; of a type with more there is none.
  struct Owner {
    Address object = 0;
    bool is_only_one = false; // of its type
  };
  std::map<std::string, std::vector<Owner>> owners(const std::set<std::string> &types);
  // Returns what the field of an object refers to; 0: nothing, or it has no such field.
  Address in_field(Address object, const std::string &field) { return fields_.reference_or_null(object, field); }
  // True if one of the object's fields refers to `other`, or if it is `other`.
  bool has(Address object, Address other);

private:
  const Snapshot &snapshot_;
  const Runtime &runtime_;
  MethodBodies &bodies_;
  FieldReader fields_;
};

} // namespace dnheap
