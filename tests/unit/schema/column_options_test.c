/* column_options_test.c - columns as a configuration declares them. */
#include "schema/column_options.h"
#include "tests/unit/config/reading.h"

static void schema_of(reading *r, const char *schema)
{
    char text[1000];
    snprintf(text, sizeof text,
             "pipelines:\n  p:\n    source: {path: 'kafka://h/t'}\n    schema:\n%s"
             "    sink: {accepted: {path: ./t}}\n",
             schema);
    reading_of(r, text);
}

static void says(const char *schema, const char *words)
{
    reading r;
    schema_of(&r, schema);
    CHECK(r.code != FB_OK);
    CHECK_HAS(r.shown, words);
    reading_end(&r);
}

TEST(columns_become_a_schema)
{
    reading   r;
    fb_schema schema;
    schema_of(&r, "      mode: lenient\n      columns:\n"
                  "        - {name: id, type: int64, nullable: false, unique: true}\n"
                  "        - {name: amount, type: 'decimal(12,2)', mode: strict}\n");
    CHECK_TEXT(r.shown, "");
    fb_schema_init(&schema);
    CHECK_CODE(fb_schema_from_options(&r.document.pipelines[0].schema, &schema, &r.err),
               FB_OK, &r.err);
    REQUIRE(schema.count == 2);
    CHECK_TEXT(schema.columns[0].name, "id");
    CHECK(schema.columns[0].type.kind == FB_KIND_INT64 && schema.columns[0].is_lenient);
    CHECK(!schema.columns[0].nullable && schema.columns[0].unique);
    CHECK(schema.columns[1].type.kind == FB_KIND_DECIMAL &&
          schema.columns[1].type.scale == 2);
    CHECK(schema.columns[1].nullable && !schema.columns[1].is_lenient);
    reading_end(&r);
    CHECK_TEXT(schema.columns[0].name, "id"); // it is the schema's own
    fb_schema_clear(&schema);
}

TEST(what_is_left_out_of_a_schema_has_its_defaults)
{
    reading r;
    schema_of(&r, "      columns: [{name: a, type: string}]\n");
    const fb_schema_options *s = &r.document.pipelines[0].schema;
    CHECK(s->mode == FB_MODE_STRICT && s->columns[0].mode == FB_MODE_STRICT);
    CHECK(s->columns[0].nullable && !s->columns[0].unique);
    CHECK(s->duplicate_keys == FB_DUPLICATES_REJECT &&
          s->tombstones == FB_TOMBSTONES_LAND);
    CHECK(s->mismatch.missing_columns == FB_MISSING_FILL_NULLS);
    CHECK(s->mismatch.extra_columns == FB_EXTRA_IGNORE);
    reading_end(&r);
}

TEST(a_type_that_is_not_known_is_shown_where_it_stands)
{
    says("      columns: [{name: a, type: strin}]\n", "forebay.yml:5:33: error: ");
    says("      columns: [{name: a, type: strin}]\n", "[FB-C130]");
}

TEST(a_column_has_a_name_and_a_type_of_its_own)
{
    says("      columns: [{type: string}]\n",
         "\"name\" is missing in \"column\" [FB-C106]");
    says("      columns: [{name: a}]\n", "\"type\" is missing in \"column\"");
    says("      columns:\n        - {name: Id, type: string}\n        - {name: iD, type: "
         "string}\n",
         "forebay.yml:7:18: error: column \"iD\" is declared twice, first on line 6 "
         "[FB-C103]");
    char   long_name[400] = "      columns: [{type: string, name: ";
    size_t used = strlen(long_name);
    memset(long_name + used, 'n', 256);
    strcpy(long_name + used + 256, "}]\n");
    says(long_name, "\"name\" has more than 255 bytes");
}
