"""A phrase table of sorted lines of phrase pairs, in two steps, as Moses' `score` and `consolidate` make it.

Given lines `tgt ||| src ||| j-i ...`, sorted by their bytes, so that lines of one target phrase stand together, and among them
those of one source phrase. Scorer makes one line of each phrase pair: `src ||| tgt ||| n n_tgt weight weight ||| i-j ...`.
Given these, sorted, Consolidator writes the lines of the table: it knows how often the source phrase occurs.

Lexical weight of target words f given source words e, of the links A that the phrase pair has most often:

    lex(f | e) = prod_j  mean over (i, j) in A of w(f_j | e_i),  w(f_j | NULL) for a word without a link

Of links that a phrase pair has equally often, the larger ones count: as lists, for each generated word, of the words that it is
linked with. So the two directions can see different links. Numbers are float where Moses has float.

words     phrases are words between single blanks
starts    [V + 2]  lines of the lexicon of source word e are those from starts[e + 1] to starts[e + 2]; e = -1 is NULL
f         [P]      their target words, rising; -1 is NULL
p         [P, 2]   w(f | e), w(e | f)
"""

from cpython.mem cimport PyMem_Free
from cython.operator cimport dereference
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr, strlen
from libcpp.algorithm cimport lower_bound, sort
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from checks cimport check_offsets
from digits cimport put_number

cdef extern from "Python.h":
    char* PyOS_double_to_string(double x, char code, int precision, int flags, int* kind) except NULL

ctypedef const char* text_t
ctypedef pair[int32_t, int32_t] link_t  # the generated word first

cdef enum:
    UNKNOWN = -2  # no word of the lexicon
    DIGITS = 6    # that numbers have
    EXACT = 1000000  # counts below have no more digits


cdef struct Span:
    text_t at
    text_t end


cdef Span field(Span* line) except *:
    """Takes what stands before the next ` |||` off a line, and the blank after it."""
    cdef Span found
    cdef text_t at = line.at
    while True:
        at = <text_t>memchr(at, c'|', line.end - at)
        if at == NULL or line.end - at < 3:
            raise ValueError("a line of a phrase pair has too few fields")
        if at > line.at and at[-1] == c' ' and at[1] == c'|' and at[2] == c'|' and (at + 3 == line.end or at[3] == c' '):
            break
        at += 1
    found.at = line.at
    found.end = at - 1
    line.at = at + 3 if at + 3 == line.end else at + 4
    return found


cdef int64_t number(Span* text, char after) except -1:
    """Takes a whole number and the character after it off a text."""
    cdef int64_t value = 0
    if text.at == text.end or not c'0' <= text.at[0] <= c'9':
        raise ValueError("a number was expected")
    while text.at < text.end and c'0' <= text.at[0] <= c'9' and value < 1 << 53:
        value = 10 * value + (text.at[0] - c'0')
        text.at += 1
    if text.at < text.end:
        if text.at[0] != after:
            raise ValueError("a number goes on strangely")
        text.at += 1
    return value


cdef bint equal(const string& a, Span b) noexcept nogil:
    return a.size() == <size_t>(b.end - b.at) and a.compare(0, a.size(), b.at, b.end - b.at) == 0


cdef int put(string* out, double x) except -1:
    """A number, not below 0, as C++ streams write it."""
    if x < EXACT and x == <int64_t>x:
        put_number(out, <int64_t>x)
        return 0
    cdef char* text = PyOS_double_to_string(x, c'g', DIGITS, 0, NULL)
    out.append(text, strlen(text))
    PyMem_Free(text)
    return 0


cdef float shown(int64_t count) except? -1:
    """A count as a reader of its DIGITS digits sees it."""
    if count < EXACT:
        return <float>count
    return <float>float(f"{count:.{DIGITS}g}")


cdef cppclass Links:
    # Links that a phrase pair has, and how often.
    string text             # j-i ..., as they stand
    vector[link_t] links    # (j, i), rising, each once; made when they are needed
    int64_t n


cdef int parse(Links* links) except -1:
    """Makes `links` of `text`."""
    cdef Span rest
    cdef link_t link
    cdef vector[link_t] found
    rest.at = links.text.data()
    rest.end = rest.at + links.text.size()
    while rest.at < rest.end:
        link.first = <int32_t>number(&rest, c'-')
        link.second = <int32_t>number(&rest, c' ')
        found.push_back(link)
    sort(found.begin(), found.end())
    links.links.clear()
    for link in found:
        if links.links.empty() or links.links.back() != link:
            links.links.push_back(link)
    return 0


cdef vector[link_t] turned(vector[link_t]& links) except *:
    """The same links with the other word first, rising."""
    cdef vector[link_t] found
    cdef link_t link
    for link in links:
        found.push_back(link_t(link.second, link.first))
    sort(found.begin(), found.end())
    return found


cdef vector[vector[int32_t]] lists(vector[link_t]& links, size_t n_words) except *:
    """[n_words] the words that each of the generated words is linked with."""
    cdef vector[vector[int32_t]] found
    cdef link_t link
    found.resize(n_words)
    for link in links:
        if <size_t>link.first >= n_words:
            raise ValueError("a link leaves its phrase")
        found[link.first].push_back(link.second)
    return found


cdef class Scorer:
    """One line of each phrase pair: how often it and its target phrase occur, its lexical weights, and its links."""

    cdef unordered_map[string, int32_t] src_ids, tgt_ids
    cdef vector[int64_t] starts
    cdef vector[int32_t] f
    cdef vector[double] p
    cdef string tgt             # the target phrase of the lines that came last
    cdef vector[string] srcs    # its source phrases
    cdef vector[int64_t] first  # [n_srcs] the first Links of each
    cdef vector[Links] found    # of all source phrases
    cdef int64_t n_tgt

    def __init__(
        self,
        list src_words not None,                # IN, (word, its id) of the words of the lexicon
        list tgt_words not None,                # IN
        const int64_t[::1] starts not None,     # IN
        const int32_t[::1] f not None,          # IN
        const double[:, ::1] p not None,        # IN
    ):
        cdef Py_ssize_t k
        check_offsets("starts", starts, starts.shape[0] - 1, f.shape[0])
        if p.shape[0] != f.shape[0] or p.shape[1] != 2:
            raise ValueError("f and p do not fit together")
        for k in range(starts.shape[0]):
            self.starts.push_back(starts[k])
        for k in range(f.shape[0]):
            self.f.push_back(f[k])
            self.p.push_back(p[k, 0])
            self.p.push_back(p[k, 1])
        for word, id in src_words:
            self.src_ids[<string>word] = id
        for word, id in tgt_words:
            self.tgt_ids[<string>word] = id
        self.n_tgt = 0

    def add(self, const unsigned char[::1] text not None) -> bytes:
        """Reads sorted lines. Returns the lines of target phrases that are complete."""
        cdef string out
        cdef Span line, tgt, src
        cdef text_t end
        cdef Links links
        if text.shape[0] == 0:
            return b""
        if text[text.shape[0] - 1] != c'\n':
            raise ValueError("the text does not end in a newline")
        line.at = <text_t>&text[0]
        end = line.at + text.shape[0]
        while line.at < end:
            line.end = <text_t>memchr(line.at, c'\n', end - line.at)
            tgt = field(&line)
            src = field(&line)
            if self.srcs.empty() or not equal(self.tgt, tgt):
                self.flush(&out)
                self.tgt.assign(tgt.at, tgt.end - tgt.at)
            if self.srcs.empty() or not equal(self.srcs.back(), src):
                self.srcs.push_back(string(src.at, src.end - src.at))
                self.first.push_back(self.found.size())
            if <int64_t>self.found.size() == self.first.back() or not equal(self.found.back().text, line):
                links.text.assign(line.at, line.end - line.at)
                links.n = 0
                self.found.push_back(links)
            self.found[self.found.size() - 1].n += 1
            self.n_tgt += 1
            line.at = line.end + 1
        return <bytes>out

    def end(self) -> bytes:
        """The lines of the last target phrase."""
        cdef string out
        self.flush(&out)
        return <bytes>out

    cdef int flush(self, string* out) except -1:
        cdef size_t k
        cdef int64_t n, a, b, c
        cdef vector[int32_t] e, f
        cdef vector[link_t] links
        self.first.push_back(self.found.size())
        f = ids(self.tgt_ids, self.tgt)
        for k in range(self.srcs.size()):
            e = ids(self.src_ids, self.srcs[k])
            n = 0
            a, b = self.first[k], self.first[k + 1]
            for c in range(a, b):
                n += self.found[c].n
                parse(&self.found[c])
            out.append(self.srcs[k])
            out.append(b" ||| ", 5)
            out.append(self.tgt)
            out.append(b" ||| ", 5)
            put_number(out, n)
            out.push_back(c' ')
            put_number(out, self.n_tgt)
            out.push_back(c' ')
            links = self.best(a, b, e.size(), True)
            put(out, self.weight(e, f, links, True))
            out.push_back(c' ')
            links = self.best(a, b, f.size(), False)
            put(out, self.weight(f, e, links, False))
            out.append(b" |||", 4)
            for link in links:
                out.push_back(c' ')
                put_number(out, link.second)
                out.push_back(c'-')
                put_number(out, link.first)
            out.push_back(c'\n')
        self.srcs.clear()
        self.first.clear()
        self.found.clear()
        self.n_tgt = 0
        return 0

    cdef vector[link_t] best(self, int64_t a, int64_t b, size_t n_words, bint reverse) except *:
        """The most frequent of the links from a to b. reverse: the generated words are source words"""
        cdef vector[link_t] links, chosen
        cdef vector[vector[int32_t]] these, those
        cdef int64_t k, m, n, most = 0
        if b == a + 1:
            return turned(self.found[a].links) if reverse else self.found[a].links
        for k in range(a, b):
            n = 0
            for m in range(a, b):  # the same links may stand in another order
                if self.found[m].links == self.found[k].links:
                    n += self.found[m].n
            if n < most:
                continue
            links = turned(self.found[k].links) if reverse else self.found[k].links
            these = lists(links, n_words)
            if n > most or those < these:
                most = n
                chosen, those = links, these
        return chosen

    cdef double weight(
        self, const vector[int32_t]& words, const vector[int32_t]& given, const vector[link_t]& links, bint reverse
    ) except -1:
        """The lexical weight of words, given others. reverse: the words are source words"""
        cdef double product = 1, total
        cdef size_t k = 0, j, n
        cdef int32_t other
        for j in range(words.size()):
            total = 0
            n = 0
            while k < links.size() and <size_t>links[k].first == j:
                if <size_t>links[k].second >= given.size():
                    raise ValueError("a link leaves its phrase")
                other = given[links[k].second]
                total += self.look_up(words[j], other, 1) if reverse else self.look_up(other, words[j], 0)
                n += 1
                k += 1
            if n == 0:
                product *= self.look_up(words[j], -1, 1) if reverse else self.look_up(-1, words[j], 0)
            else:
                product *= total / n
        if k < links.size():
            raise ValueError("a link leaves its phrase")
        return <float>product

    cdef double look_up(self, int32_t e, int32_t f, int column) noexcept:
        """w(f | e), column 0, or w(e | f), column 1; 1 for words that are never linked."""
        cdef vector[int32_t].iterator begin, end, at
        if e < -1 or <size_t>(e + 2) >= self.starts.size():
            return 1
        begin, end = self.f.begin() + self.starts[e + 1], self.f.begin() + self.starts[e + 2]
        at = lower_bound(begin, end, f)
        if at == end or self.f[at - self.f.begin()] != f:
            return 1
        return self.p[2 * (at - self.f.begin()) + column]


cdef vector[int32_t] ids(unordered_map[string, int32_t]& known, const string& phrase) except *:
    """The ids of the words of a phrase."""
    cdef vector[int32_t] found
    cdef size_t at = 0, end
    cdef string word
    cdef unordered_map[string, int32_t].iterator at_word
    while at < phrase.size():
        end = phrase.find(c' ', at)
        if end > phrase.size():
            end = phrase.size()
        word.assign(phrase, at, end - at)
        at_word = known.find(word)
        found.push_back(UNKNOWN if at_word == known.end() else dereference(at_word).second)
        at = end + 1
    return found


cdef class Consolidator:
    """The lines of the table, from those of Scorer, sorted."""

    cdef string src, lines  # the source phrase of the lines that came last; these lines
    cdef int64_t n_src

    def __cinit__(self):
        self.n_src = 0

    def add(self, const unsigned char[::1] text not None) -> bytes:
        """Reads sorted lines. Returns the lines of source phrases that are complete."""
        cdef string out
        cdef Span line, src
        cdef text_t begin, end
        if text.shape[0] == 0:
            return b""
        if text[text.shape[0] - 1] != c'\n':
            raise ValueError("the text does not end in a newline")
        begin = <text_t>&text[0]
        end = begin + text.shape[0]
        while begin < end:
            line.at = begin
            line.end = <text_t>memchr(begin, c'\n', end - begin)
            src = field(&line)
            if not equal(self.src, src):
                self.flush(&out)
                self.src.assign(src.at, src.end - src.at)
            field(&line)
            self.n_src += number(&line, c' ')
            self.lines.append(begin, line.end + 1 - begin)
            begin = line.end + 1
        return <bytes>out

    def end(self) -> bytes:
        """The lines of the last source phrase."""
        cdef string out
        self.flush(&out)
        return <bytes>out

    cdef int flush(self, string* out) except -1:
        """`src ||| tgt ||| p(src | tgt) lex(src | tgt) p(tgt | src) lex(tgt | src) ||| i-j ... ||| n_tgt n_src n ||| |||`"""
        cdef Span line, scores
        cdef text_t begin = self.lines.data(), end = begin + self.lines.size(), after
        cdef float n, n_tgt, n_src = shown(self.n_src)
        while begin < end:
            line.at = begin
            line.end = <text_t>memchr(begin, c'\n', end - begin)
            field(&line)
            field(&line)
            out.append(begin, line.at - begin)
            scores = field(&line)
            n = shown(number(&scores, c' '))
            n_tgt = shown(number(&scores, c' '))
            after = <text_t>memchr(scores.at, c' ', scores.end - scores.at)
            if after == NULL:
                raise ValueError("a line of a phrase pair lacks a weight")
            put(out, n / n_tgt)
            out.push_back(c' ')
            out.append(scores.at, after - scores.at)
            out.push_back(c' ')
            put(out, n / n_src)
            out.append(after, scores.end - after)
            out.append(b" ||| ", 5)
            out.append(line.at, line.end - line.at)
            out.append(b" ||| ", 5)
            put(out, n_tgt)
            out.push_back(c' ')
            put(out, n_src)
            out.push_back(c' ')
            put(out, n)
            out.append(b" ||| |||\n", 9)
            begin = line.end + 1
        self.lines.clear()
        self.n_src = 0
        return 0
