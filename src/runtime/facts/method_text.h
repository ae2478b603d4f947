// MethodText: the name of a method, as plain data, for every kind of runtime.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// The class of the stubs that the runtime generates, for native calls and the like.
inline constexpr std::string_view stub_class = "ILStubClass.";

struct MethodText {
  std::string name;      // "Shop.Cart.Add<System.Int32>(Int32, System.String)"; never empty
  std::string qualified; // the same without parameters: "Shop.Cart.Add<System.Int32>"
  std::string module;    // "Shop.dll"; empty: none, or unknown
};

} // namespace dnheap
