/* rejects_test.c - rejected rows as files of JSON lines, and as a Delta table. */
#include "sink/rejects.h"

#include "check/keeper.h"
#include "tests/unit/lake/fixture.h"

typedef struct sink {
    fixture             f;
    fb_rejected_options options;
    fb_rejects         *rejects;
    fb_schema           schema;
    fb_keeper          *keeper;
} sink;

static void begin(sink *s, int format)
{
    *s = (sink){.f = fixture_open()};
    s->options = (fb_rejected_options){.format = format, .path = s->f.path};
    fb_keeper_options keeping = {
        .pipeline = "p", .run_id = "r", .topic = "t", .severity = "reject"};
    fb_schema_init(&s->schema);
    CHECK_CODE(fb_keeper_schema(&s->schema, &s->f.err), FB_OK, &s->f.err);
    CHECK_CODE(fb_keeper_open(s->f.engine, &keeping, &s->keeper, &s->f.err), FB_OK,
               &s->f.err);
    CHECK_CODE(fb_rejects_open(&s->options, s->f.engine, &s->rejects, &s->f.err), FB_OK,
               &s->f.err);
}

static void finish(sink *s)
{
    fb_rejects_close(s->rejects);
    fb_keeper_free(s->keeper);
    fb_schema_clear(&s->schema);
    fixture_close(&s->f);
}

static void refuse(sink *s, int32_t partition, int64_t offset, const char *value,
                   size_t size)
{
    fb_refuser  to = fb_keeper_refuser(s->keeper);
    fb_refusals why;
    fb_record   record = {
          .partition = partition, .offset = offset, .value = value, .value_size = size};
    fb_refusals_init(&why);
    fb_refuse(&why, FB_REFUSAL_BAD_JSON, NULL, NULL, 0);
    CHECK_CODE(to.keep(to.self, &record, &why, &s->f.err), FB_OK, &s->f.err);
    fb_refusals_clear(&why);
}

static fb_code keep(sink *s, const char *relation, fb_book book, const char *repeat)
{
    fb_books         books = {&book, 1};
    fb_rejects_batch batch = {.relation = relation,
                              .schema = &s->schema,
                              .prefix = "t",
                              .repeat = repeat,
                              .books = &books,
                              .about = "{}"};
    return fb_rejects_write(s->rejects, &batch, &s->f.err);
}

#define FIRST "t-0-00000000000000000000.ndjson"

TEST(a_file_is_named_after_the_place_its_window_begins_at_and_replaced_by_the_next_try)
{
    sink   s;
    fb_buf text;
    begin(&s, FB_REJECTED_NDJSON);
    refuse(&s, 0, 3, "one", 3);
    refuse(&s, 0, 7, "\xff\x00", 2);
    refuse(&s, 1, 1, "other", 5);
    CHECK_CODE(fb_keeper_finish(s.keeper, &s.f.err), FB_OK, &s.f.err);
    CHECK_CODE(keep(&s, FB_KEEPER_TABLE, (fb_book){.next = 10, .delivered = 10}, NULL),
               FB_OK, &s.f.err);
    text = fixture_get(&s.f, FIRST);
    CHECK_HAS(fb_buf_text(&text), "\"_kafka_value\":\"one\"");
    CHECK_HAS(fb_buf_text(&text),
              "\"_kafka_value\":null,\"_kafka_value_base64\":\"/wA=\"");
    CHECK(!strstr(fb_buf_text(&text), "other"));
    fb_buf_clear(&text);
    CHECK_CODE(keep(&s, "(FROM fb_refused WHERE _kafka_offset < 5)",
                    (fb_book){.next = 5, .delivered = 5}, NULL),
               FB_OK, &s.f.err);
    text = fixture_get(&s.f, FIRST);
    CHECK(!strstr(fb_buf_text(&text), "\"_kafka_offset\":7"));
    fb_buf_clear(&text);
    finish(&s);
}

TEST(a_window_without_rejects_removes_what_an_earlier_try_at_it_left)
{
    sink s;
    begin(&s, FB_REJECTED_NDJSON);
    refuse(&s, 0, 3, "one", 3);
    CHECK_CODE(fb_keeper_finish(s.keeper, &s.f.err), FB_OK, &s.f.err);
    CHECK_CODE(keep(&s, FB_KEEPER_TABLE, (fb_book){.next = 10, .delivered = 10}, NULL),
               FB_OK, &s.f.err);
    /* A window that does not move leaves the file to the one that will. */
    CHECK_CODE(keep(&s, "(FROM fb_refused WHERE false)", (fb_book){.next = 0}, NULL),
               FB_OK, &s.f.err);
    CHECK(fixture_has(&s.f, FIRST));
    /* One that moves over gaps alone does not. */
    CHECK_CODE(
        keep(&s, "(FROM fb_refused WHERE false)", (fb_book){.next = 3, .gaps = 3}, NULL),
        FB_OK, &s.f.err);
    CHECK(!fixture_has(&s.f, FIRST));
    finish(&s);
}

TEST(a_second_reading_has_files_of_its_own)
{
    sink s;
    begin(&s, FB_REJECTED_NDJSON);
    refuse(&s, 0, 3, "one", 3);
    CHECK_CODE(fb_keeper_finish(s.keeper, &s.f.err), FB_OK, &s.f.err);
    CHECK_CODE(keep(&s, FB_KEEPER_TABLE, (fb_book){.next = 10, .delivered = 10}, NULL),
               FB_OK, &s.f.err);
    CHECK_CODE(keep(&s, FB_KEEPER_TABLE, (fb_book){.next = 5, .delivered = 5}, "r2"),
               FB_OK, &s.f.err);
    CHECK(fixture_has(&s.f, FIRST));
    CHECK(fixture_has(&s.f, "t-0-00000000000000000000-r2.ndjson"));
    finish(&s);
}

TEST(a_folder_of_files_is_locked_while_it_is_open)
{
    sink     s;
    fb_lock  lock = FB_LOCK_NONE;
    fb_error err;
    char     path[128];
    begin(&s, FB_REJECTED_NDJSON);
    snprintf(path, sizeof path, "%s/.lock", s.f.path);
    CHECK_CODE(fb_lock_take(&lock, path, "test", 0, &err), FB_EBUSY, &err);
    fb_rejects_close(s.rejects);
    s.rejects = NULL;
    CHECK_CODE(fb_lock_take(&lock, path, "test", 0, &err), FB_OK, &err);
    fb_lock_release(&lock);
    finish(&s);
}

TEST(nothing_is_committed_to_a_delta_table_when_no_row_is_new)
{
    sink s;
    begin(&s, FB_REJECTED_DELTA);
    refuse(&s, 0, 3, "one", 3);
    CHECK_CODE(fb_keeper_finish(s.keeper, &s.f.err), FB_OK, &s.f.err);
    CHECK_CODE(keep(&s, "(FROM fb_refused WHERE false)", (fb_book){.next = 10}, NULL),
               FB_OK, &s.f.err);
    CHECK(!fb_delta_exists(fb_rejects_table(s.rejects)));
    CHECK_CODE(keep(&s, FB_KEEPER_TABLE, (fb_book){.next = 10}, NULL), FB_OK, &s.f.err);
    CHECK_INT(fb_delta_version(fb_rejects_table(s.rejects)), 0);
    finish(&s);
}
