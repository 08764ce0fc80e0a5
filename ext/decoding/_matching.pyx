"""Chooses links so that no word has more than D of them: of all such sets the one of the largest total gain, exactly.

    maximise   the sum of score - threshold over the chosen links
    such that  every source word and every target word has at most D chosen links

D = 1 is the matching of the largest weight (Taskar et al. 2005, eq. 1). A larger D bounds fertility (Lacoste-Julien et al.
2006, eq. 2, without penalties). A link of two words that have at most D candidates each is chosen at once. The other
candidates are a min-cost flow, in which a link carries one unit at most, and a word D:

    outside -> source word -> target word -> outside        a link costs -gain, the way from and to outside nothing

Source words come one after another, each with up to D units. A unit takes the cheapest path from its word to outside, if
the path costs less than 0: along a link that is not chosen at cost -gain, back along a chosen link at cost +gain, until
a target word with fewer than D links, or a source word that gives up one of its links, lets it out. The flow was the best
one before the unit came. So a cycle of negative cost, which a better flow would have, can only go through the new unit,
and the cheapest path leaves none (successive shortest paths; Ahuja, Magnanti & Orlin 1993, section 9.7).

Dijkstra's algorithm finds the path over reduced costs, which are never below 0 (Johnson's potentials):

    reduced cost of u -> v = cost + price[u] - price[v],  price[outside] = 0

Prices cancel along a path from s, so that a path to outside costs far - price[s], where far is its reduced length. After
the search, price[v] += far[v] - far[outside] for each word that is nearer than outside: the reduced costs along the path
become 0, as they must for its way back, and no other falls below 0.

Gains are integers of 2^-40, of scores that are rounded to six decimals as files have them. So sums are exact, and equal
totals are equal. Of several best sets the same one is chosen every time: a unit changes what is chosen for a larger total
only, and takes the first of equally near words.

A search costs at most the links of the words that it reaches, and the square of their number. The room that a thread needs
is 32 bytes a link and 36 bytes a word of the sentence pair with most.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport lower_bound, sort

import numpy as np

from checks cimport check_offsets, check_threads

cdef enum:
    UNSEEN = 0   # states of a word in a search
    OPEN = 1     # reached, perhaps not by the shortest path
    SETTLED = 2  # reached by the shortest path
    MOST_LINKS = 1 << 30  # of a sentence pair: links and words are int32

cdef double ONE = 1 << 40  # a gain of 1


cdef struct Network:
    # One sentence pair: E candidates, R source words and C target words that have some. Word r in [0, R) is a source word,
    # word R + c a target word. Candidates are by source, then target.
    int64_t R
    int64_t C
    int64_t D
    uint8_t* chosen    # [E]  whether the link is chosen by now
    int64_t* gain      # [E]
    int32_t* row       # [E]  link -> r
    int32_t* column    # [E]  link -> c
    int32_t* position  # [C]  c -> its place in the sentence, rising
    int32_t* links     # [R + 1]  r -> its first link
    int32_t* places    # [C + 1]  c -> its first place in `flowing`
    int32_t* flowing   # [E]  the links that carry a unit to c, from places[c] on: `units` of them
    int32_t* units     # [C]  c -> how many units come to it
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
    """[n_links] 1 for a link that is chosen, else 0."""
    cdef Py_ssize_t S = offsets.shape[0] - 1, n
    cdef int64_t E, words, begin, end
    cdef int t
    check_threads(n_threads)
    if D < 1:
        raise ValueError(f"a word must be allowed at least 1 link, not {D}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"the threshold must be between 0 and 1, not {threshold}")
    E, words = check_links(offsets, src, tgt, scores, threshold)
    found = np.zeros(src.shape[0], dtype=np.uint8)
    if E == 0:
        return found
    n_threads = <int>min(n_threads, S)
    cdef uint8_t[::1] chosen = found
    cdef int64_t[:, ::1] longs = np.empty((n_threads, E + 2 * words), np.int64)
    cdef int32_t[:, ::1] ints = np.empty((n_threads, 6 * (E + 1) + 5 * words), np.int32)
    for n in prange(S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        begin = offsets[n]
        end = offsets[n + 1]
        if begin < end:
            t = threadid()
            choose(
                laid_out(&longs[t, 0], &ints[t, 0], E, words, D, &chosen[begin]),
                end - begin, &src[begin], &tgt[begin], &scores[begin], threshold,
            )
    return found


cdef tuple check_links(
    const int64_t[::1] offsets, const int32_t[::1] src, const int32_t[::1] tgt, const double[::1] scores, double threshold
):
    """(most links, most words with links) of a sentence pair. Refuses links that are not as `match` wants them."""
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
            if not threshold < scores[k] <= 1:
                raise ValueError(f"sentence pair {n} has a score of {scores[k]}, which is not from {threshold} to 1")
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
    int64_t* longs, int32_t* ints, int64_t E, int64_t words, int64_t D, uint8_t* chosen
) noexcept nogil:
    """A network whose arrays lie one after another in a thread's room."""
    cdef Network net
    net.D = D
    net.chosen = chosen
    net.gain = longs
    net.price = longs + E
    net.far = net.price + words
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
    Network net, int64_t E, const int32_t* src, const int32_t* tgt, const double* scores, double threshold
) noexcept nogil:
    """Chooses links of one sentence pair."""
    cdef int64_t k, r, c, d, v
    cdef bint rest
    find_words(&net, E, src, tgt)
    for k in range(E):  # a link above the threshold has a gain, however small
        net.gain[k] = <int64_t>max(1.0, rint((rint(scores[k] * 1e6) / 1e6 - threshold) * ONE))
    for c in range(net.C):
        net.units[c] = 0
    for v in range(net.R + net.C):
        net.price[v] = 0
        net.state[v] = UNSEEN
    for r in range(net.R):
        # price[r] = max over its links of gain + price[R + column]: no reduced cost is below 0
        rest = False
        for k in range(net.links[r], net.links[r + 1]):
            net.price[r] = max(net.price[r], net.gain[k] + net.price[net.R + net.column[k]])
            if n_links(&net, r) <= net.D and n_candidates(&net, net.column[k]) <= net.D:
                net.chosen[k] = 1
            else:
                rest = True
        d = 0
        while rest and d < net.D and send(&net, r):
            d += 1


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
    """Sends a unit from a source word along the cheapest path to outside; False if no path costs less than 0."""
    cdef int64_t R = net.R, v = start, w, k, m, n, n_settled = 0
    net.outside = net.price[start]  # a path that costs 0
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
            for m in range(net.places[v - R], net.places[v - R] + net.units[v - R]):
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
    if far >= net.outside or net.state[w] == SETTLED or net.state[w] == OPEN and far >= net.far[w]:
        return
    net.far[w] = far
    net.by[w] = <int32_t>k
    if net.state[w] == UNSEEN:
        net.state[w] = OPEN
        net.opened[net.n_opened] = <int32_t>w
        net.n_opened += 1
    if (w < net.R or net.units[w - net.R] < net.D) and far + net.price[w] < net.outside:
        net.outside = far + net.price[w]
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
    cdef int64_t v = net.last, k, m, c, given_up = -1
    while v != start:
        k = net.by[v]
        if v < net.R:
            net.chosen[k] = 0
            given_up = k
            v = net.R + net.column[k]
            continue
        net.chosen[k] = 1
        c = net.column[k]
        m = net.places[c]
        if given_up < 0:  # the path ends here: one unit more
            m += net.units[c]
            net.units[c] += 1
        else:  # one unit in place of another
            while net.flowing[m] != given_up:
                m += 1
        net.flowing[m] = <int32_t>k
        v = net.row[k]
