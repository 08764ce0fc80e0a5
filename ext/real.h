/* The kernels' floating-point type: float in the shipped build, double in the one that tests compare with the oracle. */
#ifndef ALIGNER_REAL_H
#define ALIGNER_REAL_H
#ifdef ALIGNER_DOUBLE
typedef double real;
#else
typedef float real;
#endif
#endif
