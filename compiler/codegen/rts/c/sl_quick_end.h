/* From here on as the command line says. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
