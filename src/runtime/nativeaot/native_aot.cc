#include "runtime/nativeaot/native_aot.h"

#include "base/text.h"
#include "image/elf_sections.h"
#include "runtime/nativeaot/native_aot_statics.h"
#include "runtime/unnamed_fields.h"

namespace dnheap {

NativeAot::NativeAot(const Target &target, const Module &module, std::string version, ContractDescriptor described,
                     const RuntimeHints &hints)
    : Runtime(target, module, std::move(version), std::move(described), hints), thread_(memory(), descriptor()),
      stacks_(target, find_managed_code(target, module, this->descriptor())) {
  require_heap();
  types_ = std::make_unique<RuntimeTypeSystemN1>(target, module, descriptor());
  fields_ = std::make_unique<UnnamedFields>(*types_, memory().format().pointer_size);
}

// Thousands of threads wait in the same few methods.
MethodText NativeAot::method_text(Address code) const {
  auto [it, is_new] = method_texts_.try_emplace(code);
  MethodText &text = it->second;
  if (is_new) {
    constexpr u64 longest_name = 1024;
    text.module = printable(module().file_name(), longest_name);
    const std::optional<std::string_view> symbol = types_->symbols().method_at(code);
    text.name = symbol ? printable(*symbol, longest_name) : text.module + "+" + hex(code - module().base);
    text.qualified = text.name;
  }
  return text;
}

void NativeAot::use_debug_file(Bytes file, u64 bias, std::shared_ptr<const void> storage) {
  types_->use_symbols(NativeSymbols(file, bias, storage));
  ElfSectionContent frames = read_elf_section(file, ".debug_frame");
  stacks_.use_debug_frame(
      DebugFrame(frames.bytes, bias, memory().format(), frames.storage ? std::move(frames.storage) : storage));
  auto named = std::make_unique<NativeAotFields>(memory(), *types_, file, bias, std::move(storage));
  named_fields_ = named.get();
  fields_ = std::move(named);
}

std::vector<StaticRoot> NativeAot::static_roots(std::vector<std::string> &problems) const {
  return NativeAotStatics(target(), module(), descriptor(), *types_, named_fields_).static_roots(problems);
}

} // namespace dnheap
