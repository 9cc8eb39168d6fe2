/* type_test.c - the words for types: ours, the query engine's, Delta's. */
#include "base/alloc.h"
#include "base/limits.h"
#include "schema/logical.h"
#include "schema/type.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word, *sql, *delta, *cast;
    duckdb_type engine;
} flat[] = {
    {"string", "VARCHAR", "\"string\"", "VARCHAR", DUCKDB_TYPE_VARCHAR},
    {"bool", "BOOLEAN", "\"boolean\"", "BOOLEAN", DUCKDB_TYPE_BOOLEAN},
    {"int8", "TINYINT", "\"byte\"", "TINYINT", DUCKDB_TYPE_TINYINT},
    {"int16", "SMALLINT", "\"short\"", "SMALLINT", DUCKDB_TYPE_SMALLINT},
    {"int32", "INTEGER", "\"integer\"", "INTEGER", DUCKDB_TYPE_INTEGER},
    {"int64", "BIGINT", "\"long\"", "BIGINT", DUCKDB_TYPE_BIGINT},
    {"uint8", "UTINYINT", "\"short\"", "SMALLINT", DUCKDB_TYPE_UTINYINT},
    {"uint16", "USMALLINT", "\"integer\"", "INTEGER", DUCKDB_TYPE_USMALLINT},
    {"uint32", "UINTEGER", "\"long\"", "BIGINT", DUCKDB_TYPE_UINTEGER},
    {"uint64", "UBIGINT", "\"decimal(20,0)\"", "DECIMAL(20,0)", DUCKDB_TYPE_UBIGINT},
    {"float32", "FLOAT", "\"float\"", "FLOAT", DUCKDB_TYPE_FLOAT},
    {"float64", "DOUBLE", "\"double\"", "DOUBLE", DUCKDB_TYPE_DOUBLE},
    {"decimal(12,2)", "DECIMAL(12,2)", "\"decimal(12,2)\"", "DECIMAL(12,2)",
     DUCKDB_TYPE_DECIMAL},
    {"date", "DATE", "\"date\"", "DATE", DUCKDB_TYPE_DATE},
    {"time", "TIME", "\"string\"", "VARCHAR", DUCKDB_TYPE_TIME},
    {"timestamp", "TIMESTAMP WITH TIME ZONE", "\"timestamp\"", "TIMESTAMP WITH TIME ZONE",
     DUCKDB_TYPE_TIMESTAMP_TZ},
    {"timestamp_ntz", "TIMESTAMP", "\"timestamp_ntz\"", "TIMESTAMP",
     DUCKDB_TYPE_TIMESTAMP},
    {"binary", "BLOB", "\"binary\"", "BLOB", DUCKDB_TYPE_BLOB},
    {"uuid", "UUID", "\"string\"", "VARCHAR", DUCKDB_TYPE_UUID},
    {"json", "VARCHAR", "\"string\"", "VARCHAR", DUCKDB_TYPE_VARCHAR},
};

static fb_type parsed(const char *text)
{
    fb_error err;
    fb_type  type;
    CHECK_CODE(fb_type_parse(text, &type, &err), FB_OK, &err);
    return type;
}

static const char *printed(fb_buf *buf, const fb_type *type)
{
    fb_buf_reset(buf);
    fb_type_print(type, buf);
    return fb_buf_text(buf);
}

TEST(every_word_of_ours_comes_back_and_has_its_words_elsewhere)
{
    fb_buf buf;
    fb_buf_init(&buf, 1000);
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        fb_type type = parsed(flat[i].word);
        CHECK_TEXT(printed(&buf, &type), flat[i].word);
        fb_buf_reset(&buf);
        fb_type_print_sql(&type, false, &buf);
        CHECK_TEXT(fb_buf_text(&buf), flat[i].sql);
        fb_buf_reset(&buf);
        fb_type_print_sql(&type, true, &buf);
        CHECK_TEXT(fb_buf_text(&buf), flat[i].cast);
        fb_buf_reset(&buf);
        fb_type_print_delta(&type, &buf);
        CHECK_TEXT(fb_buf_text(&buf), flat[i].delta);
        duckdb_logical_type logical = fb_type_logical(&type);
        CHECK_INT(duckdb_get_type_id(logical), flat[i].engine);
        duckdb_destroy_logical_type(&logical);
    }
    CHECK_INT(sizeof flat / sizeof *flat, FB_KIND_JSON + 1); // none was forgotten
    fb_buf_clear(&buf);
}

TEST(the_names_that_others_use_are_taken)
{
    static const char *const same[][2] = {{"str", "string"},
                                          {"text", "string"},
                                          {"Utf8", "string"},
                                          {"VARCHAR", "string"},
                                          {"boolean", "bool"},
                                          {"integer", "int64"},
                                          {"int", "int64"},
                                          {"long", "int64"},
                                          {"bigint", "int64"},
                                          {"Int64", "int64"},
                                          {"Float64", "float64"},
                                          {"number", "float64"},
                                          {"double", "float64"},
                                          {"float", "float64"},
                                          {"real", "float32"},
                                          {"Timestamp-NTZ", "timestamp_ntz"},
                                          {"timestampntz", "timestamp_ntz"},
                                          {"TIMESTAMP_TZ", "timestamp"},
                                          {"datetime", "timestamp"},
                                          {"bytes", "binary"},
                                          {"numeric(5, 1)", "decimal(5,1)"},
                                          {"DECIMAL( 38 , 38 )", "decimal(38,38)"},
                                          {"tinyint", "int8"},
                                          {"short", "int16"}};
    fb_buf                   buf;
    fb_buf_init(&buf, 1000);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        fb_type type = parsed(same[i][0]);
        check_text(CHECK_SITE(same[i][0]), printed(&buf, &type), same[i][1]);
    }
    fb_buf_clear(&buf);
}

TEST(what_is_no_type_is_refused_by_its_text)
{
    static const char *const none[] = {
        "",
        "strin",
        "int65",
        "list",
        "struct",
        "map",
        "void",
        "array",
        "int64(5)",
        "string()",
        "decimal",
        "decimal(0,0)",
        "decimal(39,2)",
        "decimal(5,6)",
        "decimal(5)",
        "decimal(5,-1)",
        "decimal(+5,2)",
        "decimal(5,2",
        "decimal(5,2))",
        "decimal(5,2) x",
        "decimal(,2)",
        "decimal(100,2)",
        "decimal(5.2)",
        "-",
        "__",
        "int64 x",
        "a_very_long_word_that_is_no_type_at_all_and_goes_on_and_on_and_on"};
    fb_error err;
    fb_type  type;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        check_int(CHECK_SITE(none[i]), fb_type_parse(none[i], &type, &err), FB_ECONFIG);
        CHECK_TEXT(fb_reason_name(err.reason), "FB-C130");
        CHECK_HAS(err.what, none[i]);
    }
}

/* struct<id: int64, tags: list<string>, "a""b": map<string, decimal(5,1)>> */
static fb_type nested(void)
{
    static fb_column element = {.name = "element", .nullable = true};
    static fb_column entry[2] = {{.name = "key"}, {.name = "value", .nullable = true}};
    static fb_column members[3] = {
        {.name = "id"},
        {.name = "tags", .nullable = true},
        {.name = "a\"b", .nullable = true, .metadata = "{\"x\":1}"}};
    element.type = parsed("string");
    entry[0].type = parsed("string");
    entry[1].type = parsed("decimal(5,1)");
    members[0].type = parsed("int64");
    members[1].type =
        (fb_type){.kind = FB_KIND_LIST, .fields = &element, .fields_count = 1};
    members[2].type = (fb_type){.kind = FB_KIND_MAP, .fields = entry, .fields_count = 2};
    return (fb_type){.kind = FB_KIND_STRUCT, .fields = members, .fields_count = 3};
}

TEST(nested_types_are_written_in_all_words)
{
    fb_type type = nested();
    fb_buf  buf;
    fb_buf_init(&buf, 10000);
    CHECK_TEXT(printed(&buf, &type),
               "struct<id: int64, tags: list<string>, a\"b: map<string, "
               "decimal(5,1)>>");
    fb_buf_reset(&buf);
    fb_type_print_sql(&type, false, &buf);
    CHECK_TEXT(fb_buf_text(&buf), "STRUCT(\"id\" BIGINT, \"tags\" VARCHAR[], \"a\"\"b\" "
                                  "MAP(VARCHAR, DECIMAL(5,1)))");
    fb_buf_reset(&buf);
    fb_type_print_delta(&type, &buf);
    CHECK_TEXT(
        fb_buf_text(&buf),
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\","
        "\"nullable\":"
        "false,\"metadata\":{}},{\"name\":\"tags\",\"type\":{\"type\":\"array\","
        "\"elementType\":\"string\",\"containsNull\":true},\"nullable\":true,"
        "\"metadata\":"
        "{}},{\"name\":\"a\\\"b\",\"type\":{\"type\":\"map\",\"keyType\":\"string\","
        "\"valueType\":\"decimal(5,1)\",\"valueContainsNull\":true},\"nullable\":true,"
        "\"metadata\":{\"x\":1}}]}");
    fb_buf_clear(&buf);
}

TEST(nested_types_become_types_of_the_engine)
{
    fb_type             type = nested();
    duckdb_logical_type logical = fb_type_logical(&type);
    REQUIRE(logical != NULL);
    CHECK_INT(duckdb_get_type_id(logical), DUCKDB_TYPE_STRUCT);
    CHECK_INT(duckdb_struct_type_child_count(logical), 3);
    duckdb_logical_type map = duckdb_struct_type_child_type(logical, 2);
    CHECK_INT(duckdb_get_type_id(map), DUCKDB_TYPE_MAP);
    duckdb_logical_type value = duckdb_map_type_value_type(map);
    CHECK_INT(duckdb_decimal_width(value), 5);
    CHECK_INT(duckdb_decimal_scale(value), 1);
    duckdb_destroy_logical_type(&value);
    duckdb_destroy_logical_type(&map);
    duckdb_destroy_logical_type(&logical);
}

TEST(a_struct_of_a_thousand_members_becomes_a_type_of_the_engine)
{
    static fb_column members[1000];
    static char      names[1000][16];
    for (int i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        members[i] = (fb_column){.name = names[i], .type = {.kind = FB_KIND_BOOL}};
    }
    fb_type type = {.kind = FB_KIND_STRUCT, .fields = members, .fields_count = 1000};
    duckdb_logical_type logical = fb_type_logical(&type);
    REQUIRE(logical != NULL);
    CHECK_INT(duckdb_struct_type_child_count(logical), 1000);
    duckdb_destroy_logical_type(&logical);
}

TEST(types_of_the_engine_are_not_made_without_memory)
{
    fb_type type = nested();
    for (int n = 1;; n++) {
        fb_alloc_fail_at(n);
        duckdb_logical_type logical = fb_type_logical(&type);
        if (fb_alloc_fail_at(0) == 0) {
            CHECK(n > 1 && logical != NULL);
            duckdb_destroy_logical_type(&logical);
            return;
        }
        CHECK(logical == NULL);
    }
}

TEST(types_are_equal_with_names_and_nullability)
{
    fb_type a = parsed("decimal(5,1)"), b = parsed("decimal(5,2)"),
            c = parsed("decimal(5,1)");
    CHECK(fb_type_equal(&a, &c) && !fb_type_equal(&a, &b));
    fb_type   one = nested();
    fb_column others[3] = {one.fields[0], one.fields[1], one.fields[2]};
    fb_type   two = {.kind = FB_KIND_STRUCT, .fields = others, .fields_count = 3};
    CHECK(fb_type_equal(&one, &two));
    others[1].nullable = false;
    CHECK(!fb_type_equal(&one, &two));
    others[1].nullable = true;
    others[0].name = "ID";
    CHECK(!fb_type_equal(&one, &two));
    others[0].name = "id";
    two.fields_count = 2;
    CHECK(!fb_type_equal(&one, &two));
}

TEST(a_schema_has_a_ceiling_of_columns_and_finds_them_by_name)
{
    fb_schema schema;
    fb_error  err;
    fb_schema_init(&schema);
    CHECK(fb_schema_reserve(&schema, FB_MAX_COLUMNS + 1, &err) == FB_EMEMORY);
    CHECK_TEXT(fb_reason_name(err.reason), "FB-M002");
    CHECK_CODE(fb_schema_reserve(&schema, FB_MAX_COLUMNS, &err), FB_OK, &err);
    for (size_t i = 0; i < schema.count; i++)
        schema.columns[i].name = i == 7 ? "id" : "other";
    CHECK(fb_schema_find(&schema, "id") == &schema.columns[7]);
    CHECK(fb_schema_find(&schema, "ID") == NULL);
    fb_schema_clear(&schema);
    fb_schema_clear(&schema);
}

TEST(the_reference_of_types_lists_each_with_its_other_names)
{
    fb_buf buf;
    fb_buf_init(&buf, 100000);
    fb_types_write_reference(&buf);
    CHECK_HAS(fb_buf_text(&buf),
              "| `int64` | `int`, `integer`, `long`, `bigint` | long |\n");
    CHECK_HAS(fb_buf_text(&buf), "| `decimal(p,s)` | `numeric` | decimal(p,s) |\n");
    CHECK_HAS(fb_buf_text(&buf), "| `date` |  | date |\n");
    CHECK(strstr(fb_buf_text(&buf), "struct") == NULL);
    fb_buf_clear(&buf);
}
