#include "analysis/suspects/suspect_code.h"

#include "analysis/names/brief_type_name.h"
#include "analysis/names/framework_names.h"
#include "analysis/names/program_callers.h"
#include "analysis/shapes/field_reader.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace dnheap {

namespace {

constexpr std::array<std::string_view, 24> adding_methods = {
    "Add",       "TryAdd", "AddLast", "AddFirst",  "AddRange",    "Append",    "AppendLine",  "Insert",
    "Enqueue",   "Push",   "Write",   "TryWrite",  "set_Item",    "GetOrAdd",  "AddOrUpdate", "AddAfter",
    "AddBefore", "Post",   "SetItem", "set_Value", "InsertRange", "PushRange", "WriteAsync",  "CopyTo"};
constexpr std::array<std::string_view, 25> removing_methods = {
    "Remove",      "RemoveAt",     "RemoveAll",  "RemoveRange", "TryRemove",
    "Clear",       "Dequeue",      "TryDequeue", "Pop",         "TryPop",
    "TryTake",     "Take",         "TryRead",    "RemoveFirst", "RemoveLast",
    "RemoveWhere", "SetLength",    "TrimExcess", "ExceptWith",  "set_Length",
    "ReadAsync",   "ReadAllAsync", "Dispose",    "TryPopRange", "GetConsumingEnumerable"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// A field of the program that leads to what a suspect holds.
struct ProgramField {
  std::string type; // that declares it, with arity marks
  std::string name;
  std::string holds; // the type of its object, with arity marks
};

using MethodSet = std::set<std::pair<const ProgramModule *, u32>>;

class SuspectCode {
public:
  SuspectCode(const Snapshot &snapshot, const Suspect &suspect)
      : snapshot_(snapshot), il_(ProgramIl::of(snapshot)), suspect_(suspect) {}

  std::string text() {
    if (il_->modules().empty())
      return "";
    if (std::string out = of_runtime(); !out.empty())
      return out;
    for (const ProgramField &field : fields())
      if (std::string out = of_field(field); !out.empty())
        return out;
    return of_elements();
  }

private:
  // What only the runtime or .NET keeps because the program asked for it.
  std::string of_runtime() const {
    if (suspect_.owner.starts_with("handle:") && suspect_.remark.find("GCHandle") != suspect_.remark.npos)
      return asked_by("System.Runtime.InteropServices.GCHandle", {"Alloc", ".ctor"}, "GCHandle.Alloc",
                      {"Free", "Dispose"}, "GCHandle.Free");
    if (suspect_.owner.find("System.Buffers.ArrayPool<") != suspect_.owner.npos ||
        suspect_.owner.find("System.Buffers.SharedArrayPool<") != suspect_.owner.npos)
      return asked_by("System.Buffers.ArrayPool`1", {"Rent"}, "ArrayPool.Rent", {}, "");
    return "";
  }

  // `type`: the beginning of the names of the types whose methods are meant.
  std::string asked_by(std::string_view type, std::vector<std::string_view> asks, std::string_view words,
                       std::vector<std::string_view> gives_back, const std::string &back_words) const {
    auto calls = [&](const std::vector<std::string_view> &methods) {
      return find_callers(*il_, [&](std::string_view name, std::string_view method, IlUse) {
        return name.starts_with(type) && is_one_of(methods, method);
      });
    };
    const std::vector<ProgramCaller> asking = first_run(calls(asks));
    if (none_ran(*il_, asking))
      return "";
    std::string out = fmt::format("{} is called in {}", words, callers_text(asking));
    if (!gives_back.empty() && il_->is_whole() && none_ran(*il_, calls(gives_back)))
      out += not_called(back_words);
    return out;
  }

  // The fields on the path, the last one first.
  std::vector<ProgramField> fields() const {
    std::vector<ProgramField> out;
    const std::vector<Suspect::Step> &steps = suspect_.steps;
    for (u64 i = std::min<u64>(suspect_.shown, steps.size()); i-- > 1;)
      if (const std::string &field = steps[i].field; field.size() > 1 && field[0] == '.')
        out.push_back(
            {open_type_name(steps[i - 1].type), field.substr(field.rfind('.') + 1), open_type_name(steps[i].type)});
    for (std::string_view kind : {"static ", "thread_static "})
      if (suspect_.owner.starts_with(kind) && !steps.empty()) {
        std::string_view name = std::string_view(suspect_.owner).substr(kind.size());
        name = name.substr(0, name.find(" of thread "));
        if (const std::size_t dot = name.rfind('.'); dot != name.npos && dot)
          out.push_back(
              {open_type_name(name.substr(0, dot)), std::string(name.substr(dot + 1)), open_type_name(steps[0].type)});
      }
    return out;
  }

  std::string of_field(const ProgramField &field) const {
    const std::vector<ProgramCaller> uses =
        find_callers(*il_, [&](std::string_view type, std::string_view name, IlUse use) {
          return name == field.name && type == field.type && (use == IlUse::reads_field || use == IlUse::writes_field);
        });
    if (uses.empty())
      return "";
    const MethodSet users = with_callers_of_getters(uses);
    const std::vector<ProgramCaller> filling = first_run(calls_in(users, field, adding_methods));
    if (filling.empty())
      return "";
    const std::vector<ProgramCaller> emptying = calls_in(users, field, removing_methods);
    const std::string out = "filled in " + callers_text(filling);
    if (!emptying.empty() && il_->is_run_known() && il_->is_whole() && none_ran(*il_, emptying))
      return out + fmt::format("; {}, which {} from it, {} never to have run", callers_text(emptying),
                               emptying.size() == 1 ? "removes" : "remove", emptying.size() == 1 ? "seems" : "seem");
    if (!emptying.empty())
      return out + "; emptied in " + callers_text(first_run(emptying));
    const bool reads_itself = field.holds.starts_with("System.Threading.Tasks.Dataflow.");
    return out + (il_->is_whole() && !reads_itself && !is_set_anew(field)
                      ? "; no method that uses the field removes from it"
                      : "");
  }

  // Adds to the methods that use a field those that ask a property for it.
  MethodSet with_callers_of_getters(const std::vector<ProgramCaller> &uses) const {
    MethodSet out;
    std::set<std::pair<std::string, std::string>> getters;
    for (const ProgramCaller &one : uses) {
      out.insert({one.module, one.method});
      const std::string name = one.module->name_of(one.method);
      if (const std::size_t dot = name.rfind(".get_"); dot != name.npos)
        getters.insert({name.substr(0, dot), name.substr(dot + 1)});
    }
    if (!getters.empty())
      for (const ProgramCaller &one : find_callers(*il_, [&](std::string_view type, std::string_view name, IlUse use) {
             return use == IlUse::calls && getters.contains({std::string(type), std::string(name)});
           }))
        out.insert({one.module, one.method});
    return out;
  }

  // Returns those of the methods that call the field's collection so.
  std::vector<ProgramCaller> calls_in(const MethodSet &methods, const ProgramField &field,
                                      std::span<const std::string_view> names) const {
    std::vector<ProgramCaller> out = find_callers(*il_, [&](std::string_view type, std::string_view name, IlUse use) {
      return use == IlUse::calls && is_one_of(names, name) && may_be_called_on(type, field.holds);
    });
    std::erase_if(out, [&](const ProgramCaller &one) { return !methods.contains({one.module, one.method}); });
    return without_copies(std::move(out));
  }

  // The type itself, or one by which a program calls it: an interface, a base type, the end of a channel.
  static bool may_be_called_on(std::string_view type, std::string_view object) {
    if (type == object || type.starts_with("System.Collections.Generic.I") || type.starts_with("System.Collections.I"))
      return true;
    if (object.starts_with("System.IO."))
      return type == "System.IO.Stream" || type == "System.IO.TextWriter";
    if (object.starts_with("System.Threading.Tasks.Dataflow."))
      return type.starts_with("System.Threading.Tasks.Dataflow.");
    return object.starts_with("System.Threading.Channels.") && type.starts_with("System.Threading.Channels.");
  }

  // True if a method other than a constructor gives the field another value, which lets go of all that is in it.
  bool is_set_anew(const ProgramField &field) const {
    const std::vector<ProgramCaller> writers =
        find_callers(*il_, [&](std::string_view type, std::string_view name, IlUse use) {
          return use == IlUse::writes_field && name == field.name && type == field.type;
        });
    return std::ranges::any_of(writers, [](const ProgramCaller &one) {
      const std::string name = one.module->name_of(one.method);
      return !name.ends_with("..ctor") && !name.ends_with("..cctor");
    });
  }

  static std::vector<ProgramCaller> without_copies(std::vector<ProgramCaller> list) {
    std::vector<ProgramCaller> out;
    for (ProgramCaller &one : list)
      if (out.empty() || out.back().module != one.module || out.back().method != one.method)
        out.push_back(std::move(one));
    return out;
  }

  std::string of_elements() const {
    // Strings and arrays are made everywhere; what calls something is known by that.
    if (suspect_.element.empty() || suspect_.element == "System.String" || suspect_.element.ends_with(']') ||
        suspect_.elements < 2 || !suspect_.remark.empty() || !suspect_.calls.empty())
      return "";
    const std::vector<ProgramCaller> makers = find_makers(*il_, suspect_.element);
    constexpr u64 most_makers = 3; // what is made everywhere says nothing
    return none_ran(*il_, makers) || makers.size() > most_makers ? ""
                                                                 : "made in " + callers_text(makers) + undisposed();
  }

  // "; no code that ran calls Meter.Dispose" for .NET's types that have such a method. The program's own may implement
  // it for others to call.
  std::string undisposed() const {
    const FrameworkNames framework(snapshot_.assemblies());
    if (!framework.contain(suspect_.element) || !il_->is_whole() || !has_dispose())
      return "";
    const std::string open = open_type_name(suspect_.element);
    const std::vector<ProgramCaller> disposing =
        find_callers(*il_, [&](std::string_view type, std::string_view method, IlUse use) {
          return use == IlUse::calls && type == open &&
                 (method == "Dispose" || method == "DisposeAsync" || method == "Close");
        });
    return none_ran(*il_, disposing) ? not_called(brief_type_name(suspect_.element) + ".Dispose") : "";
  }

  bool has_dispose() const {
    const std::unique_ptr<IlCode> code = snapshot_.runtime().il_code();
    const Address type = suspect_.first ? FieldReader(snapshot_.runtime()).type_of(suspect_.first) : 0;
    const Metadata *metadata = code && type ? code->metadata(code->module_of(type)) : nullptr;
    if (!metadata)
      return false;
    for (u32 row : metadata->methods_of(code->row_of_type(type)))
      if (const std::optional<MethodDefRow> method = metadata->method(row); method && method->name == "Dispose")
        return true;
    return false;
  }

  // "; no code that ran calls Meter.Dispose"
  std::string not_called(const std::string &words) const {
    return fmt::format("; no code {}calls {}", il_->is_run_known() ? "that ran " : "", words);
  }

  const Snapshot &snapshot_;
  const std::shared_ptr<const ProgramIl> il_;
  const Suspect &suspect_;
};

} // namespace

std::string code_text(const Snapshot &snapshot, const Suspect &suspect) {
  return SuspectCode(snapshot, suspect).text();
}

std::vector<std::string> code_texts(const Snapshot &snapshot, const std::vector<Suspect> &suspects) {
  constexpr u64 most_with_code = 5;
  std::vector<std::string> out;
  for (u64 i = 0; i < std::min<u64>(suspects.size(), most_with_code); ++i)
    out.push_back(code_text(snapshot, suspects[i]));
  return out;
}

} // namespace dnheap
