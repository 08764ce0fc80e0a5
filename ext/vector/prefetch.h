/* Asks for memory that is read, or written, a little later. */
#ifndef ALIGNER_PREFETCH_H
#define ALIGNER_PREFETCH_H
#define PREFETCH(address) __builtin_prefetch(address)
#define PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#endif
