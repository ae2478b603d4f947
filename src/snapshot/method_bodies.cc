#include "snapshot/method_bodies.h"

#include "base/host/host.h"
#include "image/pe_image.h"
#include "snapshot/files/file_identity.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_il = 1 << 20; // bytes of one method

// Returns fewer bytes if `all` ends before.
Bytes bytes_at(Bytes all, u64 at, u64 size) {
  at = std::min<u64>(at, all.size());
  return all.subspan(at, std::min<u64>(size, all.size() - at));
}

} // namespace

MethodBodies::MethodBodies(const Snapshot &snapshot)
    : runtime_(snapshot.runtime()), code_(runtime_.il_code()),
      folders_(snapshot.options().module_folders, snapshot.target()) {}

const std::vector<MethodBodies::Call> *MethodBodies::calls_of(Address method_desc) {
  const std::optional<MetadataRow> method = code_ && method_desc ? code_->find_method(method_desc) : std::nullopt;
  return method ? calls_at(method->module, method->row) : nullptr;
}

const std::vector<MethodBodies::Call> *MethodBodies::calls_of_machine(Address machine_type) {
  const Address module = code_ && machine_type ? code_->module_of(machine_type) : 0;
  const Metadata *metadata = module ? code_->metadata(module) : nullptr;
  if (!metadata)
    return nullptr;
  for (u32 method : metadata->methods_of(code_->row_of_type(machine_type)))
    if (const std::optional<MethodDefRow> row = metadata->method(method); row && row->name == "MoveNext")
      return calls_at(module, method);
  return nullptr;
}

const std::vector<MethodBodies::Call> *MethodBodies::calls_of_any(Address method) {
  return code_ && code_->is_method(method) ? calls_of(method) : calls_of_machine(method);
}

Address MethodBodies::type_of(Address method_desc) const {
  return code_ && code_->find_method(method_desc) ? code_->type_of(method_desc) : 0;
}

std::optional<u32> MethodBodies::il_offset(const StackFrame &frame) {
  return code_ ? code_->il_offset(frame.ip, !frame.is_active) : std::nullopt;
}

const std::vector<MethodBodies::Call> *MethodBodies::calls_at(Address module, u32 row) {
  if (!module || !row)
    return nullptr;
  auto [known, is_new] = known_.try_emplace({module, row});
  if (is_new)
    known->second = read(module, row);
  return known->second ? &*known->second : nullptr;
}

// Returns nothing unless all of the body is there.
std::optional<Bytes> MethodBodies::il_in(const PeImage &image, u32 rva,
                                         const std::function<Bytes(Address, u64)> &bytes) {
  const std::optional<PeBlock> place = image.find(rva, 1);
  const std::optional<IlPlace> il = place ? find_il(bytes(place->address, most_body_header)) : std::nullopt;
  if (!il || il->size > most_il)
    return std::nullopt;
  const Bytes body = bytes(place->address + il->offset, il->size);
  return body.size() == il->size ? std::optional(body) : std::nullopt;
}

MethodBodies::Calls MethodBodies::read(Address module, u32 row) {
  const std::optional<Bytes> il = il_of(module, row);
  const std::optional<std::vector<MethodCall>> calls = il ? find_calls(*il) : std::nullopt;
  if (!calls)
    return std::nullopt;
  std::vector<Call> out;
  const Metadata &metadata = *code_->metadata(module);
  for (const MethodCall &call : *calls) {
    out.push_back({call.il_offset, name_of_callee(metadata, call.callee)});
    for (const Token field : call.fields)
      out.back().fields.emplace_back(name_of_member(metadata, field));
  }
  return out;
}

// An image in memory is mapped section by section, or as in its file: tries both. What is no IL is not taken.
std::optional<Bytes> MethodBodies::il_of(Address module, u32 row) {
  const Metadata *metadata = code_ && module ? code_->metadata(module) : nullptr;
  const std::optional<MethodDefRow> method = metadata ? metadata->method(row) : std::nullopt;
  if (!method || !method->rva)
    return std::nullopt;
  for (Address base : code_->image_bases(module))
    for (bool mapped : {true, false}) {
      const std::optional<PeImage> image = PeImage::at(runtime_.memory(), base, mapped);
      if (!image || !image->metadata())
        continue;
      const std::optional<Bytes> found =
          il_in(*image, method->rva, [&](Address at, u64 size) { return runtime_.memory().view_up_to(at, size); });
      if (found && find_uses(*found))
        return found;
    }
  const File &file = file_of(module, *metadata);
  const std::optional<PeImage> image = file.bytes.empty() ? std::nullopt : PeImage::from_file(file.bytes);
  return image ? il_in(*image, method->rva, [&](Address at, u64 size) { return bytes_at(file.bytes, at, size); })
               : std::nullopt;
}

std::optional<bool> MethodBodies::is_compiled_ahead(Address module) {
  const Metadata *metadata = code_ && module ? code_->metadata(module) : nullptr;
  if (!metadata)
    return std::nullopt;
  for (Address base : code_->image_bases(module))
    for (bool mapped : {true, false})
      if (const std::optional<PeImage> image = PeImage::at(runtime_.memory(), base, mapped); image && image->metadata())
        return image->managed_native_header().has_value();
  const File &file = file_of(module, *metadata);
  const std::optional<PeImage> image = file.bytes.empty() ? std::nullopt : PeImage::from_file(file.bytes);
  return image ? std::optional(image->managed_native_header().has_value()) : std::nullopt;
}

const MethodBodies::File &MethodBodies::file_of(Address module, const Metadata &metadata) {
  auto [known, is_new] = files_.try_emplace(module);
  const std::optional<ModuleRow> own = is_new ? metadata.module() : std::nullopt;
  if (!own || own->mvid.empty())
    return known->second;
  for (Address base : code_->image_bases(module)) {
    const Module *mapped = runtime_.target().find_module(base);
    std::vector<std::string> paths;
    if (mapped) {
      paths = folders_.candidates(mapped->path, mapped->pe.has_value());
      const std::vector<std::string> others = folders_.identified(identity_of_module(runtime_.target(), *mapped));
      paths.insert(paths.end(), others.begin(), others.end());
    }
    for (const std::string &path : paths) {
      const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path);
      const std::optional<PeImage> image = file ? PeImage::from_file(file->bytes()) : std::nullopt;
      const std::optional<PeBlock> root = image ? image->metadata() : std::nullopt;
      const std::optional<Metadata> there = root ? Metadata::parse(image->view(*root)) : std::nullopt;
      const std::optional<ModuleRow> row = there ? there->module() : std::nullopt;
      if (row && std::equal(row->mvid.begin(), row->mvid.end(), own->mvid.begin(), own->mvid.end())) {
        known->second = {file, file->bytes()};
        return known->second;
      }
    }
  }
  return known->second;
}

} // namespace dnheap
