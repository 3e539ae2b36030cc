"""Writes a page of text as PDF, without a library."""

_HEAD = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>"
)
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def pdf(lines: list[str]) -> bytes:
    """One A4 page with these lines; the first is the title."""
    content = _content(lines)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        _PAGE,
        _FONT,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    body, offsets = _HEAD, []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    entries = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, entries)
    return body + table + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))


def _content(lines: list[str]) -> bytes:
    title, *others = (_text(line) for line in lines)
    shown = b"".join(b"(%s) Tj T*\n" % line for line in others)
    return b"BT\n/F1 18 Tf\n56 780 Td\n24 TL\n(%s) Tj T*\n/F1 11 Tf\n16 TL\n%sET" % (title, shown)


def _text(line: str) -> bytes:
    escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return escaped.encode("cp1252", "replace")
