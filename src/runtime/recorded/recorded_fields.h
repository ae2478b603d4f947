// RecordedFields: a listing of a heap does not say which field a reference is in, so references have no names.
#pragma once
#include "runtime/fields.h"

namespace dnheap {

class RecordedFields : public Fields {
public:
  using Fields::Fields;

  ReferenceName reference(Address, u64) override { return intern(""); }
  std::string exact_reference(Address, Address, u64) override { return ""; }
};

} // namespace dnheap
