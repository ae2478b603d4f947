#include "analysis/native/native_callers.h"

#include "analysis/names/program_callers.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_listed = 3;

constexpr std::string_view marshal = "System.Runtime.InteropServices.Marshal",
                           native_memory = "System.Runtime.InteropServices.NativeMemory";

bool is_allocator(std::string_view type, std::string_view method) {
  return (type == marshal && (method.starts_with("Alloc") || method.starts_with("ReAlloc") ||
                              method.starts_with("StringTo") || method.starts_with("SecureStringTo"))) ||
         (type == native_memory && method.find("lloc") != method.npos);
}

bool is_free(std::string_view type, std::string_view method) {
  return (type == marshal && (method.starts_with("Free") || method.starts_with("ZeroFree"))) ||
         (type == native_memory && method.find("Free") != method.npos);
}

// The C library keeps nothing that a program could be blamed for.
bool is_of_system(std::string_view file) {
  constexpr std::array<std::string_view, 6> names = {"libc.", "libc-", "libm.", "libdl.", "libpthread.", "ld-"};
  return std::ranges::any_of(names, [&](std::string_view name) { return file.starts_with(name); });
}

bool sounds_like_free(std::string_view function) {
  constexpr std::array<std::string_view, 8> words = {"free",    "destroy", "release", "delete",
                                                     "dispose", "close",   "unref",   "cleanup"};
  const std::string lower = lower_case(function);
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

// Returns the name of the library's file; empty: no such file is loaded, so that none of its functions ran.
std::string loaded_file(const Target &target, std::string_view library) {
  library.remove_prefix(library.find_last_of("/\\") + 1); // some programs name the whole path
  for (const Module &module : target.modules) {
    std::string_view name = module.file_name();
    if (name.starts_with("lib") && !library.starts_with("lib"))
      name.remove_prefix(3);
    if (name == library || (name.starts_with(library) && name[library.size()] == '.'))
      return std::string(module.file_name());
  }
  return "";
}

// A stub that a source generator wrote calls the native function by a method inside of it, "<Decode>g____PInvoke|1_0":
// the program calls the stub.
std::string called_name(std::string_view method) {
  const std::size_t end = method.find(">g____PInvoke");
  return std::string(method.starts_with('<') && end != method.npos ? method.substr(1, end - 1) : method);
}

// "img" for "img_decode"
std::string_view family_of(std::string_view function) { return function.substr(0, function.find('_')); }

struct LoadedNative {
  const NativeCall *native;
  std::string file;
};
// Those of the program's native functions whose library is loaded, by the name of the method that the program calls.
using LoadedNatives = std::map<std::string, LoadedNative>;

LoadedNatives loaded_natives(const Snapshot &snapshot, const ProgramIl &il) {
  LoadedNatives out;
  for (const ProgramModule &module : il.modules())
    for (const NativeCall &one : module.natives)
      if (const std::string file = loaded_file(snapshot.target(), one.library); !file.empty()) {
        const std::string name = module.name_of(one.method);
        const std::size_t dot = name.find_last_of('.') + 1;
        out[name.substr(0, dot) + called_name(std::string_view(name).substr(dot))] = {&one, file};
      }
  return out;
}

std::string qualified_callee(const ProgramCaller &one) { return one.callee_type + "." + one.callee; }

class NativeCallers {
public:
  explicit NativeCallers(const Snapshot &snapshot)
      : il_(ProgramIl::of(snapshot)), natives_(loaded_natives(snapshot, *il_)),
        to_native_(calls([&](std::string_view type, std::string_view method) {
          return natives_.contains(std::string(type) + "." + std::string(method));
        })),
        allocating_(calls(is_allocator)), freeing_(calls(is_free)) {}

  std::string text() {
    add_all();
    std::string out;
    for (u64 i = 0; i < parts_.size() && i < most_listed; ++i)
      out += (i ? ", " : "") + parts_[i];
    if (out.empty())
      return "";
    const u64 others = parts_.size() - std::min(parts_.size(), most_listed);
    return " In the program, " + out + (others ? fmt::format(", and so on for {} more", count_text(others)) : "") +
           unfreed() + ".";
  }

private:
  std::vector<ProgramCaller> calls(const std::function<bool(std::string_view, std::string_view)> &wanted) const {
    return find_callers(*il_, [&](std::string_view type, std::string_view method, IlUse use) {
      return use == IlUse::calls && wanted(type, method);
    });
  }

  static bool is_one_of(const std::vector<ProgramCaller> &list, const ProgramCaller &method) {
    return std::ranges::any_of(
        list, [&](const ProgramCaller &one) { return one.module == method.module && one.method == method.method; });
  }

  // Adds those that ran; where that is unknown, all. Methods that free what they get are left out. If none ran, a
  // native function that returns no pointer has the memory: it keeps it for itself.
  void add_all() {
    std::vector<ProgramCaller> all = askers();
    if (none_ran(*il_, all))
      all = il_->is_run_known() ? callers_of_libraries() : std::vector<ProgramCaller>();
    std::map<std::string, std::vector<ProgramCaller>> by_callee;
    for (const ProgramCaller &one : first_run(all))
      by_callee[callee_text(one)].push_back(one);
    for (const auto &[callee, callers] : by_callee)
      parts_.push_back(fmt::format("{} {} {}", callers_text(callers), callers.size() == 1 ? "calls" : "call", callee));
  }

  // Returns the methods that get memory, or a pointer.
  std::vector<ProgramCaller> askers() const {
    std::vector<ProgramCaller> all;
    for (const ProgramCaller &one : allocating_)
      if (!is_one_of(freeing_, one))
        all.push_back(one);
    for (const ProgramCaller &one : to_native_)
      if (natives_.at(qualified_callee(one)).native->returns_pointer && !frees_itself(one))
        all.push_back(one);
    return all;
  }

  // Returns the methods that ran and call functions of libraries that are not the system's.
  std::vector<ProgramCaller> callers_of_libraries() const {
    std::vector<ProgramCaller> out;
    for (const ProgramCaller &one : to_native_)
      if (one.has_run && !is_of_system(natives_.at(qualified_callee(one)).file) && !frees_itself(one))
        out.push_back(one);
    return out;
  }

  // "img_decode of libcodec.so", "Marshal.AllocHGlobal"; keeps in mind which functions would free.
  std::string callee_text(const ProgramCaller &one) {
    const auto native = natives_.find(qualified_callee(one));
    if (native == natives_.end()) {
      uses_marshal_ = true;
      return one.brief_callee();
    }
    named_.push_back(&native->second);
    return fmt::format("{} of {}", native->second.native->function, native->second.file);
  }

  bool frees_itself(const ProgramCaller &method) const {
    return std::ranges::any_of(to_native_, [&](const ProgramCaller &one) {
      return one.module == method.module && one.method == method.method &&
             sounds_like_free(natives_.at(qualified_callee(one)).native->function);
    });
  }

  // Names the functions that free, but that nothing calls.
  std::string unfreed() const {
    std::vector<std::string> unused;
    if (il_->is_whole()) {
      if (uses_marshal_ && none_ran(*il_, freeing_))
        unused = {"Marshal.FreeHGlobal", "NativeMemory.Free"};
      std::ranges::copy(unused_frees(), std::back_inserter(unused));
    }
    std::string out;
    for (u64 i = 0; i < unused.size(); ++i)
      out += (i == 0 ? "" : i + 1 < unused.size() ? ", " : " or ") + unused[i];
    return out.empty() ? "" : (il_->is_run_known() ? "; no code that ran calls " : "; no code calls ") + out;
  }

  // Functions of the named libraries; of those the ones called like a named function: img_free beside img_decode.
  std::vector<std::string> unused_frees() const {
    std::vector<std::string> alike, others;
    for (const auto &[name, one] : natives_) {
      const bool is_named =
          std::ranges::any_of(named_, [&](const LoadedNative *other) { return other->file == one.file; });
      if (!is_named || !sounds_like_free(one.native->function))
        continue;
      const bool is_alike = std::ranges::any_of(named_, [&](const LoadedNative *other) {
        return family_of(other->native->function) == family_of(one.native->function);
      });
      if (none_ran(*il_, callers_of(name)))
        (is_alike ? alike : others).push_back(one.native->function);
      else if (is_alike)
        return {};
    }
    std::vector<std::string> &out = alike.empty() ? others : alike;
    out.resize(std::min(out.size(), most_listed));
    return out;
  }

  std::vector<ProgramCaller> callers_of(const std::string &native) const {
    std::vector<ProgramCaller> out;
    for (const ProgramCaller &one : to_native_)
      if (qualified_callee(one) == native)
        out.push_back(one);
    return out;
  }

  const std::shared_ptr<const ProgramIl> il_;
  const LoadedNatives natives_;
  const std::vector<ProgramCaller> to_native_, allocating_, freeing_;
  std::vector<std::string> parts_;
  std::vector<const LoadedNative *> named_;
  bool uses_marshal_ = false;
};

} // namespace

std::string native_callers_text(const Snapshot &snapshot) { return NativeCallers(snapshot).text(); }

std::string native_function_callers_text(const Snapshot &snapshot, std::string_view function) {
  const std::shared_ptr<const ProgramIl> il = ProgramIl::of(snapshot);
  const LoadedNatives natives = loaded_natives(snapshot, *il);
  const std::vector<ProgramCaller> callers =
      first_run(find_callers(*il, [&](std::string_view type, std::string_view method, IlUse use) {
        const auto found = natives.find(std::string(type) + "." + std::string(method));
        return use == IlUse::calls && found != natives.end() && found->second.native->function == function;
      }));
  return callers.empty() ? ""
                         : fmt::format(" In the program, {} {} {}.", callers_text(callers),
                                       callers.size() == 1 ? "calls" : "call", function);
}

} // namespace dnheap
