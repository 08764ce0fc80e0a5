"""Word classes by exchange: each word in turn goes to the class where the text is most likely (Kneser & Ney 1993).

A class bigram model has p(v | u) = p(class of v | class of u) p(v | class of v). Its log-likelihood is the criterion F and
sum_w n(w) log n(w), which is the same for all classes (Martin, Liermann & Ney 1998, section 2):

    F = sum_{a, b} f(N[a, b]) - 2 sum_a f(n[a]),    f(x) = x log x

V, C   number of words; number of classes
       The end of a sentence is word V, alone in class C. It stands before and after every sentence, and never moves.
N      [C + 1, C + 1]  a, b -> how often a word of class b follows a word of class a
n      [C + 1]         a -> tokens of class a. A token is a left word once and a right word once: hence the 2.
f(x)   is a whole number of 2^-20. Sums of such numbers are exact in any order: no rounding lets F fall.

A word w leaves its class. Then class b gains, by taking w in,

    sum_c f(N[c, b] + before[c]) - f(N[c, b]) + sum_c f(N[b, c] + after[c]) - f(N[b, c]) - 2 (f(n[b] + n(w)) - f(n[b]))

before [C + 1]  c -> how often a word of class c, but not w itself, stands before w;  after: stands after w
       Where c is b, the one cell N[b, b] takes before[b] + after[b] + n(w, w).

Only classes c that stand beside w matter: a word costs O(its neighbours + C times their classes), and one of its C exchanges
never more than O(C). Most of these c stand beside w once. So f(x + 1) - f(x) of all cells is kept, and such a c costs
one addition for each b.

With a temperature, a class is drawn instead: the highest gain with noise wins. Noise is a draw of the Gumbel distribution
times temperature n(w)^(3/4), so that class b has a probability that is proportional to exp(gain(b) / (temperature n(w)^(3/4))).
Gains grow with n(w): noise of one strength for all words would move rare words only. Of the powers 0, 1/2, 3/4 and 1, the third
gave the best classes.

Vectors are made by resize, which raises a MemoryError. assign would end the program.
Not here: the first classes, the order of words, temperatures, when to stop.
"""

from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from checks cimport check_ids, check_offsets

cdef enum:
    UNIT = 1 << 20        # f counts in parts of 1
    TABLE = 1 << 20       # smaller counts have their f in a table
    NOISE_UNIT = 1 << 10  # noise, and temperatures of words, count in parts of 1
    NOISE = 1 << 12       # draws, of which a word takes C that stand together
    MOST_CLASSES = 1 << 12

cdef int64_t MOST_TOKENS = <int64_t>1 << 36  # sums of f, and of noise, stay below 2^63


cdef int64_t x_log_x(int64_t x) noexcept nogil:
    return <int64_t>(<double>x * log(<double>x) * UNIT + 0.5) if x > 1 else 0


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """Bits that look random: the finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef cppclass Rows:
    """The words that stand on one side of each word.

    starts  [V + 2]  word u -> where its row begins
    words            row by row, the words beside u, each once
    counts           how often each stands there
    """
    vector[int64_t] starts
    vector[int32_t] words
    vector[int64_t] counts


cdef int fill_rows(
    Rows* rows, const int32_t[::1] ids, const int64_t[::1] offsets, int32_t V, bint backwards
) except -1 nogil:
    """The words after each word; backwards: before it."""
    cdef vector[int64_t] starts, at
    cdef vector[int32_t] words
    cdef int64_t s, k, n, S = offsets.shape[0] - 1
    cdef int32_t u, v, last
    starts.resize(V + 2, 0)
    for s in range(S):
        if offsets[s] < offsets[s + 1]:
            starts[V + 1] += 1
        for k in range(offsets[s], offsets[s + 1]):
            starts[ids[k] + 1] += 1
    for u in range(V + 1):
        starts[u + 1] += starts[u]
    at.resize(V + 2, 0)
    for u in range(V + 2):
        at[u] = starts[u]
    words.resize(starts[V + 1])
    for s in range(S):
        if offsets[s] == offsets[s + 1]:
            continue
        last = V
        for k in range(offsets[s], offsets[s + 1] + 1):
            v = ids[k] if k < offsets[s + 1] else V
            u = v if backwards else last
            words[at[u]] = last if backwards else v
            at[u] += 1
            last = v
    # Equal words of a row become one. at[v] is one more than the place of v, if v is in this row already.
    at.assign(V + 1, 0)
    rows.starts.resize(V + 2, 0)
    for u in range(V + 1):
        for k in range(starts[u], starts[u + 1]):
            v = words[k]
            if at[v] <= rows.starts[u]:
                rows.words.push_back(v)
                rows.counts.push_back(0)
                at[v] = rows.words.size()
            n = at[v] - 1
            rows.counts[n] += 1
        rows.starts[u + 1] = rows.words.size()
    return 0


cdef class Bigrams:
    """How often words of a text stand beside each other.

    V       number of words
    before  the words before each word;  after: after it
    table   [min(tokens + 2, TABLE)]  x -> f(x)
    """
    cdef readonly int32_t V
    cdef Rows before, after
    cdef vector[int64_t] table

    def __cinit__(self, const int32_t[::1] ids not None, const int64_t[::1] offsets not None, int32_t V):
        cdef int64_t S = offsets.shape[0] - 1, x, tokens
        if V < 0:
            raise ValueError(f"V must be 0 or more, not {V}")
        check_offsets("offsets", offsets, S, ids.shape[0])
        check_ids("ids", ids, offsets[0], offsets[S], 0, V)
        tokens = offsets[S] - offsets[0] + S
        if tokens > MOST_TOKENS:
            raise ValueError(f"at most {MOST_TOKENS} tokens and sentences can be counted, not {tokens}")
        self.V = V
        self.table.resize(min(tokens + 2, <int64_t>TABLE))
        with nogil:
            fill_rows(&self.before, ids, offsets, V, True)
            fill_rows(&self.after, ids, offsets, V, False)
            for x in range(<int64_t>self.table.size()):
                self.table[x] = x_log_x(x)

    cdef int check(self, const int32_t[::1] classes, int32_t C) except -1:
        """Refuses classes that are not those of all words, 0 to C - 1."""
        if not 1 <= C <= MOST_CLASSES:
            raise ValueError(f"there can be 1 to {MOST_CLASSES} classes, not {C}")
        if classes.shape[0] != self.V:
            raise ValueError(f"{classes.shape[0]} classes are given for {self.V} words")
        return check_ids("classes", classes, 0, self.V, 0, C)


cdef cppclass Cells:
    """Counts of classes, and f of them.

    n      [cells]    cell -> its count
    f      [cells]    cell -> f(n)
    step   [cells]    cell -> f(n + 1) - f(n)
    table  [n_table]  x -> f(x)
    """
    vector[int64_t] n, f, step
    const int64_t* table
    int64_t n_table


cdef int open_cells(Cells& cells, const vector[int64_t]& table, int64_t n) except -1:
    cells.n.resize(n, 0)
    cells.f.resize(n, 0)
    cells.step.resize(n, 0)
    cells.table = table.data()
    cells.n_table = table.size()
    return 0


cdef inline int64_t log_of(const Cells& cells, int64_t x) noexcept nogil:
    """f(x)."""
    return cells.table[x] if x < cells.n_table else x_log_x(x)


cdef inline void put(Cells& cells, int64_t cell, int64_t x) noexcept nogil:
    cells.n[cell] = x
    cells.f[cell] = log_of(cells, x)
    cells.step[cell] = log_of(cells, x + 1) - cells.f[cell]


cdef inline void add_gains(const Cells& cells, int64_t row, int64_t k, int64_t* gain, int32_t C) noexcept nogil:
    """gain[b] += f(n[row + b] + k) - f(n[row + b]) for all b."""
    cdef const int64_t* n = cells.n.data() + row
    cdef const int64_t* f = cells.f.data() + row
    cdef const int64_t* step = cells.step.data() + row
    cdef int32_t b
    if k == 1:
        for b in range(C):
            gain[b] += step[b]
    else:
        for b in range(C):
            gain[b] += log_of(cells, n[b] + k) - f[b]


cdef cppclass Neighbours:
    """The classes on one side of a word.

    count  [C + 1]  class -> how often it stands there; the word itself does not count
    found           the classes that stand there
    own             how often the word itself does
    """
    vector[int64_t] count
    vector[int32_t] found
    int64_t own


cdef void look(Neighbours& beside, const Rows& rows, const int32_t* classes, int32_t w) noexcept nogil:
    """What stands on one side of word w."""
    cdef int64_t k
    cdef int32_t c
    for c in beside.found:
        beside.count[c] = 0
    beside.found.clear()
    beside.own = 0
    for k in range(rows.starts[w], rows.starts[w + 1]):
        if rows.words[k] == w:
            beside.own = rows.counts[k]
            continue
        c = classes[rows.words[k]]
        if beside.count[c] == 0:
            beside.found.push_back(c)  # there is room for all classes
        beside.count[c] += rows.counts[k]


cdef cppclass State:
    """N, its transpose and n; the word that moves, with what stands beside it.

    follow   [C + 1, C + 1]  N
    precede  [C + 1, C + 1]  N transposed
    size     [C + 1]         n
    classes  [V + 1]         word -> its class
    gain     [C]             class -> what it gains by taking the word in
    tokens                   n(w) of the word w
    """
    int32_t C
    int64_t W  # C + 1
    Cells follow, precede, size
    vector[int32_t] classes
    vector[int64_t] gain
    Neighbours before, after
    int64_t tokens


cdef int open_state(State& state, Bigrams bigrams, const int32_t[::1] classes, int32_t C) except -1:
    """Counts all bigrams."""
    cdef int32_t u, a, b
    cdef int64_t k, W = C + 1
    state.C = C
    state.W = W
    open_cells(state.follow, bigrams.table, W * W)
    open_cells(state.precede, bigrams.table, W * W)
    open_cells(state.size, bigrams.table, W)
    state.gain.resize(C, 0)
    for u in range(bigrams.V):
        state.classes.push_back(classes[u])
    state.classes.push_back(C)
    state.before.count.resize(W, 0)
    state.before.found.reserve(W)
    state.after.count.resize(W, 0)
    state.after.found.reserve(W)
    for u in range(bigrams.V + 1):
        a = state.classes[u]
        for k in range(bigrams.after.starts[u], bigrams.after.starts[u + 1]):
            b = state.classes[bigrams.after.words[k]]
            state.follow.n[a * W + b] += bigrams.after.counts[k]
            state.size.n[a] += bigrams.after.counts[k]
    for a in range(<int32_t>W):
        put(state.size, a, state.size.n[a])
        for b in range(<int32_t>W):
            put(state.follow, a * W + b, state.follow.n[a * W + b])
            put(state.precede, b * W + a, state.follow.n[a * W + b])
    return 0


cdef double value(const State& state) noexcept nogil:
    """F."""
    cdef int64_t total = 0, cell
    for cell in range(state.W * state.W):
        total += state.follow.f[cell]
    for cell in range(state.W):
        total -= 2 * state.size.f[cell]
    return <double>total / UNIT


cdef inline void add(State& state, int64_t a, int64_t b, int64_t k) noexcept nogil:
    """N[a, b] += k."""
    cdef int64_t cell = a * state.W + b, mirrored = b * state.W + a
    put(state.follow, cell, state.follow.n[cell] + k)
    state.precede.n[mirrored] = state.follow.n[cell]
    state.precede.f[mirrored] = state.follow.f[cell]
    state.precede.step[mirrored] = state.follow.step[cell]


cdef void move(State& state, int32_t b, int64_t sign) noexcept nogil:
    """The word joins class b if sign is 1, and leaves class b if sign is -1."""
    cdef int32_t c
    put(state.size, b, state.size.n[b] + sign * state.tokens)
    if state.before.own:
        add(state, b, b, sign * state.before.own)
    for c in state.before.found:
        add(state, c, b, sign * state.before.count[c])
    for c in state.after.found:
        add(state, b, c, sign * state.after.count[c])


cdef void weigh(State& state) noexcept nogil:
    """The gains of all classes. The word is in none of them."""
    cdef int32_t b, c, C = state.C
    cdef int64_t x, left, right, own = state.before.own
    cdef int64_t* gain = state.gain.data()
    for b in range(C):
        gain[b] = 0
    add_gains(state.size, 0, state.tokens, gain, C)
    for b in range(C):
        gain[b] *= -2
    for c in state.before.found:
        add_gains(state.follow, c * state.W, state.before.count[c], gain, C)
    for c in state.after.found:
        add_gains(state.precede, c * state.W, state.after.count[c], gain, C)
    # The cell N[b, b] takes both sides and the word itself at once. So far it took the sides one without the other.
    for b in range(C):
        left, right = state.before.count[b], state.after.count[b]
        if left or right or own:
            x = state.follow.n[b * state.W + b]
            gain[b] += log_of(state.follow, x + left + right + own) + log_of(state.follow, x)
            gain[b] -= log_of(state.follow, x + left) + log_of(state.follow, x + right)


def criterion(Bigrams bigrams not None, const int32_t[::1] classes not None, int32_t C) -> float:
    """F of classes 0 to C - 1, [V]."""
    cdef State state
    bigrams.check(classes, C)
    open_state(state, bigrams, classes, C)
    return value(state)


def exchange(
    Bigrams bigrams not None,
    const int32_t[::1] order not None,  # IN, the words in turn
    int32_t[::1] classes not None,      # IN and OUT, [V] word -> its class, 0 to C - 1
    int32_t C,                          # IN
    double temperature,                 # IN, 0 to 100; 0: the best class is taken, and F does not fall
    uint64_t seed,                      # IN, of the noise
) -> tuple[int, float]:
    """One round: each word goes to the class that gains most. (How many words moved, F at the end)

    A word stays where it is unless another class gains more. Of equal classes the first is taken.
    """
    cdef State state
    cdef vector[int32_t] noise
    cdef uint64_t place
    cdef int64_t i, hot, most, moved = 0
    cdef int32_t w, a, b, c, best
    bigrams.check(classes, C)
    check_ids("order", order, 0, order.shape[0], 0, bigrams.V)
    if not 0 <= temperature <= 100:
        raise ValueError(f"temperature must be between 0 and 100, not {temperature}")
    if temperature > 0:
        for i in range(NOISE + C):
            place = mixed(seed + <uint64_t>(i % NOISE)) >> 12  # 52 bits: one half more is still below 2^52
            noise.push_back(<int32_t>(-log(-log((place + 0.5) / 2.0**52)) * NOISE_UNIT))
    open_state(state, bigrams, classes, C)
    with nogil:
        for i in range(order.shape[0]):
            w = order[i]
            a = state.classes[w]
            look(state.before, bigrams.before, state.classes.data(), w)
            look(state.after, bigrams.after, state.classes.data(), w)
            state.tokens = state.before.own
            for c in state.before.found:
                state.tokens += state.before.count[c]
            move(state, a, -1)
            weigh(state)
            if temperature > 0:
                hot = <int64_t>(temperature * sqrt(state.tokens * sqrt(<double>state.tokens)) * NOISE_UNIT + 0.5)
                place = mixed(seed ^ mixed(<uint64_t>w + 1)) % NOISE
                for b in range(C):
                    state.gain[b] += hot * noise[place + b]
            best = a
            most = state.gain[a]
            for b in range(C):
                if state.gain[b] > most:
                    best = b
                    most = state.gain[b]
            move(state, best, 1)
            state.classes[w] = best
            classes[w] = best
            moved += best != a
    return moved, value(state)
