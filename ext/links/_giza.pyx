"""Alignments of GIZA++ and of symal from text: one pass over the bytes of whole lines, three a sentence pair.

A3, one direction. Line 2 has the generated words, line 3 the generating words, each with the positions that it generates:

    # Sentence pair (N) source length L target length M alignment score : S
    t_1 ... t_M
    NULL ({ 3 }) s_1 ({ 1 2 }) s_2 ({ }) ... s_L ({ 4 })

bal, both directions. Each word has the position of the word that generates it, 0 for NULL:

    count
    M t_1 ... t_M # a_1 ... a_M
    L s_1 ... s_L # b_1 ... b_L

text     [n_bytes]   whole lines, each ended by "\\n"
offsets  [S + 1]     links of sentence n are those from offsets[n] to offsets[n + 1]
links                (offsets, src, tgt), src and tgt: [n_links] positions from 0 of s and t
side                 the words of a side (side.pxd), to be compared with those of the file

A word is what stands between blanks. What follows a word is known, so that `({`, `})`, `#`, `NULL` and numbers can be words.
A parser stops at the first thing it cannot read and says what (status), on which line and in which column (from 0).
Not here: what to do about a status, the directions' names (formats/giza.py, formats/bal.py), writing (_a3.pyx).
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport strtoll
from libc.string cimport memcmp, strlen
from libcpp.vector cimport vector

from side cimport Side, read_side, text_t

cpdef enum Status:  # numbers that no status of _links.pyx has: messages of both are looked up alike
    OK = 0
    NO_HEADER = 101     # A3: line 1 is not as above
    BAD_NUMBER = 102    # A3: the sentence's number does not follow that of the pair before
    FEW_WORDS = 103     # a line has fewer words than was said
    MANY_WORDS = 104    # a line has more words than was said
    NO_NULL = 105       # A3: line 3 does not begin with NULL
    NO_OPENING = 106    # A3: `({` was expected after a word
    NO_POSITION = 107   # A3: a position or `})` was expected
    OUTSIDE = 108       # a position is beyond the last word
    OTHER_WORD = 109    # a word is not that of the text
    OTHER_LENGTH = 110  # a sentence has not as many words as in the text
    NO_COUNT = 111      # bal: line 1 is not a number
    NO_LENGTH = 112     # bal: line 2 or 3 does not begin with the number of words
    NO_SIGN = 113       # bal: `#` was expected after the words
    BAD_POSITION = 114  # bal: a position was expected
    CUT_OFF = 115       # the text ends within a sentence pair


cdef struct Cursor:
    text_t begin  # of the line
    text_t at
    text_t end    # of the text
    Py_ssize_t line


cdef inline bint is_blank(text_t at) noexcept nogil:
    """What C++ and Perl skip between words, but for the newline."""
    return at[0] == c' ' or at[0] == c'\t' or c'\v' <= at[0] <= c'\r'


cdef inline void skip_blanks(Cursor* c) noexcept nogil:
    while is_blank(c.at):
        c.at += 1


cdef inline text_t word_end(text_t at) noexcept nogil:
    while at[0] != c'\n' and not is_blank(at):
        at += 1
    return at


cdef inline bint read_number(Cursor* c, int64_t* number) noexcept nogil:
    """A number of digits and a blank after it, which is skipped with those that follow."""
    cdef char* stop
    if not c'0' <= c.at[0] <= c'9':
        return False
    number[0] = strtoll(<const char*>c.at, &stop, 10)
    if stop[0] != c'\n' and not is_blank(<text_t>stop):
        return False
    c.at = <text_t>stop
    skip_blanks(c)
    return True


cdef inline bint read_sign(Cursor* c, const char* sign) noexcept nogil:
    """A word that is known, and the blanks after it."""
    cdef text_t stop = word_end(c.at)
    cdef size_t n = strlen(sign)
    if <size_t>(stop - c.at) != n or memcmp(c.at, sign, n):
        return False
    c.at = stop
    skip_blanks(c)
    return True


cdef inline bint read_literal(Cursor* c, const char* literal) noexcept nogil:
    """Bytes that are known."""
    cdef size_t k = 0
    while literal[k]:
        if c.at[k] != <unsigned char>literal[k]:
            return False
        k += 1
    c.at += k
    return True


cdef inline bint next_line(Cursor* c) noexcept nogil:
    """Goes to the next line, if there is one."""
    while c.at[0] != c'\n':
        c.at += 1
    c.at += 1
    c.begin = c.at
    c.line += 1
    return c.at < c.end


cdef int read_words(Cursor* c, int64_t n, Side* s, Py_ssize_t sentence) noexcept nogil:
    """n words; those of the sentence of the text, where the text has it."""
    cdef int64_t k
    cdef int status
    if sentence < s.S and s.offsets[sentence + 1] - s.offsets[sentence] != n:
        return OTHER_LENGTH
    for k in range(n):
        status = read_word(c, k, s, sentence)
        if status != OK:
            return status
    return OK


cdef inline int read_word(Cursor* c, int64_t k, Side* s, Py_ssize_t sentence) noexcept nogil:
    """Word k of the sentence."""
    cdef text_t stop
    cdef int64_t size
    cdef int32_t word
    if c.at[0] == c'\n':
        return FEW_WORDS
    stop = word_end(c.at)
    if sentence < s.S:
        word = s.ids[s.offsets[sentence] + k]
        size = s.cuts[word + 1] - s.cuts[word]
        if size != stop - c.at or memcmp(c.at, s.words + s.cuts[word], size):
            return OTHER_WORD
    c.at = stop
    skip_blanks(c)
    return OK


cdef int read_a3_pair(
    Cursor* c, int64_t number, Side* src, Side* tgt, Py_ssize_t sentence, int32_t* out_src, int32_t* out_tgt, int64_t* n
) noexcept nogil:
    """One sentence pair, of three whole lines; n grows by its links."""
    cdef int64_t found = 0, L = 0, M = 0, position = 0, i
    cdef int status
    cdef text_t digits
    if not read_literal(c, b"# Sentence pair ("):
        return NO_HEADER
    digits = c.at
    while c'0' <= c.at[0] <= c'9' and c.at - digits < 18:
        found = 10 * found + (c.at[0] - c'0')
        c.at += 1
    if c.at == digits or not (read_literal(c, b") source length ") and read_number(c, &L)):
        return NO_HEADER
    if not (read_literal(c, b"target length ") and read_number(c, &M) and read_literal(c, b"alignment score : ")):
        return NO_HEADER
    if found != number:
        c.at = digits
        return BAD_NUMBER
    if not next_line(c):
        return CUT_OFF
    skip_blanks(c)
    status = read_words(c, M, tgt, sentence)
    if status != OK:
        return status
    if c.at[0] != c'\n':
        return MANY_WORDS
    if not next_line(c):
        return CUT_OFF
    skip_blanks(c)
    if sentence < src.S and src.offsets[sentence + 1] - src.offsets[sentence] != L:
        return OTHER_LENGTH
    for i in range(-1, L):
        if i < 0:
            if not read_sign(c, b"NULL"):
                return NO_NULL
        else:
            status = read_word(c, i, src, sentence)
            if status != OK:
                return status
        if not read_sign(c, b"({"):
            return NO_OPENING
        while not read_sign(c, b"})"):
            digits = c.at
            if not read_number(c, &position):
                return NO_POSITION
            if not 1 <= position <= M:
                c.at = digits
                return OUTSIDE
            if i >= 0:
                out_src[n[0]] = <int32_t>i
                out_tgt[n[0]] = <int32_t>(position - 1)
                n[0] += 1
    return OK if c.at[0] == c'\n' else MANY_WORDS


cdef Cursor cursor(const unsigned char[::1] text):
    """The begin of a text of whole lines: parsers stop at a newline, and nowhere else."""
    cdef Cursor c
    if text.shape[0] == 0 or text[text.shape[0] - 1] != c'\n':
        raise ValueError("the text does not end in a newline")
    c.begin = c.at = &text[0]
    c.end = c.at + text.shape[0]
    c.line = 0
    return c


def parse_a3(
    const unsigned char[::1] text not None,  # IN, sentence pairs of three lines each
    int64_t first_number,                    # IN, the number of the first sentence pair
    tuple src,                               # IN, the side of line 3, sentence 0 the first here; None: words are not compared
    tuple tgt,                               # IN, the side of line 2, likewise
    int64_t[::1] offsets not None,           # OUT, [S + 1]
    int32_t[::1] out_src not None,           # OUT, at least n_bytes / 2
    int32_t[::1] out_tgt not None,           # OUT, as many
) -> tuple[int, int, int, int]:
    """(status, line, column, number of links); links in the order of line 3."""
    cdef Side s = read_side(src), t = read_side(tgt)
    cdef Cursor c = cursor(text)
    cdef int64_t n = 0
    cdef Py_ssize_t k = 0
    cdef int status = OK
    if min(out_src.shape[0], out_tgt.shape[0]) < text.shape[0] // 2:
        raise ValueError("no room for the links")
    offsets[0] = 0
    while c.at < c.end:
        if k + 1 == offsets.shape[0]:
            raise ValueError("no room for the sentence pairs")
        status = read_a3_pair(&c, first_number + k, &s, &t, k, &out_src[0], &out_tgt[0], &n)
        if status != OK:
            break
        next_line(&c)
        k += 1
        offsets[k] = n
    return status, c.line, c.at - c.begin, n


cdef int read_bal_line(Cursor* c, Side* s, Py_ssize_t sentence, vector[int64_t]& positions) except -1 nogil:
    """`n words # positions`; n is -1 where giza2bal.pl found no words."""
    cdef int64_t n = 0, k
    skip_blanks(c)
    if not read_sign(c, b"-1") and not read_number(c, &n):
        return NO_LENGTH
    cdef int status = read_words(c, n, s, sentence)
    if status != OK:
        return status
    if not read_sign(c, b"#"):
        return NO_SIGN
    positions.resize(n)
    for k in range(n):
        if not read_number(c, &positions[k]):
            return BAD_POSITION
    return OK if c.at[0] == c'\n' else MANY_WORDS


cdef struct Result:
    int64_t* offsets
    int32_t* src
    int32_t* tgt


cdef Result result(tuple links, Py_ssize_t S, Py_ssize_t n):
    """Where the links of one direction go."""
    cdef int64_t[::1] offsets = links[0]
    cdef int32_t[::1] src = links[1]
    cdef int32_t[::1] tgt = links[2]
    cdef Result out
    if offsets.shape[0] <= S or src.shape[0] < n or tgt.shape[0] < n:
        raise ValueError("no room for the links")
    out.offsets = &offsets[0]
    out.src = &src[0]
    out.tgt = &tgt[0]
    out.offsets[0] = 0
    return out


def parse_bal(
    const unsigned char[::1] text not None,  # IN, sentence pairs of three lines each
    tuple src,                               # IN, the side of line 3, sentence 0 the first here; None: words are not compared
    tuple tgt,                               # IN, the side of line 2, likewise
    tuple forward not None,                  # OUT, the links of line 2, by target; room for n_lines / 3, n_bytes / 2 + 1
    tuple reverse not None,                  # OUT, the links of line 3, by source; likewise
) -> tuple[int, int, int, int, int, list]:
    """(status, line, column, number of links forward, in reverse, sentences with two words ALIGN_ERR and nothing else)"""
    cdef Side s = read_side(src), t = read_side(tgt)
    cdef Side nothing = read_side(None)
    cdef Cursor c = cursor(text)
    cdef vector[int64_t] a, b
    cdef int64_t n = 0, m = 0, count = 0
    cdef Py_ssize_t n_lines = 0, k = 0, p
    cdef int status = OK
    cdef bint failed
    cdef list failures = []
    for p in range(text.shape[0]):
        n_lines += text[p] == c'\n'
    cdef Result f = result(forward, n_lines // 3, text.shape[0] // 2 + 1)
    cdef Result r = result(reverse, n_lines // 3, text.shape[0] // 2 + 1)
    while c.at < c.end:
        skip_blanks(&c)
        if not read_number(&c, &count) or c.at[0] != c'\n':
            status = NO_COUNT
            break
        if not next_line(&c):
            status = CUT_OFF
            break
        failed = read_literal(&c, b"1 ALIGN_ERR #")
        c.at = c.begin
        status = read_bal_line(&c, &nothing if failed else &t, k, a)
        if status != OK:
            break
        if not next_line(&c):
            status = CUT_OFF
            break
        status = read_bal_line(&c, &nothing if failed else &s, k, b)
        if status != OK:
            break
        status = put_generated(a, b.size(), &f, &n, False)
        if status == OK:
            status = put_generated(b, a.size(), &r, &m, True)
        if status != OK:
            break
        if failed:
            failures.append(k)
        next_line(&c)
        k += 1
        f.offsets[k] = n
        r.offsets[k] = m
    return status, c.line, c.at - c.begin, n, m, failures


cdef int put_generated(vector[int64_t]& by, int64_t most, Result* out, int64_t* n, bint swapped) noexcept nogil:
    """The links of the words of a line, which the words `by` generate."""
    cdef int64_t k
    for k in range(<int64_t>by.size()):
        if by[k] > most:
            return OUTSIDE
        if by[k] > 0:
            out.src[n[0]] = <int32_t>(k if swapped else by[k] - 1)
            out.tgt[n[0]] = <int32_t>(by[k] - 1 if swapped else k)
            n[0] += 1
    return OK
