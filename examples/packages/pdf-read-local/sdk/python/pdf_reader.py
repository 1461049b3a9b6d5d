"""Extracts the text of a simple PDF, as pdf-read.mjs does.

Pages whose content streams are plain or compressed with Flate, with text in the standard
encoding. It follows no cross-reference table, reads no encrypted document and decodes no
font of its own.
"""

import json
import re
import sys
import zlib

FILE_MAX_BYTES = 64 * 1024 * 1024
STREAM_MAX_BYTES = 16 * 1024 * 1024

STRING = r"\((?:\\[\s\S]|[^\\()])*\)"
TOKEN = re.compile(STRING + r"|\[(?:" + STRING + r"|[^\]])*\]|[A-Za-z'\"*]+|[-\d.]+")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def objects_of(text):
    """Objects by their numbers: the text before a stream, and the stream."""
    objects = {}
    for found in re.finditer(r"(?:^|[\r\n])(\d+) 0 obj\b([\s\S]*?)\bendobj", text):
        body = found.group(2)
        stream = re.search(r"\bstream\r?\n([\s\S]*?)\r?\n?endstream", body)
        head = body if stream is None else body[: stream.start()]
        objects[int(found.group(1))] = (head, None if stream is None else stream.group(1))
    return objects


def stream_of(found):
    if found is None or found[1] is None:
        return ""
    head, stream = found
    if "/FlateDecode" not in head:
        return stream
    inflater = zlib.decompressobj()
    data = inflater.decompress(stream.encode("latin-1"), STREAM_MAX_BYTES)
    if inflater.unconsumed_tail:
        raise ValueError("a stream is larger than %d bytes" % STREAM_MAX_BYTES)
    return data.decode("latin-1")


def unescaped(text):
    def replace(found):
        code = found.group(1)
        if re.match("[0-7]", code):
            return chr(int(code, 8))
        return ESCAPES.get(code, code)

    return re.sub(r"\\([0-7]{1,3}|[\s\S])", replace, text)


def shown(operand):
    return "".join(unescaped(one[1:-1]) for one in re.findall(STRING, operand))


def text_of(content):
    """Follows the operators that show text and begin a line."""
    text = last = ""
    for found in TOKEN.finditer(content):
        part = found.group(0)
        if part in ("Tj", "TJ"):
            text += shown(last)
        elif part in ("'", '"'):
            text += "\n" + shown(last)
        elif part in ("T*", "Td", "TD"):
            text += "" if text == "" else "\n"
        elif part.startswith("(") or part.startswith("["):
            last = part
    return text


def content_of(head, objects):
    found = re.search(r"/Contents\s*(\[[^\]]*\]|\d+ 0 R)", head)
    numbers = re.findall(r"(\d+) 0 R", "" if found is None else found.group(1))
    return text_of("\n".join(stream_of(objects.get(int(number))) for number in numbers))


def main():
    path = json.loads(sys.argv[-1])["path"]
    with open(path, "rb") as file:
        data = file.read(FILE_MAX_BYTES + 1)
    if len(data) > FILE_MAX_BYTES:
        raise ValueError("%s has more than %d bytes" % (path, FILE_MAX_BYTES))
    text = data.decode("latin-1")
    if not text.startswith("%PDF-"):
        raise ValueError("%s is not a PDF" % path)
    objects = objects_of(text)
    pages = [content_of(head, objects) for head, _ in objects.values() if re.search(r"/Type\s*/Page\b", head)]
    print(json.dumps({"content": "\n".join(pages), "pages": pages}))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, zlib.error) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
