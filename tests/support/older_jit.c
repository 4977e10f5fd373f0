// SPDX-License-Identifier: Apache-2.0
/* The code generator of another version, whose types may be different. */
const char* lemma_part_version(void);
const char* lemma_part_version(void) { return "0.0.1"; }

/* Never to be called: it has no result. */
void* lemma_create_object_maker_address(void);
void* lemma_create_object_maker_address(void) { __builtin_trap(); }
