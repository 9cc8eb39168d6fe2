/* positions_test.c - positions in the table's txns, and in a file beside them. */
#include "offsets/positions.h"

#include "tests/unit/lake/fixture.h"

static fb_column id_column;

/* A pipeline "p/1" of topic "t" whose state is in the fixture's folder. */
typedef struct world {
    fixture            f;
    fb_delta          *table;
    char               state[80], document[96];
    fb_positions_place place;
    fb_positions       got;
} world;

static void begin(world *w, bool with_file)
{
    *w = (world){.f = fixture_open()};
    id_column = column_of("id", "int64");
    w->table = fixture_table(&w->f);
    snprintf(w->state, sizeof w->state, "%s/s", w->f.folder);
    snprintf(w->document, sizeof w->document, "%s/s/offsets.json", w->f.folder);
    w->place = (fb_positions_place){.pipeline = "p/1",
                                    .topic = "t",
                                    .state_folder = w->state,
                                    .file = with_file ? w->document : NULL};
}

static void finish(world *w)
{
    fb_positions_clear(&w->got);
    fb_delta_close(w->table);
    fb_dir_remove(w->state);
    fixture_close(&w->f);
}

static fb_code load(world *w, const char *topic_id)
{
    static const int32_t two[] = {0, 1};
    fb_positions_clear(&w->got);
    CHECK_CODE(fb_delta_refresh(w->table, &w->f.err), FB_OK, &w->f.err);
    return fb_positions_load(&w->place, w->table, &(fb_positions_ask){topic_id, two, 2},
                             &w->got, &w->f.err);
}

static int64_t next_of(const world *w, int32_t partition)
{
    return fb_positions_find(&w->got, partition)->next;
}

/* Partition 0 goes to `next`; of the way of a commit the parts that are asked for. */
enum { INTEND = 1, COMMIT = 2, KEEP = 4, ALL = 7 };

static void go(world *w, int64_t next, int parts)
{
    fb_schema        schema = {.columns = &id_column, .count = 1};
    fb_book          book = {.partition = 0, .next = next};
    fb_books         moves = {&book, 1};
    fb_position_txns txns;
    fb_delta_result  done;
    CHECK_CODE(fb_position_txns_make(&w->place, &w->got, &moves, &txns, &w->f.err), FB_OK,
               &w->f.err);
    if (parts & INTEND)
        CHECK_CODE(fb_positions_intend(&w->place, &w->got, &moves, &w->f.err), FB_OK,
                   &w->f.err);
    if (parts & COMMIT)
        CHECK_CODE(fb_delta_commit_run(w->table,
                                       &(fb_delta_commit){.schema = &schema,
                                                          .txns = txns.list,
                                                          .txns_count = txns.count},
                                       &done, &w->f.err),
                   FB_OK, &w->f.err);
    if (parts & KEEP)
        CHECK_CODE(fb_positions_kept(&w->place, &w->got, &moves, fb_delta_id(w->table),
                                     &w->f.err),
                   FB_OK, &w->f.err);
    fb_position_txns_clear(&txns);
}

static void write_document(world *w, const char *text)
{
    CHECK_CODE(fb_dir_make(w->state, &w->f.err), FB_OK, &w->f.err);
    CHECK_CODE(fb_file_replace(w->document, text, strlen(text), &w->f.err), FB_OK,
               &w->f.err);
}

#define DOCUMENT(rest)                                                                   \
    "{\"schema\":\"floe.state.kafka-offset.v1\",\"entity\":\"p/1\"," rest "}"

/* --- names ---------------------------------------------------------------------------- */

TEST(an_app_id_keeps_its_parts_apart)
{
    char               id[FB_MAX_APP_ID];
    fb_error           err;
    fb_positions_place place = {.pipeline = "a/b%c", .topic = "t"};
    CHECK_CODE(fb_positions_app_id(&place, "t", 7, id, &err), FB_OK, &err);
    CHECK_TEXT(id, "forebay/a%2Fb%25c/t/7");
}

/* --- store: target -------------------------------------------------------------------- */

TEST(a_first_start_has_no_positions_and_the_next_has_what_was_committed)
{
    world w;
    begin(&w, false);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK(!w.got.has_any && next_of(&w, 0) == -1);
    go(&w, 40, ALL);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK(w.got.has_any);
    CHECK_INT(next_of(&w, 0), 40);
    CHECK_INT(next_of(&w, 1), -1);
    finish(&w);
}

TEST(positions_that_another_writer_moved_are_found_out)
{
    world        w;
    fb_positions old;
    begin(&w, false);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    old = w.got;
    w.got = (fb_positions){0};
    CHECK_CODE(fb_positions_check(&w.place, w.table, &old, &w.f.err), FB_OK, &w.f.err);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 50, ALL);
    CHECK_CODE(fb_positions_check(&w.place, w.table, &old, &w.f.err), FB_ECONFLICT,
               &w.f.err);
    CHECK_HAS(w.f.err.what,
              "partition 0 of topic \"t\" was committed by another writer up to "
              "offset 50");
    fb_positions_clear(&old);
    finish(&w);
}

TEST(another_id_of_the_topic_is_noticed_and_begins_a_series_of_its_own)
{
    world w;
    begin(&w, false);
    CHECK_CODE(load(&w, "first"), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    CHECK_CODE(load(&w, "first"), FB_OK, &w.f.err);
    CHECK(!w.got.is_recreated);
    CHECK_CODE(load(&w, "second"), FB_OK, &w.f.err);
    CHECK(w.got.is_recreated);
    CHECK_CODE(fb_positions_restart(&w.got, "t", &w.f.err), FB_OK, &w.f.err);
    CHECK_TEXT(w.got.series, "t@second");
    CHECK_INT(next_of(&w, 0), -1);
    go(&w, 10, ALL);
    CHECK_CODE(load(&w, "second"), FB_OK, &w.f.err);
    CHECK(!w.got.is_recreated && w.got.has_any);
    CHECK_INT(next_of(&w, 0), 10);
    finish(&w);
}

TEST(another_id_of_the_topic_is_noticed_where_only_other_partitions_have_positions)
{
    world w;
    begin(&w, false);
    CHECK_CODE(load(&w, "first"), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    fb_positions_clear(&w.got);
    CHECK_CODE(fb_positions_load(&w.place, w.table,
                                 &(fb_positions_ask){"second", (int32_t[]){1}, 1}, &w.got,
                                 &w.f.err),
               FB_OK, &w.f.err);
    CHECK(w.got.is_recreated);
    finish(&w);
}

TEST(a_position_that_the_table_lost_is_not_taken_for_a_first_start)
{
    world w;
    begin(&w, false);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    fb_delta_close(w.table);
    fixture_put(&w.f, "_delta_log/00000000000000000000.json", PROTOCOL_1_2 META_ID);
    w.table = fixture_table(&w.f);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err); // another table's id: all is new
    CHECK_CODE(fb_positions_kept(&w.place, &w.got,
                                 &(fb_books){&(fb_book){.partition = 0, .next = 40}, 1},
                                 "m", &w.f.err),
               FB_OK, &w.f.err);
    CHECK_CODE(load(&w, ""), FB_EGAP, &w.f.err);
    CHECK_HAS(w.f.err.what, "t[0]");
    CHECK_HAS(w.f.err.hint, "--to 0:40");
    finish(&w);
}

TEST(moving_positions_of_a_topic_made_again_leaves_the_old_ones_behind)
{
    world    w;
    fb_book  book = {.partition = 1, .next = 5};
    fb_books moves = {&book, 1};
    begin(&w, false);
    CHECK_CODE(load(&w, "first"), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    CHECK_CODE(load(&w, "second"), FB_OK, &w.f.err);
    CHECK_CODE(fb_positions_move(&w.place, w.table, &w.got, &moves, "again", &w.f.err),
               FB_OK, &w.f.err);
    CHECK_CODE(load(&w, "second"), FB_OK, &w.f.err);
    CHECK(!w.got.is_recreated);
    CHECK_INT(next_of(&w, 0), -1);
    CHECK_INT(next_of(&w, 1), 5);
    finish(&w);
}

/* --- store: file ---------------------------------------------------------------------- */

TEST(an_intent_counts_just_when_its_commit_happened)
{
    world w;
    begin(&w, true);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 50, INTEND); // dies before the commit
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 40);
    go(&w, 60, INTEND | COMMIT); // dies behind it
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 60);
    finish(&w);
}

TEST(a_document_written_by_one_who_was_overtaken_does_not_count)
{
    world        w;
    fb_positions slow;
    begin(&w, true);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    slow = w.got;
    w.got = (fb_positions){0};
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 90, ALL); // the fast one
    fb_positions_clear(&w.got);
    w.got = slow;
    go(&w, 50, INTEND); // the slow one: its commit would fail
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 90);
    finish(&w);
}

TEST(what_is_kept_late_does_not_set_a_position_back)
{
    world        w;
    fb_positions slow;
    begin(&w, true);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 40, INTEND | COMMIT); // sleeps behind its commit
    slow = w.got;
    w.got = (fb_positions){0};
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 90, ALL);
    fb_positions_clear(&w.got);
    w.got = slow;
    go(&w, 40, KEEP); // and wakes up
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 90);
    finish(&w);
}

TEST(offsets_that_a_person_wrote_are_where_the_next_run_begins)
{
    world w;
    begin(&w, true);
    write_document(&w, DOCUMENT("\"updated_at\":null,\"offsets\":{\"0\":7}"));
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 7);
    CHECK_INT(next_of(&w, 1), -1);
    go(&w, 40, ALL);
    write_document(&w,
                   DOCUMENT("\"offsets\":{\"0\":9},\"forebay\":{\"table\":{\"0\":40}}"));
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 9);
    write_document(&w, DOCUMENT("\"offsets\":{\"0\":8}"));
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK_INT(next_of(&w, 0), 8);
    finish(&w);
}

TEST(a_document_that_is_gone_leaves_the_positions_of_the_table)
{
    world w;
    begin(&w, true);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    go(&w, 40, ALL);
    fb_file_remove(w.document);
    CHECK_CODE(load(&w, ""), FB_OK, &w.f.err);
    CHECK(w.got.has_any);
    CHECK_INT(next_of(&w, 0), 40);
    finish(&w);
}

TEST(a_document_of_another_pipeline_or_none_at_all_is_refused)
{
    static const char *const bad[] = {
        "", "[]", "{\"schema\":\"x\",\"entity\":\"p/1\"}",
        "{\"schema\":\"floe.state.kafka-offset.v1\",\"entity\":\"q\",\"offsets\":{}}"};
    world w;
    begin(&w, true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_document(&w, bad[i]);
        CHECK(load(&w, "") != FB_OK);
        CHECK_INT(w.f.err.reason, FB_R_O010);
    }
    finish(&w);
}

TEST(a_document_of_the_topic_before_is_noticed_also_beside_a_new_table)
{
    world w;
    begin(&w, true);
    write_document(
        &w, DOCUMENT("\"offsets\":{\"0\":9},\"forebay\":{\"topic_id\":\"first\"}"));
    CHECK_CODE(load(&w, "second"), FB_OK, &w.f.err);
    CHECK(w.got.is_recreated);
    CHECK_CODE(load(&w, "first"), FB_OK, &w.f.err);
    CHECK(!w.got.is_recreated);
    finish(&w);
}
