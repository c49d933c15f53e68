// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols of a shared library, read without loading it.
 *
 * The file is untrusted, so every offset is checked before use.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf.h"

/* This program's ELF header, which the linker defines: a library must have the
 * same class, byte order and machine
 */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Returns @n objects of @size at @offset, or NULL */
static const void *at(const struct elf *e, size_t offset, size_t n, size_t size)
{
	/* the mapping is page-aligned, so an aligned offset is an aligned
	 * pointer
	 */
	if (offset % sizeof(void *) || n > e->size / size ||
	    offset > e->size - n * size)
		return NULL;
	return e->file + offset;
}

static int map_file(struct elf *e, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *file = MAP_FAILED;
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st))
		err = errno;
	else if (!S_ISREG(st.st_mode) ||
		 (size_t)st.st_size < sizeof(ElfW(Ehdr)))
		err = ENOEXEC;
	else
		err = 0;
	if (!err) {
		e->size = st.st_size;
		file = mmap(NULL, e->size, PROT_READ, MAP_PRIVATE, fd, 0);
		err = file == MAP_FAILED ? errno : 0;
	}
	e->file = file;
	if (fd >= 0)
		close(fd);
	return err;
}

static bool is_library(const ElfW(Ehdr) *h)
{
	/* magic, class and byte order */
	return !memcmp(h->e_ident, __ehdr_start.e_ident, EI_VERSION) &&
	       h->e_machine == __ehdr_start.e_machine && h->e_type == ET_DYN &&
	       h->e_shentsize == sizeof(ElfW(Shdr));
}

static bool find_symbols(struct elf *e)
{
	const ElfW(Ehdr) *h = (const void *)e->file;
	const ElfW(Shdr) *s, *names;
	size_t i;

	e->sections = at(e, h->e_shoff, h->e_shnum, sizeof(*s));
	e->n_sections = e->sections ? h->e_shnum : 0;
	for (i = 0; i < e->n_sections; i++)
		if (e->sections[i].sh_type == SHT_DYNSYM)
			break;
	if (i == e->n_sections || e->sections[i].sh_link >= e->n_sections)
		return false;
	s = &e->sections[i];
	names = &e->sections[s->sh_link];
	e->n_symbols = s->sh_size / sizeof(*e->symbols);
	e->symbols = at(e, s->sh_offset, e->n_symbols, sizeof(*e->symbols));
	e->names_size = names->sh_size;
	if (names->sh_offset > e->size ||
	    names->sh_size > e->size - names->sh_offset)
		return false;
	e->names = e->file + names->sh_offset;
	return e->symbols;
}

const char *elf_open(struct elf *e, const char *path)
{
	int err;

	memset(e, 0, sizeof(*e));
	err = map_file(e, path);
	if (err && err != ENOEXEC)
		return strerror(err);
	if (!err && is_library((const void *)e->file) && find_symbols(e))
		return NULL;
	if (!err)
		elf_close(e);
	return "it is not a shared library for this machine";
}

void elf_close(struct elf *e)
{
	munmap((void *)e->file, e->size);
}

static const ElfW(Sym) *find(const struct elf *e, const char *name)
{
	size_t i, size = strlen(name) + 1;

	for (i = 0; i < e->n_symbols; i++)
		if (e->symbols[i].st_shndx != SHN_UNDEF &&
		    size <= e->names_size &&
		    e->symbols[i].st_name <= e->names_size - size &&
		    !memcmp(e->names + e->symbols[i].st_name, name, size))
			return &e->symbols[i];
	return NULL;
}

bool elf_has(const struct elf *e, const char *name)
{
	return find(e, name);
}

void elf_string(const struct elf *e, const char *name, char *buf, size_t size)
{
	const ElfW(Sym) *symbol = find(e, name);
	const ElfW(Shdr) *s;
	size_t offset;

	*buf = '\0';
	if (!symbol || ELF32_ST_TYPE(symbol->st_info) != STT_OBJECT ||
	    symbol->st_shndx >= e->n_sections)
		return;
	s = &e->sections[symbol->st_shndx];
	offset = symbol->st_value - s->sh_addr;
	if (s->sh_type == SHT_NOBITS || s->sh_offset > e->size ||
	    s->sh_size > e->size - s->sh_offset || offset > s->sh_size ||
	    symbol->st_size > s->sh_size - offset || symbol->st_size > size ||
	    !symbol->st_size)
		return;
	memcpy(buf, e->file + s->sh_offset + offset, symbol->st_size);
	buf[symbol->st_size - 1] = '\0';
}
