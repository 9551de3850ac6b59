"""Reads an index in the SCIP format: the few fields of its Protocol Buffers that a truth needs.

Leaves out hover texts of external symbols, diagnostics and relationships. Positions come back as the index has them:
lines from 0, columns in the unit of the document (UTF-16 code units unless the document says otherwise).
"""

import collections

DEFINITION = 1

Document = collections.namedtuple("Document", "path encoding occurrences documentation")
Occurrence = collections.namedtuple("Occurrence", "line start end symbol roles")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Yields `(field number, value)`: an int for a varint, bytes for a message, a string or a packed list."""
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            value = data[at : at + size]
            at += size
        else:
            size = {1: 8, 5: 4}[wire]
            value = data[at : at + size]
            at += size
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_occurrence(data):
    line = start = end = roles = 0
    symbol = ""
    for number, value in fields(data):
        if number == 1:
            # Three numbers are a range on one line, four a range over several.
            numbers = packed(value)
            line, start, end = numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None
        elif number == 2:
            symbol = value.decode()
        elif number == 3:
            roles = value
    return Occurrence(line, start, end, symbol, roles)


def read_symbol(data):
    symbol, documentation = "", ""
    for number, value in fields(data):
        if number == 1:
            symbol = value.decode()
        elif number == 3 and not documentation:
            documentation = value.decode("utf-8", "replace")
    return symbol, documentation


def read_document(data):
    path, encoding, occurrences, documentation = "", 0, [], {}
    for number, value in fields(data):
        if number == 1:
            path = value.decode()
        elif number == 2:
            occurrences.append(read_occurrence(value))
        elif number == 3:
            symbol, text = read_symbol(value)
            documentation[symbol] = text
        elif number == 6:
            encoding = value
    return Document(path, encoding, occurrences, documentation)


def read_index(path):
    """Yields the documents of an index."""
    with open(path, "rb") as file:
        data = file.read()
    for number, value in fields(data):
        if number == 2:
            yield read_document(value)
