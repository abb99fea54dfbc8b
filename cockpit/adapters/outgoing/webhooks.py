"""Post a message to a user's URL, with protection against redirects and DNS rebinding.

The host name is resolved once, all its IP addresses are checked, and the connection uses a checked
address. No redirects, no proxy from the environment; 5 s to connect, 10 s in total. Only the
headers of the response are read, and as much of the body as the caller needs. The URL may be a
secret and is never logged or shown. Tries once; the caller decides about retries.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from cockpit.core.deliveries import Answer
from cockpit.core.public_addresses import Address, is_public

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 10.0
LONGEST_RETRY_AFTER = 86_400.0

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return every IP address of a host name."""
    addresses = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in addresses))


async def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allow_private: bool = False,
    resolver: Resolve = resolve,
    total: float = TOTAL_SECONDS,
    heard: int = 0,
) -> Answer:
    """Post a message once, within `total` seconds. Never raises for a failure; the result contains
    the problem.

    After success, the result contains the first `heard` bytes of the response's body.
    """
    import httpx2

    # The library's log lines contain the whole URL.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        async with asyncio.timeout(total):
            target = httpx2.URL(url)
            if target.scheme not in ("http", "https") or not target.host:
                return Answer(problem="the URL is not http or https", permanent=True)
            port = target.port or (443 if target.scheme == "https" else 80)
            addresses = [
                ipaddress.ip_address(address) for address in await resolver(target.host, port)
            ]
            if refusal := _refusal(target.scheme, addresses, allow_private):
                return Answer(problem=refusal, permanent=True)
            return await _send(target, str(addresses[0]), body, headers, heard)
    except TimeoutError:
        return Answer(problem="no response in time")
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError, ValueError):
        return Answer(problem="the URL is not http or https", permanent=True)
    except socket.gaierror:
        return Answer(problem="cannot resolve the host name")
    except (httpx2.HTTPError, OSError) as error:
        return Answer(problem=f"the connection failed ({type(error).__name__})")


async def _send(
    target: httpx2.URL, address: str, body: bytes, headers: Mapping[str, str], heard: int
) -> Answer:
    import httpx2

    timeout = httpx2.Timeout(TOTAL_SECONDS, connect=CONNECT_SECONDS)
    async with (
        httpx2.AsyncClient(timeout=timeout, trust_env=False, follow_redirects=False) as client,
        client.stream(
            "POST",
            target.copy_with(host=address),
            content=body,
            headers={**headers, "Host": target.netloc.decode("ascii")},
            extensions={"sni_hostname": target.host},
        ) as response,
    ):
        problem = "" if response.is_success else f"HTTP status {response.status_code}"
        body = b"" if problem or not heard else await _read_beginning(response, heard)
        return Answer(response.status_code, _retry_after(response.headers), problem, body=body)


async def _read_beginning(response: httpx2.Response, most: int) -> bytes:
    """Return up to `most` bytes of the response's body.

    After a read error, returns the bytes read so far: the server has already accepted the message.
    """
    import httpx2

    content = b""
    with contextlib.suppress(httpx2.HTTPError):
        async for part in response.aiter_bytes(4096):
            content += part
            if len(content) >= most:
                break
    return content[:most]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a `Retry-After` header; a date is ignored."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_RETRY_AFTER) if seconds >= 0 else None


def _refusal(scheme: str, addresses: list[Address], allow_private: bool) -> str:
    """Return why the URL is refused; "" if it is allowed. One private IP address is enough for a
    refusal, unless `allow_private` is set."""
    private = [address for address in addresses if not is_public(address)]
    if not addresses:
        return "the host name does not resolve"
    if private and not allow_private:
        return "the address is loopback or private (allow_private is not set)"
    if scheme != "https" and (scheme != "http" or len(private) != len(addresses)):
        return "the URL is not https"
    return ""
