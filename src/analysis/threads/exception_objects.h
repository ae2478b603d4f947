// ExceptionObjects: the exceptions on the heap, their contents, and which thread is handling which. To list all
// exceptions takes two walks of the heap, and some µs per exception; to read a known one needs no walk. Not for several
// threads at once.
#pragma once
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "base/notes.h"
#include "runtime/facts/exception_records.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace dnheap {

struct ExceptionObject {
  Address address = 0, method_table = 0;
  std::optional<u32> hresult;
  Address inner = 0, message = 0; // addresses of objects; 0: none
  std::vector<Address> inners;    // all inner exceptions of an AggregateException, at most 1,000; else the single one,
                                  // if any
  std::vector<Address> methods;   // MethodDescs of the calls that it passed through, innermost first
  std::vector<Address> ips;       // for each call: the instruction that called the next method, or failed
  bool is_stack_known = true;
  // Calls of which the exception keeps only the text, as in Exception.StackTrace: calls from before it was thrown
  // again, or calls of a static constructor that failed. Innermost first, at most 1,000.
  std::vector<std::string> earlier;
};

// An exception that a thread is handling.
struct ExceptionInFlight {
  Address object = 0;
  std::optional<u64> os_id, managed_id;
  bool is_nested = false, is_at_hand = false; // as in Thrown
};

class ExceptionObjects {
public:
  explicit ExceptionObjects(const Snapshot &snapshot);

  const std::vector<TypedObject> &all(); // by address
  // True if the object's type derives from System.Exception.
  bool is_exception(Address object) const;
  ExceptionObject read(const TypedObject &object);
  // Returns the types of the inner exceptions, most frequent first: "System.TimeoutException ×3, Shop.Failure"; empty
  // if there are none.
  std::string inner_types(const ExceptionObject &of) const;
  // Returns the exceptions that threads are handling, by thread. Adds to `problems` what could not be read.
  std::vector<ExceptionInFlight> in_flight(Notes &problems);

private:
  bool is_exception_type(Address method_table) const;
  void read_native_stack(ExceptionObject &to);
  void read_earlier(ExceptionObject &to);

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const BaseTypes bases_;
  FieldReader fields_;
  mutable std::map<Address, bool> types_; // MethodTable → whether it is an exception type
  std::optional<std::vector<TypedObject>> all_;
  std::unique_ptr<ExceptionRecords> records_; // null: the runtime keeps none
};

} // namespace dnheap
