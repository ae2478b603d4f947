// `lookup`: what does the runtime know at this address, or by this name or token? Types with their methods, methods,
// modules with their types; code addresses; native functions.
#include "analysis/answer_head.h"
#include "analysis/names/metadata_search.h"
#include "analysis/objects/address_meaning.h"
#include "analysis/verbs/verbs.h"
#include "base/not_found.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::text_cell;

constexpr u64 most_found = 1000, most_members = 10000;

// One thing that was found, whatever it is.
struct FoundThing {
  std::string kind, name, file;
  Address address = 0;
  u64 offset = 0; // of the address that was asked for
  u32 token = 0;  // 0: none
};

struct MemberLine {
  u32 token = 0;
  std::string name;
  Address method_table = 0; // of a type with objects; 0: none, or a method
};

std::string token_text(u32 token) { return token ? fmt::format("0x{:08x}", token) : ""; }

class Lookup {
public:
  explicit Lookup(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), meanings_(snapshot), search_(snapshot.runtime()) {}

  void at(Address address) {
    for (const AddressMeaning &meaning : meanings_.of(address)) {
      FoundThing one{meaning.kind, meaning.name, meaning.file, meaning.start, meaning.offset, 0};
      const std::string_view kind = meaning.kind;
      if (kind == "method" || kind == "code")
        if (const std::optional<DescribedMethod> method = search_.method_of(meaning.start))
          one.token = token(dnheap::Table::MethodDef, method->row);
      found_.push_back(std::move(one));
      if (kind == "type")
        add_type(found_.size() - 1);
      if (kind == "object")
        add_type_of_object(meaning.start);
      if (kind == "module")
        add_types(address);
    }
  }

  // "Shop.Cart", "Shop.Cart.Add", "Shop.dll!Shop.Cart", "Shop.dll!0x06000001", "Shop.dll"
  void called(const std::string &name) {
    has_searched_ = true;
    const std::size_t mark = name.find('!');
    if (mark == name.npos) {
      add_modules_called(name);
      add_named(name, 0);
      return;
    }
    const std::string file = name.substr(0, mark), rest = name.substr(mark + 1);
    const bool is_any = file == "*";
    for (Address module : search_.modules())
      if (is_any || is_called(module, file)) {
        if (const std::optional<u32> wanted = token_in(rest))
          add_token(module, *wanted);
        else if (!is_any)
          add_named(rest, module);
      }
    if (is_any && !token_in(rest))
      add_named(rest, 0);
  }

  bool is_empty() const { return found_.empty(); }
  // Why a name that is not found may be there all the same; empty: it is not there.
  std::string why_not_found() const {
    for (const Note &note : search_.problems())
      return "; " + note.text;
    return search_.can_search() ? "" : ": this runtime has no metadata to search in";
  }
  // Nothing is missing where an address was looked up.
  Notes problems() const { return has_searched_ ? search_.problems().up_to(Effect::numbers) : Notes(); }

  std::vector<report::Table> tables() const {
    using F = FoundThing;
    report::Table found = report::ColumnsOf<F>{
        {{"kind", "Kind", Kind::text}, &F::kind},
        {{"address", "Address", Kind::address}, [](const F &f) { return f.address ? Cell(f.address) : Cell(); }},
        {{"offset", "Offset", Kind::number}, [](const F &f) { return f.offset ? Cell(f.offset) : Cell(); }},
        {{"token", "Token", Kind::text}, [](const F &f) { return text_cell(token_text(f.token)); }},
        {{"name", "Name", Kind::text}, &F::name},
        {{"file", "File", Kind::text, report::Shown::everywhere, false, true}, [](const F &f) {
           return text_cell(f.file);
         }}}.table("found", "", found_);
    if (is_cut_)
      found.notes.push_back("only the first " + count_text(most_found) + " are listed");
    return {std::move(found), members("methods", "Methods", methods_), members("types", "Types", types_)};
  }

private:
  // `lines`: one more than are listed if there are more.
  static report::Table members(const char *name, const char *title, std::vector<MemberLine> lines) {
    const bool is_cut = lines.size() > most_members;
    lines.resize(std::min<u64>(lines.size(), most_members));
    using M = MemberLine;
    report::ColumnsOf<M> columns = {{{"token", "Token", Kind::text}, [](const M &m) { return token_text(m.token); }},
                                    {{"name", "Name", Kind::text}, &M::name}};
    if (std::string_view(name) == "types")
      columns.add({{"method_table", "MethodTable", Kind::address},
                   [](const M &m) { return m.method_table ? Cell(m.method_table) : Cell(); }});
    report::Table out = columns.table(name, title, lines);
    if (lines.empty())
      out.shown = report::Shown::in_data;
    if (is_cut)
      out.notes.push_back("only the first " + count_text(most_members) + " are listed");
    return out;
  }

  // "0x02000003", "06000001"
  static std::optional<u32> token_in(const std::string &text) {
    const std::optional<Address> number = written_address(text);
    const bool is_token =
        number && *number >> 32 == 0 && (*number >> 24 == 2 || *number >> 24 == 6) && rid_of(static_cast<u32>(*number));
    return is_token ? std::optional(static_cast<u32>(*number)) : std::nullopt;
  }

  bool is_called(Address module, const std::string &file) const {
    const std::string name = lower_case(search_.file_name(module)), wanted = lower_case(file);
    return name == wanted || name == wanted + ".dll" || name == wanted + ".exe";
  }

  void add_modules_called(const std::string &file) {
    for (Address module : search_.modules())
      if (is_called(module, file)) {
        found_.push_back({"module", search_.file_name(module), "", module, 0, 0});
        add_types(module);
      }
  }

  void add_named(const std::string &name, Address module) {
    std::vector<DescribedType> types = search_.types_called(name, module, most_found + 1);
    std::vector<DescribedMethod> methods = search_.methods_called(name, module, most_found + 1);
    is_cut_ |= types.size() > most_found || methods.size() > most_found;
    types.resize(std::min<u64>(types.size(), most_found));
    methods.resize(std::min<u64>(methods.size(), most_found));
    for (const DescribedType &type : types)
      add_type(type);
    for (const DescribedMethod &method : methods)
      add_method(method);
  }

  void add_token(Address module, u32 wanted) {
    if (const std::optional<DescribedType> type = search_.type_at(module, wanted))
      add_type(*type);
    if (const std::optional<DescribedMethod> method = search_.method_at(module, wanted))
      add_method(*method);
  }

  void add_method(const DescribedMethod &method) {
    found_.push_back({"method", method.type + "." + method.name, search_.file_name(method.module), 0, 0,
                      token(dnheap::Table::MethodDef, method.row)});
  }

  // A row for each type with objects that is an instance of this one, or one without an address.
  void add_type(const DescribedType &type) {
    const u32 wanted = token(dnheap::Table::TypeDef, type.row);
    const auto [first, end] = by_row().equal_range({type.module, type.row});
    if (first == end)
      found_.push_back({"type", type.name, search_.file_name(type.module), 0, 0, wanted});
    for (auto at = first; at != end; ++at)
      found_.push_back(
          {"type", runtime_.types().name(at->second), search_.file_name(type.module), at->second, 0, wanted});
    add_methods(type);
  }

  // Adds the token of a type that was found by its MethodTable, its methods, and the type that it derives from.
  void add_type(u64 found) {
    const Address method_table = found_[found].address;
    if (const std::optional<DescribedType> type = search_.type_of(method_table)) {
      found_[found].token = token(dnheap::Table::TypeDef, type->row);
      add_methods(*type);
    }
    add_base(method_table);
  }

  void add_type_of_object(Address object) {
    const Memory &memory = runtime_.memory();
    const std::optional<u64> word = memory.try_pointer(object);
    const Address type = word ? method_table_in(*word, memory.format()) : 0;
    if (!type)
      return;
    const std::optional<DescribedType> described = search_.type_of(type);
    found_.push_back({"type", runtime_.types().name(type), runtime_.types().assembly(type), type, 0,
                      described ? token(dnheap::Table::TypeDef, described->row) : 0});
    add_base(type);
    add_context(type);
  }

  void add_base(Address method_table) {
    if (const Address base = runtime_.types().parent_of(method_table))
      found_.push_back({"base type", runtime_.types().name(base), runtime_.types().assembly(base), base, 0, 0});
  }

  // The AssemblyLoadContext that loaded the type.
  void add_context(Address method_table) {
    const std::string file = runtime_.types().assembly(method_table);
    for (const LoadedAssembly &one : snapshot_.assemblies())
      if (one.name == file && one.context)
        found_.push_back({"load context", meanings_.text(one.context), file, one.context, 0, 0});
  }

  void add_methods(const DescribedType &type) {
    if (!methods_.empty()) // of the first type alone: others are asked for by themselves
      return;
    for (const DescribedMethod &method : search_.methods_of(type, most_members + 1))
      methods_.push_back({token(dnheap::Table::MethodDef, method.row), method.name, 0});
  }

  void add_types(Address module) {
    if (types_.size() > most_members)
      return;
    for (const DescribedType &type : search_.types_of(module, most_members + 1 - types_.size())) {
      const auto at = by_row().find({module, type.row});
      types_.push_back({token(dnheap::Table::TypeDef, type.row), type.name, at == by_row().end() ? 0 : at->second});
    }
  }

  // The types of the heap, by module and row.
  const std::multimap<std::pair<Address, u32>, Address> &by_row() {
    if (!is_by_row_known_)
      for (const TypeTally &type : snapshot_.tally().types)
        if (const std::optional<DescribedType> row = search_.type_of(type.method_table);
            row && !runtime_.types().name(type.method_table).ends_with(']')) // an array names its element's row
          by_row_.emplace(std::pair(row->module, row->row), type.method_table);
    is_by_row_known_ = true;
    return by_row_;
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  AddressMeanings meanings_;
  const MetadataSearch search_;
  std::vector<FoundThing> found_;
  bool is_cut_ = false;       // more things have that name
  bool has_searched_ = false; // by name
  std::vector<MemberLine> methods_, types_;
  std::multimap<std::pair<Address, u32>, Address> by_row_;
  bool is_by_row_known_ = false;
};

// Returns what the dump lacks, where the thing that was asked for may be.
std::string doubt(const report::Answer &answer) {
  for (const Note &note : answer.completeness->notes)
    if (note.effect != Effect::none)
      return "; " + note.text;
  return "";
}

// Names that are no addresses have letters beyond f, or signs: "Shop.Cart", "Shop.dll!06000001".
bool is_name(const std::string &subject) { return !written_address(subject); }

} // namespace

report::Answer answer_lookup(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "lookup", HeapSum::none);
  Lookup lookup(snapshot);
  const std::optional<Address> address = written_address(question.subject);
  if (address)
    lookup.at(*address);
  if (lookup.is_empty() && (!address || !question.subject.starts_with("0x")))
    lookup.called(question.subject);
  if (lookup.is_empty())
    throw NotFound(is_name(question.subject) ? "no loaded module has a type, a method or a token called '" +
                                                   printable(question.subject, 200) + "'" + lookup.why_not_found()
                                             : "nothing is known of the address " + hex(*address) + doubt(answer));
  answer.tables = lookup.tables();
  answer.completeness->notes.add_all(lookup.problems());
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
