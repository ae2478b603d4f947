"""An OCI image layout FROM scratch: the program, its licences, and a folder for temporary files. Made of nothing but the standard library; the
same input gives the same bytes."""
import gzip
import hashlib
import io
import json
import tarfile


def write_image(folder, programs, version, epoch, created):
    """`programs`: {"amd64": (bytes, {"LICENSE": bytes, …}), …}."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(data, media_type, **more):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{media_type}", "digest": f"sha256:{digest}", "size": len(data), **more}

    def as_json(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    about = {"org.opencontainers.image.title": "dnheap", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "MIT",
             "org.opencontainers.image.created": created}
    manifests = []
    for architecture, (program, texts) in sorted(programs.items()):
        layer = layer_of(program, texts, epoch)
        config = {"created": created, "architecture": architecture, "os": "linux",
                  "config": {"Entrypoint": ["/dnheap"], "WorkingDir": "/", "Labels": about},
                  "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
                  "history": [{"created": created, "created_by": "dnheap " + version}]}
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": blob(as_json(config), "config.v1+json"),
                    "layers": [blob(gzip.compress(layer, mtime=0), "layer.v1.tar+gzip")], "annotations": about}
        manifests.append(blob(as_json(manifest), "manifest.v1+json", platform={"architecture": architecture, "os": "linux"}))
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests, "annotations": about}
    top = blob(as_json(index), "index.v1+json", annotations={"org.opencontainers.image.ref.name": version})
    (folder / "index.json").write_bytes(as_json({"schemaVersion": 2, "mediaType": index["mediaType"], "manifests": [top]}))
    (folder / "oci-layout").write_bytes(as_json({"imageLayoutVersion": "1.0.0"}))


def layer_of(program, texts, epoch):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        def add(name, mode, data=None):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime = mode, epoch
            if data is None:
                entry.type = tarfile.DIRTYPE
                tar.addfile(entry)
            else:
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))

        add("dnheap", 0o755, program)
        for name, data in sorted(texts.items()):
            add(name, 0o644, data)
        add("tmp", 0o1777)
        add("var", 0o755)
        add("var/tmp", 0o1777)
    return out.getvalue()
