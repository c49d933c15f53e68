/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Symbols of a shared library, read without loading it.
 */
#ifndef _IQCN_ELF_H
#define _IQCN_ELF_H

#include <stdbool.h>
#include <stddef.h>

#include <link.h>

struct elf {
	const char *file;
	size_t size;
	const ElfW(Shdr) *sections;
	size_t n_sections;
	const ElfW(Sym) *symbols;
	size_t n_symbols;
	const char *names;	/* of the symbols */
	size_t names_size;
};

/* Returns NULL, or why the file is not a shared library for this machine.  On
 * failure there is nothing to close.
 */
const char *elf_open(struct elf *e, const char *path);
void elf_close(struct elf *e);

/* Does the library define @name? */
bool elf_has(const struct elf *e, const char *name);
/* Copies the string in the array @name; "" if the array does not exist */
void elf_string(const struct elf *e, const char *name, char *buf, size_t size);

#endif /* _IQCN_ELF_H */
