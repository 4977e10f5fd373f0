// SPDX-License-Identifier: Apache-2.0
/* A library with the name of the code generator, left by an attacker. Loading it ends the
 * program with a special status. */
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) { _exit(77); }
