"""What a program or library of ./dev release is made of: Debian's packages whose archives the linker took members of (its map), or whose headers the
compiler read (ninja's notes), with versions and copyright files. Nothing of it is listed by hand."""
import pathlib
import re
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = PROJECT / "build/libraries"
# What is read for its declarations alone: what the kernel is called by.
INTERFACES = ("linux",)


class Part:
    """A source package of Debian: `files` are those of it that were used."""

    def __init__(self, name, version, copyright_file):
        self.name, self.version, self.copyright_file, self.files = name, version, copyright_file, set()

    def copyright(self):
        return self.copyright_file.read_text(errors="replace")


def used_files(build, name):
    """Archives that members were taken of, start files, and headers; outside of the project, but for build/libraries."""
    linked = (build / f"{name}.map").read_text(errors="replace")
    members = re.findall(r"^(/\S+\.a)\(", linked, re.MULTILINE)
    objects = re.findall(r"^LOAD (/\S+\.o)$", linked, re.MULTILINE)
    notes = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    of_tests = re.compile(r"^(?:test|bench)/.*(?:\n .*)*", re.MULTILINE)  # which preset arm64 builds beside what ships
    headers = [line.strip() for line in of_tests.sub("", notes).splitlines() if line.startswith("    /")]
    paths = {pathlib.Path(path).resolve() for path in members + objects + headers}
    return {path for path in paths if PROJECT not in path.parents or LIBRARIES in path.parents}


def parts_of(build, target, name="dnheap"):
    """By name; `name` is that of the linker's map."""
    parts, elsewhere = {}, []
    for path in sorted(used_files(build, name)):
        if LIBRARIES / target in path.parents:
            folder = LIBRARIES / target / path.relative_to(LIBRARIES / target).parts[0]
            part = parts.setdefault(folder.name, Part(folder.name, (folder / "version").read_text().strip(), folder / "copyright"))
            part.files.add(path)
        else:
            elsewhere.append(path)
    for path, package in owners(elsewhere).items():
        name, version = source_of(package)
        if name in INTERFACES:
            continue
        copyright_file = pathlib.Path("/usr/share/doc", package.split(":")[0], "copyright")
        parts.setdefault(name, Part(name, version, copyright_file)).files.add(path)
    return dict(sorted(parts.items()))


def owners(paths):
    """The installed package that each file is of. Raises LookupError where there is none: then it is not known what was linked."""
    found = {}
    for start in range(0, len(paths), 200):
        some = [str(path) for path in paths[start:start + 200]]
        # Of a system whose /lib is /usr/lib, files may be registered by either name.
        asked = some + [path.removeprefix("/usr") for path in some if path.startswith("/usr/lib")]
        answer = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True, check=False).stdout
        for line in answer.splitlines():
            package, _, path = line.partition(": ")
            if not package.startswith("diversion by"):
                found.setdefault(path if path in some else "/usr" + path, package.split(",")[0])
    missing = [str(path) for path in paths if str(path) not in found]
    if missing:
        raise LookupError(f"no package is known to own {', '.join(missing[:5])}")
    return {path: found[str(path)] for path in paths}


SOURCES = {}


def source_of(package):
    if package not in SOURCES:
        name, source_version, own_version = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version} ${Version}", package],
                                                           check=True, capture_output=True, text=True).stdout.split()
        if "-cross" in package:  # what others made, for a cross compiler: "2.36-8cross1"
            name = {"cross-toolchain-base": "linux" if package.startswith("linux") else "glibc"}.get(name, name.removesuffix("-cross"))
            source_version = re.sub(r"cross\d+$", "", own_version)
        SOURCES[package] = name, source_version
    return SOURCES[package]


def notices(parts, with_licences=True):
    """Their copyright files, and each licence that these only name; but where Debian is, which has these."""
    out = ["dnheap is linked with parts of the following. Each is followed by what its package says of copyright and licences. dnheap itself is under",
           "the MIT licence, its sources are public, and so whoever wants to link it with other versions of these can.", ""]
    named = set()
    for part in parts.values():
        text = part.copyright()
        out += ["=" * 100, f"{part.name} {part.version}", "=" * 100, "", text.rstrip(), ""]
        named |= set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9+])", text))
    for name in sorted(named) if with_licences else ():
        path = pathlib.Path("/usr/share/common-licenses", name)
        if path.exists():
            out += ["=" * 100, f"The licence {name}", "=" * 100, "", path.read_text().rstrip(), ""]
    return "\n".join(out)


def spdx(whole, parts, version, target, digest, created):
    """SPDX 2.3, as a value for JSON; `whole` is dnheap or dnheap-c."""
    def reference(name):
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)

    def package(name, of_version, licence, **more):
        return {"SPDXID": reference(name), "name": name, "versionInfo": of_version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}

    packages = [package(whole, version, "MIT", primaryPackagePurpose="APPLICATION" if whole == "dnheap" else "LIBRARY",
                        checksums=[{"algorithm": "SHA256", "checksumValue": digest}])]
    packages += [package(part.name, part.version, "NOASSERTION", supplier="Organization: Debian", primaryPackagePurpose="LIBRARY", externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
         "referenceLocator": f"pkg:deb/debian/{part.name.replace('+', '%2B')}@{part.version.replace('+', '%2B')}?arch=source"}])
        for part in parts.values()]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{whole}-{version}-{target}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{whole}-{version}-{target}-{digest}",
        "creationInfo": {"created": created, "creators": [f"Tool: dnheap-release-{version}"]},
        "packages": packages,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": reference(whole)}]
        + [{"spdxElementId": reference(whole), "relationshipType": "STATIC_LINK", "relatedSpdxElement": reference(part.name)}
           for part in parts.values()],
    }
