/* A program in FAUST, with the interface of this folder. NAME: the program's name; BEFORE: how many of its first results are of windows that begin before
 * the first sample; GENERATED: what FAUST made of it, with structure and functions for `made`. */
#include "peers.h"
#define FAUSTFLOAT float
#include <faust/gui/CInterface.h>
#include GENERATED

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)

typedef struct {
    made *dsp;
    size_t before;
} program;

program *NAMED(NAME, _new)(void) {
    program *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->dsp = newmade();
    initmade(f->dsp, 48000);
    f->before = BEFORE;
    return f;
}

void NAMED(NAME, _free)(program *f) {
    deletemade(f->dsp);
    free(f);
}

size_t NAMED(NAME, _run)(program *f, const float *in, size_t n, float *out) {
    float dropped[TAPS], *from = (float *)in, *to = dropped;
    size_t before = f->before < n ? f->before : n;
    computemade(f->dsp, (int)before, &from, &to);
    f->before -= before;
    from += before;
    computemade(f->dsp, (int)(n - before), &from, &out);
    return n - before;
}
