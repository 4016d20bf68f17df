"""Who the client is: what is added to each request that goes to the API's own origin.

Values of environment variables are read at the request, so that a file can be imported where they are not set.
"""

import base64
import os
import threading
import time


class Auth:
    """Base. `apply` adds to the headers and query parameters of one request."""

    def apply(self, headers, params):
        """Adds what proves who asks."""

    def refresh(self):
        """The server answered 401: True when another try may do better."""
        return False


class NoAuth(Auth):
    """Nothing is added."""


class BearerAuth(Auth):
    """`Authorization: Bearer <token>`, the token given or in an environment variable."""

    def __init__(self, token=None, *, env=None):
        self._token = _Secret("BearerAuth", "token", token, env)

    def apply(self, headers, params):
        headers["Authorization"] = f"Bearer {self._token.value()}"


class ApiKeyAuth(Auth):
    """A key in a header, or in the query parameter `param`; `scheme` is put before it."""

    def __init__(self, key=None, *, env=None, header="X-API-Key", param=None, scheme=None):
        self._key = _Secret("ApiKeyAuth", "key", key, env)
        self.header = header
        self.param = param
        self.scheme = scheme

    def apply(self, headers, params):
        key = self._key.value()
        value = f"{self.scheme} {key}" if self.scheme else key
        if self.param is not None:
            params[self.param] = value
        else:
            headers[self.header] = value


class BasicAuth(Auth):
    """User and password, given or in environment variables."""

    def __init__(self, user=None, password=None, *, env_user=None, env_password=None):
        self._user = _Secret("BasicAuth", "user", user, env_user)
        self._password = _Secret("BasicAuth", "password", password, env_password)

    def apply(self, headers, params):
        pair = f"{self._user.value()}:{self._password.value()}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"


class OAuth2ClientCredentials(Auth):
    """A token of `token_url`, fetched when it is needed, before it expires, and once more when it is refused."""

    _EARLY_S = 30  # a token that expires on its way would be refused

    def __init__(
        self, token_url, client_id=None, client_secret=None, *, env_client_id=None, env_client_secret=None, scope=None
    ):
        self.token_url = token_url
        self._id = _Secret("OAuth2ClientCredentials", "client_id", client_id, env_client_id)
        self._secret = _Secret("OAuth2ClientCredentials", "client_secret", client_secret, env_client_secret)
        self.scope = scope
        self._lock = threading.Lock()
        self._token = None
        self._expires = 0.0  # of the monotonic clock

    def apply(self, headers, params):
        with self._lock:
            if self._token is None or time.monotonic() > self._expires:
                self._fetch()
            headers["Authorization"] = f"Bearer {self._token}"

    def refresh(self):
        with self._lock:
            self._token = None
        return True

    def _fetch(self):
        from interlace.sources.client import RestClient

        form = {"grant_type": "client_credentials", **({"scope": self.scope} if self.scope else {})}
        credentials = BasicAuth(self._id.value(), self._secret.value())
        with RestClient(self.token_url, auth=credentials, retry_unsafe=True) as client:
            answer = client.request("POST", self.token_url, form=form).json()
        if not isinstance(answer, dict) or not answer.get("access_token"):
            raise ValueError(f"{self.token_url} gave no access_token")
        self._token = answer["access_token"]
        self._expires = time.monotonic() + float(answer.get("expires_in") or 3600) - self._EARLY_S


class _Secret:
    def __init__(self, owner, what, value, env):
        if (value is None) == (env is None):
            raise ValueError(f"{owner}: give the {what} itself, or the environment variable that holds it")
        self._value = value
        self._env = env

    def value(self):
        if self._env is None:
            return self._value
        value = os.environ.get(self._env)
        if not value:
            raise ValueError(f"environment variable {self._env} is not set")
        return value
