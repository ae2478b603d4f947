#!/usr/bin/env python3
import pathlib
import tempfile
import unittest

import include_order


class IncludeOrder(unittest.TestCase):
    def found(self, **files):
        with tempfile.TemporaryDirectory() as name:
            src = pathlib.Path(name)
            for file, text in files.items():
                *folders, stem = file.split("_")
                folder = src.joinpath(*folders)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{stem}.h").write_text(text)
            return [line.removeprefix(name + "/") for line in include_order.violations(src)]

    def test_downwards_is_allowed(self):
        self.assertEqual(self.found(heap_a='#include "base/x.h"\n#include "heap/b.h"\n#include <cstdio>\n'), [])
        self.assertEqual(self.found(snapshot_a='#include "dump/open.h"\n'), [])

    def test_upwards_and_sideways_are_not(self):
        self.assertEqual(self.found(base_a='\n#include "target/x.h"\n'), ["base/a.h:2: base/ may not include target/"])
        self.assertEqual(self.found(dump_a='#include "metadata/x.h"\n'), ["dump/a.h:1: dump/ may not include metadata/"])
        self.assertEqual(self.found(analysis_a='#  include "dump/x.h"\n'), ["analysis/a.h:1: analysis/ may not include dump/"])
        self.assertEqual(self.found(report_a='#include "heap/x.h"\n'), ["report/a.h:1: report/ may not include heap/"])

    def test_rooms_are_blind_to_each_other(self):
        self.assertEqual(self.found(runtime_coreclr_a='#include "runtime/gc.h"\n#include "runtime/vm/b.h"\n'), [])
        self.assertEqual(self.found(runtime_layout_coreclr_a='#include "runtime/layout/b.h"\n'), [])
        self.assertEqual(self.found(runtime_describe_a='#include "runtime/coreclr/b.h"\n#include "runtime/layout/b.h"\n'), [])
        for inside, other in (("layout_coreclr", "coreclr"), ("coreclr", "layout"), ("coreclr", "layout/coreclr"),
                              ("layout", "gc"), ("nativeaot", "layout/nativeaot"), ("describe", "corert")):
            room = inside.replace("_", "/")
            self.assertEqual(self.found(**{f"runtime_{inside}_a": f'#include "runtime/{other}/b.h"\n'}),
                             [f"runtime/{room}/a.h:1: runtime/{room}/ may not include runtime/{other}/"])

    def test_the_seam_knows_no_room(self):
        self.assertEqual(self.found(runtime_a='#include "runtime/b.h"\n'), [])
        self.assertEqual(self.found(runtime_a='#include "runtime/gc/b.h"\n'), ["runtime/a.h:1: runtime/a.h may not include runtime/gc/"])

    def test_kinds_of_runtimes_are_for_runtime_to_know(self):
        self.assertEqual(self.found(snapshot_a='#include "runtime/runtime.h"\n', runtime_describe_a='#include "runtime/coreclr/core_clr.h"\n'), [])
        self.assertEqual(self.found(analysis_a='#include "runtime/nativeaot/native_aot.h"\n'),
                         ["analysis/a.h:1: analysis/ may not include runtime/nativeaot/native_aot.h: see runtime/runtime.h"])

    def test_formats_of_modules_are_for_image_to_know(self):
        self.assertEqual(self.found(snapshot_a='#include "image/elf_file.h"\n', runtime_vm_a='#include "image/module_image.h"\n'), [])
        for header in ("pe_image.h", "elf_image.h", "elf_sections.h", "dwarf.h"):
            self.assertEqual(self.found(runtime_vm_a=f'#include "image/{header}"\n'),
                             [f"runtime/vm/a.h:1: runtime/ may not include image/{header}: see image/module_image.h, image/debug_file.h"])

    def test_unknown_rooms_are_named(self):
        self.assertEqual(self.found(runtime_mono_a=""), ["runtime/mono/a.h: room mono of runtime/ is not in the include order"])

    def test_unknown_folders_are_named(self):
        self.assertEqual(self.found(util_a='#include "base/x.h"\n'), ["util/a.h: folder util is not in the include order"])

    def test_public_headers_need_only_the_standard_library(self):
        with tempfile.TemporaryDirectory() as name:
            header = pathlib.Path(name) / "a.h"
            header.write_text('#include "dnheap/b.h"\n#include <string_view>\n')
            self.assertEqual(list(include_order.foreign_includes(pathlib.Path(name))), [])
            header.write_text('#include "heap/heap.h"\n#include <fmt/format.h>\n#include <zstd.h>\n')
            self.assertEqual([line.split(":", 1)[1] for line in include_order.foreign_includes(pathlib.Path(name))],
                             ['1: public headers may not include "heap/heap.h"',
                              '2: public headers may not include <fmt/format.h>',
                              '3: public headers may not include <zstd.h>'])


if __name__ == "__main__":
    unittest.main()
