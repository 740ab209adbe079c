"""The tree at /opt/ml of a container, and its download from and upload to S3."""

import io
import json
import os
import shutil
import tarfile

from s3 import split_uri

MARKERS = (".sagemaker-uploading", ".sagemaker-uploaded")


class NoData(Exception):
    """A channel without objects; the text is FailureReason's."""


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def build(job, host, names):
    """The folders and the configuration of one host, its data not yet."""
    shutil.rmtree(host.tree, ignore_errors=True)
    for one in ("input/config", "input/data", "model", "output/data",
                "checkpoints", "code"):
        os.makedirs(os.path.join(host.tree, one))
    config = os.path.join(host.tree, "input", "config")
    asked = job.asked
    write_json(os.path.join(config, "hyperparameters.json"),
               asked.get("HyperParameters", {}))
    write_json(os.path.join(config, "inputdataconfig.json"), {
        channel["ChannelName"]: describe_channel(asked, channel)
        for channel in asked.get("InputDataConfig", ())})
    write_json(os.path.join(config, "resourceconfig.json"),
               resources(job, host, names))
    if "CheckpointConfig" in asked:
        write_json(os.path.join(config, "checkpointconfig.json"), {
            "LocalPath": asked["CheckpointConfig"].get(
                "LocalPath", "/opt/ml/checkpoints/")})


def describe_channel(asked, channel):
    said = {"TrainingInputMode": channel.get("InputMode") or
            asked["AlgorithmSpecification"]["TrainingInputMode"],
            "RecordWrapperType": channel.get("RecordWrapperType", "None")}
    if "ContentType" in channel:
        said["ContentType"] = channel["ContentType"]
    source = channel["DataSource"].get("S3DataSource")
    if source is not None:
        said["S3DistributionType"] = source.get("S3DataDistributionType",
                                                "FullyReplicated")
    return said


def resources(job, host, names):
    groups, number, said = [], 0, {}
    everyone = list(names)
    for group, kind, count in job.groups:
        hosts = everyone[number:number + count]
        number += count
        groups.append({"instance_group_name": group, "instance_type": kind,
                       "hosts": hosts})
        if host.name in hosts:
            said = {"current_instance_type": kind, "current_group_name": group}
    return dict(said, current_host=host.name, hosts=sorted(everyone),
                network_interface_name="lo", instance_groups=groups)


def fetch(job, host, number, hosts, store):
    """Copies the channels of one host; Gzip and Pipe are not served."""
    for channel in job.asked.get("InputDataConfig", ()):
        source = channel["DataSource"].get("S3DataSource")
        place = os.path.join(host.tree, "input", "data",
                             channel["ChannelName"])
        os.makedirs(place, exist_ok=True)
        if source is None:
            continue
        bucket, prefix = split_uri(source["S3Uri"])
        found = store.keys(bucket, prefix) if store.has_bucket(bucket) else []
        if not found:
            raise NoData('ClientError: Data download failed:NoSuchKey: No S3 '
                         'objects found under S3 URL "%s" given in input data '
                         "source. Please ensure that the bucket exists in the "
                         "selected region (%s), that objects exist under that "
                         "S3 prefix, and that the role \"%s\" has "
                         '"s3:ListBucket" permissions on bucket "%s".'
                         % (source["S3Uri"], job.region,
                            job.asked["RoleArn"], bucket))
        base = prefix_folder(prefix, found)
        if source.get("S3DataDistributionType") == "ShardedByS3Key":
            found = found[number::hosts]
        for key in found:
            copy(store.path(bucket, key),
                 os.path.join(place, key[len(base):]))


def prefix_folder(prefix, found):
    """What the names of a channel's files leave out of their keys."""
    if prefix and not prefix.endswith("/") and \
            all(key.startswith(prefix + "/") for key in found):
        return prefix + "/"
    return prefix[:prefix.rfind("/") + 1]


def copy(source, target):
    """A plain file, readable, never executable."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, 0o644)


class Checkpoints:
    """A folder of every host and the prefix that mirrors it."""

    def __init__(self, job, store):
        config = job.asked.get("CheckpointConfig")
        self.store = store
        self.on = config is not None
        self.known = {}
        if not self.on:
            return
        self.bucket, self.prefix = split_uri(config["S3Uri"])
        self.prefix = self.prefix.rstrip("/") + "/"
        local = config.get("LocalPath", "/opt/ml/checkpoints/").rstrip("/")
        self.inside = local[len("/opt/ml/"):] \
            if local.startswith("/opt/ml/") else "checkpoints"

    def place(self, host):
        return os.path.join(host.tree, self.inside)

    def restore(self, host):
        """What the prefix holds comes back to a host that starts."""
        if not self.on or not self.store.has_bucket(self.bucket):
            return
        place = self.place(host) + "/"
        self.known = {path: state for path, state in self.known.items()
                      if not path.startswith(place)}
        for key in self.store.keys(self.bucket, self.prefix):
            path = os.path.join(self.place(host), key[len(self.prefix):])
            copy(self.store.path(self.bucket, key), path)
            stat = os.stat(path)
            self.known[path] = (stat.st_mtime_ns, stat.st_size)

    def sync(self, host, mark=False):
        """Mirrors a host's folder: new and changed files, deletions."""
        if not self.on or not self.store.has_bucket(self.bucket):
            return
        place, seen = self.place(host), set()
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(MARKERS):
                    continue
                seen.add(path)
                self.send(path, os.path.relpath(path, place), mark)
        for path in [path for path in self.known
                     if path.startswith(place + "/") and path not in seen]:
            del self.known[path]
            self.store.delete(self.bucket,
                              self.prefix + os.path.relpath(path, place))

    def send(self, path, name, mark):
        try:
            stat = os.stat(path)
            state = (stat.st_mtime_ns, stat.st_size)
            if self.known.get(path) == state or not os.path.isfile(path):
                return
            if mark:
                open(path + MARKERS[0], "wb").close()
            self.store.put(self.bucket, self.prefix + name, path)
            self.known[path] = state
            if mark:
                os.rename(path + MARKERS[0], path + MARKERS[1])
        except FileNotFoundError:
            pass


def output_place(job):
    """(bucket, prefix, whether as files) of what the job leaves."""
    config = job.asked["OutputDataConfig"]
    bucket, prefix = split_uri(config["S3OutputPath"])
    base = "/".join(part for part in (prefix.strip("/"), job.name, "output")
                    if part)
    return bucket, base, config.get("CompressionType", "GZIP") == "NONE"


def model_uri(job):
    """Where the model is, or would be."""
    bucket, base, plain = output_place(job)
    return "s3://%s/%s/model%s" % (bucket, base, "/" if plain else ".tar.gz")


def upload(job, hosts, store):
    """Model and output go to S3."""
    bucket, base, plain = output_place(job)
    if not store.has_bucket(bucket):
        return
    first = hosts[0].tree
    send_folder(os.path.join(first, "model"), store, bucket,
                base + "/model", plain)
    send_folder(os.path.join(first, "output", "data"), store, bucket,
                base + ("/data" if plain else "/output"), plain)


def send_folder(folder, store, bucket, base, plain):
    """Sends a folder that is not empty, as files or as an archive."""
    names = sorted(os.path.relpath(os.path.join(at, name), folder)
                   for at, _, files in os.walk(folder) for name in files)
    names = [name for name in names
             if os.path.isfile(os.path.join(folder, name))]
    if plain:
        for name in names:
            store.put(bucket, base + "/" + name, os.path.join(folder, name))
    elif names:
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            for name in names:
                archive.add(os.path.join(folder, name), name)
        store.put(bucket, base + ".tar.gz", data.getvalue())


def failure_text(hosts):
    """What the trial left in output/failure, of the first host that did."""
    for host in hosts:
        try:
            with open(os.path.join(host.tree, "output", "failure"),
                      encoding="utf-8", errors="replace") as file:
                text = file.read(1024).strip()
        except OSError:
            continue
        if text:
            return text
    return ""
