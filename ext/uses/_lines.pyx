"""Lines sorted by their bytes, as `LC_ALL=C sort` sorts them.

A line ends in "\\n". Of two lines, one of which begins with the other, the shorter one comes first.

Lines are sorted by STEP bytes at a time: these bytes and how many they are make one number, and lines of equal numbers are
sorted by the next bytes.
"""

from libc.stdint cimport uint64_t
from libcpp.algorithm cimport make_heap, pop_heap, push_heap, sort
from libcpp.string cimport string
from libcpp.vector cimport vector

ctypedef const unsigned char* text_t

cdef extern from *:
    """
    #include <cstddef>
    #include <cstdint>
    // Whether line a comes before line b.
    static inline bool line_before(const unsigned char* a, const unsigned char* b) {
        while (*a == *b && *a != '\\n') ++a, ++b;
        return *b != '\\n' && (*a == '\\n' || *a < *b);
    }
    // A line; key: its bytes from some place on, so many as a number holds.
    struct Keyed {
        uint64_t key;
        const unsigned char* at;
        bool operator<(const Keyed& other) const { return key < other.key; }
    };
    // The next line of file k. The first line is the largest head: heaps have their largest element first.
    struct Head {
        const unsigned char* at;
        size_t k;
        bool operator<(const Head& other) const { return line_before(other.at, at); }
    };
    """
    bint line_before(text_t a, text_t b) noexcept nogil
    cdef cppclass Keyed:
        uint64_t key
        text_t at
    cdef cppclass Head:
        text_t at
        size_t k

cdef enum:
    STEP = 7         # bytes that a key has besides their number
    DEEPEST = 1000   # steps, after which lines are compared whole: the stack has an end
    ENTRY = 16       # bytes of a Keyed


cdef inline uint64_t key_of(text_t at) noexcept nogil:
    """The next STEP bytes, zeros after the end of the line, and how many they are: STEP + 1 if the line goes on."""
    cdef uint64_t key = 0
    cdef int n = 0
    while n < STEP and at[n] != c'\n':
        key = key << 8 | at[n]
        n += 1
    key <<= 8 * (STEP - n)
    return key << 8 | <uint64_t>(n + (n == STEP and at[n] != c'\n'))


cdef bint whole_before(const Keyed& a, const Keyed& b) noexcept nogil:
    return line_before(a.at, b.at)


cdef void sort_from(Keyed* lines, size_t n, size_t depth) noexcept nogil:
    """Sorts n lines that are equal in their first STEP * depth bytes."""
    cdef size_t k, start = 0
    if depth == DEEPEST:
        sort(lines, lines + n, &whole_before)
        return
    for k in range(n):
        lines[k].key = key_of(lines[k].at + STEP * depth)
    sort(lines, lines + n)
    for k in range(1, n + 1):
        if k == n or lines[k].key != lines[start].key:
            if k - start > 1 and (lines[start].key & 0xFF) > STEP:
                sort_from(lines + start, k - start, depth + 1)
            start = k


cdef inline text_t end_of(text_t at) noexcept nogil:
    """The place after a line."""
    while at[0] != c'\n':
        at += 1
    return at + 1


cdef class Lines:
    """Lines in memory: first all are added, then they are sorted, then they are taken."""

    cdef vector[string] texts
    cdef vector[Keyed] lines
    cdef size_t n_bytes, n_lines, at
    cdef bint is_sorted

    def __cinit__(self):
        self.n_bytes = self.n_lines = self.at = 0
        self.is_sorted = False

    @property
    def size(self) -> int:
        """Bytes of memory that the lines need, sorted."""
        return self.n_bytes + ENTRY * self.n_lines

    def add(self, const unsigned char[::1] text not None) -> None:
        """Adds whole lines."""
        cdef Py_ssize_t k
        if self.is_sorted:
            raise ValueError("the lines are sorted already")
        if text.shape[0] == 0:
            return
        if text[text.shape[0] - 1] != c'\n':
            raise ValueError("the text does not end in a newline")
        for k in range(text.shape[0]):
            self.n_lines += text[k] == c'\n'
        self.texts.push_back(string(<const char*>&text[0], text.shape[0]))
        self.n_bytes += text.shape[0]

    def sort(self) -> None:
        cdef text_t at, end
        cdef size_t k
        cdef Keyed line
        self.is_sorted = True
        self.lines.reserve(self.n_lines)
        line.key = 0
        for k in range(self.texts.size()):
            at = <text_t>self.texts[k].data()
            end = at + self.texts[k].size()
            while at < end:
                line.at = at
                self.lines.push_back(line)
                at = end_of(at)
        if self.n_lines:
            sort_from(self.lines.data(), self.n_lines, 0)

    def take(self, size_t n_bytes) -> bytes:
        """The next lines: at least one, and not many more bytes than n_bytes; nothing at the end."""
        cdef string out
        if not self.is_sorted:
            raise ValueError("the lines are not sorted")
        while self.at < self.n_lines and out.size() < n_bytes:
            out.append(<const char*>self.lines[self.at].at, end_of(self.lines[self.at].at) - self.lines[self.at].at)
            self.at += 1
        return <bytes>out


def merge(list blocks not None, list begins not None, list ended not None) -> tuple[bytes, list[int]]:
    """Merges sorted lines of several files, until a file has no more lines in its block.

    blocks  [K] whole lines of each file, sorted
    begins  [K] where the lines that are not merged yet begin
    ended   [K] whether there are no lines after the block: it can be used up
    Returns the lines in order, and the new begins.
    """
    cdef size_t K = len(blocks), k
    cdef vector[text_t] at, end
    cdef vector[char] is_last
    cdef vector[Head] heads
    cdef Head head
    cdef string out
    cdef bint more = True
    cdef const unsigned char[::1] block
    if len(begins) != len(blocks) or len(ended) != len(blocks):
        raise ValueError("blocks, begins and ended do not fit together")
    for k in range(K):
        is_last.push_back(bool(ended[k]))
        block = blocks[k]
        if not 0 <= begins[k] <= block.shape[0] or (block.shape[0] and block[block.shape[0] - 1] != c'\n'):
            raise ValueError(f"block {k} is not whole lines")
        at.push_back(&block[0] + <Py_ssize_t>begins[k] if block.shape[0] else NULL)
        end.push_back(&block[0] + block.shape[0] if block.shape[0] else NULL)
        if at[k] != end[k]:
            head.at = at[k]
            head.k = k
            heads.push_back(head)
        else:
            more = more and is_last[k]
    with nogil:
        make_heap(heads.begin(), heads.end())
        while more and heads.size():
            pop_heap(heads.begin(), heads.end())
            k = heads.back().k
            heads.pop_back()
            head.at = end_of(at[k])
            head.k = k
            out.append(<const char*>at[k], head.at - at[k])
            at[k] = head.at
            if at[k] == end[k]:
                more = is_last[k]
            else:
                heads.push_back(head)
                push_heap(heads.begin(), heads.end())
    return <bytes>out, [len(blocks[k]) - (end[k] - at[k]) for k in range(K)]


def multiplicities(const unsigned char[::1] text not None) -> list[int]:
    """How often each line stands in a row, of whole sorted lines."""
    cdef text_t at, end, last
    cdef vector[Py_ssize_t] counts
    if text.shape[0] == 0:
        return []
    if text[text.shape[0] - 1] != c'\n':
        raise ValueError("the text does not end in a newline")
    at = last = &text[0]
    end = at + text.shape[0]
    while at < end:
        if at == last or line_before(last, at):
            counts.push_back(1)
        else:
            counts[counts.size() - 1] += 1
        last = at
        at = end_of(at)
    return counts
