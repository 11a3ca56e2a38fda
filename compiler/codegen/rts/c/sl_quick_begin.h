/* What follows is compiled quickly rather than for speed: it is not where a program spends its time, but gcc would spend most of its time
 * on it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC push_options
#pragma GCC optimize("O1")
#endif
