// Names that compilers make up for what has none in the source (closures, state machines, backing fields), told in the
// words of the source, for people who read a path. From the text alone; nothing is read from the target.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// Adds what each made-up name in a text stands for, a line each, unless it is there already or there are too many. The
// text: a type, a member of a type, or a field ("._set", "[*].<order>5__2"):
//   "Shop.Cart+<Pay>d__11" gives "<Pay>d__11: the async or iterator method Pay of Shop.Cart; its fields are its
//   parameters and variables". Names as C#, F# and Visual Basic make them; of those that tell a developer nothing (the
//   number of a state) none. Source: Roslyn, GeneratedNames.cs and GeneratedNameKind.cs.
void explain_compiled_names(std::string_view text, std::vector<std::string> &lines);

// Types of tasks that runtime-async calls (.NET 11) are for begin so.
inline constexpr std::string_view runtime_async_task = "System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask<";
// Is that the type of an object of such a call: its task, a suspended method's data, or what names the thing awaited?
// Which method it is of, only the object says (SuspendedCalls).
bool is_of_suspended_call(std::string_view type);
// Is that one of the library's methods by which such calls await, and which no source names?
inline bool is_await_helper(std::string_view qualified) {
  return qualified.starts_with("System.Runtime.CompilerServices.AsyncHelpers.");
}

// Of the type of object that a pending call of an async method is kept in, the method: "Shop.Cart.Pay", "a lambda in
// Pay of Shop.Cart". Empty: it is no such type.
std::string call_of_box(std::string_view type);
// Of a field in such an object: "variable receipt of Shop.Cart.Pay"; else the field as it is.
std::string variable_in_words(std::string_view field);
// Of a method: "a lambda in Run of Shop.Program" for "Shop.Program+<>c.<Run>b__8_21"; else the name as it is.
std::string method_in_words(std::string_view qualified);

} // namespace dnheap
