"""Text to ids: one pass over the bytes of whole lines, a word looked up as soon as it ends.

Tokens are what stands between ASCII spaces and tabs; a line ends at "\\n" only, and a "\\r" before it belongs to the
line end. Everything else, NBSP, U+3000 and U+2028 included, is part of a token. Bytes are taken to be valid UTF-8.

text     [n_bytes]   whole lines, each ended by "\\n"
ids      [n_tokens]  token -> word id, in the order of first occurrence
lengths  [n_lines]   line  -> number of its tokens

Not here: files, encodings, lower-casing (the driver folds the vocabulary, not the text).
"""

from cython.operator cimport dereference
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

import numpy as np

from checks cimport check_ids, check_offsets, check_threads

ctypedef const unsigned char* text_t

cpdef enum Status:
    OK = 0
    NO_SEPARATOR = 1    # a pair without its separator
    TWO_SEPARATORS = 2  # a pair with more than one
    NOT_WRAPPED = 3     # a line without <s snum=N> ... </s> in a file that has them
    TOO_MANY_WORDS = 4  # 2^31 different words on a side, or a word of as many bytes
    NO_ROOM = 5         # more lines or tokens than the caller has room for


cdef extern from *:
    """
    #include <cstdint>
    static const uint64_t ONES = 0x0101010101010101ULL;  // a one in each byte
    static const uint64_t TOPS = 0x8080808080808080ULL;  // the top bit of each byte
    #define LOWEST_BIT(x) __builtin_ctzll(x)
    """
    const uint64_t ONES, TOPS
    int LOWEST_BIT(uint64_t x) noexcept nogil

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil


cdef enum:
    BATCH = 32  # tokens cut before they are looked up, so that their slots are on the way from memory


cdef inline bint is_blank(unsigned char c) noexcept nogil:
    return c == c' ' or c == c'\t'


cdef inline uint64_t marks(uint64_t eight, uint64_t c) noexcept nogil:
    """The top bit of each of eight bytes that is c; above the lowest such byte there may be false ones."""
    cdef uint64_t x = eight ^ (ONES * c)
    return (x - ONES) & ~x & TOPS


cdef inline uint64_t load(text_t at, text_t end) noexcept nogil:
    """The eight bytes from `at` on, little-endian, zero from `end` on. Never reads past `end`."""
    cdef uint64_t eight = 0
    if end - at >= 8:
        memcpy(&eight, at, 8)
    else:
        memcpy(&eight, at, end - at)
    return eight


cdef inline uint64_t mix(uint64_t h, uint64_t eight) noexcept nogil:
    """One round of a multiplicative hash; the fold brings the product's high bits down."""
    h = (h ^ eight) * <uint64_t>0x9E3779B97F4A7C15
    return h ^ (h >> 32)


cdef struct Token:
    text_t start
    Py_ssize_t n_bytes
    uint64_t key   # the word itself if it has at most eight bytes, else its hash
    uint64_t hash


cdef struct Slot:
    uint64_t key
    uint32_t n_bytes  # 0: the slot is free
    uint32_t word     # id


cdef text_t cut_token(text_t at, text_t end, text_t limit, Token* token) noexcept nogil:
    """The token that begins at `at`, hashed eight bytes at a time; returns where it ends.

    The line ends at `end`; the bytes up to `limit` can be read.
    """
    cdef uint64_t eight, blank
    cdef uint64_t h = 0
    cdef Py_ssize_t n
    token.start = at
    while True:
        eight = load(at, limit)
        blank = marks(eight, c' ') | marks(eight, c'\t')
        n = LOWEST_BIT(blank) >> 3 if blank else 8
        if n > end - at:
            n = end - at
        if n < 8:
            eight &= (<uint64_t>1 << 8 * n) - 1
        at += n
        if n < 8:  # also after the last whole eight bytes: a word has one hash, wherever it stands
            break
        h = mix(h, eight)
    token.n_bytes = at - token.start
    if token.n_bytes <= 8:
        # The end of a token of just eight bytes is seen one step later, when they are no longer at hand.
        token.key = eight if n == token.n_bytes else load(token.start, limit)
        token.hash = mix(<uint64_t>token.n_bytes, token.key)
    else:
        token.hash = mix(h ^ <uint64_t>token.n_bytes, eight)
        token.key = token.hash
    return at


cdef class Interner:
    """Words to ids in the order of first occurrence: open addressing over one arena of bytes.

    arena    [n_bytes]      the words, one after another
    starts   [n_words + 1]  word id -> where it begins in the arena
    slots    [2^k]          hash -> word; linear probing, at most half full. A word of up to eight bytes is its own key,
                            so that most look-ups end at the slot.
    """
    cdef vector[unsigned char] arena
    cdef vector[int64_t] starts
    cdef vector[Slot] slots
    cdef uint64_t mask

    def __cinit__(self):
        self.starts.push_back(0)
        self.slots.resize(1 << 12)
        self.mask = self.slots.size() - 1

    def __len__(self) -> int:
        return self.starts.size() - 1

    cdef void fetch(self, Token* token) noexcept nogil:
        PREFETCH(&self.slots[token.hash & self.mask])

    cdef int64_t add(self, Token* token) except -2 nogil:
        """The id of a word, a new one if it has none yet; -1 if there are too many."""
        cdef uint64_t at = token.hash & self.mask
        cdef Slot* slot
        cdef Py_ssize_t n = token.n_bytes
        while True:
            slot = &self.slots[at]
            if slot.n_bytes == 0:
                break
            if slot.key == token.key and slot.n_bytes == n and (
                n <= 8 or memcmp(&self.arena[self.starts[slot.word]], token.start, n) == 0
            ):
                return slot.word
            at = (at + 1) & self.mask
        cdef size_t n_words = self.starts.size() - 1
        if n_words == 0x7FFFFFFF or n > 0x7FFFFFFF:
            return -1
        self.arena.insert(self.arena.end(), token.start, token.start + n)
        self.starts.push_back(self.arena.size())
        slot.key = token.key
        slot.n_bytes = <uint32_t>n
        slot.word = <uint32_t>n_words
        if 2 * (n_words + 1) > self.slots.size():
            self.grow()
        return n_words

    cdef int grow(self) except -1 nogil:
        """Twice the slots; the words stay where they are."""
        cdef size_t k
        cdef uint64_t at, mask
        cdef Slot slot
        cdef vector[Slot] slots
        slots.resize(2 * self.slots.size())
        mask = slots.size() - 1
        for k in range(self.slots.size()):
            slot = self.slots[k]
            if slot.n_bytes == 0:
                continue
            at = (mix(slot.n_bytes, slot.key) if slot.n_bytes <= 8 else slot.key) & mask
            while slots[at].n_bytes != 0:
                at = (at + 1) & mask
            slots[at] = slot
        slots.swap(self.slots)
        self.mask = mask
        return 0

    def words(self) -> tuple[bytes, np.ndarray]:
        """(bytes of all words, int64 [n_words + 1] where each begins)."""
        starts = np.empty(self.starts.size(), dtype=np.int64)
        cdef int64_t[::1] view = starts
        memcpy(&view[0], self.starts.data(), self.starts.size() * sizeof(int64_t))
        return self.arena.data()[:self.arena.size()], starts


cdef int add_tokens(
    Interner words, text_t at, text_t end, text_t limit, int32_t* ids, int64_t* n_tokens
) except -1 nogil:
    """The tokens of [at, end) as ids from ids[n_tokens[0]] on. The bytes up to `limit` can be read."""
    cdef Token[BATCH] tokens
    cdef int n, k
    cdef int64_t word
    while True:
        n = 0
        while n < BATCH:
            while at < end and is_blank(at[0]):
                at += 1
            if at == end:
                break
            at = cut_token(at, end, limit, &tokens[n])
            words.fetch(&tokens[n])
            n += 1
        for k in range(n):
            word = words.add(&tokens[k])
            if word < 0:
                return TOO_MANY_WORDS
            ids[n_tokens[0]] = <int32_t>word
            n_tokens[0] += 1
        if n < BATCH:
            return OK


cdef inline text_t trim_cr(text_t at, text_t end) noexcept nogil:
    return end - 1 if end > at and (end - 1)[0] == c'\r' else end


cdef bint unwrap(text_t* begin, text_t* stop, int64_t* number) noexcept nogil:
    """Takes <s snum=N> and </s> off a line [begin, stop); False if it is not wrapped so."""
    cdef text_t at = begin[0]
    cdef text_t end = stop[0]
    cdef text_t digits
    while at < end and is_blank(at[0]):
        at += 1
    while end > at and is_blank((end - 1)[0]):
        end -= 1
    if end - at < 13 or memcmp(at, b"<s", 2) != 0 or not is_blank(at[2]) or memcmp(end - 4, b"</s>", 4) != 0:
        return False
    at += 2
    end -= 4
    while at < end and is_blank(at[0]):
        at += 1
    if end - at < 6 or memcmp(at, b"snum=", 5) != 0:
        return False
    at += 5
    digits = at
    number[0] = 0
    while at < end and c'0' <= at[0] <= c'9' and at - digits < 18:
        number[0] = 10 * number[0] + (at[0] - c'0')
        at += 1
    if at == digits or at == end or at[0] != c'>':
        return False
    at += 1
    if at < end and not (is_blank(at[0]) and is_blank((end - 1)[0])):
        return False
    begin[0] = at
    stop[0] = end
    return True


def is_wrapped(const unsigned char[::1] line not None) -> bool:
    """Whether a line, without its newline, is Hansards text: <s snum=N> ... </s>."""
    if line.shape[0] == 0:
        return False
    cdef text_t at = &line[0]
    cdef text_t end = trim_cr(at, at + line.shape[0])
    cdef int64_t number
    return unwrap(&at, &end, &number)


def end_of_line(const unsigned char[::1] text not None, Py_ssize_t start, Py_ssize_t n) -> int:
    """Where the n-th line from `start` ends: one past its newline. There must be so many."""
    cdef text_t at = &text[0] + start
    cdef text_t end = &text[0] + text.shape[0]
    for _ in range(n):
        at = <text_t>memchr(at, c'\n', end - at)
        if at == NULL:
            raise ValueError(f"fewer than {n} lines")
        at += 1
    return at - &text[0]


cdef check_text(const unsigned char[::1] text, int32_t[::1] ids):
    """Whole lines only, and room for as many tokens as there can be."""
    if text[text.shape[0] - 1] != c'\n':
        raise ValueError("the text does not end in a newline")
    if ids.shape[0] < text.shape[0] // 2:
        raise ValueError("no room for the tokens")


def index_lines(
    const unsigned char[::1] text not None,  # IN
    Interner words not None,                 # IN and OUT
    int32_t[::1] ids not None,               # OUT, at least n_bytes / 2
    int64_t[::1] lengths not None,           # OUT, [n_lines]
    int64_t[::1] numbers,                    # OUT, [n_lines] N of <s snum=N>; None: lines are not wrapped
) -> tuple[int, int, int]:
    """The tokens of whole lines: (status, line it concerns, number of tokens)."""
    if text.shape[0] == 0:
        return OK, 0, 0
    check_text(text, ids)
    cdef text_t at = &text[0]
    cdef text_t end = at + text.shape[0]
    cdef text_t start
    cdef text_t stop
    cdef int64_t n_tokens = 0
    cdef int64_t before
    cdef Py_ssize_t n = 0
    cdef bint wrapped = numbers is not None
    cdef Py_ssize_t room = min(lengths.shape[0], numbers.shape[0]) if wrapped else lengths.shape[0]
    cdef int status = OK
    with nogil:
        while at < end:
            stop = <text_t>memchr(at, c'\n', end - at)
            start = at
            at = stop + 1
            stop = trim_cr(start, stop)
            before = n_tokens
            if n == room:
                status = NO_ROOM
            elif wrapped and not unwrap(&start, &stop, &numbers[n]):
                status = NOT_WRAPPED
            else:
                status = add_tokens(words, start, stop, end, &ids[0], &n_tokens)
            if status != OK:
                break
            lengths[n] = n_tokens - before
            n += 1
    return status, n, n_tokens


def index_pairs(
    const unsigned char[::1] text not None,  # IN
    bint tab,                                # IN, the separator is a tab; else the token |||
    bint first,                              # IN, lines are split at the first separator; else a line has one at most
    Interner src not None,                   # IN and OUT
    Interner tgt not None,                   # IN and OUT
    int32_t[::1] src_ids not None,           # OUT, at least n_bytes / 2
    int32_t[::1] tgt_ids not None,           # OUT, likewise
    int64_t[::1] src_lengths not None,       # OUT, [n_lines]
    int64_t[::1] tgt_lengths not None,       # OUT, [n_lines]
) -> tuple[int, int, int, int]:
    """The tokens of `src ||| tgt` or `src<TAB>tgt` lines: (status, line, source tokens, target tokens).

    A blank line is a pair of two empty sides. first: what stands after the first separator is target text.
    """
    if text.shape[0] == 0:
        return OK, 0, 0, 0
    check_text(text, src_ids)
    check_text(text, tgt_ids)
    cdef text_t at = &text[0]
    cdef text_t end = at + text.shape[0]
    cdef text_t start
    cdef text_t stop
    cdef text_t bar
    cdef Py_ssize_t width = 1 if tab else 3
    cdef int64_t n_src = 0, n_tgt = 0, src_before, tgt_before
    cdef Py_ssize_t n = 0
    cdef int status = OK
    with nogil:
        while at < end:
            stop = <text_t>memchr(at, c'\n', end - at)
            start = at
            at = stop + 1
            stop = trim_cr(start, stop)
            src_before = n_src
            tgt_before = n_tgt
            bar = find_separator(start, stop, tab)
            if n == src_lengths.shape[0] or n == tgt_lengths.shape[0]:
                status = NO_ROOM
            elif bar == NULL:
                while start < stop and is_blank(start[0]):
                    start += 1
                status = OK if start == stop else NO_SEPARATOR
            else:
                if not first and find_separator(bar + width, stop, tab) != NULL:
                    status = TWO_SEPARATORS
                else:
                    status = add_tokens(src, start, bar, end, &src_ids[0], &n_src)
                    if status == OK:
                        status = add_tokens(tgt, bar + width, stop, end, &tgt_ids[0], &n_tgt)
            if status != OK:
                break
            src_lengths[n] = n_src - src_before
            tgt_lengths[n] = n_tgt - tgt_before
            n += 1
    return status, n, n_src, n_tgt


cdef text_t find_separator(text_t at, text_t end, bint tab) noexcept nogil:
    """The first tab, or the first token that is exactly |||, of [at, end); NULL if there is none."""
    cdef text_t begin = at
    while at < end:
        at = <text_t>memchr(at, c'\t' if tab else c'|', end - at)
        if at == NULL or tab:
            return at
        if (
            end - at >= 3 and at[1] == c'|' and at[2] == c'|'
            and (at == begin or is_blank((at - 1)[0]))
            and (at + 3 == end or is_blank(at[3]))
        ):
            return at
        at += 1
    return NULL


def find_words(
    const unsigned char[::1] text not None,  # IN, words, one after another
    const int64_t[::1] offsets not None,     # IN, [n_words + 1] where they begin
    list sought not None,                    # IN, of bytes
):
    """[n_sought] the number of each word sought, -1 if it is not there. Costs little where few are sought."""
    cdef unordered_map[string, int32_t] numbers
    cdef string word
    cdef const char* start = <const char*>&text[0] if text.shape[0] else NULL
    cdef Py_ssize_t k
    check_offsets("offsets", offsets, offsets.shape[0] - 1, text.shape[0])
    for k in range(len(sought)):
        numbers[sought[k]] = -1
    cdef unordered_map[string, int32_t].iterator found
    with nogil:
        for k in range(offsets.shape[0] - 1):
            word.assign(start + offsets[k], offsets[k + 1] - offsets[k])
            found = numbers.find(word)
            if found != numbers.end():
                dereference(found).second = <int32_t>k
    return np.array([numbers[word] for word in sought], dtype=np.int32)


cdef inline uint64_t stirred(uint64_t h) noexcept nogil:
    """Every bit of h makes every bit of the result (the finisher of splitmix64)."""
    h = (h ^ (h >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    h = (h ^ (h >> 27)) * <uint64_t>0x94D049BB133111EB
    return h ^ (h >> 31)


def relabel(
    const int32_t[::1] new not None,  # IN, [n_words] word -> its id; any number
    const int32_t[::1] ids not None,  # IN, [n] tokens
    int32_t[::1] out not None,        # OUT, [n] new[ids]; may be ids
    int n_threads=1,
):
    """The tokens of a side with other ids."""
    cdef Py_ssize_t k, n = ids.shape[0]
    check_threads(n_threads)
    check_ids("words", ids, 0, n, 0, new.shape[0])
    if out.shape[0] != n:
        raise ValueError(f"there is room for {out.shape[0]} of {n} tokens")
    for k in prange(n, schedule="static", num_threads=n_threads, nogil=True):
        out[k] = new[ids[k]]


def hash_sentences(
    const unsigned char[::1] text not None,  # IN, words, one after another
    const int64_t[::1] words not None,       # IN, [n_words + 1] where they begin
    const int32_t[::1] ids not None,         # IN, [n_tokens] token -> word
    const int64_t[::1] offsets not None,     # IN, [S + 1]
    int n_threads=1,
):
    """[S] 64-bit checksums of sentences, from their words' bytes (FNV-1a) in their order."""
    cdef Py_ssize_t V = words.shape[0] - 1, S = offsets.shape[0] - 1, n, k
    cdef uint64_t h
    check_threads(n_threads)
    check_offsets("offsets of words", words, V, text.shape[0])
    check_offsets("offsets", offsets, S, ids.shape[0])
    check_ids("words", ids, 0, ids.shape[0], 0, V)
    cdef uint64_t[::1] word = np.empty(V, dtype=np.uint64)
    sentences = np.empty(S, dtype=np.uint64)
    cdef uint64_t[::1] sentence = sentences
    with nogil:
        for n in range(V):
            h = <uint64_t>0xCBF29CE484222325
            for k in range(words[n], words[n + 1]):
                h = (h ^ text[k]) * <uint64_t>0x100000001B3
            word[n] = h
        for n in prange(S, schedule="static", num_threads=n_threads):
            sentence[n] = of_sentence(&ids[0] if ids.shape[0] else NULL, offsets[n], offsets[n + 1], &word[0] if V else NULL)
    return sentences


cdef uint64_t of_sentence(const int32_t* ids, int64_t begin, int64_t end, const uint64_t* word) noexcept nogil:
    """The checksum of the words ids[begin:end]. word: checksum of each word"""
    cdef uint64_t h = 0
    cdef int64_t k
    for k in range(begin, end):
        h = stirred(h + word[ids[k]])
    return h
