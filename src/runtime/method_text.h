// MethodText: what a method is called, as plain data, whatever the kind of runtime.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// What the runtime makes itself to call native code and the like stands in this class.
inline constexpr std::string_view stub_class = "ILStubClass.";

struct MethodText {
  std::string name;      // "Shop.Cart.Add<System.Int32>(Int32, System.String)"; never empty
  std::string qualified; // the same without parameters: "Shop.Cart.Add<System.Int32>"
  std::string module;    // "Shop.dll"; empty: it is of none, or that cannot be told
};

} // namespace dnheap
