"""S3, path style: objects are files under DIR/s3/BUCKET/KEY.

Buckets, keys and listing; jobs use read and write."""

import hashlib
import os
import shutil
import tempfile
import time
from email.utils import formatdate
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from wire import Response
from world import Failure

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
STATUS = {"NoSuchKey": 404, "NoSuchBucket": 404, "InvalidRequest": 400,
          "ExpiredTokenException": 400, "SlowDown": 503,
          "UnrecognizedClientException": 403,
          "XAmzContentSHA256Mismatch": 400}
CODES = {"UnrecognizedClientException": "InvalidAccessKeyId",
         "ExpiredTokenException": "ExpiredToken",
         "MissingAuthenticationTokenException": "AccessDenied",
         "InternalFailure": "InternalError"}


def iso(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + \
        ".%03dZ" % (at % 1 * 1000)


def split_uri(uri):
    """(bucket, key) of s3://bucket/key, an https URL or an access point."""
    scheme, _, rest = uri.partition("://")
    host, _, key = rest.partition("/")
    if scheme == "https":
        if host.startswith("s3."):
            host, _, key = key.partition("/")
        host = host.partition(".s3.")[0]
    elif host.startswith("arn:"):
        host, _, key = key.partition("/")
    return host, key


class S3:
    def __init__(self, world):
        self.world = world
        self.root = os.path.join(world.folder, "s3")
        self.scratch = os.path.join(world.folder, "s3-incoming")
        os.makedirs(self.root, exist_ok=True)
        os.makedirs(self.scratch, exist_ok=True)
        for bucket in world.options.bucket:
            os.makedirs(os.path.join(self.root, bucket), exist_ok=True)

    # Objects.

    def path(self, bucket, key):
        parts = key.split("/")
        if not bucket or bucket.startswith(".") or "/" in bucket or \
                any(part in ("", ".", "..") for part in parts):
            raise Failure("InvalidURI", "the stand-in keeps objects as files "
                          "and cannot keep this key: " + key)
        return os.path.join(self.root, bucket, *parts)

    def has_bucket(self, bucket):
        return bucket and not bucket.startswith(".") and \
            os.path.isdir(os.path.join(self.root, bucket))

    def need_bucket(self, bucket):
        if not self.has_bucket(bucket):
            raise Failure("NoSuchBucket", "The specified bucket does not "
                          "exist", 404)

    def put(self, bucket, key, source):
        """Makes an object of bytes, or of a file's path, whole or not."""
        self.need_bucket(bucket)
        path = self.path(bucket, key)
        handle, part = tempfile.mkstemp(dir=self.scratch)
        with os.fdopen(handle, "wb") as file:
            if isinstance(source, bytes):
                file.write(source)
            else:
                with open(source, "rb") as other:
                    shutil.copyfileobj(other, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.chmod(part, 0o644)
        os.replace(part, path)
        return path

    def delete(self, bucket, key):
        path = self.path(bucket, key)
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return
        stop = os.path.join(self.root, bucket)
        path = os.path.dirname(path)
        while path != stop:
            try:
                os.rmdir(path)
            except OSError:
                return
            path = os.path.dirname(path)

    def keys(self, bucket, prefix):
        """The sorted keys that begin with prefix."""
        base = os.path.join(self.root, bucket)
        start = os.path.join(base, os.path.dirname(prefix))
        found = []
        for folder, _, names in os.walk(start):
            inside = os.path.relpath(folder, base)
            for name in names:
                key = name if inside == "." else inside + "/" + name
                if key.startswith(prefix):
                    found.append(key)
        return sorted(found, key=lambda key: key.encode())

    # Requests.

    def route(self, call):
        request = call.request
        bucket, _, key = request.path[1:].partition("/")
        bucket, key = unquote(bucket), unquote(key)
        self.decode(request)
        verb = request.method
        if not bucket:
            known = {"GET": ("ListBuckets", self.list_buckets)}
        elif key:
            known = {"PUT": ("PutObject", self.put_object),
                     "GET": ("GetObject", self.get_object),
                     "HEAD": ("HeadObject", self.get_object),
                     "DELETE": ("DeleteObject", self.delete_object)}
        else:
            known = {"HEAD": ("HeadBucket", self.head_bucket),
                     "PUT": ("CreateBucket", self.create_bucket),
                     "GET": ("ListObjectsV2", self.list_objects),
                     "POST": ("DeleteObjects", self.delete_objects)}
        if verb not in known:
            raise Failure("MethodNotAllowed", "The specified method is not "
                          "allowed against this resource.", 405)
        call.operation, act = known[verb]
        call.notes.update(bucket=bucket, key=key)
        return lambda: act(call, bucket, key)

    def decode(self, request):
        """Undoes the aws-chunked coding of some SDKs."""
        if "aws-chunked" not in request.headers.get("content-encoding", ""):
            return
        body, start, data = b"", 0, request.body
        while True:
            end = data.index(b"\r\n", start)
            size = int(data[start:end].split(b";")[0], 16)
            if size == 0:
                break
            body += data[end + 2:end + 2 + size]
            start = end + 2 + size + 2
        request.body = body

    def put_object(self, call, bucket, key):
        self.need_bucket(bucket)
        if "x-amz-copy-source" in call.request.headers:
            raise Failure("NotImplemented", "copies are not served", 501)
        if call.request.headers.get("if-none-match") == "*" and \
                os.path.isfile(self.path(bucket, key)):
            raise Failure("PreconditionFailed", "At least one of the "
                          "pre-conditions you specified did not hold", 412)
        headers = call.request.headers
        key_id = headers.get("x-amz-server-side-encryption-aws-kms-key-id")
        wanted = self.world.options.kms_key
        if wanted and (wanted != key_id or headers.get(
                "x-amz-server-side-encryption") != "aws:kms"):
            raise Failure("AccessDenied", "Access Denied", 403)
        self.put(bucket, key, call.request.body)
        call.acted = True
        return Response(200, b"", {"ETag": etag(call.request.body)})

    def get_object(self, call, bucket, key):
        self.need_bucket(bucket)
        path = self.path(bucket, key)
        try:
            with open(path, "rb") as file:
                body = file.read()
                stat = os.fstat(file.fileno())
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise Failure("NoSuchKey", "The specified key does not exist.",
                          404) from None
        headers = {"ETag": etag(body), "Accept-Ranges": "bytes",
                   "Last-Modified": formatdate(stat.st_mtime, usegmt=True),
                   "Content-Type": "binary/octet-stream"}
        wanted = call.request.headers.get("range", "")
        if wanted.startswith("bytes=") and body:
            first, _, last = wanted[len("bytes="):].partition("-")
            first = int(first) if first else len(body) - int(last)
            last = min(int(last) if last and wanted[6] != "-"
                       else len(body) - 1, len(body) - 1)
            if first > last:
                raise Failure("InvalidRange", "The requested range is not "
                              "satisfiable", 416)
            headers["Content-Range"] = "bytes %d-%d/%d" % (first, last,
                                                           len(body))
            return Response(206, body[first:last + 1], headers)
        return Response(200, body, headers)

    def delete_object(self, call, bucket, key):
        self.need_bucket(bucket)
        self.delete(bucket, key)
        call.acted = True
        return Response(204)

    def delete_objects(self, call, bucket, key):
        import xml.etree.ElementTree as tree
        del key
        self.need_bucket(bucket)
        if not call.request.has("delete"):
            raise Failure("MethodNotAllowed", "only ?delete", 405)
        gone = [node.text for node in tree.fromstring(call.request.body).iter()
                if node.tag.rpartition("}")[2] == "Key"]
        for one in gone:
            self.delete(bucket, one)
        call.acted = True
        return xml("DeleteResult", "".join(
            "<Deleted><Key>%s</Key></Deleted>" % escape(one) for one in gone))

    def head_bucket(self, call, bucket, key):
        del key
        if not self.has_bucket(bucket):
            raise Failure("NoSuchBucket", "Not Found", 404)
        return Response(200, b"", {"x-amz-bucket-region": call.region})

    def create_bucket(self, call, bucket, key):
        del key
        if bucket.startswith("."):
            raise Failure("InvalidBucketName", "not a name")
        os.makedirs(os.path.join(self.root, bucket), exist_ok=True)
        call.acted = True
        return Response(200, b"", {"Location": "/" + bucket})

    def list_buckets(self, call, bucket, key):
        del call, bucket, key
        return xml("ListAllMyBucketsResult", "<Buckets>%s</Buckets>" % "".join(
            "<Bucket><Name>%s</Name></Bucket>" % name
            for name in sorted(os.listdir(self.root))))

    def list_objects(self, call, bucket, key):
        del key
        request = call.request
        self.need_bucket(bucket)
        if request.has("location"):
            return xml("LocationConstraint", escape(call.region))
        if request.param("list-type") != "2":
            raise Failure("NotImplemented", "only ListObjectsV2", 501)
        prefix = request.param("prefix", "")
        delimiter = request.param("delimiter", "")
        token = request.param("continuation-token")
        most = min(int(request.param("max-keys", "1000")), 1000)
        after = unquote(token) if token else request.param("start-after", "")
        encode = quote if request.param("encoding-type") == "url" else str
        text, shown, last, truncated = [], 0, None, False
        common = set()
        for one in self.keys(bucket, prefix):
            cut = one.find(delimiter, len(prefix)) if delimiter else -1
            entry = one if cut < 0 else one[:cut + len(delimiter)]
            if entry.encode() <= after.encode() or entry in common:
                continue
            if shown >= most:
                truncated = True
                break
            shown += 1
            last = entry
            if cut >= 0:
                common.add(entry)
                text.append("<CommonPrefixes><Prefix>%s</Prefix>"
                            "</CommonPrefixes>" % escape(encode(entry)))
                continue
            text.append(self.entry(bucket, one, encode))
        head = ["<Name>%s</Name><Prefix>%s</Prefix><KeyCount>%d</KeyCount>"
                "<MaxKeys>%d</MaxKeys><IsTruncated>%s</IsTruncated>"
                % (escape(bucket), escape(encode(prefix)), shown, most,
                   "true" if truncated else "false")]
        if delimiter:
            head.append("<Delimiter>%s</Delimiter>"
                        % escape(encode(delimiter)))
        if encode is quote:
            head.append("<EncodingType>url</EncodingType>")
        if token:
            head.append("<ContinuationToken>%s</ContinuationToken>"
                        % escape(token))
        if truncated:
            head.append("<NextContinuationToken>%s</NextContinuationToken>"
                        % quote(last, safe=""))
        return xml("ListBucketResult", "".join(head + text))

    def entry(self, bucket, key, encode):
        try:
            path = self.path(bucket, key)
            stat = os.stat(path)
            with open(path, "rb") as file:
                tag = etag(file.read())
        except OSError:
            return ""
        return "<Contents><Key>%s</Key><LastModified>%s</LastModified>" \
            "<ETag>%s</ETag><Size>%d</Size>" \
            "<StorageClass>STANDARD</StorageClass></Contents>" % (
                escape(encode(key)), iso(stat.st_mtime),
                escape(tag), stat.st_size)

    def error(self, call, error):
        code = CODES.get(error.code, error.code)
        status = getattr(error, "status", None) or \
            STATUS.get(error.code, 403)
        response = Response(status)
        if call.request.method != "HEAD":
            response.body = (
                '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s'
                "</Code><Message>%s</Message><RequestId>%s</RequestId>"
                "</Error>" % (escape(code), escape(error.text),
                              call.id)).encode()
        response.headers["Content-Type"] = "application/xml"
        return response


def etag(body):
    return '"%s"' % hashlib.md5(body).hexdigest()


def xml(name, inside):
    return Response(200, (
        '<?xml version="1.0" encoding="UTF-8"?>\n<%s xmlns="%s">%s</%s>'
        % (name, NAMESPACE, inside, name)).encode(),
        {"Content-Type": "application/xml"})
