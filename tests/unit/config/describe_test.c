/* describe_test.c - help, reference and JSON Schema say what the reader does. */
#include "config/describe.h"
#include "run/option_sets.h"
#include "tests/check.h"
#include "tests/unit/config/reading.h"

#include <yyjson.h>

static char *printed(void (*print)(FILE *))
{
    char  *text;
    size_t size;
    FILE  *to = open_memstream(&text, &size);
    print(to);
    fclose(to);
    return text;
}

static char *helped(const char *path, fb_code want)
{
    char    *text;
    size_t   size;
    fb_error err;
    FILE    *to = open_memstream(&text, &size);
    CHECK_CODE(fb_config_print_help(path, to, &err), want, &err);
    fclose(to);
    return text;
}

TEST(help_is_given_on_each_section_by_name_or_path)
{
    char *source = helped("source", FB_OK), *path = helped("pipelines.source", FB_OK);
    char *whole = helped("", FB_OK), *state = helped("pipelines.state", FB_OK);
    CHECK_TEXT(source, path);
    CHECK_HAS(source, "  max_wait_ms: whole number from 1 to 86400000 [default: 5000]\n");
    CHECK_HAS(source, "  sasl_password: secret: env://NAME, file:///path or ${NAME}\n");
    CHECK_HAS(source, "      Example: topic: orders\n");
    CHECK_HAS(whole, "  memory: size from 256MB to 1024GB [default: 1GB]\n");
    CHECK_HAS(state, "  store: one of target, file [default: target]\n");
    for (const char *line = source, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        CHECK(end - line <= 100);
    }
    free(source), free(path), free(whole), free(state);

    fb_error err;
    char    *nothing = helped("sorce", FB_EUSAGE);
    CHECK_TEXT(nothing, "");
    CHECK(fb_config_print_help("sorce", stdout, &err) == FB_EUSAGE);
    CHECK_TEXT(err.hint, "Did you mean \"source\"?");
    free(nothing);
}

TEST(the_reference_has_every_section)
{
    static const char *const wanted[] = {
        "# Configuration\n",
        "\n## `connections.NAME`\n",
        "\n## `pipelines.NAME.source`\n",
        "\n## `pipelines.NAME.schema.columns[]`\n",
        "\n## `pipelines.NAME.sink.accepted.delta`\n",
        "\n## `report`\n",
        "- **`type`** (text; required): ",
        "- **`severity`** (one of warn, reject, abort; default `reject`): ",
        NULL};
    char *text = printed(fb_config_write_reference);
    for (const char *const *one = wanted; *one; one++) CHECK_HAS(text, *one);
    free(text);
}

TEST(the_json_schema_is_json_and_knows_the_rows)
{
    char       *text = printed(fb_config_write_schema);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    REQUIRE(doc != NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    CHECK_TEXT(yyjson_get_str(yyjson_obj_get(root, "$schema")),
               "https://json-schema.org/draft/2020-12/schema");
    yyjson_val *source = yyjson_doc_ptr_get(
        doc, "/properties/pipelines/additionalProperties/properties/source");
    CHECK(yyjson_get_bool(yyjson_obj_get(source, "additionalProperties")) == false);
    yyjson_val *wait =
        yyjson_obj_get(yyjson_obj_get(source, "properties"), "max_wait_ms");
    CHECK_INT(yyjson_get_int(yyjson_obj_get(wait, "default")), 5000);
    CHECK_INT(yyjson_get_int(yyjson_ptr_get(wait, "/anyOf/0/maximum")), 86400000);
    yyjson_val *column =
        yyjson_doc_ptr_get(doc, "/properties/pipelines/additionalProperties/"
                                "properties/schema/properties/columns/items");
    CHECK_TEXT(yyjson_get_str(yyjson_ptr_get(column, "/required/0")), "name");
    CHECK(yyjson_ptr_get(source, "/properties/sasl_password/$ref") != NULL);
    CHECK(yyjson_ptr_get(source, "/properties/own") == NULL);
    yyjson_doc_free(doc);
    free(text);
}
