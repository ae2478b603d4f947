// MethodText: what a method is called, as plain data, whatever the kind of runtime.
#pragma once
#include <string>

namespace dnheap {

struct MethodText {
  std::string name;      // "Shop.Cart.Add<System.Int32>(Int32, System.String)"; never empty
  std::string qualified; // the same without parameters: "Shop.Cart.Add<System.Int32>"
  std::string module;    // "Shop.dll"; empty: it is of none, or that cannot be told
};

} // namespace dnheap
