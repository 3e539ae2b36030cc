"""The files of the page, in memory and compressed. Their addresses contain a hash of all of them, so that browsers can
keep them for ever and yet never mix two versions."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fastapi import Response

ROOT = Path(__file__).parent
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FIRST_STYLES = ("style/tokens.css", "style/base.css", "style/layout.css")
"""Later rules override earlier ones; the other files follow in the order of their names."""
AT_ONCE = ("lib/", "parts/", "vendor/preact/", "vendor/htm/")
"""What every view needs: the browser asks for these at once, and not for one after the other."""


@dataclass(frozen=True)
class WebFile:
    """One file, as it is sent."""

    content: bytes
    compressed: bytes
    media_type: str
    etag: str

    @staticmethod
    def of(content: bytes, media_type: str) -> "WebFile":
        """Compressed once, so that no request has to wait for it."""
        etag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
        return WebFile(content, gzip.compress(content, mtime=0), media_type, etag)

    def response(self, accepted: str, headers: dict[str, str]) -> Response:
        """The answer to a request that accepts these encodings."""
        use_gzip = "gzip" in accepted and len(self.compressed) < len(self.content)
        encoding = {"Content-Encoding": "gzip"} if use_gzip else {}
        return Response(
            self.compressed if use_gzip else self.content,
            media_type=self.media_type,
            headers={**headers, **encoding, "ETag": self.etag, "Vary": "Accept-Encoding"},
        )


class WebFiles:
    """All files under a directory that browsers may ask for. Changed files are read again with the next page."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._stamp: list[tuple[str, int, int]] = []
        self._files: dict[str, WebFile] = {}
        self.version = ""

    def index(self) -> WebFile:
        """The page itself, which names the others by their current version."""
        with self._lock:
            self._read()
            assets = f"assets/{self.version}"
            template = (self._root / "index.html").read_text()
            lines = {
                "{styles}": [f'<link rel="stylesheet" href="{assets}/{name}" />' for name in self._styles()],
                "{modules}": [f'<link rel="modulepreload" href="{assets}/{name}" />' for name in self._modules()],
                "{assets}": [assets],
            }
            for slot, texts in lines.items():
                template = template.replace(slot, "\n    ".join(texts))
            return WebFile.of(template.encode(), "text/html")

    def get(self, path: str) -> WebFile | None:
        """A file by its path under the root; None if there is none, or none that browsers may have."""
        with self._lock:
            if not self._files:
                self._read()
            return self._files.get(path)

    def all(self) -> dict[str, WebFile]:
        """All files by their paths."""
        with self._lock:
            return dict(self._files)

    def _read(self) -> None:
        paths = sorted(self._paths())
        stamp = [(name, (stat := path.stat()).st_mtime_ns, stat.st_size) for name, path in paths]
        if stamp == self._stamp:
            return
        files = {name: WebFile.of(path.read_bytes(), TYPES[path.suffix]) for name, path in paths}
        tags = "\n".join(f"{name} {file.etag}" for name, file in files.items())
        self._files, self._stamp = files, stamp
        self.version = hashlib.sha256(tags.encode()).hexdigest()[:16]

    def _paths(self) -> Iterator[tuple[str, Path]]:
        for path in self._root.rglob("*"):
            if path.suffix in TYPES and path.is_file():
                yield path.relative_to(self._root).as_posix(), path

    def _styles(self) -> list[str]:
        found = [name for name in self._files if name.startswith("style/")]
        return [*FIRST_STYLES, *(name for name in found if name not in FIRST_STYLES)]

    def _modules(self) -> list[str]:
        return [name for name in self._files if name.startswith(AT_ONCE) and name.endswith(("js", ".mjs"))]
