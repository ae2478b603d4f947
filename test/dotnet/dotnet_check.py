#!/usr/bin/env python3
"""The NuGet package DnHeap.Core: packed, put into a feed that is a folder, and used from there: by the tests of sample/assertions, which
look into their own process, and by a program that calls it wrongly; with `aot` by a program compiled ahead of time. Usage: dotnet_check.py DNHEAP LIBRARY [aot]
Ends with 77 where there is no .NET SDK, or NuGet cannot restore what is needed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"
sys.path[:0] = [str(PROJECT / "bindings" / "dotnet"), str(PROJECT / "test" / "real")]
sys.dont_write_bytecode = True
import pack  # noqa: E402
import runtimes  # noqa: E402

NOT_TO_BE_HAD = re.compile(r"NU1101|NU1102|NU1301|NETSDK1045|Platform linker|cannot find -lz|unable to find library -lz")


AOT_SAYS = re.compile(r"5024\nstat\nholds\nKept\. retains \d+ bytes, at most 10 are allowed:\n1 instance of Kept alive:\nholds\n")


def dotnet(*words, **more):
    environment = dict(os.environ, NUGET_PACKAGES=str(runtimes.packages()), DOTNET_CLI_TELEMETRY_OPTOUT="1", DOTNET_NOLOGO="1", DUMP=str(SAMPLE))
    return sound(subprocess.run(["dotnet", *map(str, words)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more))


def sound(done):
    if done.returncode and (reason := NOT_TO_BE_HAD.search(done.stdout)):
        raise runtimes.Missing(f"NuGet, or the linker, lacks something: {done.stdout[max(reason.start() - 100, 0):][:300].strip()}")
    return done


def packed(program, library, work):
    """The feed's folder, with the package in it; what NuGet unpacked of an earlier one is gone."""
    feed = work / "feed"
    done = sound(pack.pack(program, library, feed))
    if done.returncode:
        raise AssertionError(f"it cannot be packed: {done.stdout[-2000:]}")
    shutil.rmtree(runtimes.packages() / "dnheap.core", ignore_errors=True)
    names = set(zipfile.ZipFile(next(feed.glob("DnHeap.Core.*.nupkg"))).namelist())
    native = f"runtimes/{pack.RID}/native"
    missing = {"lib/net8.0/DnHeap.dll", "lib/net8.0/DnHeap.xml", "README.md", f"{native}/libdnheap-c.so", f"{native}/dnheap"} - names
    if missing:
        raise AssertionError(f"the package lacks {missing}")
    return feed


def check_assertions(feed, work):
    source = work / "assertions"
    shutil.copytree(PROJECT / "sample" / "assertions", source, ignore=shutil.ignore_patterns("bin", "obj"))
    # What the guide shows has to compile.
    shown = re.search(r"^```csharp\nusing DnHeap;\n(.*?)^```", (PROJECT / "doc" / "guide" / "libraries.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    (source / "Readme.cs").write_text("using DnHeap;\nstatic class Readme\n{\n    public static void Run()\n    {\n" + shown + "    }\n}\n")
    done = dotnet("test", source, "-nologo", f"-p:RestoreAdditionalProjectSources={feed}", "--logger", "console;verbosity=normal")
    if done.returncode or not re.search(r"Passed: *5\b|Passed! .*Passed: *5,", done.stdout):
        raise AssertionError(f"the tests of sample/assertions fail:\n{done.stdout[-6000:]}")


def check_misuse(feed, work):
    source = work / "misuse"
    shutil.copytree(HERE / "misuse", source, ignore=shutil.ignore_patterns("bin", "obj"))
    done = dotnet("run", "--project", source, f"-p:RestoreAdditionalProjectSources={feed}", "--", SAMPLE, timeout=300)
    if done.returncode or not done.stdout.endswith("ok\n"):
        raise AssertionError(f"wrong calls, and several threads:\n{done.stdout[-6000:]}")


def check_aot(feed, work):
    source, out = work / "aot", work / "out"
    shutil.copytree(HERE / "aot", source)
    done = dotnet("publish", source, "-r", pack.RID, "-o", out, "-nologo", f"-p:RestoreAdditionalProjectSources={feed}")
    if done.returncode:
        raise AssertionError(f"it cannot be published: {done.stdout[-3000:]}")
    done = subprocess.run([out / "aot", SAMPLE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or not AOT_SAYS.fullmatch(done.stdout):
        raise AssertionError(f"the program compiled ahead of time says:\n{done.stdout}")
    check_attaching([out / "aot", SAMPLE, "wait"])


def check_attaching(command):
    """From Python, while it runs: it stands still until it is let go, and knows nothing of it."""
    os.environ["DNHEAP_LIBRARY"] = sys.argv[2]
    sys.path.insert(0, str(PROJECT / "bindings" / "python"))
    import dnheap
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        said = "".join(process.stdout.readline() for _ in range(6))
        with dnheap.attach(process.pid) as live:
            kept = [row.count for row in live.types() if row.name == "Kept"]
            objects = sum(1 for _ in live.objects())
            live.release()
            if live.info.container != "process" or kept != [1] or objects != live.completeness.objects:
                raise AssertionError(f"looked into while it runs: {live.info}, {kept} × Kept, {objects} objects of {live.completeness}")
        said += process.communicate("\n", timeout=60)[0]
        if process.returncode or not AOT_SAYS.fullmatch(said):
            raise AssertionError(f"let go, it says:\n{said}")


if __name__ == "__main__":
    try:
        runtimes.sdk()
        work = runtimes.cache() / f"dotnet-package{''.join('-' + word for word in sys.argv[3:])}"
        with runtimes.lock():  # of NuGet's folder
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            feed = packed(*map(pathlib.Path, sys.argv[1:3]), work)
            for check in [check_aot] if sys.argv[3:] == ["aot"] else [check_assertions, check_misuse]:
                check(feed, work)
        shutil.rmtree(work)
    except runtimes.Missing as reason:
        print(f"SKIPPED: {reason}")
        sys.exit(77)
    except AssertionError as error:
        sys.exit(str(error))
    print("the package DnHeap.Core: ok")
