"""Whole numbers as text."""

from libc.stdint cimport int64_t
from libcpp.string cimport string


cdef inline int put_number(string* out, int64_t value) except -1 nogil:
    """Appends the digits of a number that is not below 0."""
    cdef char[20] digits
    cdef int n = 20
    while value > 0 or n == 20:
        n -= 1
        digits[n] = <char>(c'0' + value % 10)
        value //= 10
    out.append(&digits[n], 20 - n)
    return 0
