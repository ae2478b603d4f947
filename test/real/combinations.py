"""The combinations of runtime, GC, dump and mode that the matrix test knows, written major:heaps:gc:dump[:mode].

    10:svr:clrgcexp:heap            .NET 10, server GC from libclrgcexp.so, createdump --withheap
    8:wks:regions:full:background   .NET 8, workstation GC of libcoreclr.so, --full, while a background GC runs

With a patch instead of the major version (8.0.29:wks:regions:heap) it runs on that one, not on the newest; with 8-musl on musl.
"""
import collections
import itertools
import re

import runtimes

Combination = collections.namedtuple("Combination", "major heaps gc dump mode")

MAJORS = runtimes.MAJORS
HEAPS = ("wks", "svr")
GCS = ("regions", "clrgc", "clrgcexp")
DUMPS = ("full", "heap", "normal", "triage", "gcore", "kernel")  # the first four by createdump

# Mode → environment of the target. Numbers are hexadecimal, as the runtime reads them.
MODES = {
    "plain": {},
    "background": {"DOTNET_gcConcurrent": "1"},
    "background-done": {"DOTNET_gcConcurrent": "1"},
    "busy": {},
    "nonconcurrent": {"DOTNET_gcConcurrent": "0"},
    "datas": {"DOTNET_GCDynamicAdaptationMode": "1"},
    "no-datas": {"DOTNET_GCDynamicAdaptationMode": "0"},
    "heaps2": {"DOTNET_GCHeapCount": "2"},
    "heaps1": {"DOTNET_GCHeapCount": "1"},
    "conserve": {"DOTNET_GCConserveMemory": "7"},
    "hard-limit": {"DOTNET_GCHeapHardLimit": "0x20000000"},
    "small-regions": {"DOTNET_GCRegionSize": "0x100000"},
    "handles": {},
    "fields": {},
    "cpus-heaps1": {"DOTNET_GCHeapCount": "1"},
    "cpus-datas": {"DOTNET_GCDynamicAdaptationMode": "1"},
    "oom": {"DOTNET_GCHeapHardLimit": "0x8000000"},
    "stopped": {},
    "holders": {},
    "values": {},
    "business": {},
    "emitted": {},
    "unloaded": {},
    "live": {},
    "live-busy": {},
    "plain-jit": {"DOTNET_EnableWriteXorExecute": "0", "DOTNET_TieredCompilation": "0"},
}

# Modes are not crossed with everything: each where it makes a difference.
SPECIAL = """
    8:wks:regions:heap:background 8:svr:clrgc:heap:background 9:wks:clrgcexp:heap:background
    9:svr:regions:heap:background 10:wks:clrgc:heap:background 10:wks:regions:heap:background
    10:svr:regions:heap:background
    8:wks:regions:heap:busy 8:svr:clrgc:heap:busy 9:svr:regions:heap:busy 10:wks:regions:heap:busy
    10:svr:regions:heap:busy 10:wks:clrgc:heap:busy
    8:wks:clrgc:full:background-done 9:svr:regions:heap:background-done 10:wks:regions:heap:background-done
    8:svr:regions:heap:datas 9:svr:clrgcexp:full:datas 10:svr:regions:heap:datas 10:svr:regions:full:no-datas
    8:svr:clrgc:heap:heaps2 10:svr:regions:heap:heaps2 9:svr:regions:full:heaps1 10:svr:clrgc:heap:heaps1
    8:wks:regions:heap:hard-limit 9:svr:regions:heap:hard-limit 10:wks:clrgc:heap:hard-limit
    8:wks:regions:heap:small-regions 10:wks:regions:full:small-regions 10:wks:regions:heap:nonconcurrent
    8:wks:regions:full:plain-jit 9:wks:regions:heap:plain-jit 10:svr:regions:heap:plain-jit
    8:wks:regions:heap:handles 9:svr:regions:full:handles 10:wks:clrgc:heap:handles 10:svr:regions:heap:handles
    8:wks:regions:full:fields 9:svr:regions:full:fields 10:wks:clrgc:full:fields
    8:svr:regions:heap:cpus-heaps1 9:svr:regions:heap:cpus-heaps1 10:svr:regions:heap:cpus-heaps1
    8:svr:regions:heap:cpus-datas 9:svr:regions:heap:cpus-datas 10:svr:regions:heap:cpus-datas
    8:wks:regions:heap:oom 9:wks:clrgc:heap:oom 10:svr:regions:heap:oom
    8:wks:regions:full:holders 9:svr:regions:full:holders 10:wks:regions:full:holders 10:svr:clrgc:heap:holders
    8:wks:regions:heap:values 9:svr:regions:full:values 10:wks:regions:heap:values
    8:wks:clrgc:heap:business 9:svr:regions:full:business 10:wks:regions:heap:business
    8:wks:regions:full:emitted 8:svr:regions:full:emitted 9:wks:regions:full:emitted 10:svr:regions:full:emitted
    8:wks:regions:full:unloaded 8:svr:clrgc:heap:unloaded 9:wks:clrgc:full:unloaded 10:wks:regions:heap:unloaded
    8:wks:regions:full:live 9:svr:regions:full:live 10:wks:regions:full:live 10:svr:clrgc:full:live
    8:svr:regions:full:live-busy 10:wks:regions:full:live-busy
    8:wks:regions:gcore:stopped 9:svr:regions:gcore:stopped 10:wks:clrgc:gcore:stopped 10:wks:regions:gcore:stopped
    8:wks:regions:kernel 9:svr:clrgcexp:kernel 10:wks:clrgc:kernel
    8:wks:regions:normal 9:wks:regions:triage 10:wks:regions:normal 10:svr:regions:triage
    11:wks:regions:heap:background 11:svr:regions:heap:background 11:wks:clrgc:heap:background 11:svr:clrgcexp:heap:background
    11:wks:regions:heap:busy 11:svr:regions:heap:busy 11:wks:clrgc:heap:busy 11:svr:clrgcexp:full:background-done
    11:svr:regions:heap:datas 11:svr:regions:full:no-datas 11:svr:regions:heap:heaps2 11:svr:clrgc:heap:heaps1
    11:wks:regions:heap:hard-limit 11:svr:regions:full:hard-limit 11:wks:regions:heap:conserve 10:svr:regions:heap:conserve
    11:wks:regions:full:small-regions 11:wks:regions:heap:nonconcurrent 11:wks:regions:heap:plain-jit
    11:wks:regions:heap:handles 11:svr:regions:full:handles 11:wks:clrgc:heap:handles 11:svr:regions:full:fields 11:wks:clrgc:full:fields
    11:svr:regions:heap:cpus-heaps1 11:svr:regions:heap:cpus-datas 11:wks:regions:heap:oom 11:svr:regions:heap:oom
    11:wks:regions:full:holders 11:svr:clrgc:heap:holders 11:wks:regions:heap:values 11:wks:regions:heap:business 11:svr:regions:full:business
    11:wks:regions:full:emitted 11:svr:regions:full:emitted 11:wks:regions:full:unloaded 11:wks:clrgc:heap:unloaded
    11:wks:regions:full:live 11:svr:clrgc:full:live 11:svr:regions:full:live-busy
    11:wks:regions:gcore:stopped 11:wks:clrgc:gcore:stopped 11:svr:regions:kernel 11:wks:regions:normal 11:svr:regions:triage
""".split()

# What every older patch is tested with.
PATCHED = ("wks:regions:heap", "svr:regions:full", "wks:clrgc:gcore", "wks:regions:heap:handles", "wks:regions:full:holders")

# The special ones that even a short run makes.
SAMPLE = ["11:wks:regions:full:emitted", "8:wks:regions:full:unloaded", "11:wks:regions:full:live", "10:svr:regions:full:live-busy",
          "9:svr:regions:full:fields", "11:wks:regions:heap:handles", "10:wks:regions:full:holders", "10:wks:regions:heap:values",
          "10:svr:regions:heap:cpus-heaps1", "10:svr:regions:heap:oom", "10:wks:regions:heap:business", "10:wks:regions:gcore:stopped",
          "10:wks:regions:normal", "9:svr:clrgcexp:kernel"]


# What each version that there is for musl is tested with there.
ON_MUSL = ("wks:regions:full", "svr:regions:heap", "wks:clrgc:gcore", "wks:regions:full:live", "svr:regions:full:live-busy",
           "wks:regions:heap:handles", "wks:regions:full:fields", "wks:regions:full:holders", "wks:regions:heap:values", "wks:regions:heap:business",
           "wks:regions:full:emitted", "wks:regions:full:unloaded", "wks:regions:kernel", "wks:regions:normal")
MUSL_SAMPLE = ["10-musl:wks:regions:heap:values", "11-musl:wks:regions:full:live"]


def on_musl():
    return [f"{version}:{rest}" for version in runtimes.MUSL for rest in ON_MUSL]


def patched():
    return [f"{version}:{rest}" for version in runtimes.PATCHES for rest in PATCHED]


def on_patch(text):
    """The combination, and the patch that it asks for, or 8-musl: (8:wks:…, 8.0.29), or None for the newest."""
    version, _, rest = text.partition(":")
    if version in runtimes.PATCHES + runtimes.MUSL:
        return parse(f"{re.match('[0-9]+', version)[0]}:{rest}"), version
    return parse(text), None


def parse(text):
    parts = text.split(":")
    if len(parts) == 4:
        parts.append("plain")
    combination = Combination(int(parts[0]), *parts[1:]) if len(parts) == 5 and parts[0].isdigit() else None
    if not combination or not (combination.major in MAJORS and combination.heaps in HEAPS and combination.gc in GCS and
                               combination.dump in DUMPS and combination.mode in MODES):
        raise ValueError(f"{text!r} is no combination: major:heaps:gc:dump[:mode]")
    return combination


def text(combination):
    parts = [str(part) for part in combination]
    return ":".join(parts[:-1] if combination.mode == "plain" else parts)


def crossed():
    """Every runtime, GC and complete kind of dump. .NET 8 brings no libclrgcexp.so."""
    return [Combination(*parts, "plain") for parts in itertools.product(MAJORS, HEAPS, GCS, ("full", "heap", "gcore"))
            if (parts[0], parts[2]) != (8, "clrgcexp")]


def pairwise():
    """A small choice of crossed() in which every two values that can meet do meet, and a few special ones. Versions older than the two
    newest need not meet each GC and each kind of dump."""
    def pairs(combination):
        return set(itertools.combinations(enumerate(combination), 2))

    def is_wanted(pair):
        (place, version), (other, _) = pair
        return place != 0 or version in MAJORS[-2:] or other == 1

    candidates = crossed()[::-1]
    missing = {pair for pair in set().union(*map(pairs, candidates)) if is_wanted(pair)}
    chosen = []
    while missing:
        best = max(candidates, key=lambda combination: len(pairs(combination) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen + [parse(line) for line in SAMPLE]


def everything():
    return crossed() + [parse(line) for line in SPECIAL]
