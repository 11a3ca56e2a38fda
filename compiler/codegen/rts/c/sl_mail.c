/* Messages under way. Each receiver has a list of those that wait for it, in the order in which they take effect: by the firing before
 * which they are due, then by the sender, its firing, and the order in which it sent. Cells for messages are made as they are needed, used
 * again, and freed with the instance. */
#include "sl_engine.h"

/* Messages under way at most. */
#define SL_MAIL_MOST 1000000u

struct sl_letter {
    sl_letter *before, *after;
    uint64_t due, firing, serial;
    const sl_link *link;
    uint32_t sender;
};

/* Where the arguments are, behind the cell's head. */
static char *sl_letter_text(sl_letter *m) { return (char *)m + (sizeof *m + 15) / 16 * 16; }

static uint64_t sl_count(const sl_counts *f, uint64_t n) {
    if (n < f->length) {
        return f->head[n];
    }
    uint64_t beyond = n - f->length;
    return f->head[f->length - f->period + beyond % f->period] + (beyond / f->period + 1) * f->step;
}

/* Does message a take effect later than b? */
static int sl_later(const sl_letter *a, const sl_letter *b) {
    if (a->due != b->due) {
        return a->due > b->due;
    }
    if (a->sender != b->sender) {
        return a->sender > b->sender;
    }
    return a->firing != b->firing ? a->firing > b->firing : a->serial > b->serial;
}

/* A cell: one used before, or a new one. */
static sl_letter *sl_new_letter(sl_ctx *ctx) {
    sl_letter *m = ctx->mail.unused;
    if (m) {
        ctx->mail.unused = m->after;
        return m;
    }
    if (ctx->mail.made >= SL_MAIL_MOST) {
        sl_too_much(ctx, 1, "more than 1000000 messages are under way");
    }
    m = malloc((sizeof *m + 15) / 16 * 16 + ctx->program->message_bytes);
    if (!m) {
        sl_stop_run(ctx, SLUICE_MEMORY, "no memory for a message");
    }
    ctx->mail.made++;
    return m;
}

SL_ENGINE void sl_send(sl_ctx *ctx, uint32_t send, int64_t firing, const void *message) {
    const sl_program *p = ctx->program;
    const uint32_t sender = (uint32_t)ctx->node;
    const sl_node *n = &p->nodes[sender];
    for (uint32_t i = 0; i < n->links; i++) {
        const sl_link *link = &p->links[n->first_link + i];
        if (link->send != send) {
            continue;
        }
        const uint64_t due =
            link->next ? (uint64_t)ctx->fired[link->receiver] + 1 : sl_count(&link->due, (uint64_t)firing);
        if (ctx->dead[link->receiver] && due > (uint64_t)ctx->fired[link->receiver] + 1) {
            continue; /* it will never fire so often */
        }
        sl_letter *m = sl_new_letter(ctx);
        m->due = due;
        m->firing = (uint64_t)firing;
        m->serial = ctx->mail.sent++;
        m->link = link;
        m->sender = sender;
        if (link->bytes > 0) {
            memcpy(sl_letter_text(m), message, link->bytes);
        }
        sl_box *box = &ctx->mail.boxes[link->receiver];
        sl_letter *at = box->last;
        while (at && sl_later(at, m)) {
            at = at->before;
        }
        m->before = at;
        m->after = at ? at->after : box->first;
        *(m->before ? &m->before->after : &box->first) = m;
        *(m->after ? &m->after->before : &box->last) = m;
    }
}

/* Takes a message out of its receiver's box. */
static void sl_take_letter(sl_box *box, sl_letter *m) {
    *(m->before ? &m->before->after : &box->first) = m->after;
    *(m->after ? &m->after->before : &box->last) = m->before;
}

/* Takes back what a node has sent since message number `sent`. */
static SL_UNUSED void sl_unsend(sl_ctx *ctx, uint32_t v, uint64_t sent) {
    const sl_node *n = &ctx->program->nodes[v];
    for (uint32_t i = 0; i < n->links && ctx->mail.sent > sent; i++) {
        sl_box *box = &ctx->mail.boxes[ctx->program->links[n->first_link + i].receiver];
        for (sl_letter *m = box->first, *next; m; m = next) {
            next = m->after;
            if (m->serial >= sent) {
                sl_take_letter(box, m);
                m->after = ctx->mail.unused;
                ctx->mail.unused = m;
            }
        }
    }
    ctx->mail.sent = sent;
}

/* A message to this receiver takes effect. */
static void sl_open_letter(sl_ctx *ctx, uint32_t v, sl_letter *m) {
    sl_take_letter(&ctx->mail.boxes[v], m);
    sl_forget_calls(ctx, v);
    m->link->receive(ctx, ctx->states + ctx->program->nodes[v].state, sl_letter_text(m));
    m->after = ctx->mail.unused;
    ctx->mail.unused = m;
}

SL_ENGINE long sl_deliver(sl_ctx *ctx, uint32_t v, int64_t fired, long n) {
    const sl_box *box = &ctx->mail.boxes[v];
    const uint64_t next = (uint64_t)fired + 1;
    while (box->first && box->first->due <= next) {
        sl_open_letter(ctx, v, box->first);
    }
    return box->first && box->first->due - next < (uint64_t)n ? (long)(box->first->due - next) : n;
}

/* At the end of a run: what takes effect directly after a receiver's last firing. */
static void sl_last_letters(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    for (uint32_t v = 0; p->link_count > 0 && v < p->node_count; v++) {
        const uint64_t next = (uint64_t)ctx->fired[v] + 1;
        for (;;) {
            sl_letter *m = ctx->mail.boxes[v].first;
            /* others that would come with the next firing do not keep it back */
            while (m && m->due == next && !m->link->after) {
                m = m->after;
            }
            if (!m || m->due > next) {
                break;
            }
            ctx->node = (int32_t)v;
            ctx->firing = (int64_t)next;
            sl_open_letter(ctx, v, m);
        }
    }
    ctx->node = -1;
    ctx->firing = 0;
}

static void sl_free_mail(sl_ctx *ctx) {
    const sl_program *p = ctx->program;
    for (uint32_t v = 0; p->link_count > 0 && v <= p->node_count; v++) {
        sl_letter *m = v < p->node_count ? ctx->mail.boxes[v].first : ctx->mail.unused;
        while (m) {
            sl_letter *after = m->after;
            free(m);
            m = after;
        }
    }
}

/* How many firings of a node that can fire, `most` at most, follow one another before one that would miss a message. */
static SL_UNUSED int64_t sl_before_letters(const sl_ctx *ctx, uint32_t v, int64_t most) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    for (uint32_t i = 0; i < n->waits; i++) {
        const sl_wait *w = &p->waits[n->first_wait + i];
        int64_t fits = 1, fails = most + 1;
        while (!ctx->dead[w->before] && fails - fits > 1) {
            const int64_t middle = fits + (fails - fits) / 2;
            const int misses = (uint64_t)ctx->fired[w->before] < sl_count(&w->need, (uint64_t)(ctx->fired[v] + middle));
            *(misses ? &fails : &fits) = middle;
        }
        most = ctx->dead[w->before] ? most : fits;
    }
    return most;
}

/* The sender of a message that the node's next firing must not miss; -1 where there is none. */
static int64_t sl_waits_for(const sl_ctx *ctx, uint32_t v) {
    const sl_program *p = ctx->program;
    const sl_node *n = &p->nodes[v];
    for (uint32_t i = 0; i < n->waits; i++) {
        const sl_wait *w = &p->waits[n->first_wait + i];
        if (!ctx->dead[w->before] &&
            (uint64_t)ctx->fired[w->before] < sl_count(&w->need, (uint64_t)ctx->fired[v] + 1)) {
            return w->before;
        }
    }
    return -1;
}
