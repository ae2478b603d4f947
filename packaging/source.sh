# Sourced, after apt.sh: Debian's source packages, of whatever version can be had.

# source_versions PACKAGE: those that the archive's index names, newest first.
source_versions() {
  apt-cache "${apt[@]:1}" showsrc --only-source "$1" 2>/dev/null | awk '/^Version:/ { print $2 }' | sort -urV
}

# unpack_source PACKAGE FOLDER: into FOLDER, a new one, with Debian's patches; the package's .dsc lies beside. DNHEAP_SOURCES is a folder of
# source packages that go before the archive's. A pool may lack the files of the newest version, a mirror's of security updates above all:
# then an older one of the same release is taken, and its caller says so, by `older`: a sentence, or empty. apt compares all files with the
# index. Returns 1 where there is none, and has said why.
unpack_source() {
  local package=$1 folder=$2 own=() tried=() version
  older=
  mkdir -p "$folder"
  [[ -z ${DNHEAP_SOURCES:-} ]] || mapfile -t own < <(find "$DNHEAP_SOURCES" -maxdepth 1 -name "${package}_*.dsc" | sort -V)
  if ((${#own[@]})); then
    cp "${own[-1]}" "$folder/"
    dpkg-source --no-copy -x "${own[-1]}" "$folder/source" && return
    echo "libraries: ${own[-1]} cannot be unpacked" >&2
    return 1
  fi
  for version in $(source_versions "$package"); do
    if (cd "$folder" && "${apt[@]}" source "$package=$version"); then
      ((!${#tried[@]})) || older="$package: $version is taken, as ${tried[*]} cannot be fetched; it lacks what was mended since"
      return
    fi
    tried+=("$version")
    find "$folder" -mindepth 1 -delete
  done
  echo "libraries: no source of $package can be fetched (versions: ${tried[*]:-none is in the index})." \
    "Put ${package}_VERSION.dsc and the files it names into a folder, and set DNHEAP_SOURCES to it" >&2
  return 1
}
