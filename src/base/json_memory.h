/** json_memory.h - the JSON library's memory, through our own door to the heap.
 *
 *     char *text = yyjson_val_write_opts(value, 0, &fb_json_memory, &size, NULL);
 *     ...
 *     fb_free(text);
 *
 * Threads: any.
 */
#ifndef FB_BASE_JSON_MEMORY_H
#define FB_BASE_JSON_MEMORY_H

#include <yyjson.h>

extern const yyjson_alc fb_json_memory;

/** Read a whole document. NULL when it is none, or there is no memory. */
yyjson_doc *fb_json_read(const char *text, size_t size, yyjson_read_flag flags);

/** A value as compact text, released with fb_free(); NULL when there is no memory. */
char *fb_json_write(const yyjson_val *value, size_t *size);

#endif
