/* A library under the name of the compiler that a stranger left somewhere. Loading it ends the
   program with a status of its own. */
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) { _exit(77); }
