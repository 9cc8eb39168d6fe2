/* delta_files_test.c - which files are live, and which tables have more than files. */
#include "fixture.h"

#define ADD(path, more)                                                                  \
    "{\"add\":{\"path\":\"" path                                                         \
    "\",\"partitionValues\":{},\"size\":7,\"modificationTime\":1,"                       \
    "\"dataChange\":true" more "}}\n"
#define REMOVE(path, more)                                                               \
    "{\"remove\":{\"path\":\"" path                                                      \
    "\",\"deletionTimestamp\":1,\"dataChange\":true" more "}}\n"
#define VECTOR(id)                                                                       \
    ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"" id                \
    "\",\"offset\":1,\"sizeInBytes\":1,\"cardinality\":1}"

static void check_files(fixture *f, fb_reason reason, const char *want)
{
    char           got[1000] = "";
    size_t         size = 0;
    fb_delta_files files;
    fb_delta      *table = fixture_table(f);
    fb_delta_files_init(&files);
    fb_code code = fb_delta_files_list(table, &files, &f->err);
    CHECK_TEXT(fb_reason_name(code == FB_OK ? FB_R_NONE : f->err.reason),
               fb_reason_name(reason));
    for (size_t i = 0; i < files.count; i++)
        size += (size_t)snprintf(got + size, sizeof got - size, "%s ",
                                 files.paths[i] + strlen(f->path) + 1);
    if (code == FB_OK) CHECK_TEXT(got, want);
    fb_delta_files_clear(&files);
    fb_delta_files_clear(&files);
    fb_delta_close(table);
}

TEST(the_newest_action_of_a_file_counts)
{
    fixture   f = fixture_open();
    bool      has = false;
    fb_delta *table;
    fixture_commit(&f, 0,
                   PROTOCOL_1_2 META_ID ADD("a", "") ADD("b", "") ADD("c%20d", ""));
    check_files(&f, FB_R_NONE, "a b c d ");
    fixture_commit(&f, 1, REMOVE("a", "") REMOVE("b", ""));
    fixture_commit(&f, 2, ADD("b", ""));
    check_files(&f, FB_R_NONE, "b c d ");
    fixture_commit(&f, 3, REMOVE("b", "") REMOVE("c%20d", ""));
    check_files(&f, FB_R_NONE, "");
    table = fixture_table(&f);
    CHECK_CODE(fb_delta_has_files(table, &has, &f.err), FB_OK, &f.err);
    CHECK(!has);
    fixture_commit(&f, 4, ADD("z", ""));
    CHECK_CODE(fb_delta_refresh(table, &f.err), FB_OK, &f.err);
    CHECK_CODE(fb_delta_has_files(table, &has, &f.err), FB_OK, &f.err);
    CHECK(has);
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(a_file_is_its_path_and_its_deletion_vector)
{
    fixture f = fixture_open();
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID ADD("a", ""));
    fixture_commit(&f, 1, REMOVE("a", "") ADD("a", VECTOR("x")));
    check_files(&f, FB_R_P018, NULL);
    CHECK_HAS(f.err.what, "\"deletionVectors\"");
    fixture_commit(&f, 2, REMOVE("a", VECTOR("x")) ADD("a", ""));
    check_files(&f, FB_R_NONE, "a ");
    fixture_close(&f);
}

TEST(paths_outside_of_the_table_are_never_listed)
{
    static const char *const paths[] = {ADD("/etc/passwd", ""),
                                        ADD("../x", ""),
                                        ADD("a/%2e%2e/%2E%2E/x", ""),
                                        ADD("file:///etc/x", ""),
                                        ADD("s3://bucket/x", ""),
                                        ADD("a%00b", ""),
                                        ADD("a%", "")};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        fixture f = fixture_open();
        char    log[2000];
        snprintf(log, sizeof log, "%s%s%s", PROTOCOL_1_2, META_ID, paths[i]);
        fixture_commit(&f, 0, log);
        check_files(&f, FB_R_P017, NULL);
        fixture_close(&f);
    }
}

TEST(an_absolute_path_and_its_url_are_one_file)
{
    fixture f = fixture_open();
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID ADD("/x/a", "") ADD("/x/b", ""));
    fixture_commit(&f, 1, REMOVE("file:/x/a", "") REMOVE("file:///x/b", ""));
    check_files(&f, FB_R_NONE, "");
    fixture_close(&f);
}

TEST(tables_whose_rows_are_not_just_those_of_their_files_are_refused)
{
    static const struct {
        const char *columns, *partitions, *configuration, *words;
    } tables[] = {
        {"{\\\"name\\\":\\\"p\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,"
         "\\\"metadata\\\":{}}",
         "\"p\"", "", "partitioned"},
        {"{\\\"name\\\":\\\"v\\\",\\\"type\\\":\\\"variant\\\",\\\"nullable\\\":true,"
         "\\\"metadata\\\":{}}",
         "", "", "variant"},
        {"", "", "\"delta.columnMapping.mode\":\"id\"", "\"columnMapping\""}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        fixture f = fixture_open();
        char    log[2000];
        snprintf(log, sizeof log,
                 "%s{\"metaData\":{\"id\":\"m\",\"format\":{},\"schemaString\":\"{"
                 "\\\"type\\\":"
                 "\\\"struct\\\",\\\"fields\\\":[%s]}\",\"partitionColumns\":[%s],"
                 "\"configuration\":{%s}}}\n",
                 PROTOCOL_1_2, tables[i].columns, tables[i].partitions,
                 tables[i].configuration);
        fixture_commit(&f, 0, log);
        check_files(&f, FB_R_P018, NULL);
        CHECK_HAS(f.err.what, tables[i].words);
        fixture_close(&f);
    }
}

TEST(a_folder_whose_name_is_a_pattern_is_taken_literally)
{
    fixture         f = fixture_open();
    fb_delta_result result;
    fb_delta       *table = NULL;
    char            odd[200], path[240];
    snprintf(odd, sizeof odd, "%s/t/[ab]*'", f.folder);
    CHECK_CODE(fb_delta_open(odd, f.engine, &table, &f.err), FB_OK, &f.err);
    for (int i = 0; i <= 10; i++)
        CHECK_CODE(fixture_append(&f, table, 2, MOVE("app", i ? i : -1, i + 1), &result),
                   FB_OK, &f.err);
    bool wrote = false;
    CHECK_CODE(fb_delta_checkpoint_if_due(table, &wrote, &f.err), FB_OK, &f.err);
    CHECK(wrote);
    fb_delta_close(table);
    CHECK_CODE(fb_delta_open(odd, f.engine, &table, &f.err), FB_OK, &f.err);
    CHECK_INT(fb_delta_version(table), 10);
    fb_delta_close(table);
    snprintf(path, sizeof path, "%s/_delta_log", odd);
    fb_dir_remove(path);
    fb_dir_remove(odd);
    fixture_close(&f);
}
