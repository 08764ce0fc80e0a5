"""Blanks that Python's str.split() separates words at, and that a text split at spaces and tabs has inside its words.

    one byte     U+000B, U+000C, U+000D that does not end a line with U+000A, U+001C to U+001F
    two bytes    U+0085, U+00A0
    three bytes  U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000

A text mostly has none of them: steps of many bytes are looked at first, all bytes alike, so that the loop becomes vectors.
Bytes are taken to be valid UTF-8.

text     [n_bytes]
"""

from libc.string cimport memchr, memset

ctypedef const unsigned char* text_t

cdef enum:
    STEP = 512  # bytes looked at at once


cdef inline unsigned char is_single(unsigned char a, unsigned char b) noexcept nogil:
    """Whether byte a, before byte b, is a blank by itself."""
    return (a == 0x0B) | (a == 0x0C) | ((a >> 2) == 0x1C >> 2) | ((a == c'\r') & (b != c'\n'))


cdef inline unsigned char is_double(unsigned char a, unsigned char b) noexcept nogil:
    """Whether bytes a and b are a blank of two bytes."""
    return (a == 0xC2) & ((b == 0x85) | (b == 0xA0))


cdef inline unsigned char is_triple(unsigned char a, unsigned char b, unsigned char c) noexcept nogil:
    """Whether bytes a, b and c are a blank of three bytes."""
    return (
        ((a == 0xE2) & (b == 0x80) & ((c <= 0x8A) | (c == 0xA8) | (c == 0xA9) | (c == 0xAF)))
        | ((a == 0xE3) & (b == 0x80) & (c == 0x80))
        | ((a == 0xE2) & (b == 0x81) & (c == 0x9F))
        | ((a == 0xE1) & (b == 0x9A) & (c == 0x80))
    )


cdef inline Py_ssize_t width(text_t at, text_t end) noexcept nogil:
    """How many bytes the blank at `at` has; 0: there is none."""
    cdef unsigned char b = at[1] if end - at > 1 else 0
    cdef unsigned char c = at[2] if end - at > 2 else 0
    return 1 if is_single(at[0], b) else 2 if is_double(at[0], b) else 3 if is_triple(at[0], b, c) else 0


cdef text_t next_blank(text_t at, text_t end) noexcept nogil:
    """The first blank of [at, end); NULL if there is none."""
    cdef unsigned char found
    cdef Py_ssize_t k
    while at < end:
        if end - at >= STEP + 2:
            found = 0
            for k in range(STEP):
                found |= is_single(at[k], at[k + 1]) | is_double(at[k], at[k + 1]) | is_triple(at[k], at[k + 1], at[k + 2])
            if not found:
                at += STEP
                continue
        for k in range(min(<Py_ssize_t>STEP, end - at)):
            if width(at + k, end):
                return at + k
        at += min(<Py_ssize_t>STEP, end - at)
    return NULL


def find_blanks(const unsigned char[::1] text not None) -> tuple[int, int]:
    """(number of lines that have blanks, where the first blank is); (0, -1): there are none."""
    if text.shape[0] == 0:
        return 0, -1
    cdef text_t start = &text[0]
    cdef text_t end = start + text.shape[0]
    cdef text_t at
    cdef Py_ssize_t n = 0, first = -1
    with nogil:
        at = next_blank(start, end)
        if at != NULL:
            first = at - start
        while at != NULL:
            n += 1
            at = <text_t>memchr(at, c'\n', end - at)
            if at != NULL:
                at = next_blank(at, end)
    return n, first


def fill_blanks(unsigned char[::1] text not None) -> None:
    """Writes spaces in place of blanks, as many as a blank has bytes."""
    if text.shape[0] == 0:
        return
    cdef unsigned char* start = &text[0]
    cdef text_t end = start + text.shape[0]
    cdef text_t at
    cdef Py_ssize_t n
    with nogil:
        at = next_blank(start, end)
        while at != NULL:
            n = width(at, end)
            memset(start + (at - <text_t>start), c' ', n)
            at = next_blank(at + n, end)
