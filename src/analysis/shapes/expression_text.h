// ExpressionText: writes expression trees (System.Linq.Expressions) as C# does, constants by their types only:
// "Order.Where(order => order.Id == Int32).Count()". A tree of more than 200 nodes, or whose text gets longer than 300
// characters, ends in "…", as does what is unknown: so damaged trees and circles end, too. Not for several threads at
// once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <string>

namespace dnheap {

class ExpressionText {
public:
  explicit ExpressionText(const Runtime &runtime) : runtime_(runtime), fields_(runtime) {}

  struct Written {
    std::string text;
    bool has_constants = false;
  };
  Written write(Address expression);

private:
  void add(Address expression);
  void add_call(Address call);
  void add_lambda(Address lambda);
  void add_operation(Address binary);
  void add_member(Address member);
  void add_all(const std::vector<Address> &expressions, u64 first);
  std::vector<Address> arguments(Address call);
  Address first_of(Address field);
  std::string name_in(Address object, std::string_view field, const char *otherwise);
  const std::string &type_name(Address object);
  bool is_full() const;

  const Runtime &runtime_;
  FieldReader fields_;
  Written out_;
  u64 nodes_ = 0;
};

} // namespace dnheap
