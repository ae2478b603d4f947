// ExceptionObjects: exceptions on the heap, what each says of itself, and which thread is dealing with which. To list
// them all takes two walks of the heap, and some µs each; who knows which one is wanted needs no walk. One thread.
#pragma once
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "runtime/coreclr/stack_trace.h"

#include <map>
#include <optional>
#include <string>

namespace dnheap {

class NativeAot;

struct ExceptionObject {
  Address address = 0, method_table = 0;
  std::optional<u32> hresult;
  Address inner = 0, message = 0; // objects; 0: none
  std::vector<Address> inners;    // all of an AggregateException's, at most 1,000; of others the one, if there is one
  std::vector<Address> methods;   // MethodDescs of the calls that it passed through, the deepest first
  std::vector<Address> ips;       // of each where it stood: in the instruction that called, or that failed
  bool is_stack_known = true;
  // Of calls that it passed through before it was thrown again, or that the runtime keeps as text alone (of a static
  // constructor that failed): as Exception.StackTrace names them, the deepest first, at most 1,000.
  std::vector<std::string> earlier;
};

// Of a thread that deals with an exception.
struct ExceptionInFlight {
  Address object = 0;
  std::optional<u64> os_id, managed_id;
  bool is_nested = false, is_at_hand = false; // as in Thrown
};

class ExceptionObjects {
public:
  explicit ExceptionObjects(Snapshot &snapshot);

  const std::vector<TypedObject> &all(); // by address
  // By its type.
  bool is_exception(Address object) const;
  ExceptionObject read(const TypedObject &object);
  // "System.TimeoutException ×3, Shop.Failure" of what is inside; the most frequent first. Empty: nothing is.
  std::string inner_types(const ExceptionObject &of) const;
  // By thread. What could not be read is added to `problems`.
  std::vector<ExceptionInFlight> in_flight(std::vector<std::string> &problems);

private:
  bool is_exception_type(Address method_table) const;
  void read_native_stack(const NativeAot &runtime, ExceptionObject &to);
  void read_earlier(ExceptionObject &to);

  Snapshot &snapshot_;
  const Runtime &runtime_;
  const BaseTypes bases_;
  FieldReader fields_;
  mutable std::map<Address, bool> types_; // MethodTable → is it an exception's?
  std::optional<std::vector<TypedObject>> all_;
  std::optional<MethodDescs> methods_; // of CoreCLR; so the next
  std::optional<StackTrace> stacks_;
};

} // namespace dnheap
