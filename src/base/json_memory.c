/* json_memory.c - see json_memory.h. */
#include "base/json_memory.h"

#include "base/alloc.h"

static void *json_alloc(void *context, size_t size)
{
    (void)context;
    return fb_alloc(size);
}

static void *json_realloc(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return fb_realloc(memory, size);
}

static void json_free(void *context, void *memory)
{
    (void)context;
    fb_free(memory);
}

const yyjson_alc fb_json_memory = {json_alloc, json_realloc, json_free, NULL};

yyjson_doc *fb_json_read(const char *text, size_t size, yyjson_read_flag flags)
{
    /* Without YYJSON_READ_INSITU the text is not written to. */
    return yyjson_read_opts((char *)(uintptr_t)text, size, flags, &fb_json_memory, NULL);
}

char *fb_json_write(const yyjson_val *value, size_t *size)
{
    return yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, &fb_json_memory, size, NULL);
}
