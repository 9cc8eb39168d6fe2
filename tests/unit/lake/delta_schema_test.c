/* delta_schema_test.c - schemaStrings read and written, and rows that fit or do not. */
#include "lake/delta_schema.h"

#include "fixture.h"

#define FIELD(name, type)                                                                \
    "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"

static fb_schema parse(const char *text)
{
    fb_schema schema;
    fb_error  err;
    fb_schema_init(&schema);
    CHECK_CODE(fb_delta_schema_parse(text, &schema, &err), FB_OK, &err);
    return schema;
}

TEST(a_schema_is_written_back_as_it_was_read)
{
    /* clang-format off */
    static const char text[] = STRUCT(
        FIELD("s", "\"string\"") "," FIELD("l", "\"long\"") ","
        FIELD("i", "\"integer\"") ","
        FIELD("h", "\"short\"") "," FIELD("y", "\"byte\"") "," FIELD("f", "\"float\"") ","
        FIELD("d", "\"double\"") "," FIELD("b", "\"boolean\"") ","
        FIELD("x", "\"binary\"") ","
        FIELD("t", "\"date\"") "," FIELD("z", "\"timestamp\"") ","
        FIELD("n", "\"timestamp_ntz\"") "," FIELD("c", "\"decimal(38,10)\"") ","
        "{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":"
        "{\"delta.identity.start\":1,\"comment\":\"a \\\"b\\\"\"}},"
        FIELD("a", "{\"type\":\"array\",\"elementType\":\"string\","
                   "\"containsNull\":false}") ","
        FIELD("m", "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":"
                   STRUCT(FIELD("v", "\"long\"")) ",\"valueContainsNull\":true}"));
    /* clang-format on */
    fb_schema schema = parse(text);
    fb_buf    out;
    fb_buf_init(&out, 1 << 20);
    fb_delta_schema_print(&schema, &out);
    CHECK_TEXT(fb_buf_text(&out), text);
    REQUIRE(schema.count == 16);
    CHECK(!schema.columns[13].nullable);
    CHECK(fb_delta_column_has(&schema.columns[13], "delta.identity.start"));
    CHECK(!fb_delta_column_has(&schema.columns[13], "delta.identity.step"));
    CHECK(!fb_delta_column_has(&schema.columns[0], "x"));
    fb_buf_clear(&out);
    fb_schema_clear(&schema);
}

TEST(variants_and_voids_are_both_void_but_can_be_told_apart)
{
    fb_schema schema =
        parse(STRUCT(FIELD("v", "\"variant\"") "," FIELD("n", "\"void\"")));
    CHECK(schema.columns[0].type.kind == FB_KIND_VOID);
    CHECK(schema.columns[1].type.kind == FB_KIND_VOID);
    CHECK(fb_delta_is_variant(&schema.columns[0]) &&
          !fb_delta_is_variant(&schema.columns[1]));
    fb_schema_clear(&schema);
}

TEST(what_is_no_schema_is_refused)
{
    static const char *const bad[] = {
        "",
        "{}",
        "1",
        "\"long\"",
        "{\"type\":\"struct\"}",
        STRUCT("{\"name\":\"a\"}"),
        STRUCT("{\"type\":\"long\"}"),
        STRUCT("{\"name\":\"a\\u0000b\",\"type\":\"long\"}"),
        STRUCT(FIELD("a", "\"geometry\"")),
        STRUCT(FIELD("a", "\"decimal(39,0)\"")),
        STRUCT(FIELD("a", "\"decimal(5,6)\"")),
        STRUCT(FIELD("a", "\"decimal(5,2)x\"")),
        STRUCT(FIELD("a", "{\"type\":\"set\"}")),
        STRUCT(FIELD("a", "{\"type\":\"array\"}")),
        STRUCT(FIELD("a", "7"))};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fb_schema schema;
        fb_error  err;
        fb_schema_init(&schema);
        CHECK_CODE(fb_delta_schema_parse(bad[i], &schema, &err), FB_EDATA, &err);
        CHECK(err.reason == FB_R_P009);
        fb_schema_clear(&schema);
    }
}

TEST(a_log_cannot_make_us_nest_or_allocate_without_bound)
{
    fb_schema schema;
    fb_error  err;
    fb_buf    text;
    fb_buf_init(&text, 16 << 20);
    for (int i = 0; i < 5000; i++)
        fb_buf_add_text(&text, "{\"type\":\"array\",\"elementType\":");
    fb_schema_init(&schema);
    fb_buf_add_text(&text, "\"long\"");
    for (int i = 0; i < 5000; i++) fb_buf_add_text(&text, "}");
    CHECK_CODE(fb_delta_schema_parse(text.data, &schema, &err), FB_EMEMORY, &err);
    CHECK_HAS(err.what, "nested deeper than 100");
    fb_schema_clear(&schema);

    fb_buf_reset(&text);
    fb_buf_add_text(&text, "{\"type\":\"struct\",\"fields\":[");
    for (int i = 0; i <= FB_MAX_COLUMNS; i++)
        fb_buf_printf(&text, "%s" FIELD("c%d", "\"long\""), i ? "," : "", i);
    fb_buf_add_text(&text, "]}");
    fb_schema_init(&schema);
    CHECK_CODE(fb_delta_schema_parse(text.data, &schema, &err), FB_EMEMORY, &err);
    CHECK(err.reason == FB_R_M002);
    fb_schema_clear(&schema);
    fb_buf_clear(&text);
}

TEST(a_new_table_refuses_names_that_other_readers_cannot_have)
{
    static const char *const bad[] = {"a b", "a,b",  "a;b",  "a{",  "a}", "a(",
                                      "a)",  "a\nb", "a\tb", "a=b", ""};
    fb_error                 err;
    fb_column columns[2] = {column_of("id", "int64"), column_of("Id", "string")};
    fb_schema schema = {.columns = columns, .count = 2};
    CHECK_CODE(fb_delta_schema_check_new(&schema, &err), FB_ESCHEMA, &err);
    CHECK_HAS(err.what, "two columns are called \"Id\"");
    schema.count = 1;
    CHECK_CODE(fb_delta_schema_check_new(&schema, &err), FB_OK, &err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        columns[0].name = bad[i];
        CHECK_CODE(fb_delta_schema_check_new(&schema, &err), FB_ESCHEMA, &err);
        CHECK(err.reason == FB_R_P014);
    }
    columns[0] = (fb_column){.name = "v", .type = {.kind = FB_KIND_VOID}};
    CHECK_CODE(fb_delta_schema_check_new(&schema, &err), FB_ESCHEMA, &err);
    schema.count = 0;
    CHECK_CODE(fb_delta_schema_check_new(&schema, &err), FB_ESCHEMA, &err);
}

/* Do rows of one column `name` of `type` fit a table of one column "a" of `delta_type`?
 */
static fb_code fits(const char *delta_field, const char *name, const char *type,
                    bool nullable, fb_error *err)
{
    fb_schema table = parse(delta_field);
    fb_column column = column_of(name, type);
    fb_schema rows = {.columns = &column, .count = 1};
    column.nullable = nullable;
    fb_code code = fb_delta_schema_fits(&table, &rows, err);
    fb_schema_clear(&table);
    return code;
}

TEST(rows_fit_by_the_type_a_table_keeps_them_as)
{
    static const struct {
        const char *delta, *ours;
        fb_code     want;
    } pairs[] = {{"\"long\"", "int64", FB_OK},
                 {"\"long\"", "uint32", FB_OK},
                 {"\"integer\"", "uint16", FB_OK},
                 {"\"short\"", "uint8", FB_OK},
                 {"\"decimal(20,0)\"", "uint64", FB_OK},
                 {"\"decimal(20,1)\"", "uint64", FB_ESCHEMA},
                 {"\"string\"", "uuid", FB_OK},
                 {"\"string\"", "json", FB_OK},
                 {"\"string\"", "time", FB_OK},
                 {"\"string\"", "binary", FB_ESCHEMA},
                 {"\"long\"", "int32", FB_ESCHEMA},
                 {"\"integer\"", "int64", FB_ESCHEMA},
                 {"\"double\"", "float32", FB_ESCHEMA},
                 {"\"timestamp\"", "timestamp_ntz", FB_ESCHEMA},
                 {"\"decimal(9,2)\"", "decimal(9,2)", FB_OK},
                 {"\"decimal(9,2)\"", "decimal(10,2)", FB_ESCHEMA},
                 {"\"decimal(9,2)\"", "decimal(9,3)", FB_ESCHEMA},
                 {"{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}",
                  "int64", FB_ESCHEMA}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char     text[300];
        fb_error err;
        snprintf(text, sizeof text,
                 STRUCT("{\"name\":\"a\",\"type\":%s,\"nullable\":true,"
                        "\"metadata\":{}}"),
                 pairs[i].delta);
        CHECK_CODE(fits(text, "a", pairs[i].ours, true, &err), pairs[i].want, &err);
        if (pairs[i].want != FB_OK) CHECK(err.reason == FB_R_P012);
    }
}

TEST(a_column_that_is_missing_on_either_side_is_named)
{
    static const char two[] = STRUCT(
        FIELD("a", "\"long\"") ",{\"name\":\"b\",\"type\":\"long\",\"nullable\":false,"
                               "\"metadata\":{}}");
    fb_error err;
    CHECK_CODE(fits(STRUCT(FIELD("a", "\"long\"")), "A", "int64", true, &err), FB_ESCHEMA,
               &err);
    CHECK(err.reason == FB_R_P011);
    CHECK_HAS(err.what, "\"A\"");
    CHECK_CODE(fits(two, "a", "int64", true, &err), FB_ESCHEMA, &err);
    CHECK(err.reason == FB_R_P013);
    CHECK_HAS(err.what, "\"b\"");
    CHECK_CODE(fits(STRUCT(FIELD("a", "\"long\"") "," FIELD("b", "\"long\"")), "a",
                    "int64", true, &err),
               FB_OK, &err);
    CHECK_CODE(fits(STRUCT(FIELD("v", "\"void\"")), "v", "int64", true, &err), FB_ESCHEMA,
               &err);
}

TEST(nested_nulls_must_be_ruled_out_by_the_type)
{
    static const char list[] = STRUCT(FIELD(
        "a", "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":false}"));
    static const char inner[] = STRUCT(
        FIELD("a", "{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\","
                   "\"nullable\":false,\"metadata\":{}}]}"));
    fb_column element = column_of("element", "int64"), x = column_of("x", "int64");
    fb_column a = {.name = "a", .nullable = true};
    fb_schema rows = {.columns = &a, .count = 1};
    fb_error  err;
    for (int i = 0; i < 2; i++) {
        fb_schema  table = parse(i ? inner : list);
        fb_column *field = i ? &x : &element;
        a.type = (fb_type){.kind = i ? FB_KIND_STRUCT : FB_KIND_LIST,
                           .fields = field,
                           .fields_count = 1};
        CHECK_CODE(fb_delta_schema_fits(&table, &rows, &err), FB_ESCHEMA, &err);
        CHECK(err.reason == FB_R_P013);
        field->nullable = false;
        CHECK_CODE(fb_delta_schema_fits(&table, &rows, &err), FB_OK, &err);
        fb_schema_clear(&table);
    }
}
