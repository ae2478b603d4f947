#!/usr/bin/env python3
"""Are the manifests in fleet/kubernetes such as Kubernetes takes, and do their containers' commands work? Usage: kubernetes_check.py DNHEAP

Against the schema as the npm package kubernetes-models has it, and its types, to which a key that is unknown is an error. Then the commands are
run here, with folders in the places of the volumes: of the first Job all shares, of the second with a clickhouse-client that keeps what it
is given. Skipped (exit code 77), with the reason, where there is no npm.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm  # noqa: E402

MANIFESTS = PROJECT / "fleet" / "kubernetes"
SAMPLE = PROJECT / "sample" / "demo.core.zst"
CLIENT = """#!/usr/bin/env bash
printf '%s\\n' "$@" >asked
cat >loaded
"""


def read(modules, folder):
    """{name: manifest}, after a look at what is wrong with it."""
    files = sorted(MANIFESTS.glob("*.yaml"))
    done = subprocess.run(["node", HERE / "kubernetes" / "read.js", *files], check=True, stdout=subprocess.PIPE,
                          env={**os.environ, "NODE_PATH": str(modules)})
    documents = json.loads(done.stdout)
    failed = [f"{one['file']}: {one['problem']}" for one in documents if one["problem"]]
    # Types know which keys there are; the schema takes any.
    (folder / "node_modules").symlink_to(modules)
    (folder / "jobs.ts").write_text('import { IJob } from "kubernetes-models/batch/v1";\n'
                                    + "".join(f"export const job{i}: IJob = {json.dumps(one['document'])};\n" for i, one in enumerate(documents)))
    done = subprocess.run(["node", modules / "typescript" / "bin" / "tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "jobs.ts"],
                          cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        failed.append(done.stdout)
    return {one["document"]["metadata"]["name"]: one["document"] for one in documents}, failed


def volumes_problems(name, pod):
    there = {volume["name"] for volume in pod["volumes"]}
    for container in pod["containers"]:
        if container["securityContext"]["allowPrivilegeEscalation"] or not pod["securityContext"]["runAsNonRoot"]:
            yield f"{name}: more rights than it needs"
        used = {mount["name"] for mount in container["volumeMounts"]}
        if used != there:
            yield f"{name}: volumes {there}, mounted {used}"


def run(container, places, **environment):
    """Its command, with folders of this machine for where its volumes are mounted."""
    def here(text):
        for mount in container["volumeMounts"]:
            if text == mount["mountPath"]:
                return str(places[mount["name"]])
        return text

    named = {one["name"]: here(one["value"]) for one in container["env"] if "value" in one}
    secret = {one["name"]: "of a secret" for one in container["env"] if "valueFrom" in one}
    return subprocess.run([here(word) for word in container["command"]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=places["tmp"], env={**os.environ, **named, **secret, **environment})


def check_commands(manifests, dnheap, folder):
    tools, places = folder / "bin", {name: folder / name for name in ("dumps", "records", "tmp")}
    pod = places["dumps"] / "shop" / "1.0" / "shop-0"
    for path in tools, pod, places["tmp"]:
        path.mkdir(parents=True)
    (copied,) = re.findall(r"^COPY (.*) /usr/local/bin/$", (MANIFESTS / "Dockerfile").read_text(), re.MULTILINE)
    for name in copied.split():
        shutil.copy(dnheap if name == "dnheap" else MANIFESTS.parent / name, tools / name)
    (tools / "clickhouse-client").write_text(CLIENT)
    (tools / "clickhouse-client").chmod(0o755)
    for number in range(3):
        shutil.copy(SAMPLE, pod / f"core.{number}.zst")
    (pod / "notes.txt").write_text("no dump")

    job = manifests["dnheap-summaries"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    if job["completionMode"] != "Indexed" or {"name": "SHARES", "value": str(job["completions"])} not in container["env"]:
        yield "dnheap-summaries: $SHARES is not its number of completions"
    path = f"{tools}:{os.environ['PATH']}"
    codes = [run(container, places, JOB_COMPLETION_INDEX=str(index), PATH=path).returncode for index in range(job["completions"])]
    if sorted(codes)[-2:] != [0, 3]:
        yield f"dnheap-summaries: exit codes {codes}"
    (rule,) = job["podFailurePolicy"]["rules"]
    if rule["onExitCodes"] != {"containerName": container["name"], "operator": "In", "values": [3]}:
        yield "dnheap-summaries: what is done about exit code 3"

    (container,) = manifests["dnheap-load"]["spec"]["template"]["spec"]["containers"]
    done = run(container, places, PATH=path)
    loaded = [json.loads(line)["target"]["path"] for line in (places["tmp"] / "loaded").read_text().splitlines()]
    if done.returncode or sorted(loaded) != sorted(str(path) for path in pod.iterdir()):
        yield f"dnheap-load: exit code {done.returncode}: {done.stderr}: {loaded}"
    asked = (places["tmp"] / "asked").read_text().splitlines()
    if asked != ["--host", "clickhouse", "--user", "of a secret", "--password", "of a secret", "--query", "insert into fleet.records format LineAsString"]:
        yield f"dnheap-load: the client is asked {asked}"


def main(dnheap):
    try:
        modules = npm.packages(HERE / "kubernetes")
    except npm.Skipped as reason:
        print(f"SKIPPED: the manifests in fleet/kubernetes were NOT checked: {reason}")
        return 77
    with tempfile.TemporaryDirectory(prefix="dnheap-kubernetes-") as folder:
        manifests, failed = read(modules, pathlib.Path(folder))
        for name, manifest in manifests.items():
            failed += volumes_problems(name, manifest["spec"]["template"]["spec"])
        failed += check_commands(manifests, pathlib.Path(dnheap).resolve(), pathlib.Path(folder))
    print("\n".join(failed) or "kubernetes: the manifests keep to the schema, and their commands work")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
