/*
 * The board of hpotune watch on a terminal: the status, a list of trials one of
 * which keys select, and its curve and log.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/cli/screen/watch-board.h"
#include "src/model/plugin-options.h"
#include "src/model/trial.h"
#include "src/server/control.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/attempt-log.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"
#include "src/view/redraw.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"
#include "src/view/status.h"
#include "src/view/table.h"

enum {
	POLL_MS = 1000,
	LEAST_ROWS = 10, /* of a terminal */
	LIST_LEAST = 4, /* rows of the list of trials */
	LOG_BYTES = 8192,
	LOG_LINES = 8,
	SPARK = 60,
	CURVE_PARTS = 120, /* that are read of it, where it is long */
	CURVE_POINTS = 1000
};

enum key {
	KEY_NONE,
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_OPEN,
	KEY_CLOSE,
	KEY_ORDER,
	KEY_STOP,
	KEY_YES,
	KEY_QUIT
};

static const struct {
	const char *name, *sql;
} orders[] = {
	{ "running and newest first",
	    "state IN ('starting', 'running', 'stopping') DESC, "
	    "coalesce(ended, started) DESC, trial DESC" },
	{ "best first", NULL },
	{ "by number", "trial" },
};

#define ORDERS (sizeof orders / sizeof *orders)

struct board {
	struct cli *cli;
	const struct study_files *found;
	struct store *store;
	int columns, rows; /* of the terminal */
	bool maximize;
	size_t order;
	int64_t at, top; /* the selected row of the list, the first one shown */
	int64_t trials; /* in the list */
	int64_t selected; /* trial; 0 = none */
	enum trial_state state; /* of it */
	size_t shown; /* rows of the list */
	bool moved; /* by a key since it was drawn */
	bool open; /* the selected trial's curve and log are shown */
	bool asks; /* whether to stop the selected trial */
	char message[256];
};

static volatile sig_atomic_t ended;

static void
board_on_signal(int signo)
{
	(void)signo;
	ended = 1;
}

/* Interrupts the wait for keys: the board is drawn anew. */
static void
on_resize(int signo)
{
	(void)signo;
}

bool
watch_board_can(const struct cli *cli)
{
	int columns, rows;

	redraw_size(&columns, &rows);
	return cli->terminal && !cli->json && isatty(STDIN_FILENO) &&
	       rows >= LEAST_ROWS && text_is_utf8();
}

static void
board_line_put(struct buf *out, const struct board *b, const char *text)
{
	buf_add(out, text, text_fit(text, (size_t)b->columns));
	buf_putc(out, '\n');
}

/* "about 12m left", from the pace of the trials that have ended. */
static int
board_left_put(struct buf *out, const struct board *b, struct err *e)
{
	static const char sql[] =
	    "SELECT coalesce(most, enough), iif(most IS NULL, completed, "
	    "trials - running), elapsed FROM study, (SELECT json_extract(json, "
	    "'$.limits.trials') AS most, json_extract(json, "
	    "'$.limits.completed') AS enough FROM (SELECT " STORE_SQL_JSON
	    " AS json))";
	double x[3], left; /* limit, over, elapsed; seconds */

	if (rows_numbers(x, 3, b->store, sql, e) != 1)
		return -1;
	left = x[2] / x[1] * (x[0] - x[1]);
	if (x[1] >= 3 && left >= 1) {
		buf_puts(out, "about ");
		duration_put_rough(out, left);
		buf_puts(out, " left at this pace\n");
	}
	return 0;
}

static int
board_count_read(struct board *b, struct err *e)
{
	double x[2];

	if (rows_numbers(x, 2, b->store,
		"SELECT count(*), " STORE_SQL_GOAL " = 'maximize' "
		"FROM trials",
		e) != 1)
		return -1;
	b->trials = (int64_t)x[0];
	b->maximize = x[1] != 0;
	return 0;
}

/* Keep the list around the selection. */
static void
place_settle(struct board *b)
{
	int64_t shown = (int64_t)b->shown;

	if (b->top > b->at)
		b->top = b->at;
	if (b->top < b->at - shown + 1)
		b->top = b->at - shown + 1;
	if (b->top > 0 && b->top > b->trials - shown)
		b->top = b->trials > shown ? b->trials - shown : 0;
}

/* The order of the list, in SQL. */
static const char *
order_sql(const struct board *b)
{
	if (orders[b->order].sql != NULL)
		return orders[b->order].sql;
	return b->maximize ? "objective DESC NULLS LAST, trial"
			   : "objective NULLS LAST, trial";
}

/* The selection stays with its trial when the list changes its order. */
static int
selection_follow(struct board *b, struct err *e)
{
	struct store_rows *rows;
	char *sql;
	int rc;

	if (b->moved || b->selected == 0)
		return 0;
	sql = xasprintf("SELECT i FROM (SELECT trial, row_number() OVER "
			"(ORDER BY %s) - 1 AS i FROM trials) WHERE "
			"trial = %" PRId64,
	    order_sql(b), b->selected);
	rc = rows_first(&rows, b->store, sql, NULL, e);
	free(sql);
	if (rc == 1) {
		b->at = store_rows_int(rows, 0);
		store_rows_close(rows);
	}
	return rc == -1 ? -1 : 0;
}

/* The trial in the selected row, which is kept inside the list. */
static int
selection_read(struct board *b, struct err *e)
{
	struct store_rows *rows;
	char *sql;
	int rc;

	if (b->at >= b->trials)
		b->at = b->trials - 1;
	if (b->at < 0)
		b->at = 0;
	b->selected = 0;
	sql = xasprintf("SELECT trial, state FROM trials ORDER BY %s "
			"LIMIT 1 OFFSET %" PRId64,
	    order_sql(b), b->at);
	rc = rows_first(&rows, b->store, sql, NULL, e);
	free(sql);
	if (rc == 1) {
		b->selected = store_rows_int(rows, 0);
		(void)trial_state_parse(store_rows_text(rows, 1), &b->state);
		store_rows_close(rows);
	}
	if (b->asks && (rc != 1 || trial_state_final(b->state))) {
		b->asks = false;
		(void)snprintf(b->message, sizeof b->message,
		    rc == 1 ? "trial %" PRId64 " has ended"
			    : "there is no trial yet",
		    b->selected);
	}
	return rc == -1 ? -1 : 0;
}

static int
board_list_read(struct table *table, struct board *b, struct err *e)
{
	struct store_rows *rows;
	struct buf params = { 0 };
	char *sql;
	int rc;

	sql = xasprintf(
	    "SELECT trial, state, objective, step, " ROWS_SECONDS(
		"trials") ", params, why FROM "
			  "trials ORDER BY %s LIMIT %zu OFFSET %" PRId64,
	    order_sql(b), b->shown, b->top);
	rc = store_rows_open(&rows, b->store, sql, NULL, e);
	free(sql);
	if (rc != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		table_cell(table, store_rows_text(rows, 0), TABLE_PLAIN);
		table_cell(table, store_rows_text(rows, 1), TABLE_PLAIN);
		table_cell_real(table, rows_real(rows, 2), 6);
		table_cell(table, store_rows_text(rows, 3), TABLE_PLAIN);
		table_cell_real(table, rows_real(rows, 4), 4);
		rows_put_params(&params, store_rows_text(rows, 5), 4);
		table_cell(table, buf_str(&params), TABLE_PLAIN);
		table_cell(table, store_rows_text(rows, 6), TABLE_PLAIN);
		buf_clear(&params);
	}
	store_rows_close(rows);
	buf_free(&params);
	return rc;
}

/* The rows of the list, the selected one in reverse video. */
static int
board_list_put(struct buf *out, struct board *b, struct err *e)
{
	static const char *const heads[] = { "trial", "state", "objective",
		"step", "seconds", "parameters", "why" };
	struct table *table = table_new();
	struct buf text = { 0 };
	const char *line;
	int64_t row;
	size_t i, n;
	int rc;

	for (i = 0; i < sizeof heads / sizeof *heads; i++)
		table_column(table, heads[i],
		    i >= 5   ? TABLE_SHRINK
		    : i == 1 ? TABLE_LEFT
			     : TABLE_RIGHT);
	rc = board_list_read(table, b, e);
	if (rc == 0)
		table_put(&text, table, b->columns, false, true);
	table_free(table);
	row = b->top - 1; /* the heads come first */
	for (line = buf_str(&text); rc == 0 && *line != '\0'; line += n + 1) {
		n = strcspn(line, "\n");
		buf_puts(out, row == b->at ? "\033[7m" : "");
		buf_add(out, line, n);
		buf_puts(out, row++ == b->at ? "\033[0m\n" : "\n");
		if (line[n] == '\0')
			break;
	}
	buf_free(&text);
	return rc;
}

static int
board_curve_put(struct buf *out, struct board *b, struct err *e)
{
	struct sparkline curves[2] = { { 0 } };
	struct sparkline_frame frame;
	size_t i, width = SPARK;
	int rc;

	rc = rows_curve_of_trial(
	    &curves[0], b->store, b->selected, CURVE_PARTS, e);
	if (rc == 0)
		rc = rows_curve_of_medians(
		    &curves[1], b->store, CURVE_POINTS, e);
	if (b->columns < SPARK + 12)
		width = b->columns > 24 ? (size_t)b->columns - 12 : 12;
	if (rc == 0 && curves[0].n > 0) {
		sparkline_frame_fit(&frame, curves, 2);
		for (i = 0; i < 2; i++) {
			buf_puts(out, i == 0 ? "  trial   " : "  median  ");
			sparkline_put(out, &curves[i], &frame, width);
			buf_putc(out, '\n');
		}
	}
	sparkline_free(&curves[0]);
	sparkline_free(&curves[1]);
	return rc;
}

/* The last lines of a file, escaped. */
static void
board_tail_put(struct buf *out, const struct board *b, int fd)
{
	char *bytes = xmalloc(LOG_BYTES + 1), *line, *end;
	struct buf text = { 0 };
	struct stat st;
	ssize_t n = -1;
	int lines = 0;

	if (fstat(fd, &st) == 0)
		n = pread(fd, bytes, LOG_BYTES,
		    st.st_size > LOG_BYTES ? st.st_size - LOG_BYTES : 0);
	if (n > 0) {
		text_put_harmless(&text, bytes, (size_t)n, TEXT_LINES);
		end = text.data + text.len;
		for (line = end; line > text.data && lines <= LOG_LINES; line--)
			lines += line[-1] == '\n';
		line += lines > LOG_LINES ? 1 : 0;
		for (; line < end; line += strcspn(line, "\n") + 1) {
			char *copy = xstrndup(line, strcspn(line, "\n"));

			buf_puts(out, "  ");
			buf_add(
			    out, copy, text_fit(copy, (size_t)b->columns - 2));
			buf_putc(out, '\n');
			free(copy);
			if (line[strcspn(line, "\n")] == '\0')
				break;
		}
	}
	buf_free(&text);
	free(bytes);
}

static int
board_log_put(struct buf *out, struct board *b, struct err *e)
{
	struct store_attempt row = { 0 };
	struct store_trial trial = { 0 };
	char *path;
	int fd, rc;

	if (store_trial_get(b->store, b->selected, &trial, e) != 0)
		return -1;
	rc = trial.attempts == 0 ? 1
				 : store_attempt_get(b->store, b->selected,
				       trial.attempts, &row, e);
	store_trial_fini(&trial);
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	if (row.log != NULL) {
		path = attempt_log_path(b->found->db, b->found->db_dir,
		    row.trial, row.attempt, row.log, 0);
		fd = file_open(AT_FDCWD, path);
		if (fd != -1) {
			board_tail_put(out, b, fd);
			(void)close(fd);
		}
		free(path);
	}
	store_attempt_fini(&row);
	return 0;
}

static void
foot_put(struct buf *out, const struct board *b)
{
	char line[400];

	if (b->asks)
		(void)snprintf(line, sizeof line,
		    "stop trial %" PRId64 "?  y stop   any other key: no",
		    b->selected);
	else if (b->message[0] != '\0')
		(void)snprintf(line, sizeof line, "%s", b->message);
	else
		(void)snprintf(line, sizeof line,
		    "arrows select   enter %s   s stop   o order (%s)   q quit",
		    b->open ? "close" : "curve and log", orders[b->order].name);
	if (b->cli->colour)
		buf_puts(out, "\033[1m");
	buf_add(out, line, text_fit(line, (size_t)b->columns));
	if (b->cli->colour)
		buf_puts(out, "\033[0m");
}

/* All that is drawn; the last line has no newline. */
static int
board_put(struct buf *out, struct board *b, struct err *e)
{
	struct buf status = { 0 }, detail = { 0 };
	size_t used, lines = 0, i;
	int rc;

	rc = status_render(&status, b->store, b->columns, b->cli->colour, e);
	if (rc == 0)
		rc = board_left_put(&status, b, e);
	if (rc == 0)
		rc = board_count_read(b, e);
	if (rc == 0)
		rc = selection_follow(b, e);
	if (rc == 0)
		rc = selection_read(b, e);
	b->moved = false;
	if (rc == 0 && b->open && b->selected > 0) {
		rc = board_curve_put(&detail, b, e);
		if (rc == 0)
			rc = board_log_put(&detail, b, e);
	}
	for (i = 0; i < detail.len; i++)
		lines += detail.data[i] == '\n';
	/* The status gets what list, detail and foot leave. */
	used = redraw_length(
	    buf_str(&status), b->rows - 3 - (int)lines - LIST_LEAST > 3
				  ? b->rows - 3 - (int)lines - LIST_LEAST
				  : 3);
	buf_add(out, buf_str(&status), used);
	for (i = 0; i < used; i++)
		lines += status.data[i] == '\n';
	board_line_put(out, b, "");
	b->shown =
	    (size_t)b->rows > lines + 4 ? (size_t)b->rows - lines - 4 : 1;
	place_settle(b);
	if (rc == 0)
		rc = board_list_put(out, b, e);
	buf_add(out, detail.data, detail.len);
	foot_put(out, b);
	buf_free(&status);
	buf_free(&detail);
	return rc;
}

/* Each line erases what was behind it, and the rest of the screen is erased. */
static void
board_show(const struct buf *drawn)
{
	struct buf out = { 0 };
	size_t i;

	buf_puts(&out, "\033[H");
	for (i = 0; i < drawn->len; i++) {
		if (drawn->data[i] == '\n')
			buf_puts(&out, "\033[K\r\n");
		else
			buf_putc(&out, drawn->data[i]);
	}
	buf_puts(&out, "\033[K\033[J");
	(void)fwrite(out.data, 1, out.len, stdout);
	(void)fflush(stdout);
	buf_free(&out);
}

/* Bytes of the first key of n bytes: "\033[5~", "\033OA" or one. */
static size_t
key_length(const char *s, size_t n)
{
	size_t len = 2;

	if (n < 2 || s[0] != '\033' || (s[1] != '[' && s[1] != 'O'))
		return 1;
	while (len < n && (s[len] < '@' || s[len] > '~'))
		len++;
	return len < n ? len + 1 : n;
}

static enum key
board_key_of(const char *s, size_t n)
{
	static const struct {
		const char *bytes;
		enum key key;
	} keys[] = { { "\033[A", KEY_UP }, { "\033OA", KEY_UP },
		{ "k", KEY_UP }, { "\033[B", KEY_DOWN }, { "\033OB", KEY_DOWN },
		{ "j", KEY_DOWN }, { "\033[5~", KEY_PAGE_UP },
		{ "\033[6~", KEY_PAGE_DOWN }, { " ", KEY_PAGE_DOWN },
		{ "\033[H", KEY_FIRST }, { "g", KEY_FIRST }, { "\r", KEY_OPEN },
		{ "\n", KEY_OPEN }, { "\033[C", KEY_OPEN },
		{ "\033OC", KEY_OPEN }, { "\033[D", KEY_CLOSE },
		{ "\033OD", KEY_CLOSE }, { "\033", KEY_CLOSE },
		{ "o", KEY_ORDER }, { "s", KEY_STOP }, { "y", KEY_YES },
		{ "q", KEY_QUIT }, { "\003", KEY_QUIT }, { "\004", KEY_QUIT } };
	size_t i;

	for (i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strlen(keys[i].bytes) == n &&
		    memcmp(s, keys[i].bytes, n) == 0)
			return keys[i].key;
	return KEY_NONE;
}

/* Ask the server to stop the selected trial; its answer is the message. */
static void
trial_stop(struct board *b)
{
	struct control_answer answer = { 0 };
	struct state_dir state;
	struct err e = ERR_INIT;
	char *dir = study_files_state_dir(b->found->db), *line;
	int rc;

	line = xasprintf(
	    "{\"command\": \"stop\", \"trial\": %" PRId64 "}", b->selected);
	rc = state_dir_open(&state, dir, false, &e);
	if (rc == 0) {
		rc = control_call(&state, line, false, &answer, &e);
		state_dir_close(&state);
	}
	(void)snprintf(b->message, sizeof b->message, "%s",
	    rc == 0   ? answer.text
	    : rc == 1 ? "no server runs this study"
		      : e.text);
	free(answer.data);
	free(line);
	free(dir);
}

/* false: the user quits. */
static bool
key_obey(struct board *b, enum key key)
{
	int64_t page = (int64_t)b->shown;

	b->message[0] = '\0';
	if (b->asks) {
		b->asks = false;
		if (key == KEY_YES)
			trial_stop(b);
		return key != KEY_QUIT;
	}
	switch (key) {
	case KEY_UP:
	case KEY_DOWN:
		b->at += key == KEY_UP ? -1 : 1;
		b->moved = true;
		break;
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
		b->at += key == KEY_PAGE_UP ? -page : page;
		b->moved = true;
		break;
	case KEY_FIRST:
		b->at = 0;
		b->moved = true;
		break;
	case KEY_OPEN:
		b->open = !b->open;
		break;
	case KEY_CLOSE:
		b->open = false;
		break;
	case KEY_ORDER:
		b->order = (b->order + 1) % ORDERS;
		b->at = 0;
		b->moved = true;
		break;
	case KEY_STOP:
		b->asks = true;
		break;
	case KEY_QUIT:
		return false;
	case KEY_YES:
	case KEY_NONE:
		break;
	}
	return true;
}

/* Wait for keys, at most a second; false: the user quits, or a signal came. */
static bool
keys_read(struct board *b)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char bytes[64];
	ssize_t n, i, len;

	if (poll(&in, 1, POLL_MS) <= 0)
		return !ended;
	n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n <= 0)
		return n == -1 && errno == EINTR && !ended;
	/*
	 * Several keys may have come at once; those after a question that has
	 * not been drawn are no answer to it.
	 */
	for (i = 0; i < n && (i == 0 || !b->asks); i += len) {
		len = (ssize_t)key_length(bytes + i, (size_t)(n - i));
		if (!key_obey(b, board_key_of(bytes + i, (size_t)len)))
			return false;
	}
	return true;
}

static int
terminal_take(struct termios *before, struct err *e)
{
	struct sigaction act = { .sa_handler = board_on_signal };
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, before) != 0)
		return err_set(e, ERR_FILE, "terminal: %s", strerror(errno));
	ended = 0;
	(void)sigaction(SIGTERM, &act, NULL);
	(void)sigaction(SIGHUP, &act, NULL);
	act.sa_handler = on_resize;
	(void)sigaction(SIGWINCH, &act, NULL);
	raw = *before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG);
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	/* The alternate screen, so that the user's own comes back. */
	fputs("\033[?1049h\033[?25l", stdout);
	return 0;
}

static void
terminal_give(const struct termios *before)
{
	fputs("\033[?25h\033[?1049l", stdout);
	(void)fflush(stdout);
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, before);
}

int
watch_board_run(struct cli *cli, const struct study_files *found,
    struct store *store, bool *over, struct err *e)
{
	struct board b = { .cli = cli, .found = found, .store = store };
	struct buf drawn = { 0 };
	struct termios before;
	int rc;

	*over = false;
	if (terminal_take(&before, e) != 0)
		return -1;
	do {
		redraw_size(&b.columns, &b.rows);
		buf_clear(&drawn);
		rc = board_put(&drawn, &b, e);
		if (rc != 0)
			break;
		board_show(&drawn);
		*over = !study_files_served(found->db);
	} while (!*over && keys_read(&b));
	terminal_give(&before);
	buf_free(&drawn);
	return rc;
}
