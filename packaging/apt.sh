# Sourced: Debian's archive as this machine knows it, its source packages and packages of another architecture included, without a change of
# the machine: lists and sources are copies, below a folder of ours. Needs no root.

# open_archive FOLDER ARCHITECTURE TYPE: sets `apt`, the start of every apt-get command. TYPE is deb or deb-src.
open_archive() {
  local folder=$1 architecture=$2 type=$3 file
  rm -rf "$folder/sources"
  mkdir -p "$folder/sources" "$folder/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/status"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $file in
    *.sources) sed "s/^Types:.*/Types: $type/" "$file" >"$folder/sources/${file##*/}" ;;
    *.list) [[ ! -e $file ]] || sed "s/^deb\(-src\)\? /$type /" "$file" >"$folder/sources/${file##*/}" ;;
    esac
  done
  apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/sources" -o "Dir::State::lists=$folder/lists"
    -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder/cache" -o "APT::Architecture=$architecture"
    -o "APT::Architectures=$architecture" -o APT::Sandbox::User= -o Acquire::Languages=none)
  [[ -e $folder/lists/fresh ]] && return
  "${apt[@]}" update >"$folder/log" 2>&1 || { cat "$folder/log" >&2 && return 1; }
  touch "$folder/lists/fresh"
}
