// ExceptionObjects: all exceptions on the heap, what each says of itself, and which thread is dealing with which. Two
// walks of the heap, and some µs per exception. One thread.
#pragma once
#include "analysis/inspect/field_reader.h"
#include "analysis/inspect/typed_objects.h"
#include "runtime/coreclr/stack_trace.h"

namespace dnheap {

struct ExceptionObject {
  Address address = 0, method_table = 0;
  std::optional<u32> hresult;
  Address inner = 0, message = 0; // objects; 0: none
  std::vector<Address> methods;   // MethodDescs of the calls that it passed through, the deepest first
  bool is_stack_known = true;
};

// Of a thread that deals with an exception.
struct ExceptionInFlight {
  Address object = 0;
  std::optional<u64> os_id, managed_id;
  bool is_nested = false;
};

class ExceptionObjects {
public:
  explicit ExceptionObjects(Snapshot &snapshot);

  const std::vector<TypedObject> &all() const { return all_; } // by address
  bool is_exception(Address object) const;
  ExceptionObject read(const TypedObject &object);
  // By thread. What could not be read is added to `problems`.
  std::vector<ExceptionInFlight> in_flight(std::vector<std::string> &problems);

private:
  const Runtime &runtime_;
  FieldReader fields_;
  std::vector<TypedObject> all_;
  std::optional<MethodDescs> methods_; // of CoreCLR; so the next
  std::optional<StackTrace> stacks_;
};

} // namespace dnheap
