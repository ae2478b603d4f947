// Explains names that compilers make up for things without a name in the source (closures, state machines, backing
// fields) in the words of the source, for people who read a path. Uses the text alone; reads nothing from the target.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// Adds a line for each compiler-made name in a text, unless it is there already or there are too many. The text: a
// type, a member of a type, or a field ("._set", "[*].<order>5__2").
// Example: "Shop.Cart+<Pay>d__11" gives "<Pay>d__11: the async or iterator method Pay of Shop.Cart; its fields are its
// parameters and variables". Knows names of C#, F# and Visual Basic; names that do not help a developer (the number of
// a state) get no line. Source: Roslyn, GeneratedNames.cs and GeneratedNameKind.cs.
void explain_compiled_names(std::string_view text, std::vector<std::string> &lines);

// The beginning of the names of the task types of runtime-async calls (.NET 11).
inline constexpr std::string_view runtime_async_task = "System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask<";
// True for types of objects of a runtime-async call: its task, a suspended method's data, or the object that names what
// is awaited. Only the object shows which method it is (SuspendedCalls).
bool is_of_suspended_call(std::string_view type);
// True for the library's methods by which runtime-async calls await; they do not appear in the source.
inline bool is_await_helper(std::string_view qualified) {
  return qualified.starts_with("System.Runtime.CompilerServices.AsyncHelpers.");
}

// Returns the method, if the type is one of objects that hold a pending async call: "Shop.Cart.Pay", "a lambda in Pay
// of Shop.Cart"; else empty.
std::string call_of_box(std::string_view type);
// Returns a field of such an object as "variable receipt of Shop.Cart.Pay"; other fields unchanged.
std::string variable_in_words(std::string_view field);
// Returns "a lambda in Run of Shop.Program" for "Shop.Program+<>c.<Run>b__8_21"; other names unchanged.
std::string method_in_words(std::string_view qualified);

} // namespace dnheap
