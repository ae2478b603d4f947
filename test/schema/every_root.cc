// Writes a core of a synthetic process in which each kind of root holds an object of its own, and names hold characters
// that are none to look at: for schema_check.py. Usage: every-root FILE
#include "support/core_file.h"
#include "support/opened.h"

#include <cstdio>
#include <fstream>

namespace dnheap::test {
namespace {

// What is held is an object that refers to another one, so that a path has a step.
class Everything {
public:
  Everything() : heap_({}), p_(heap_.p), old_(heap_.segment(GCSegmentGeneration::gen2)) {
    field_ = heap_.app().metadata.field("_ne\nxt", field_signature(element(ElementType::Object)));
    MetadataWriter &metadata = heap_.app().metadata;
    cache_ = heap_.type("Shop.Cache", 1);
    std::vector<FieldShape> statics = {
        {metadata.field("s_\tlist", field_signature(element(ElementType::Object))), ElementType::Class, 0, true},
        {metadata.field("t_mine", field_signature(element(ElementType::Object))), ElementType::Class,
         static_cast<u32>(3 * p_), true, true}};
    heap_.fields(cache_, statics);
  }

  std::string core() {
    for (HandleType type : {HandleType::strong, HandleType::pinned, HandleType::ref_counted, HandleType::async_pinned,
                            HandleType::sized_ref})
      heap_.gc.handles.push_back({.type = type, .object = held(name_of(type)), .secondary = 1});
    heap_.gc.handles.push_back(
        {.type = HandleType::dependent, .object = heap_.gc.handles[0].object, .secondary = held("Secondary")});
    for (HandleType type : {HandleType::weak_short, HandleType::weak_long})
      heap_.gc.handles.push_back({.type = type, .object = held(name_of(type))});
    add_statics();
    add_stacks();
    const Address due = held("Due");
    heap_.gc.heaps[0].finalize_counts = {0, 0, 0, 0, 0, 0, 1};
    Opened opened(heap_);
    for (const GCFinalizeQueuePart &part : finalize_queue_parts(opened.runtime.gc().get_heap_data(0)))
      if (part.name == std::string_view("ready"))
        heap_.poke(part.start, due, p_);
    ElfCoreWriter writer = core_writer(heap_);
    for (u64 i = 0; i < 2; ++i) { // x64: the stack pointer is the twentieth
      writer.threads.at(i).registers.assign(27, 0);
      writer.threads.at(i).registers[19] = heap_.threads[i].stack_pointer;
    }
    writer.threads.at(1).registers[5] = in_register_;
    writer.threads.at(1).signal = 6; // that ended the process
    const std::vector<std::byte> bytes = writer.write();
    return std::string(as_text(bytes));
  }

private:
  Address held(const std::string &name) {
    Address type = heap_.method_table({.base_size = static_cast<u32>(3 * p_),
                                       .rid = heap_.app().metadata.type("Shop", "Held\x1b[1m\n" + name),
                                       .series = {{p_, p_}}});
    heap_.fields(type, {{field_, ElementType::Class, 0}});
    Address object = old_.object(type);
    old_.store(object + p_, old_.string("text of\n" + name), p_);
    return object;
  }
  Address slot(Address array, u64 i) const { return array + (2 + i) * p_; }
  void add_statics() {
    Address holder = old_.object(heap_.object_array_type, 4);
    old_.store(slot(holder, 0), held("Static"), p_);
    heap_.statics(cache_, slot(holder, 0));
    heap_.gc.handles.push_back({.type = HandleType::strong, .object = holder});
    heap_.thread_statics(cache_, 3);
    Address all = old_.object(heap_.object_array_type, 4), mine = old_.object(heap_.object_array_type, 2);
    old_.store(slot(mine, 1), held("ThreadStatic"), p_);
    old_.store(slot(all, 1), mine, p_);
    heap_.threads[1].statics = all;
    heap_.threads[1].statics_count = 5;
  }
  void add_stacks() {
    const Address stacks = align_up(heap_.native.reserve(0x6000), 0x1000);
    for (u64 i = 0; i < 2; ++i) {
      ThreadWriter &thread = heap_.threads[i];
      thread.stack_limit = stacks + i * 0x2000;
      thread.stack_base = thread.stack_limit + 0x2000;
      thread.stack_pointer = thread.stack_limit + 0x1000;
    }
    heap_.native.pointer(heap_.threads[0].stack_pointer + 8, held("OnStack"));
    in_register_ = held("InRegister");
  }

  HeapBuilder heap_;
  const u64 p_;
  SegmentWriter &old_;
  u32 field_ = 0;
  Address cache_ = 0, in_register_ = 0;
};

} // namespace
} // namespace dnheap::test

int main(int count, char **values) {
  if (count != 2)
    return 2;
  const std::string core = dnheap::test::Everything().core();
  std::ofstream file(values[1], std::ios::binary);
  file.write(core.data(), static_cast<std::streamsize>(core.size()));
  file.close();
  return file ? 0 : 1;
}
