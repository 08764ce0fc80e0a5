"""Chooses links so that no word has too many of them: of all such sets the one of the largest total, exactly.

    maximise   the sum of gains over the chosen links - the sum of penalties over words
    such that  every source word has at most `most[0]` chosen links, every target word `most[1]`

    penalty of a source word with d links = cost[0][0] + ... + cost[0][d - 1], of a target word alike with cost[1]

Costs are rising numbers, the first is 0. `match` has D costs of 0 and gains of score - threshold: for D = 1 it is the
matching of the largest weight (Taskar et al. 2005, eq. 1). `flow` has gains and penalties of any size (Lacoste-Julien et
al. 2006, eq. 2). A link of two words that have no more candidates each than they may have links at no cost is chosen at
once. The other candidates are a min-cost flow, in which a link carries one unit at most:

    outside -> source word -> target word -> outside        a link costs -gain, the d-th unit of a word cost[d - 1]

Source words come one after another, each with unit after unit. A unit takes the cheapest path from its word to outside, if
the path and the word's next unit cost less than 0 together: along a link that is not chosen at cost -gain, back along a
chosen link at cost +gain, until a target word that may have one more link, at the cost of its next unit, or a source word
that gives up one of its links, and is paid the cost of its last unit, lets it out. The flow was the best one before the
unit came. So a cycle of negative cost, which a better flow would have, can only go through the new unit, and the cheapest
path leaves none (successive shortest paths; Ahuja, Magnanti & Orlin 1993, section 9.7).

Dijkstra's algorithm finds the path over reduced costs, which are never below 0 (Johnson's potentials):

    reduced cost of u -> v = cost + price[u] - price[v],  price[outside] = 0

Prices cancel along a path from s, so that a path to outside costs far - price[s], where far is its reduced length. After
the search, price[v] += far[v] - far[outside] for each word that is nearer than outside: the reduced costs along the path
become 0, as they must for its way back, and no other falls below 0. The way out of a word becomes no cheaper when its
number of units changes, because costs rise; and a source word that has sent a unit has a price above the unit's cost.

Gains and costs are integers, so that sums are exact, and equal totals are equal. Those of `match` are in units of 2^-40,
of scores that are rounded to six decimals as files have them. The unit of `flow` is 2^-40 of the power of two that is
above the largest gain of the sentence pair. A unit at a cost above this gain never pays, so that larger costs count as
one unit more than it. Of several best sets the same one is chosen every time: a unit changes what is chosen for a larger
total only, and takes the first of equally near words.

A search costs at most the links of the words that it reaches, and the square of their number. The room that a thread needs
is 32 bytes a link and 36 bytes a word of the sentence pair with most, and 8 bytes a cost.
"""

from cython.parallel cimport prange, threadid
from libc.float cimport DBL_MAX
from libc.math cimport frexp, isfinite, ldexp, rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport lower_bound, sort

import numpy as np

from checks cimport check_offsets, check_threads

cdef enum:
    UNSEEN = 0   # states of a word in a search
    OPEN = 1     # reached, perhaps not by the shortest path
    SETTLED = 2  # reached by the shortest path
    MOST_LINKS = 1 << 30  # of a sentence pair: links and words are int32

cdef int BITS = 40  # of a gain of 1 in `match`, of the largest gain of a sentence pair in `flow`


cdef struct Network:
    # One sentence pair: E candidates, R source words and C target words that have some. Word r in [0, R) is a source word,
    # word R + c a target word. Candidates are by source, then target.
    int64_t R
    int64_t C
    int64_t most[2]    # [2]  how many links a source word, a target word may have
    int64_t free[2]    # [2]  how many of them cost nothing
    int64_t* cost[2]   # [2][most]  what the d-th link of a source word, of a target word costs: cost[side][d - 1]
    uint8_t* chosen    # [E]  whether the link is chosen by now
    int64_t* gain      # [E]
    int32_t* row       # [E]  link -> r
    int32_t* column    # [E]  link -> c
    int32_t* position  # [C]  c -> its place in the sentence, rising
    int32_t* links     # [R + 1]  r -> its first link
    int32_t* places    # [C + 1]  c -> its first place in `flowing`
    int32_t* flowing   # [E]  the links that carry a unit to c, from places[c] on: units[R + c] of them
    int32_t* units     # [R + C]  word -> how many units go through it
    int64_t* price     # [R + C]
    int64_t* far       # [R + C]  reduced length of the shortest path to the word that is known by now
    int32_t* by        # [R + C]  the last link of this path
    int32_t* state     # [R + C]  UNSEEN, OPEN or SETTLED; UNSEEN between searches
    int32_t* opened    # [n_opened]  the words that are OPEN
    int64_t n_opened
    int64_t outside    # reduced length of the shortest path to outside that is known by now
    int64_t last       # the last word on this path; -1: there is no path that costs less than 0
    int32_t* settled   # [R + C]  the words that are SETTLED


def match(
    const int64_t[::1] offsets not None,  # IN, [S + 1]
    const int32_t[::1] src not None,      # IN, [n_links] candidates, by source, then target
    const int32_t[::1] tgt not None,      # IN, [n_links]
    const double[::1] scores not None,    # IN, [n_links] from 0 to 1, all above the threshold
    double threshold,                     # IN
    int64_t D,                            # IN
    int n_threads,
):
    """[n_links] 1 for a link that is chosen, else 0: no word has more than D."""
    check_threads(n_threads)
    if D < 1:
        raise ValueError(f"a word must be allowed at least 1 link, not {D}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"the threshold must be between 0 and 1, not {threshold}")
    E, words = check_links(offsets, src, tgt, scores, threshold, 1)
    gains = np.rint(np.multiply(scores, 1e6)) / 1e6 - threshold
    nothing = np.zeros(min(D, max(E, 1)) - 1)
    return choose_all(offsets, src, tgt, gains, nothing, nothing, False, E, words, n_threads)


def flow(
    const int64_t[::1] offsets not None,        # IN, [S + 1]
    const int32_t[::1] src not None,            # IN, [n_links] candidates, by source, then target
    const int32_t[::1] tgt not None,            # IN, [n_links]
    const double[::1] gains not None,           # IN, [n_links] all above 0
    const double[::1] src_penalties not None,   # IN, [D - 1] of the second, third, ... D-th link of a source word, rising
    const double[::1] tgt_penalties not None,   # IN, [D - 1] of a target word; this D may be another one
    int n_threads,
):
    """[n_links] 1 for a link that is chosen, else 0: the largest total of gains - penalties."""
    check_threads(n_threads)
    check_penalties(src_penalties)
    check_penalties(tgt_penalties)
    E, words = check_links(offsets, src, tgt, gains, 0, DBL_MAX)
    return choose_all(offsets, src, tgt, gains, src_penalties, tgt_penalties, True, E, words, n_threads)


cdef choose_all(
    const int64_t[::1] offsets, const int32_t[::1] src, const int32_t[::1] tgt, const double[::1] gains,
    const double[::1] src_penalties, const double[::1] tgt_penalties,
    bint scaled,    # whether the unit of gains is that of the sentence pair
    int64_t E,      # most links of a sentence pair
    int64_t words,  # most words with links
    int n_threads,
):
    """[n_links] 1 for a link that is chosen, else 0."""
    cdef Py_ssize_t S = offsets.shape[0] - 1, n
    cdef int64_t begin, end, room
    cdef int t
    found = np.zeros(src.shape[0], dtype=np.uint8)
    if E == 0:
        return found
    n_threads = <int>min(n_threads, S)
    room = E + 2 * words + src_penalties.shape[0] + tgt_penalties.shape[0] + 2
    cdef uint8_t[::1] chosen = found
    cdef int64_t[:, ::1] longs = np.empty((n_threads, room), np.int64)
    cdef int32_t[:, ::1] ints = np.empty((n_threads, 6 * (E + 1) + 5 * words), np.int32)
    for n in prange(S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        begin = offsets[n]
        end = offsets[n + 1]
        if begin < end:
            t = threadid()
            choose(
                laid_out(&longs[t, 0], &ints[t, 0], E, words, src_penalties.shape[0], &chosen[begin]),
                end - begin, &src[begin], &tgt[begin], &gains[begin], src_penalties, tgt_penalties, scaled,
            )
    return found


cdef int check_penalties(const double[::1] penalties) except -1:
    """Refuses penalties that are below 0 or fall: the flow would take a later unit before an earlier one."""
    cdef double last = 0
    for d in range(penalties.shape[0]):
        if not (isfinite(penalties[d]) and penalties[d] >= last):
            raise ValueError(f"penalties must be 0 or more, and must not fall, not {list(penalties)}")
        last = penalties[d]
    return 0


cdef tuple check_links(
    const int64_t[::1] offsets, const int32_t[::1] src, const int32_t[::1] tgt, const double[::1] scores,
    double above, double most
):
    """(most links, most words with links) of a sentence pair. Refuses links that are not in order, or
    have scores that are not above one bound, up to the other."""
    cdef Py_ssize_t S = offsets.shape[0] - 1, n
    cdef int64_t k, rows, last, most_links = 0, most_words = 0
    check_offsets("offsets", offsets, S, src.shape[0])
    if src.shape[0] != tgt.shape[0] or src.shape[0] != scores.shape[0]:
        raise ValueError("positions and scores do not fit together")
    for n in range(S):
        rows = last = 0
        for k in range(offsets[n], offsets[n + 1]):
            if src[k] < 0 or tgt[k] < 0:
                raise ValueError(f"sentence pair {n} has a negative position")
            if not above < scores[k] <= most:
                raise ValueError(f"sentence pair {n} has a score of {scores[k]}, which is not from {above} to {most}")
            if k == offsets[n] or src[k] > src[k - 1]:
                rows += 1
            elif src[k] < src[k - 1] or tgt[k] <= tgt[k - 1]:
                raise ValueError(f"the links of sentence pair {n} are not by source, then target, each once")
            last = max(last, tgt[k])
        most_links = max(most_links, offsets[n + 1] - offsets[n])
        most_words = max(most_words, rows + min(last + 1, offsets[n + 1] - offsets[n]))
    if most_links > MOST_LINKS:
        raise ValueError(f"a sentence pair has {most_links} links, at most {MOST_LINKS} can be")
    return most_links, most_words


cdef inline Network laid_out(
    int64_t* longs, int32_t* ints, int64_t E, int64_t words, int64_t n_src_penalties, uint8_t* chosen
) noexcept nogil:
    """A network whose arrays lie one after another in a thread's room."""
    cdef Network net
    net.chosen = chosen
    net.gain = longs
    net.price = longs + E
    net.far = net.price + words
    net.cost[0] = net.far + words
    net.cost[1] = net.cost[0] + n_src_penalties + 1
    net.row = ints
    net.column = net.row + E + 1
    net.position = net.column + E + 1
    net.links = net.position + E + 1
    net.places = net.links + E + 1
    net.flowing = net.places + E + 1
    net.units = net.flowing + E + 1
    net.by = net.units + words
    net.state = net.by + words
    net.opened = net.state + words
    net.settled = net.opened + words
    return net


cdef void choose(
    Network net, int64_t E, const int32_t* src, const int32_t* tgt, const double* gains,
    const double[::1] src_penalties, const double[::1] tgt_penalties, bint scaled
) noexcept nogil:
    """Chooses links of one sentence pair."""
    cdef int64_t k, r, v
    cdef bint rest
    weigh(&net, E, gains, src_penalties, tgt_penalties, scaled)
    find_words(&net, E, src, tgt)
    for v in range(net.R + net.C):
        net.units[v] = 0
        net.price[v] = 0
        net.state[v] = UNSEEN
    for r in range(net.R):
        # price[r] = max over its links of gain + price[R + column]: no reduced cost is below 0
        rest = False
        for k in range(net.links[r], net.links[r + 1]):
            net.price[r] = max(net.price[r], net.gain[k] + net.price[net.R + net.column[k]])
            if n_links(&net, r) <= net.free[0] and n_candidates(&net, net.column[k]) <= net.free[1]:
                net.chosen[k] = 1
            else:
                rest = True
        while rest and net.units[r] < net.most[0] and send(&net, r):
            pass


cdef void weigh(
    Network* net, int64_t E, const double* gains,
    const double[::1] src_penalties, const double[::1] tgt_penalties, bint scaled
) noexcept nogil:
    """Makes gains and costs integers."""
    cdef int64_t k, dear = 0
    cdef int bits = BITS, exponent
    cdef double largest = 0
    if scaled:
        for k in range(E):
            largest = max(largest, gains[k])
        frexp(largest, &exponent)  # largest < 2^exponent
        bits -= exponent
    for k in range(E):  # a link that is worth choosing has a gain, however small
        net.gain[k] = <int64_t>max(1.0, rint(ldexp(gains[k], bits)))
        dear = max(dear, net.gain[k] + 1)
    weigh_side(net, 0, src_penalties, bits, dear)
    weigh_side(net, 1, tgt_penalties, bits, dear)


cdef void weigh_side(
    Network* net, int side, const double[::1] penalties, int bits, int64_t dear
) noexcept nogil:
    """Makes the costs of one side's units integers, at most `dear`; counts those that cost nothing."""
    cdef int64_t d
    net.most[side] = penalties.shape[0] + 1
    net.free[side] = 1
    net.cost[side][0] = 0
    for d in range(1, net.most[side]):
        net.cost[side][d] = <int64_t>min(<double>dear, rint(ldexp(penalties[d - 1], bits)))
        if net.cost[side][d] == 0:
            net.free[side] = d + 1


cdef inline int64_t n_links(Network* net, int64_t r) noexcept nogil:
    return net.links[r + 1] - net.links[r]


cdef inline int64_t n_candidates(Network* net, int64_t c) noexcept nogil:
    return net.places[c + 1] - net.places[c]


cdef void find_words(Network* net, int64_t E, const int32_t* src, const int32_t* tgt) noexcept nogil:
    """Numbers the words that have candidates."""
    cdef int64_t k
    net.R = net.C = 0
    for k in range(E):
        if k == 0 or src[k] != src[k - 1]:
            net.links[net.R] = <int32_t>k
            net.R += 1
        net.row[k] = <int32_t>(net.R - 1)
        net.position[k] = tgt[k]
    net.links[net.R] = <int32_t>E
    sort(net.position, net.position + E)
    for k in range(E):
        if k == 0 or net.position[k] != net.position[net.C - 1]:
            net.position[net.C] = net.position[k]
            net.places[net.C] = <int32_t>k
            net.C += 1
    net.places[net.C] = <int32_t>E
    for k in range(E):
        net.column[k] = <int32_t>(lower_bound(net.position, net.position + net.C, tgt[k]) - net.position)


cdef bint send(Network* net, int64_t start) noexcept nogil:
    """Sends a unit from a source word along the cheapest path to outside; False if it would cost 0 or more."""
    cdef int64_t R = net.R, v = start, w, k, m, n, n_settled = 0
    net.outside = net.price[start] - net.cost[0][net.units[start]]  # of a path that, with the unit, costs 0
    net.last = -1
    net.n_opened = 0
    net.far[start] = 0
    while v >= 0:
        net.state[v] = SETTLED
        net.settled[n_settled] = <int32_t>v
        n_settled += 1
        # far[w] = min over settled v of far[v] + cost + price[v] - price[w]
        if v < R:
            for k in range(net.links[v], net.links[v + 1]):
                w = R + net.column[k]
                if not net.chosen[k]:
                    reach(net, w, k, net.far[v] - net.gain[k] + net.price[v] - net.price[w])
        else:
            for m in range(net.places[v - R], net.places[v - R] + net.units[v]):
                k = net.flowing[m]
                w = net.row[k]
                reach(net, w, k, net.far[v] + net.gain[k] + net.price[v] - net.price[w])
        v = nearest(net)
    for n in range(net.n_opened):
        net.state[net.opened[n]] = UNSEEN
    for n in range(n_settled):
        v = net.settled[n]
        net.state[v] = UNSEEN
        if net.last >= 0:
            net.price[v] += net.far[v] - net.outside
    if net.last < 0:
        return False
    turn(net, start)
    return True


cdef inline void reach(Network* net, int64_t w, int64_t k, int64_t far) noexcept nogil:
    """Opens word w, or shortens the path to it, if it is nearer than outside; and the path to outside by way of w.

    A source word that a path comes back to has a link to give up, a target word may have room for one more.
    """
    cdef int64_t out
    if far >= net.outside or net.state[w] == SETTLED or net.state[w] == OPEN and far >= net.far[w]:
        return
    net.far[w] = far
    net.by[w] = <int32_t>k
    if net.state[w] == UNSEEN:
        net.state[w] = OPEN
        net.opened[net.n_opened] = <int32_t>w
        net.n_opened += 1
    if w < net.R:
        out = far + net.price[w] - net.cost[0][net.units[w] - 1]
    elif net.units[w] < net.most[1]:
        out = far + net.price[w] + net.cost[1][net.units[w]]
    else:
        return
    if out < net.outside:
        net.outside = out
        net.last = w


cdef inline int64_t nearest(Network* net) noexcept nogil:
    """Takes the nearest word from the open ones, of equally near ones the first; -1 if none is nearer than outside."""
    cdef int64_t n, v = -1, w, place = 0, far = net.outside
    for n in range(net.n_opened):
        w = net.opened[n]
        if net.far[w] < far or net.far[w] == far and w < v:
            far = net.far[w]
            place = n
            v = w
    if v >= 0:
        net.n_opened -= 1
        net.opened[place] = net.opened[net.n_opened]
    return v


cdef void turn(Network* net, int64_t start) noexcept nogil:
    """Turns every link of the path from `start` to outside: what was not chosen is chosen, what was is given up."""
    cdef int64_t v = net.last, k, m, given_up = -1
    net.units[start] += 1
    if v < net.R:
        net.units[v] -= 1
    while v != start:
        k = net.by[v]
        if v < net.R:
            net.chosen[k] = 0
            given_up = k
            v = net.R + net.column[k]
            continue
        net.chosen[k] = 1
        m = net.places[v - net.R]
        if given_up < 0:  # the path ends here: one unit more
            m += net.units[v]
            net.units[v] += 1
        else:  # one unit in place of another
            while net.flowing[m] != given_up:
                m += 1
        net.flowing[m] = <int32_t>k
        v = net.row[k]
