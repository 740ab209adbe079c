"""Access keys: the account's own, and sessions that expire.

Maps a key to its secret.  A session's secret, token and expiry follow from the
seed and its name, so only revocations are stored."""

import hashlib
import hmac
import time

from sigv4 import Refused


class Keys:
    def __init__(self, key, secret, seed):
        self.own = {key: secret}
        self.seed = str(seed).encode()
        self.count = 0
        self.used = {}
        self.revoked = set()

    def derive(self, *parts):
        text = "/".join(str(part) for part in parts).encode()
        return hmac.new(self.seed, text, hashlib.sha256).hexdigest()

    def session(self, role, seconds):
        """New credentials: (key, secret, token, end in epoch seconds)."""
        self.count += 1
        end = int(time.time() + seconds)
        key = "ASIA%X%08X" % (end, self.count)
        return key, self.derive("secret", key, role), \
            "%s.%d.%s" % (role, end, self.derive("token", key, role, end)), end

    def secret(self, key, token, now):
        """The secret of a key with its token, or Refused."""
        if key in self.own:
            if token is not None:
                raise Refused("UnrecognizedClientException", "The security "
                              "token included in the request is invalid.")
            return self.own[key]
        role, end = self.read_token(key, token)
        if end <= now or key in self.revoked:
            raise Refused("ExpiredTokenException", "The security token "
                          "included in the request is expired")
        return self.derive("secret", key, role)

    def read_token(self, key, token):
        role, _, rest = (token or "").rpartition(".")
        role, _, end = role.rpartition(".")
        if not end.isdigit() or not hmac.compare_digest(
                rest.encode(), self.derive("token", key, role,
                                           int(end)).encode()):
            raise Refused("UnrecognizedClientException", "The security token "
                          "included in the request is invalid.")
        return role, int(end)

    def wear(self, key, most):
        """Counts a use; the session ends with the last of `most` uses."""
        if key in self.own or key in self.revoked:
            return False
        self.used[key] = self.used.get(key, 0) + 1
        if self.used[key] < most:
            return False
        self.revoked.add(key)
        return True
