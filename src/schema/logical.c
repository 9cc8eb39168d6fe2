/* logical.c - see logical.h. */
#include "schema/logical.h"

#include "base/alloc.h"

static const duckdb_type flat[] = {
    [FB_KIND_STRING] = DUCKDB_TYPE_VARCHAR,
    [FB_KIND_BOOL] = DUCKDB_TYPE_BOOLEAN,
    [FB_KIND_INT8] = DUCKDB_TYPE_TINYINT,
    [FB_KIND_INT16] = DUCKDB_TYPE_SMALLINT,
    [FB_KIND_INT32] = DUCKDB_TYPE_INTEGER,
    [FB_KIND_INT64] = DUCKDB_TYPE_BIGINT,
    [FB_KIND_UINT8] = DUCKDB_TYPE_UTINYINT,
    [FB_KIND_UINT16] = DUCKDB_TYPE_USMALLINT,
    [FB_KIND_UINT32] = DUCKDB_TYPE_UINTEGER,
    [FB_KIND_UINT64] = DUCKDB_TYPE_UBIGINT,
    [FB_KIND_FLOAT32] = DUCKDB_TYPE_FLOAT,
    [FB_KIND_FLOAT64] = DUCKDB_TYPE_DOUBLE,
    [FB_KIND_DATE] = DUCKDB_TYPE_DATE,
    [FB_KIND_TIME] = DUCKDB_TYPE_TIME,
    [FB_KIND_TIMESTAMP] = DUCKDB_TYPE_TIMESTAMP_TZ,
    [FB_KIND_TIMESTAMP_NTZ] = DUCKDB_TYPE_TIMESTAMP,
    [FB_KIND_BINARY] = DUCKDB_TYPE_BLOB,
    [FB_KIND_UUID] = DUCKDB_TYPE_UUID,
    [FB_KIND_JSON] = DUCKDB_TYPE_VARCHAR,
    [FB_KIND_VOID] = DUCKDB_TYPE_SQLNULL,
};

static duckdb_logical_type struct_type(const fb_type *type)
{
    const char         **names = fb_alloc(type->fields_count * sizeof *names);
    duckdb_logical_type *members = fb_alloc(type->fields_count * sizeof *members), made = NULL;
    size_t               n = 0;
    for (; names && members && n < type->fields_count; n++) {
        members[n] = fb_type_logical(&type->fields[n].type);
        if (!members[n]) break;
        names[n] = type->fields[n].name;
    }
    if (names && members && n == type->fields_count)
        made = duckdb_create_struct_type(members, names, n);
    while (n > 0)
        duckdb_destroy_logical_type(&members[--n]);
    fb_free(names);
    fb_free(members);
    return made;
}

duckdb_logical_type fb_type_logical(const fb_type *type)
{
    duckdb_logical_type key, value, made = NULL;
    switch (type->kind) {
    case FB_KIND_DECIMAL: return duckdb_create_decimal_type(type->precision, type->scale);
    case FB_KIND_STRUCT: return struct_type(type);
    case FB_KIND_LIST:
        value = fb_type_logical(&type->fields[0].type);
        if (value) made = duckdb_create_list_type(value);
        duckdb_destroy_logical_type(&value);
        return made;
    case FB_KIND_MAP:
        key = fb_type_logical(&type->fields[0].type);
        value = fb_type_logical(&type->fields[1].type);
        if (key && value) made = duckdb_create_map_type(key, value);
        duckdb_destroy_logical_type(&key);
        duckdb_destroy_logical_type(&value);
        return made;
    default: return duckdb_create_logical_type(flat[type->kind]);
    }
}
