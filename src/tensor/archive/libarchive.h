// SPDX-License-Identifier: Apache-2.0
// tensor/archive/libarchive.h — libarchive, loaded when the first archive is opened. Loading it
// with its dependencies takes as long as checking most models (docs/decisions/libarchive.md).
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "base/result.h"

namespace lemma::tensor {

// The functions that we call.
#define LEMMA_LIBARCHIVE_FUNCTIONS(X)          \
    X(archive_entry_filetype)                  \
    X(archive_entry_free)                      \
    X(archive_entry_hardlink)                  \
    X(archive_entry_is_encrypted)              \
    X(archive_entry_new)                       \
    X(archive_entry_pathname)                  \
    X(archive_entry_pathname_utf8)             \
    X(archive_entry_set_filetype)              \
    X(archive_entry_set_mtime)                 \
    X(archive_entry_set_pathname)              \
    X(archive_entry_set_perm)                  \
    X(archive_entry_set_size)                  \
    X(archive_entry_size)                      \
    X(archive_entry_size_is_set)               \
    X(archive_error_string)                    \
    X(archive_filter_bytes)                    \
    X(archive_filter_count)                    \
    X(archive_read_data)                       \
    X(archive_read_free)                       \
    X(archive_read_new)                        \
    X(archive_read_next_header)                \
    X(archive_read_open_filename)              \
    X(archive_read_open_memory)                \
    X(archive_read_support_filter_bzip2)       \
    X(archive_read_support_filter_gzip)        \
    X(archive_read_support_filter_xz)          \
    X(archive_read_support_format_tar)         \
    X(archive_read_support_format_zip)         \
    X(archive_write_add_filter_bzip2)          \
    X(archive_write_add_filter_gzip)           \
    X(archive_write_add_filter_xz)             \
    X(archive_write_close)                     \
    X(archive_write_data)                      \
    X(archive_write_free)                      \
    X(archive_write_header)                    \
    X(archive_write_new)                       \
    X(archive_write_open_filename)             \
    X(archive_write_set_format_pax_restricted) \
    X(archive_write_set_format_zip)            \
    X(archive_write_set_options)

// A pointer to each function, with the type that the header declares.
struct LibArchive {
#define LEMMA_DECLARE(name) decltype(&::name) name = nullptr;
    LEMMA_LIBARCHIVE_FUNCTIONS(LEMMA_DECLARE)
#undef LEMMA_DECLARE
    // Whether the library unpacks these formats itself. Otherwise it would start external programs.
    bool has_bzip2 = false;
    bool has_xz = false;
};

// Loads the library once; it stays loaded. The error says what is missing.
Result<const LibArchive*> load_libarchive();

}  // namespace lemma::tensor
