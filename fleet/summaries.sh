#!/usr/bin/env bash
#SBATCH --job-name=dnheap
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --output=dnheap-%A_%a.log
# summaries.sh DUMPS RECORDS: one record (`dnheap summary`) of each dump below the folder DUMPS, as a file of the same name and .ndjson
# below RECORDS. What has a record already is left; a dump that is newer than its record, or whose record says an error, is read again.
# Of a dump that ends dnheap itself there is a record, too, that says so. Exit code 3: of some dump the record is an error.
#
#   fleet/summaries.sh dumps records                        on this machine
#   sbatch --array=0-99 fleet/summaries.sh dumps records    by Slurm, in 100 shares
#
# An Indexed Job of Kubernetes needs $SHARES, its number of completions. $DNHEAP is the program (dnheap), $DNHEAP_TIMEOUT how long it may
# take for one dump (1h), $DNHEAP_MAX_MEMORY with how much memory (of Slurm's nine tenths): what needs more is an error then, where the whole
# share would be killed otherwise.
set -uo pipefail
(($# == 2)) || { echo "usage: $0 DUMPS RECORDS" >&2; exit 2; }
dumps=${1%/} records=${2%/}
dnheap=${DNHEAP:-dnheap}
refuse() { echo "summaries: $*" >&2; exit 2; }
[[ -d $dumps ]] || refuse "$dumps is no folder"
[[ $(type -t "$dnheap") == file ]] || refuse "$dnheap is not there; \$DNHEAP may name the program"

# Which share of how many.
index=${JOB_COMPLETION_INDEX:-0} count=${SHARES:-1}
if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
  count=$SLURM_ARRAY_TASK_COUNT
  step=${SLURM_ARRAY_TASK_STEP:-1}
  # Of tasks that are not evenly spaced, nobody would do what lies between.
  (((SLURM_ARRAY_TASK_MAX - SLURM_ARRAY_TASK_MIN) / step + 1 == count)) || refuse "--array must be one range, such as 0-99"
  index=$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / step))
fi
[[ $index =~ ^[0-9]+$ && $count =~ ^[0-9]+$ ]] && ((index < count)) || refuse "there is no share $index of $count"

limits=()
[[ -z ${SLURM_CPUS_PER_TASK:-} ]] || limits+=(--threads "$SLURM_CPUS_PER_TASK")
memory=${DNHEAP_MAX_MEMORY:-${SLURM_MEM_PER_NODE:+$((SLURM_MEM_PER_NODE * 9 / 10))M}}
[[ -z $memory ]] || limits+=(--max-memory "$memory")
unfinished=
trap '[[ -z $unfinished ]] || rm -f -- "$unfinished"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# json TEXT: as a JSON string; control characters as ?.
json() {
  local text=${1//[[:cntrl:]]/?}
  text=${text//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

# error_record DUMP WHY: as dnheap writes them.
error_record() {
  local version
  read -r _ version _ < <("$dnheap" --version)
  printf '{"schema":"dnheap-summary/1","dnheap_version":%s,"target":{"path":%s},"error":%s}\n' "$(json "$version")" "$(json "$1")" "$(json "$1: $2")"
}

# summary DUMP RECORD: is there one that tells of the dump in the end?
summary() {
  local code=0 why
  mkdir -p -- "${2%/*}" || return
  unfinished=${2%/*}/.${2##*/}.$index
  timeout --foreground "${DNHEAP_TIMEOUT:-1h}" "$dnheap" summary "$1" "${limits[@]}" >"$unfinished" || code=$?
  case $code in
  0 | 3) [[ $(wc -l <"$unfinished") == 1 ]] || why="dnheap summary wrote no record, exit code $code" ;;
  124) why="dnheap summary took longer than ${DNHEAP_TIMEOUT:-1h}" ;;
  *) why="dnheap summary ended with exit code $code" ;; # 137: out of memory, most likely
  esac
  if [[ -n ${why:-} ]]; then
    code=3
    error_record "$1" "$why" >"$unfinished"
  fi
  mv -f -- "$unfinished" "$2" || return
  unfinished=
  ((code == 0)) || echo "summaries: $1: ${why:-the record is an error}: $2" >&2
  return "$code"
}

# A whole record ends with a list; an error, and half a record, with something else.
is_whole() { [[ $(tail -c 3 -- "$1") == ']}' ]]; }

result=0 made=0 left=0 failed=0
# By the file's number, so that shares do not depend on what else is in the folder, or comes into it meanwhile.
while IFS= read -r -d '' number && IFS= read -r -d '' dump; do
  (((number & 0x7fffffffffffffff) % count == index)) || continue
  record=$records/${dump#"$dumps"/}.ndjson
  if [[ -s $record && ! $dump -nt $record ]] && is_whole "$record"; then
    ((++left))
  elif summary "$dump" "$record"; then
    ((++made))
  else
    ((++failed))
    result=3
  fi
done < <(find "$dumps" -type f ! -name '.*' ! -name '*.ndjson' -printf '%i\0%p\0')
wait $! || { echo "summaries: not all of $dumps could be looked through" >&2; result=3; }
echo "summaries: share $index of $count: $made made, $left left as they were, $failed could not be read" >&2
exit "$result"
