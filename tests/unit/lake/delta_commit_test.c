/* delta_commit_test.c - commits against other writers, lost answers, and kills. */
#include "fixture.h"

/* --- a store whose put_new another writer, or the weather, gets at first ------------ */

typedef struct weather_store weather_store;
struct weather_store {
    fb_store  base;
    fb_store *inner;
    fb_code (*put_new)(weather_store *store, const char *key, const void *data,
                       size_t size, fb_error *err);
    int      calls; ///< of put_new for commits
    fixture *f;
};

static weather_store *weather(fb_store *store) { return (weather_store *)store; }

static fb_code w_get(fb_store *s, const char *key, fb_buf *out, fb_error *err)
{
    return weather(s)->inner->ops->get(weather(s)->inner, key, out, err);
}

static fb_code w_put_new(fb_store *s, const char *key, const void *data, size_t size,
                         fb_error *err)
{
    if (!strstr(key, ".json"))
        return weather(s)->inner->ops->put_new(weather(s)->inner, key, data, size, err);
    weather(s)->calls++;
    return weather(s)->put_new(weather(s), key, data, size, err);
}

static fb_code w_put(fb_store *s, const char *key, const void *data, size_t size,
                     fb_error *err)
{
    return weather(s)->inner->ops->put(weather(s)->inner, key, data, size, err);
}

static fb_code w_list(fb_store *s, const char *folder, const char *after,
                      fb_store_visit visit, void *context, fb_error *err)
{
    return weather(s)->inner->ops->list(weather(s)->inner, folder, after, visit, context,
                                        err);
}

static fb_code w_size(fb_store *s, const char *key, int64_t *size, int64_t *ms,
                      fb_error *err)
{
    return weather(s)->inner->ops->size(weather(s)->inner, key, size, ms, err);
}

static fb_code w_remove(fb_store *s, const char *key, fb_error *err)
{
    return weather(s)->inner->ops->remove(weather(s)->inner, key, err);
}

static fb_code w_locate(fb_store *s, const char *key, bool to_write, char *path,
                        fb_error *err)
{
    return weather(s)->inner->ops->locate(weather(s)->inner, key, to_write, path, err);
}

static fb_code w_settle(fb_store *s, const char *key, fb_error *err)
{
    return weather(s)->inner->ops->settle(weather(s)->inner, key, err);
}

static fb_code w_move(fb_store *s, const char *from, const char *to, fb_error *err)
{
    return weather(s)->inner->ops->move(weather(s)->inner, from, to, err);
}

static void w_close(fb_store *s) { weather(s)->inner->ops->close(weather(s)->inner); }

static const fb_store_ops weather_ops = {w_get,    w_put_new, w_put,    w_list, w_size,
                                         w_remove, w_locate,  w_settle, w_move, w_close};

/* Open the fixture's table on a store with this weather. */
static fb_delta *open_weather(weather_store *store, fixture *f,
                              fb_code (*put_new)(weather_store *, const char *,
                                                 const void *, size_t, fb_error *))
{
    fb_delta *table = NULL;
    *store = (weather_store){.base = {&weather_ops}, .put_new = put_new, .f = f};
    CHECK_CODE(fb_store_local_open(f->path, &store->inner, &f->err), FB_OK, &f->err);
    CHECK_CODE(fb_delta_open_on(&store->base, f->path, f->engine, &table, &f->err), FB_OK,
               &f->err);
    return table;
}

static fb_code pass_on(weather_store *s, const char *key, const void *data, size_t size,
                       fb_error *err)
{
    return s->inner->ops->put_new(s->inner, key, data, size, err);
}

/* --- one writer --------------------------------------------------------------------- */

TEST(the_first_commit_creates_the_table_with_its_rows_and_positions)
{
    fixture         f = fixture_open();
    fb_delta_result result;
    int64_t         version = 0;
    fb_delta       *table = fixture_table(&f);
    CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", -1, 30), &result), FB_OK, &f.err);
    CHECK_INT(result.version, 0);
    CHECK(result.created && !result.was_unknown);
    CHECK_INT(result.attempts, 1);
    CHECK(fb_delta_exists(table) && fb_delta_schema(table)->count == 1);
    CHECK(fb_delta_txn_find(table, "app", &version, NULL));
    CHECK_INT(version, 30);
    fb_delta_close(table);
    fb_buf log = fixture_get(&f, "_delta_log/00000000000000000000.json");
    CHECK_HAS(log.data,
              "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n");
    CHECK_HAS(log.data, "\"operation\":\"STREAMING UPDATE\"");
    CHECK_HAS(log.data, "\"isBlindAppend\":true,\"engineInfo\":\"forebay/0.1.0\"");
    CHECK_HAS(log.data, result.txn_id.text);
    CHECK_HAS(log.data, "\"numOutputRows\":\"3\"");
    CHECK(strncmp(log.data, "{\"commitInfo\":", 14) == 0);
    fb_buf_clear(&log);
    CHECK_INT(fixture_rows(&f), 3);
    fixture_close(&f);
}

TEST(a_table_with_local_timestamps_lists_the_feature_they_need)
{
    fixture         f = fixture_open();
    fb_column       n = column_of("n", "timestamp_ntz");
    fb_schema       schema = {.columns = &n, .count = 1};
    fb_delta_commit commit = {.schema = &schema};
    fb_delta_result result;
    fb_delta       *table = fixture_table(&f);
    CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_OK, &f.err);
    CHECK(fb_delta_has_feature(table, "timestampNtz"));
    CHECK_CODE(fb_delta_check_append(table, &schema, &f.err), FB_OK, &f.err);
    fb_delta_close(table);
    fb_buf log = fixture_get(&f, "_delta_log/00000000000000000000.json");
    CHECK_HAS(log.data,
              "\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":"
              "[\"timestampNtz\"]");
    fb_buf_clear(&log);
    fixture_close(&f);
}

TEST(the_request_reaches_the_log_word_for_word)
{
    static const fb_delta_pair properties[] = {{"delta.checkpointInterval", "7"},
                                               {"owner", "a \"b\""}};
    fixture                    f = fixture_open();
    fb_column                  id = column_of("id", "int64");
    fb_schema                  schema = {.columns = &id, .count = 1};
    fb_delta_txn               txns[] = {{.app_id = "a/\"1\"", .expected = -1, .next = 5},
                                         {.app_id = "a/2", .expected = -1, .next = 6}};
    fb_delta_commit            commit = {.schema = &schema,
                                         .txns = txns,
                                         .txns_count = 2,
                                         .operation = "WRITE",
                                         .books = "{\"delivered\":[1,2]}",
                                         .domain = "forebay.x",
                                         .domain_text = "t",
                                         .created_name = "orders",
                                         .created_properties = properties,
                                         .created_properties_count = 2};
    fb_delta_result            result;
    fb_delta                  *table = fixture_table(&f);
    CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_OK, &f.err);
    CHECK_TEXT(fb_delta_property(table, "owner"), "a \"b\"");
    CHECK(fb_delta_domain(table, "forebay.x") == NULL); // the table has not the feature
    fb_delta_close(table);
    fb_buf log = fixture_get(&f, "_delta_log/00000000000000000000.json");
    CHECK_HAS(log.data, "\"operation\":\"WRITE\"");
    CHECK_HAS(log.data, "\"forebay\":{\"delivered\":[1,2]}");
    CHECK_HAS(log.data, "\"name\":\"orders\"");
    CHECK_HAS(log.data,
              "{\"txn\":{\"appId\":\"a/\\\"1\\\"\",\"version\":5,\"lastUpdated\":");
    CHECK(!strstr(log.data, "domainMetadata"));
    fb_buf_clear(&log);
    fixture_close(&f);
}

TEST(a_property_that_needs_a_feature_cannot_be_set_on_creation)
{
    static const char *const keys[] = {"delta.enableDeletionVectors",
                                       "delta.constraints.a", "delta.columnMapping.mode",
                                       "delta.feature.x"};
    fixture                  f = fixture_open();
    fb_delta                *table = fixture_table(&f);
    for (size_t i = 0; i < 4; i++) {
        fb_column       id = column_of("id", "int64");
        fb_schema       schema = {.columns = &id, .count = 1};
        fb_delta_pair   pair = {keys[i], "true"};
        fb_delta_commit commit = {.schema = &schema,
                                  .created_properties = &pair,
                                  .created_properties_count = 1};
        fb_delta_result result;
        CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_EUNSUPPORTED,
                   &f.err);
        CHECK(f.err.reason == FB_R_P015);
    }
    fb_delta_close(table);
    fixture_close(&f);
}

/* --- two writers -------------------------------------------------------------------- */

TEST(a_position_that_another_writer_moved_refuses_the_commit_and_writes_nothing)
{
    fixture         f = fixture_open();
    fb_delta_result result;
    fb_delta       *one = fixture_table(&f), *two = fixture_table(&f);
    CHECK_CODE(fixture_append(&f, one, 1, MOVE("app", -1, 10), &result), FB_OK, &f.err);
    CHECK_CODE(fixture_append(&f, two, 1, MOVE("app", -1, 10), &result), FB_ECONFLICT,
               &f.err);
    CHECK(f.err.reason == FB_R_P020);
    CHECK_HAS(f.err.what, "app was committed by another writer up to offset 10");
    CHECK_CODE(fixture_append(&f, two, 1, MOVE("app", 9, 20), &result), FB_ECONFLICT,
               &f.err);
    CHECK_CODE(fixture_append(&f, two, 1, MOVE("other", 9, 20), &result), FB_ECONFLICT,
               &f.err);
    CHECK_HAS(f.err.what, "other has no position in the table, and 9 was expected");
    CHECK_CODE(fixture_append(&f, two, 1, MOVE("app", 10, 20), &result), FB_OK, &f.err);
    CHECK_CODE(fixture_append(&f, one, 1, MOVE("app", 10, 20), &result), FB_ECONFLICT,
               &f.err);
    fb_delta_close(one);
    fb_delta_close(two);
    CHECK_INT(fixture_rows(&f), 2);
    fixture_close(&f);
}

TEST(writers_of_different_partitions_take_turns_and_both_land)
{
    fixture         f = fixture_open();
    fb_delta_result result;
    fb_delta       *tables[2] = {fixture_table(&f), fixture_table(&f)};
    for (int i = 0; i < 10; i++) {
        const char *app = i % 2 ? "b" : "a";
        int64_t     now = i / 2;
        CHECK_CODE(fixture_append(&f, tables[i % 2], 1,
                                  MOVE(app, now ? now : -1, now + 1), &result),
                   FB_OK, &f.err);
        CHECK_INT(result.version, i);
    }
    fb_delta_close(tables[0]);
    fb_delta_close(tables[1]);
    CHECK_INT(fixture_rows(&f), 10);
    fixture_close(&f);
}

/* Another writer takes the version between our reading and our claim. */
static fb_code taken_once(weather_store *s, const char *key, const void *data,
                          size_t size, fb_error *err)
{
    fb_delta_result result;
    if (s->calls == 1) {
        fb_delta *other = fixture_table(s->f);
        CHECK_CODE(fixture_append(s->f, other, 5, MOVE("other", -1, 1), &result), FB_OK,
                   &s->f->err);
        fb_delta_close(other);
    }
    return pass_on(s, key, data, size, err);
}

TEST(a_lost_race_is_retried_with_the_same_files)
{
    fixture         f = fixture_open();
    weather_store   store;
    fb_delta_result result;
    fb_delta       *table = fixture_table(&f);
    CHECK_CODE(fixture_append(&f, table, 1, STAY, &result), FB_OK, &f.err);
    fb_delta_close(table);
    table = open_weather(&store, &f, taken_once);
    CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", -1, 7), &result), FB_OK, &f.err);
    CHECK_INT(result.version, 2);
    CHECK_INT(result.attempts, 2);
    fb_delta_close(table);
    CHECK_INT(fixture_rows(&f), 9);
    fixture_close(&f);
}

TEST(a_race_for_the_first_version_is_lost_and_gone_on_from)
{
    fixture         f = fixture_open();
    weather_store   store;
    fb_delta_result result;
    fb_delta       *table = open_weather(&store, &f, taken_once);
    CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", -1, 7), &result), FB_OK, &f.err);
    CHECK_INT(result.version, 1);
    CHECK(!result.created);
    fb_delta_close(table);
    CHECK_INT(fixture_rows(&f), 8);
    fb_buf log = fixture_get(&f, "_delta_log/00000000000000000001.json");
    CHECK(!strstr(log.data, "metaData"));
    fb_buf_clear(&log);
    fixture_close(&f);
}

/* Another writer changes the table in the version that we wanted. */
static const char *change;

static fb_code changed_once(weather_store *s, const char *key, const void *data,
                            size_t size, fb_error *err)
{
    if (s->calls == 1) fixture_put(s->f, key, change);
    return pass_on(s, key, data, size, err);
}

static fb_code append_while(const char *what, fb_delta_result *result, fb_error *err)
{
    fixture       f = fixture_open();
    weather_store store;
    change = what;
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fb_delta *table = open_weather(&store, &f, changed_once);
    fb_code   code = fixture_append(&f, table, 1, STAY, result);
    *err = f.err;
    fb_delta_close(table);
    fixture_close(&f);
    return code;
}

#define META_OF(fields)                                                                  \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"  \
    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" fields "]}\","    \
    "\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}}\n"
#define FIELD_OF(name, type, nullable)                                                   \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"" type                              \
    "\\\",\\\"nullable\\\":" nullable ",\\\"metadata\\\":{}}"

TEST(a_table_that_changes_under_a_commit_is_judged_again)
{
    fb_error        err;
    fb_delta_result result;
    CHECK_CODE(append_while(META_OF(FIELD_OF("id", "long", "true") "," FIELD_OF(
                                "new", "string", "true")),
                            &result, &err),
               FB_OK, &err);
    CHECK_INT(result.version, 2);
    CHECK_CODE(append_while(META_OF(FIELD_OF("id", "integer", "true")), &result, &err),
               FB_ESCHEMA, &err);
    CHECK(err.reason == FB_R_P012);
    CHECK_CODE(append_while(META_OF(FIELD_OF("id", "long", "true") "," FIELD_OF(
                                "new", "string", "false")),
                            &result, &err),
               FB_ESCHEMA, &err);
    CHECK(err.reason == FB_R_P013);
    CHECK_CODE(
        append_while("{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,"
                     "\"writerFeatures\":[\"fooX\"]}}\n",
                     &result, &err),
        FB_EUNSUPPORTED, &err);
    CHECK_HAS(err.what, "\"fooX\"");
    CHECK_CODE(
        append_while("{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}\n",
                     &result, &err),
        FB_OK, &err);
}

static fb_code always_taken(weather_store *s, const char *key, const void *data,
                            size_t size, fb_error *err)
{
    fixture_put(s->f, key, "{\"commitInfo\":{\"txnId\":\"other\"}}\n");
    return pass_on(s, key, data, size, err);
}

TEST(a_commit_gives_up_at_its_deadline_with_nothing_written)
{
    fixture         f = fixture_open();
    weather_store   store;
    fb_delta_result result;
    fb_delta_commit commit = {.deadline_ms = 60};
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fb_delta *table = open_weather(&store, &f, always_taken);
    CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_EBUSY, &f.err);
    CHECK(f.err.reason == FB_R_P021);
    CHECK_INT(result.attempts, store.calls);
    CHECK(store.calls > 1 && fb_delta_version(table) >= store.calls - 1);
    fb_delta_close(table);
    fixture_close(&f);
}

/* --- lost answers ------------------------------------------------------------------- */

TEST(a_lost_answer_is_read_back_and_found)
{
    static const char *const points[] = {"store.put_new.linked:unknown",
                                         "store.put_new.dir_synced:error=EIO",
                                         "delta.commit.written:unknown"};
    for (size_t i = 0; i < 3; i++) {
        fixture         f = fixture_open();
        fb_delta_result result;
        fb_delta       *table = fixture_table(&f);
        CHECK_CODE(fixture_append(&f, table, 2, MOVE("app", -1, 1), &result), FB_OK,
                   &f.err);
        fixture_arm(points[i]);
        CHECK_CODE(fixture_append(&f, table, 2, MOVE("app", 1, 2), &result), FB_OK,
                   &f.err);
        fixture_arm(NULL);
        CHECK(result.was_unknown);
        CHECK_INT(result.version, 1);
        CHECK_INT(fb_delta_version(table), 1);
        CHECK_CODE(fixture_append(&f, table, 2, MOVE("app", 2, 3), &result), FB_OK,
                   &f.err);
        fb_delta_close(table);
        CHECK_INT(fixture_rows(&f), 6);
        fixture_close(&f);
    }
}

/* The answer is lost, and nothing was written. */
static fb_code lost_once(weather_store *s, const char *key, const void *data, size_t size,
                         fb_error *err)
{
    return s->calls == 1 ? fb_fail(err, S010, "timed out")
                         : pass_on(s, key, data, size, err);
}

/* The answer is lost, and another writer has the version. */
static fb_code lost_and_taken_once(weather_store *s, const char *key, const void *data,
                                   size_t size, fb_error *err)
{
    if (s->calls > 1) return pass_on(s, key, data, size, err);
    fixture_put(s->f, key, "{\"commitInfo\":{\"txnId\":\"other\"}}\n");
    return fb_fail(err, S010, "timed out");
}

/* The answer is lost, and our lines arrive when we send them again. */
static fb_code arrives_late(weather_store *s, const char *key, const void *data,
                            size_t size, fb_error *err)
{
    if (s->calls == 1) return fb_fail(err, S010, "timed out");
    CHECK_CODE(pass_on(s, key, data, size, err), FB_OK, err);
    return pass_on(s, key, data, size, err);
}

/* The answer is lost, and what can be read back says nothing. */
static fb_code lost_and_silent(weather_store *s, const char *key, const void *data,
                               size_t size, fb_error *err)
{
    (void)data;
    (void)size;
    fixture_put(s->f, key, "{ cut");
    return fb_fail(err, S010, "timed out");
}

TEST(a_lost_answer_with_nothing_written_is_sent_again_under_the_same_version)
{
    static const struct {
        fb_code (*put_new)(weather_store *, const char *, const void *, size_t,
                           fb_error *);
        int64_t version;
        int     attempts;
        bool    was_unknown;
    } kinds[] = {{lost_once, 1, 2, false},
                 {lost_and_taken_once, 2, 2, false},
                 {arrives_late, 1, 2, true}};
    for (size_t i = 0; i < 3; i++) {
        fixture         f = fixture_open();
        weather_store   store;
        fb_delta_result result;
        fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
        fb_delta *table = open_weather(&store, &f, kinds[i].put_new);
        CHECK_CODE(fixture_append(&f, table, 4, MOVE("app", -1, 1), &result), FB_OK,
                   &f.err);
        CHECK_INT(result.version, kinds[i].version);
        CHECK_INT(result.attempts, kinds[i].attempts);
        CHECK(result.was_unknown == kinds[i].was_unknown);
        CHECK_INT(fb_delta_version(table), kinds[i].version);
        fb_delta_close(table);
        CHECK_INT(fixture_rows(&f), 4);
        fixture_close(&f);
    }
}

TEST(an_outcome_that_cannot_be_read_back_stays_unknown)
{
    fixture         f = fixture_open();
    weather_store   store;
    fb_delta_result result;
    fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
    fb_delta *table = open_weather(&store, &f, lost_and_silent);
    CHECK_CODE(fixture_append(&f, table, 4, MOVE("app", -1, 1), &result), FB_EUNKNOWN,
               &f.err);
    CHECK(f.err.reason == FB_R_S010);
    CHECK_HAS(f.err.what, "version 1");
    CHECK_INT(store.calls, 1);
    fb_delta_close(table);
    fixture_close(&f);
}

/* --- rules of the table ------------------------------------------------------------- */

TEST(a_required_column_with_a_null_is_refused_by_the_statistics)
{
    fixture         f = fixture_open();
    fb_column       id = column_of("id", "int64");
    fb_schema       schema = {.columns = &id, .count = 1};
    fb_delta_adds   adds;
    fb_delta_commit commit = {.schema = &schema, .adds = &adds};
    fb_delta_result result;
    fixture_commit(&f, 0, PROTOCOL_1_2 META_OF(FIELD_OF("id", "long", "false")));
    fb_delta *table = fixture_table(&f);
    fb_delta_adds_init(&adds);
    fixture_write(&f, table, &schema, "(SELECT 1 AS id UNION ALL SELECT NULL)", &adds);
    CHECK_CODE(fb_delta_check_append(table, &schema, &f.err), FB_OK, &f.err);
    CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_ESCHEMA, &f.err);
    CHECK(f.err.reason == FB_R_P013);
    CHECK_HAS(f.err.what, "\"id\" is NOT NULL in the table, and 1 rows");
    fb_delta_adds_discard(table, &adds);
    CHECK(!fixture_has(&f, adds.items[0].path));
    fb_delta_adds_clear(&adds);
    fixture_write(&f, table, &schema, "(SELECT 1 AS id)", &adds);
    CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_OK, &f.err);
    fb_delta_adds_clear(&adds);
    fb_delta_close(table);
    fixture_close(&f);
}

static int64_t commit_time(fixture *f, const char *key)
{
    long long time = -1;
    fb_buf    log = fixture_get(f, key);
    CHECK(sscanf(log.data, "{\"commitInfo\":{\"inCommitTimestamp\":%lld,", &time) == 1);
    fb_buf_clear(&log);
    return time;
}

TEST(in_commit_timestamps_come_first_and_only_grow)
{
    static const int64_t future = INT64_C(4102444800000); // 2100
    fixture              f = fixture_open();
    fb_delta_result      result;
    fixture_commit(
        &f, 0,
        "{\"commitInfo\":{\"inCommitTimestamp\":4102444800000}}\n"
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,"
        "\"writerFeatures\":[\"inCommitTimestamp\"]}}\n"
        "{\"metaData\":{\"id\":\"m\",\"format\":{},\"schemaString\":\"{\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":[" FIELD_OF(
            "id", "long", "true") "]}\","
                                  "\"partitionColumns\":[],\"configuration\":{\"delta."
                                  "enableInCommitTimestamps\":"
                                  "\"true\",\"delta.checkpointInterval\":\"2\"}}}\n");
    fb_delta *table = fixture_table(&f);
    CHECK_CODE(fixture_append(&f, table, 1, STAY, &result), FB_OK, &f.err);
    CHECK_INT(result.timestamp_ms, future + 1);
    CHECK_INT(commit_time(&f, "_delta_log/00000000000000000001.json"), future + 1);
    CHECK_CODE(fixture_append(&f, table, 1, STAY, &result), FB_OK, &f.err);
    CHECK_CODE(fb_delta_checkpoint_if_due(table, NULL, &f.err), FB_OK, &f.err);
    fb_delta_close(table);

    CHECK(fixture_has(&f, "_delta_log/00000000000000000002.checkpoint.parquet"));
    table = fixture_table(&f); // begins at the checkpoint, which has no timestamp
    CHECK_CODE(fixture_append(&f, table, 1, STAY, &result), FB_OK, &f.err);
    CHECK_INT(commit_time(&f, "_delta_log/00000000000000000003.json"), future + 3);
    fb_delta_close(table);

    fixture_commit(&f, 4, "{\"commitInfo\":{}}\n");
    table = fixture_table(&f);
    CHECK_CODE(fixture_append(&f, table, 1, STAY, &result), FB_EDATA, &f.err);
    CHECK(f.err.reason == FB_R_P019);
    fb_delta_close(table);
    fixture_close(&f);
}

TEST(a_domain_is_written_where_the_table_has_the_feature)
{
    fixture         f = fixture_open();
    fb_delta_commit commit = {.domain = "forebay.x", .domain_text = "{\"topic\":\"id\"}"};
    fb_delta_result result;
    fixture_commit(&f, 0,
                   "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,"
                   "\"writerFeatures\":[\"domainMetadata\"]}}\n" META_ID);
    fb_delta *table = fixture_table(&f);
    CHECK_CODE(fb_delta_commit_run(table, &commit, &result, &f.err), FB_OK, &f.err);
    CHECK_TEXT(fb_delta_domain(table, "forebay.x"), "{\"topic\":\"id\"}");
    fb_delta_close(table);
    fixture_close(&f);
}

/* --- kills -------------------------------------------------------------------------- */

TEST(a_kill_at_any_step_leaves_the_commit_whole_or_absent)
{
    static const struct {
        const char *point;
        bool        is_there;
    } steps[] = {
        {"store.settle.written:kill", false},    {"store.settle.synced:kill", false},
        {"delta.commit.before:kill", false},     {"store.put_new.temp:torn", false},
        {"store.put_new.synced:kill", false},    {"store.put_new.linked:kill", true},
        {"store.put_new.dir_synced:kill", true}, {"delta.commit.written:kill", true},
        {"delta.commit.after:kill", true}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fixture f = {.folder = "/tmp/fb_lake_XXXXXX"};
        CHECK(mkdtemp(f.folder) != NULL);
        snprintf(f.path, sizeof f.path, "%s/t", f.folder);
        fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
        fb_engine_options options = {.memory_bytes = 256 << 20, .threads = 1};
        pid_t             child = fork();
        if (child == 0) {
            fb_delta_result result;
            if (fb_engine_open(&options, &f.engine, &f.err) != FB_OK) _exit(1);
            fb_delta *table = fixture_table(&f);
            fixture_arm(steps[i].point);
            _exit(fixture_append(&f, table, 3, MOVE("app", -1, 1), &result) == FB_OK ? 2
                                                                                     : 3);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        CHECK_CODE(fb_engine_open(&options, &f.engine, &f.err), FB_OK, &f.err);
        fb_delta *table = fixture_table(&f);
        int64_t   version = 0;
        CHECK(fb_delta_txn_find(table, "app", &version, NULL) == steps[i].is_there);
        fb_delta_close(table);
        CHECK_INT(fixture_rows(&f), steps[i].is_there ? 3 : 0);
        fixture_close(&f);
    }
}

TEST(each_lake_step_of_a_commit_may_fail_and_a_second_try_lands_once)
{
    static const char *const steps[] = {"delta.commit.before:error=EIO",
                                        "store.put_new.temp:error=ENOSPC",
                                        "store.put_new.synced:error=EIO"};
    for (size_t i = 0; i < 3; i++) {
        fixture         f = fixture_open();
        fb_delta_result result;
        fixture_commit(&f, 0, PROTOCOL_1_2 META_ID);
        fb_delta *table = fixture_table(&f);
        fixture_arm(steps[i]);
        CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", -1, 1), &result), FB_EIO,
                   &f.err);
        fixture_arm(NULL);
        CHECK_CODE(fixture_append(&f, table, 3, MOVE("app", -1, 1), &result), FB_OK,
                   &f.err);
        fb_delta_close(table);
        CHECK_INT(fixture_rows(&f), 3);
        fixture_close(&f);
    }
}
