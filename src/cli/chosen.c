/* chosen.c - from files, overrides and words to the pipelines a command is for.
 *
 * Names are looked for in the tree before it is read, so that an option with a key can
 * override it in each of the pipelines chosen, and in no other.
 */
#include "cli/cli.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/expand.h"

#include <string.h>

static const char client_debug[] = "debug=broker,security,topic,metadata,fetch";

static bool is_address(const char *word) { return strstr(word, "://") != NULL; }

/* --- files ---------------------------------------------------------------------------- */

static fb_code add_file(fb_chosen *chosen, const char *path, fb_error *err)
{
    size_t used = strlen(chosen->files);
    snprintf(chosen->files + used, sizeof chosen->files - used, "%s%s", used ? ", " : "",
             path);
    return fb_config_add_file(&chosen->document.config, path, err);
}

/* The files of -c, else FOREBAY_CONFIG, else forebay.yml, which may be missing only when
 * all is said on the command line. */
static fb_code add_files(const fb_cli *cli, bool is_optional, fb_chosen *out,
                         fb_error *err)
{
    fb_code     code = FB_OK;
    size_t      at = 0;
    const char *named = fb_environment("FOREBAY_CONFIG"), *path;
    while ((path = fb_cli_next(cli, "config", &at))) FB_TRY(add_file(out, path, err));
    if (fb_cli_has(cli, "config")) goto out;
    if (named || fb_file_exists("forebay.yml"))
        return add_file(out, named ? named : "forebay.yml", err);
    if (is_optional) goto out;
    code = fb_fail(err, C101, "there is no forebay.yml here");
    fb_error_hint(
        err,
        "-c FILE or FOREBAY_CONFIG names another; forebay demo makes one to look at");
out:
    return code;
}

/* --- pipelines ------------------------------------------------------------------------ */

static fb_code fail_unknown(const fb_node *pipelines, const char *name, fb_error *err)
{
    fb_nearest near;
    fb_nearest_init(&near, name);
    for (const fb_node *node = pipelines ? pipelines->first : NULL; node;
         node = node->next)
        fb_nearest_offer(&near, node->name);
    if (near.best)
        fb_error_set(err, FB_R_C116, "there is no pipeline \"%s\", did you mean \"%s\"?",
                     name, near.best);
    else
        fb_error_set(err, FB_R_C116, "there is no pipeline \"%s\"", name);
    if (!near.best && strchr(name, '/'))
        fb_error_hint(
            err, "a topic without a configuration is written kafka://HOST:PORT/TOPIC");
    return FB_ECONFIG;
}

/* Let every option that has a key override it in one pipeline. */
static fb_code put_flags(const fb_cli *cli, const char *pipeline, fb_chosen *out,
                         fb_error *err)
{
    fb_code code = FB_OK;
    char    shown[80];
    for (size_t i = 0; i < cli->given_count; i++) {
        const fb_flag *flag = cli->given[i].flag;
        snprintf(shown, sizeof shown, "--%s", flag->name);
        if (strcmp(flag->name, "kafka-option") == 0)
            FB_TRY(fb_document_put_client_option(&out->document, pipeline,
                                                 cli->given[i].value, err));
        else if (flag->key)
            FB_TRY(fb_document_put(&out->document, pipeline, flag->key,
                                   cli->given[i].value, shown, err));
    }
    if (fb_cli_count(cli, "verbose") > 1)
        FB_TRY(
            fb_document_put_client_option(&out->document, pipeline, client_debug, err));
out:
    return code;
}

static fb_code put_address(const fb_cli *cli, const char *word, fb_chosen *out,
                           char name[FB_MAX_NAME], fb_error *err)
{
    bool has_target = cli->command == &fb_command_run || cli->command == &fb_command_plan;
    const char *target = has_target ? fb_cli_text(cli, "to-table") : NULL;
    const char *wanted = has_target ? fb_cli_text(cli, "name") : NULL;
    if (!target) {
        fb_error_set(err, FB_R_C001, "%s names a topic, but no table for it", word);
        fb_error_hint(err,
                      "add --to-table FOLDER, or name a pipeline of a configuration");
        return FB_EUSAGE;
    }
    return fb_document_put_pipeline(&out->document, word, target, wanted, name, err);
}

/* Addresses come before --set, which may then give their pipelines columns and more. */
static fb_code put_addresses(const fb_cli *cli, const char *const *words, size_t count,
                             char (*names)[FB_MAX_NAME], fb_chosen *out, fb_error *err)
{
    fb_code code = FB_OK;
    for (size_t i = 0; i < count; i++)
        if (is_address(words[i])) FB_TRY(put_address(cli, words[i], out, names[i], err));
out:
    return code;
}

static fb_code find_word(const char *word, const fb_chosen *chosen,
                         char name[FB_MAX_NAME], fb_error *err)
{
    const fb_node *pipelines = fb_node_find(chosen->document.config.root, "pipelines");
    if (is_address(word)) return FB_OK; // put_addresses() has named it
    if (!fb_node_find(pipelines, word)) return fail_unknown(pipelines, word, err);
    snprintf(name, FB_MAX_NAME, "%s", word);
    return FB_OK;
}

/* JSON messages become columns, which an address alone does not name. */
static fb_code check_columns(const fb_pipeline *pipeline, fb_error *err)
{
    const fb_node *path = fb_node_find(pipeline->source.node, "path");
    if (pipeline->source.message_format != FB_FORMAT_JSON ||
        pipeline->schema.columns_count > 0 || !path || !path->is_verbatim)
        return FB_OK;
    fb_error_set(err, FB_R_C106,
                 "the columns of the messages of topic \"%s\" are not declared",
                 pipeline->source.topic);
    fb_error_hint(
        err,
        "take each message as it is with --message-format text (or raw), or declare "
        "columns, for example\n  --set 'pipelines.%s.schema.columns="
        "[{name: id, type: string}, {name: amount, type: float64}]'",
        pipeline->name);
    return FB_ECONFIG;
}

/* The pipelines in the order of the words, or all in that of the files. */
static fb_code find_all(fb_chosen *out, char (*names)[FB_MAX_NAME], size_t count,
                        fb_error *err)
{
    fb_code            code = FB_OK;
    const fb_document *document = &out->document;
    size_t             most = count ? count : document->pipelines_count;
    out->pipelines = fb_alloc((most + 1) * sizeof *out->pipelines);
    if (!out->pipelines) return fb_fail_memory(err, "the pipelines");
    for (size_t i = 0; i < most; i++) {
        const fb_pipeline *found = NULL;
        if (count)
            FB_TRY(fb_document_find(document, names[i], &found, err));
        else
            found = &document->pipelines[i];
        for (size_t k = 0; k < out->count; k++)
            if (out->pipelines[k] == found) found = NULL;
        if (!found) continue; // named twice
        FB_TRY(check_columns(found, err));
        out->pipelines[out->count++] = found;
    }
out:
    return code;
}

/* --- the whole ------------------------------------------------------------------------ */

/* Names first: what the words stand for, and the flags into each of them. */
static fb_code put_words(const fb_cli *cli, const char *const *words, size_t count,
                         char (*names)[FB_MAX_NAME], fb_chosen *out, fb_error *err)
{
    fb_code        code = FB_OK;
    const fb_node *all = fb_node_find(out->document.config.root, "pipelines");
    for (size_t i = 0; i < count; i++) {
        FB_TRY(find_word(words[i], out, names[i], err));
        FB_TRY(put_flags(cli, names[i], out, err));
    }
    for (const fb_node *node = all ? all->first : NULL; node && count == 0;
         node = node->next)
        if (node->name) FB_TRY(put_flags(cli, node->name, out, err));
out:
    return code;
}

fb_code fb_chosen_read(const fb_cli *cli, const char *const *words, size_t count,
                       fb_chosen *out, fb_error *err)
{
    fb_code     code = FB_OK;
    fb_error    unread;
    size_t      at = 0, addresses = 0;
    const char *assignment;
    char(*names)[FB_MAX_NAME] = fb_alloc((count + 1) * sizeof *names);

    *out = (fb_chosen){0};
    fb_document_init(&out->document);
    if (!names) return fb_fail_memory(err, "the pipelines");
    for (size_t i = 0; i < count; i++) addresses += is_address(words[i]);
    FB_TRY(add_files(cli, addresses == count && count > 0, out, err));
    fb_code named = put_addresses(cli, words, count, names, out, err);
    while (named != FB_EMEMORY && (assignment = fb_cli_next(cli, "set", &at)))
        FB_TRY(fb_config_set(&out->document.config, assignment, err));
    code = named == FB_OK ? put_words(cli, words, count, names, out, err) : named;
    if (code == FB_EMEMORY) goto out;
    /* A file that cannot be read whole may lack the name: its own faults are said first. */
    bool    is_secret_allowed = fb_cli_has(cli, "allow-inline-secrets");
    fb_code read = fb_document_read(&out->document, is_secret_allowed, &unread);
    if (read != FB_OK) *err = unread;
    if (read != FB_OK) code = read;
    if (code == FB_OK) FB_TRY(find_all(out, names, count, err));
    /* Only `check` has something to say of a file without pipelines. */
    if (code == FB_OK && out->count == 0 && strcmp(cli->command->name, "check") != 0) {
        code = fb_fail(err, C133, "the configuration has no pipelines");
        fb_error_hint(err, "declare one under `pipelines`; forebay help config shows how");
    }
out:
    fb_free(names);
    return code;
}

fb_code fb_chosen_all(fb_chosen *chosen, fb_error *err)
{
    return find_all(chosen, NULL, 0, err);
}

void fb_chosen_close(fb_chosen *chosen)
{
    fb_free(chosen->pipelines);
    chosen->pipelines = NULL;
    chosen->count = 0;
    fb_document_clear(&chosen->document);
}

static void log_fault(const fb_diagnostic *it)
{
    const char        *file = it->place.file ? it->place.file->name : NULL;
    const fb_log_field fields[] = {
        FB_STR("code", fb_reason_name(it->reason)),
        FB_STR("file", file ? file : ""),
        FB_INT("line", it->place.line),
        FB_INT("column", it->place.column),
        FB_STR("suggestion", it->suggestion ? it->suggestion
                             : it->hint     ? it->hint
                                            : ""),
    };
    fb_log_fields(it->is_warning ? FB_LOG_WARN : FB_LOG_ERROR, "config", fields, 5, "%s",
                  it->message);
}

bool fb_chosen_print_faults(const fb_chosen *chosen)
{
    const fb_diagnostics *found = &chosen->document.config.found;
    if (!fb_log_is_json() && (found->errors || fb_log_shows(FB_LOG_WARN)))
        fb_diagnostics_print(found, stderr);
    for (size_t i = 0; i < found->count && fb_log_is_json(); i++)
        log_fault(found->list[i]);
    return found->count > 0;
}

fb_code fb_chosen_open(fb_cli *cli, const char *const *words, size_t count,
                       fb_chosen *out, fb_error *err)
{
    fb_code code = fb_chosen_read(cli, words, count, out, err);
    (void)fb_chosen_print_faults(out);
    cli->is_reported = out->document.config.found.errors > 0;
    return code;
}

fb_code fb_chosen_one(const fb_chosen *chosen, const fb_pipeline **out, fb_error *err)
{
    if (chosen->count == 1) {
        *out = chosen->pipelines[0];
        return FB_OK;
    }
    fb_error_set(err, FB_R_C001, "which pipeline? the configuration has %zu",
                 chosen->count);
    if (chosen->count > 0)
        fb_error_hint(err, "name one, for example %s", chosen->pipelines[0]->name);
    return FB_EUSAGE;
}

int64_t fb_cli_look_ms(const fb_pipeline *pipeline)
{
    enum { LOOK_MS = 5000 };
    int64_t set = pipeline->source.timeout_ms;
    return fb_node_has(pipeline->source.node, "timeout_ms") || set < LOOK_MS ? set : LOOK_MS;
}
