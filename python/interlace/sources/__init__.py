"""Pulling rows out of HTTP APIs.

    from interlace.sources import BearerAuth, Cursor, RestClient, batches

    with RestClient("https://api.example.com", auth=BearerAuth(env="API_TOKEN"), rate_limit=5) as api:
        pages = api.paginate("orders", params={"since": cursor}, paginator=Cursor("cursor", "meta.next"), data_key="data")
        yield from batches(pages, columns=["id", "amount", "updated_at"])

Requests go through httpx when it is installed, else through the standard library; the errors have the same names and
attributes either way.
"""

from interlace.sources.auth import ApiKeyAuth, Auth, BasicAuth, BearerAuth, NoAuth, OAuth2ClientCredentials
from interlace.sources.client import RestClient
from interlace.sources.paginators import Cursor, LinkHeader, NextUrl, Offset, PageNumber, Paginator, SinglePage
from interlace.sources.rows import batches, to_batch
from interlace.sources.transport import HTTPStatusError, TransportError

__all__ = [
    "ApiKeyAuth",
    "Auth",
    "BasicAuth",
    "BearerAuth",
    "Cursor",
    "HTTPStatusError",
    "LinkHeader",
    "NextUrl",
    "NoAuth",
    "OAuth2ClientCredentials",
    "Offset",
    "PageNumber",
    "Paginator",
    "RestClient",
    "SinglePage",
    "TransportError",
    "batches",
    "to_batch",
]
