// Names that compilers make up for what has none in the source (closures, state machines, backing fields), told in the
// words of the source, for people who read a path. From the text alone; nothing is read from the target.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// Adds what each made-up name in a text stands for, a line each, unless it is there already or there are too many. The
// text: a type, a member of a type, or a field ("._set", "[*].<Key>k__BackingField"):
//   "Shop.Cart+<Pay>d__11" gives "<Pay>d__11: the async or iterator method Pay of Shop.Cart; its fields are its
//   parameters and variables". Names as C#, F# and Visual Basic make them; of those that tell a developer nothing (the
//   number of a state) none. Source: Roslyn, GeneratedNames.cs and GeneratedNameKind.cs.
void explain_compiled_names(std::string_view text, std::vector<std::string> &lines);

} // namespace dnheap
