"""NuGet packages by which `dotnet tool install -g dnheap` installs the program itself (.NET SDK 10 and newer): one for each system and processor,
and `dnheap`, which only names these (version 2 of DotnetToolSettings.xml). The same input gives the same bytes."""
import time
import xml.sax.saxutils
import zipfile

TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  <Default Extension="nuspec" ContentType="application/octet" />
  <Default Extension="xml" ContentType="application/octet" />
  <Default Extension="md" ContentType="application/octet" />
  <Default Extension="txt" ContentType="application/octet" />
  <Default Extension="exe" ContentType="application/octet" />
  <Default Extension="dll" ContentType="application/octet" />
  <Default Extension="so" ContentType="application/octet" />{overrides}
</Types>
"""
RELATIONS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{id}.nuspec" Id="manifest" />
</Relationships>
"""
NUSPEC = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2012/06/nuspec.xsd">
  <metadata>
    <id>{id}</id>
    <version>{version}</version>
    <authors>The dnheap authors</authors>
    <license type="expression">MIT</license>
    <readme>README.md</readme>
    <description>{description}</description>
    <tags>dotnet dump memory heap leak diagnostics</tags>
    <packageTypes>
      <packageType name="{type}" />
    </packageTypes>
  </metadata>
</package>
"""
DESCRIPTION = ("Reads the managed heap of .NET processes out of their dumps: what fills it, who holds it, what grew. "
               "A native program; needs neither the DAC nor the runtime that was dumped.")
README = """# dnheap

```
dotnet tool install -g dnheap
dnheap report core.1234
```

Reads the managed heap of .NET 8 to 11 processes out of Linux and macOS cores and Windows minidumps, and of processes that run on Linux and Windows.
`dnheap --help` lists its verbs. This is the native program, as one file; the .NET SDK 10 or newer installs it.
"""


def settings(body):
    return f'<?xml version="1.0" encoding="utf-8"?>\n<DotNetCliTool Version="2">\n{body}\n</DotNetCliTool>\n'


def write_tool_packages(folder, programs, texts, version, epoch):
    """`programs`: {"linux-x64": bytes, …}. Returns the paths."""
    paths = []
    for target, program in sorted(programs.items()):
        name = "dnheap.exe" if target.startswith("win") else "dnheap"
        paths.append(write_package(folder, f"dnheap.{target}", version, "DotnetToolRidPackage", epoch, {
            f"tools/any/{target}/DotnetToolSettings.xml": settings(
                f'  <Commands>\n    <Command Name="dnheap" EntryPoint="{name}" Runner="executable" />\n  </Commands>').encode(),
            f"tools/any/{target}/{name}": program, **texts}))
    places = "\n".join(f'    <RuntimeIdentifierPackage RuntimeIdentifier="{target}" Id="dnheap.{target}" />' for target in sorted(programs))
    paths.append(write_package(folder, "dnheap", version, "DotnetTool", epoch, {
        "tools/any/any/DotnetToolSettings.xml": settings(
            '  <Commands>\n    <Command Name="dnheap" />\n  </Commands>\n'
            f"  <RuntimeIdentifierPackages>\n{places}\n  </RuntimeIdentifierPackages>").encode(), "LICENSE.txt": texts["LICENSE.txt"]}))
    return paths


def write_package(folder, package, version, package_type, epoch, files):
    path = folder / f"{package}.{version}.nupkg"
    nuspec = NUSPEC.format(id=package, version=version, type=package_type, description=xml.sax.saxutils.escape(DESCRIPTION))
    return zip_package(path, package, epoch, {f"{package}.nuspec": nuspec.encode(), "README.md": README.encode(), **files})


def repack(package, folder, epoch):
    """What `dotnet pack` made, without its times and without the record of the machine it ran on. Returns the path."""
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in sorted(archive.namelist()) if not name.startswith(("_rels/", "package/", "[Content_Types]"))}
    nuspec = next(name for name in files if name.endswith(".nuspec"))
    return zip_package(folder / package.name, nuspec.removesuffix(".nuspec"), epoch, files)


def zip_package(path, package, epoch, files):
    """With what makes a package of `files`: {name: bytes}."""
    # Files without an extension are named one by one.
    overrides = "".join(f'\n  <Override PartName="/{name}" ContentType="application/octet" />' for name in files if "." not in name.split("/")[-1])
    files = {**files, "_rels/.rels": RELATIONS.format(id=package).encode(), "[Content_Types].xml": TYPES.format(overrides=overrides).encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(max(epoch, 315532800))[:6])  # a ZIP's time begins in 1980
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o755 if name.endswith(("/dnheap", ".exe")) else 0o644) << 16
            archive.writestr(entry, data)
    return path
