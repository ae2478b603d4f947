// ProgramCallers: which methods of the program call some methods, or make objects of some type, by the IL. Methods that
// ran come before others: those that never ran cannot be the reason for what is in memory. One look at all uses of a
// ProgramIl per question, and one name per token. Any thread.
#pragma once
#include "snapshot/program_il.h"

#include <functional>
#include <string>
#include <vector>

namespace dnheap {

struct ProgramCaller {
  const ProgramModule *module = nullptr;
  u32 method = 0;
  std::string name; // in the words of the source: "Shop.Cart.Pay", "a lambda in Pay of Shop.Cart"
  std::string callee_type, callee;
  bool has_run = false;

  std::string brief_callee() const; // "Marshal.StringToHGlobalAnsi"
};

// The full name of the type, with arity marks, and the name of the method (".ctor" if objects are made).
using IsWanted = std::function<bool(std::string_view type, std::string_view method, IlUse use)>;

// Returns the callers, each once for each method that it calls, in the order of the metadata.
std::vector<ProgramCaller> find_callers(const ProgramIl &il, const IsWanted &is_wanted);
// Returns those that ran, if any is known to have run; else all.
std::vector<ProgramCaller> first_run(std::vector<ProgramCaller> callers);
// True if none of these callers ran; where that is unknown, if there are no callers.
bool none_ran(const ProgramIl &il, const std::vector<ProgramCaller> &callers);
// Returns those of the program's methods that make objects of a type, named as in type_name.h.
std::vector<ProgramCaller> find_makers(const ProgramIl &il, std::string_view type);

// "A", "A and B", "A, B and 3 others"; empty: there are none.
std::string callers_text(const std::vector<ProgramCaller> &callers);

// Returns "Shop.Rows`2+Row" for "Shop.Rows<System.Int32, Shop.Cart>+Row".
std::string open_type_name(std::string_view name);

} // namespace dnheap
