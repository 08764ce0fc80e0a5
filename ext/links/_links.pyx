"""Links to and from text: one pass over the bytes of whole lines.

text     [n_bytes]      whole lines, each ended by "\\n"; "\\r" before it is blank
offsets  [S + 1]        links of sentence n are those from offsets[n] to offsets[n + 1]
src,tgt  [n_links]      positions, 0-based whatever the text's base
sure     [n_links]      1 for a sure link, 0 for a possible one
scores   [n_links]      a number attached to the link

A parser stops at the first thing it cannot read and says what (status), on which line and in which column (from 0).
Not here: which format a file has, and what to do about a status (links.py).
"""

from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* s, char** endptr, object overflow_exception) except? -1.0
    char* PyOS_double_to_string(double x, char code, int precision, int flags, int* kind) except NULL

ctypedef const unsigned char* text_t

cpdef enum Status:
    OK = 0
    NO_NUMBER = 1       # a position was expected
    NO_SEPARATOR = 2    # the mark between two positions was expected
    TOO_LARGE = 3       # a position of 2^31 or more
    TRAILING = 4        # something else right after a link
    BELOW_BASE = 5      # position 0 in 1-based links
    NO_SCORE = 6        # a score was expected
    BAD_SCORE = 7       # a score that is no finite number
    NO_ID = 8           # a sentence number and a tab were expected
    BAD_ID = 9          # sentence numbers do not follow one another
    BAD_COLUMNS = 10    # WPT: not `sentence i j [S|P] [confidence]`
    BARS = 11           # ||| on the line
    NO_ROOM = 12        # more lines than the caller has room for
    SENTENCE_ZERO = 13  # WPT: sentences count from 1

cdef struct Cursor:
    text_t begin
    text_t at
    text_t end


cdef inline bint is_blank(unsigned char c) noexcept nogil:
    return c == c' ' or c == c'\t' or c == c'\r'


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef inline void skip_blanks(Cursor* c) noexcept nogil:
    while is_blank(c.at[0]):
        c.at += 1


cdef inline int read_position(Cursor* c, int64_t base, int32_t* position) noexcept nogil:
    cdef text_t start = c.at
    cdef int64_t value = 0
    while is_digit(c.at[0]):
        value = 10 * value + (c.at[0] - c'0')
        c.at += 1
        if value > 0x7FFFFFFF:
            c.at = start
            return TOO_LARGE
    if c.at == start:
        return NO_NUMBER
    if value < base:
        c.at = start
        return BELOW_BASE
    position[0] = <int32_t>(value - base)
    return OK


cdef double[16] POWERS_OF_TEN
POWERS_OF_TEN[:] = [10.0**k for k in range(16)]


cdef int read_score(Cursor* c, double* score) except -1:
    """A decimal number. Up to 15 digits without exponent are exact as integer / power of ten; the rest is Python's."""
    cdef text_t start = c.at
    cdef int64_t value = 0
    cdef int n_digits = 0, n_decimals = 0
    cdef char* stop
    while is_digit(c.at[0]) and n_digits < 16:
        value = 10 * value + (c.at[0] - c'0')
        n_digits += 1
        c.at += 1
    if c.at[0] == c'.':
        c.at += 1
        while is_digit(c.at[0]) and n_digits < 16:
            value = 10 * value + (c.at[0] - c'0')
            n_digits += 1
            n_decimals += 1
            c.at += 1
    if 0 < n_digits < 16 and c.at[0] != c'e' and c.at[0] != c'E':
        score[0] = value / POWERS_OF_TEN[n_decimals]
        return OK
    c.at = start
    if not (is_digit(start[0]) or start[0] == c'.' or start[0] == c'-' or start[0] == c'+'):
        return NO_SCORE
    try:
        score[0] = PyOS_string_to_double(<const char*>start, &stop, OverflowError)
    except (ValueError, OverflowError):
        return BAD_SCORE
    if not (score[0] - score[0] == 0):
        return BAD_SCORE
    c.at = <text_t>stop
    return OK


cdef check_text(const unsigned char[::1] text):
    """Whole lines only: parsers stop at a newline, and nowhere else."""
    if text[text.shape[0] - 1] != c'\n':
        raise ValueError("the text does not end in a newline")


def parse_links(
    const unsigned char[::1] text not None,  # IN
    unsigned char possible,                  # IN, the mark of a possible link, as ? in i?j; 0: there is none
    unsigned char scored,                    # IN, the mark before a score, as : in i-j:p; 0: there is none
    bint numbered,                           # IN, lines begin with a sentence number and a tab
    int64_t first_number,                    # IN, the number of the first line
    int base,                                # IN, the position of a sentence's first word, 0 or 1
    int64_t[::1] offsets not None,           # OUT, [S + 1]
    int32_t[::1] src not None,               # OUT, at least n_bytes / 4
    int32_t[::1] tgt not None,               # OUT, as many as src
    uint8_t[::1] sure not None,              # OUT, as many as src; [0] without a mark of possible links
    double[::1] scores not None,             # OUT, as many as src; [0] without a mark of scores
) -> tuple[int, int, int, int]:
    """(status, line, column, number of links)"""
    cdef Cursor c
    cdef int64_t n = 0
    cdef Py_ssize_t line = 0
    cdef int status = OK
    cdef int32_t number
    cdef double second
    cdef Py_ssize_t room = text.shape[0] // 4 + 1
    offsets[0] = 0
    if text.shape[0] == 0:
        return OK, 0, 0, 0
    check_text(text)
    if min(src.shape[0], tgt.shape[0]) < room:
        raise ValueError("no room for the links")
    if (possible and sure.shape[0] < room) or (scored and scores.shape[0] < room):
        raise ValueError("no room for labels or scores")
    c.at = &text[0]
    c.end = c.at + text.shape[0]
    while c.at < c.end:
        c.begin = c.at
        if line + 1 == offsets.shape[0]:
            status = NO_ROOM
            break
        if numbered:
            status = read_position(&c, 0, &number)
            if status != OK or c.at[0] != c'\t':
                status = NO_ID
                break
            if number != first_number + line:
                status = BAD_ID
                break
        skip_blanks(&c)
        while c.at[0] != c'\n':
            status = read_position(&c, base, &src[n])
            if status != OK:
                if c.at[0] == c'|':
                    status = BARS
                break
            if c.at[0] != c'-' and not (possible and c.at[0] == possible):
                status = NO_SEPARATOR
                break
            if possible:
                sure[n] = c.at[0] == c'-'
            c.at += 1
            status = read_position(&c, base, &tgt[n])
            if status != OK:
                break
            if scored:
                if c.at[0] != scored:
                    status = NO_SCORE
                    break
                c.at += 1
                status = read_score(&c, &scores[n])
                if status != OK:
                    break
                if scored == c'-' and c.at[0] == c'-':  # SimAlign's mean and maximum: the mean is the score
                    c.at += 1
                    status = read_score(&c, &second)
                    if status != OK:
                        break
            if c.at[0] != c'\n' and not is_blank(c.at[0]):
                status = TRAILING
                break
            n += 1
            skip_blanks(&c)
        if status != OK:
            break
        c.at += 1
        line += 1
        offsets[line] = n
    return status, line, c.at - c.begin, n


def parse_wpt(
    const unsigned char[::1] text not None,  # IN, one link a line: `sentence i j [S|P] [confidence]`
    int64_t[::1] sentences not None,         # OUT, [n_lines], from 0
    int32_t[::1] src not None,               # OUT, [n_lines]; -1 for the NULL word, position 0 of the text
    int32_t[::1] tgt not None,               # OUT, likewise
    uint8_t[::1] sure not None,              # OUT, [n_lines]
    double[::1] scores not None,             # OUT, [n_lines]; NaN where there is no confidence
) -> tuple[int, int, int, int]:
    """(status, line, column, number of links); blank lines hold no link."""
    cdef Cursor c
    cdef int32_t[3] numbers
    cdef int64_t n = 0
    cdef Py_ssize_t line = 0
    cdef int k, status = OK
    cdef Py_ssize_t room = min(sentences.shape[0], src.shape[0], tgt.shape[0], sure.shape[0], scores.shape[0])
    if text.shape[0] == 0:
        return OK, 0, 0, 0
    check_text(text)
    c.at = &text[0]
    c.end = c.at + text.shape[0]
    while c.at < c.end:
        c.begin = c.at
        skip_blanks(&c)
        if c.at[0] != c'\n':
            if n == room:
                status = NO_ROOM
                break
            for k in range(3):
                status = read_position(&c, 1 if k == 0 else 0, &numbers[k])
                if k == 0 and status == BELOW_BASE:
                    status = SENTENCE_ZERO
                if status == OK and c.at[0] != c'\n' and not is_blank(c.at[0]):
                    status = BAD_COLUMNS
                if status != OK:
                    break
                skip_blanks(&c)
            if status != OK:
                break
            sentences[n] = numbers[0]
            src[n] = numbers[1] - 1
            tgt[n] = numbers[2] - 1
            sure[n] = c.at[0] != c'P'
            if c.at[0] == c'P' or c.at[0] == c'S':
                c.at += 1
                skip_blanks(&c)
            scores[n] = float("nan")
            if c.at[0] != c'\n':
                if read_score(&c, &scores[n]) != OK:
                    status = BAD_COLUMNS
                    break
                skip_blanks(&c)
            if c.at[0] != c'\n':
                status = BAD_COLUMNS
                break
            n += 1
        c.at += 1
        line += 1
    return status, line, c.at - c.begin, n


cdef inline unsigned char* put_number(unsigned char* out, int64_t value, int width) noexcept nogil:
    """The digits of a number, at least `width` of them."""
    cdef unsigned char[20] digits
    cdef int n = 0
    while value > 0 or n == 0:
        digits[n] = <unsigned char>(c'0' + value % 10)
        value //= 10
        n += 1
    while n < width:
        digits[n] = c'0'
        n += 1
    while n > 0:
        n -= 1
        out[0] = digits[n]
        out += 1
    return out


cdef unsigned char* put_score(unsigned char* out, double score) except NULL:
    """The shortest text that reads as the same number. Up to six decimals by hand, the rest by Python."""
    cdef int64_t millionths
    cdef int n_decimals = 6
    cdef char* text
    cdef Py_ssize_t n = 0
    if 0 <= score <= 1e6:
        millionths = <int64_t>(score * 1e6 + 0.5)
        if millionths / 1e6 == score:
            out = put_number(out, millionths // 1000000, 1)
            millionths %= 1000000
            if millionths == 0:
                return out
            while millionths % 10 == 0:
                millionths //= 10
                n_decimals -= 1
            out[0] = c'.'
            return put_number(out + 1, millionths, n_decimals)
    text = PyOS_double_to_string(score, c'r', 0, 0, NULL)
    while text[n] != 0:
        n += 1
    memcpy(out, text, n)
    PyMem_Free(text)
    return out + n


cdef enum:
    LINK_BYTES = 22 + 26  # two positions of ten digits, a mark and a blank; a score and its mark
    ID_BYTES = 21


def format_links(
    const int64_t[::1] offsets not None,  # IN, [S + 1]
    const int32_t[::1] src not None,      # IN
    const int32_t[::1] tgt not None,      # IN
    const uint8_t[::1] sure,              # IN; None: all links are sure
    const double[::1] scores,             # IN; None: no scores
    unsigned char possible,               # IN, as for parse_links
    unsigned char scored,                 # IN, as for parse_links
    bint numbered,                        # IN, as for parse_links
    int64_t first_number,                 # IN, as for parse_links
    int base,                             # IN, as for parse_links
    bint wpt,                             # IN, one link a line instead: `sentence i j S|P [confidence]`
) -> bytearray:
    """The links as text, one line a sentence (WPT: one line a link), in the order they have."""
    cdef Py_ssize_t S = offsets.shape[0] - 1
    cdef Py_ssize_t n, k
    if S < 0 or offsets[0] < 0 or offsets[S] > min(src.shape[0], tgt.shape[0]):
        raise ValueError("offsets and positions do not fit together")
    if (sure is not None and sure.shape[0] < offsets[S]) or (scored and scores.shape[0] < offsets[S]):
        raise ValueError("positions, labels and scores do not fit together")
    result = bytearray((offsets[S] - offsets[0]) * (LINK_BYTES + (ID_BYTES if wpt else 0)) + S * (ID_BYTES + 1) + 1)
    cdef unsigned char[::1] buffer = result
    cdef unsigned char* out = &buffer[0]
    for n in range(S):
        if numbered and not wpt:
            out = put_number(out, first_number + n, 1)
            out[0] = c'\t'
            out += 1
        for k in range(offsets[n], offsets[n + 1]):
            if wpt:
                out = put_number(out, first_number + n, 4)
                out[0] = c' '
                out += 1
            elif k > offsets[n]:
                out[0] = c' '
                out += 1
            out = put_number(out, <int64_t>src[k] + base, 1)
            out[0] = c' ' if wpt else possible if sure is not None and not sure[k] else c'-'
            out = put_number(out + 1, <int64_t>tgt[k] + base, 1)
            if wpt:
                out[0] = c' '
                out[1] = c'P' if sure is not None and not sure[k] else c'S'
                out += 2
            if scored:
                out[0] = scored
                out = put_score(out + 1, scores[k])
            if wpt:
                out[0] = c'\n'
                out += 1
        if not wpt:
            out[0] = c'\n'
            out += 1
    cdef Py_ssize_t n_bytes = out - &buffer[0]
    buffer = None
    del result[n_bytes:]
    return result
