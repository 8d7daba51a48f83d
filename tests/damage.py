"""Documents that someone, or something, has tampered with."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

PIECES = [
    *('"', "'", "\0", "\n", "\r", ",", "=", "[", "]", "{", "}", ".", "\\", "<b>", "../", "nan", "inf"),
    *("-1", "1e400", "9" * 5000, "0x" + "f" * 9000, "true", "null", "\\ud800", "\\u0000", "🙂", "\ufeff"),
    *(b"\xff".decode("latin1"), "[" * 5000, "a." * 3000, "2024-13-01", " ", ""),
]


@st.composite
def damaged(draw: Any, text: str) -> bytes:
    """A document with some pieces replaced, in one encoding or another."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(start + 30, len(text))))
        text = text[:start] + draw(st.sampled_from(PIECES) | st.text(max_size=5)) + text[stop:]
    encoding = draw(st.sampled_from(["utf-8"] * 6 + ["utf-16", "utf-32", "latin1", "utf-8-sig"]))
    return text.encode(encoding, "replace")


def message_of(read: Callable[[], Any], kinds: Any) -> str | None:
    """What a reader said of what it refused; nothing if it read it."""
    try:
        read()
    except kinds as error:
        return str(error)
    return None
