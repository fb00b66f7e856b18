/** Tables of the log, the run index and the queue. Ids and names compare by their bytes, whatever the collation of the database is. */

/**
 * `heads` is narrow and has room on its pages: each append updates one, mostly in place. `contexts.head` is the cursor of
 * the newest row that was written in a context. The row of a context is locked until the commit, so that cursors of a
 * context become visible in order. `usage` has a row for each tenant, writer and lane: batches never wait for each other there.
 */
export const logTables = `
  CREATE SEQUENCE cairn.cursors;
  CREATE SEQUENCE cairn.writers;
  CREATE TABLE cairn.contexts (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    head bigint NOT NULL,
    edition bigint NOT NULL
  ) WITH (fillfactor = 70);
  CREATE TABLE cairn.heads (
    run bigint PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    fence bigint NOT NULL,
    owner text COLLATE "C",
    wake_at bigint,
    is_over boolean NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX heads_due ON cairn.heads (wake_at, run) WHERE owner IS NULL AND wake_at IS NOT NULL;
  CREATE INDEX heads_due_of_tenant ON cairn.heads (tenant, wake_at, run) WHERE owner IS NULL AND wake_at IS NOT NULL;
  CREATE INDEX heads_held ON cairn.heads (owner, run) WHERE owner IS NOT NULL;
  CREATE INDEX heads_active ON cairn.heads (tenant) WHERE NOT is_over;
  CREATE TABLE cairn.sessions (owner text COLLATE "C" PRIMARY KEY, until bigint NOT NULL);

  CREATE TABLE cairn.runs (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    context text COLLATE "C" NOT NULL,
    context_key bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    workflow text COLLATE "C" NOT NULL,
    definition text COLLATE "C" NOT NULL,
    principal text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    node text COLLATE "C",
    tags text COLLATE "C" NOT NULL,
    error_code text COLLATE "C",
    error_message text COLLATE "C",
    created_at bigint NOT NULL,
    ended_at bigint,
    imported_at bigint,
    scope text COLLATE "C",
    fork_source text COLLATE "C",
    fork_seq bigint,
    fork_mode text COLLATE "C",
    summary text COLLATE "C" NOT NULL,
    child_wait text COLLATE "C",
    shown text COLLATE "C" GENERATED ALWAYS AS
      (CASE WHEN status = 'running' THEN coalesce(child_wait, 'running') ELSE status END) STORED
  ) WITH (fillfactor = 85);
  CREATE INDEX runs_by_tenant ON cairn.runs (tenant, key);
  CREATE INDEX runs_by_workflow ON cairn.runs (tenant, workflow, key);
  CREATE INDEX runs_by_shown ON cairn.runs (tenant, shown, key);
  CREATE INDEX runs_by_workflow_shown ON cairn.runs (tenant, workflow, shown, key);
  CREATE INDEX runs_by_context ON cairn.runs (context, key);
  CREATE INDEX runs_open_in_context ON cairn.runs (context, key) WHERE ended_at IS NULL AND imported_at IS NULL;
  CREATE INDEX runs_forked ON cairn.runs (context) WHERE fork_seq IS NOT NULL;
  CREATE INDEX runs_by_parent ON cairn.runs (parent, key) WHERE parent IS NOT NULL;
  CREATE INDEX runs_with_source ON cairn.runs (fork_source) WHERE fork_source IS NOT NULL AND ended_at IS NULL;
  CREATE INDEX runs_in_scope ON cairn.runs (tenant, scope)
    WHERE scope IS NOT NULL AND ended_at IS NULL AND imported_at IS NULL;
  CREATE TABLE cairn.run_tags (
    tenant text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    shown text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, tag, run)
  );
  CREATE INDEX run_tags_by_run ON cairn.run_tags (run);
  CREATE INDEX run_tags_by_shown ON cairn.run_tags (tenant, tag, shown, run);
  CREATE INDEX run_tags_by_workflow ON cairn.run_tags (tenant, tag, workflow, run);
  CREATE INDEX run_tags_by_workflow_shown ON cairn.run_tags (tenant, tag, workflow, shown, run);

  CREATE TABLE cairn.events (
    run bigint NOT NULL,
    seq bigint NOT NULL,
    cursor bigint NOT NULL,
    context bigint NOT NULL,
    at bigint NOT NULL,
    writer integer NOT NULL,
    face integer NOT NULL,
    payload_size integer NOT NULL,
    task_size integer NOT NULL,
    bytes integer NOT NULL,
    audience smallint NOT NULL,
    type text COLLATE "C" NOT NULL,
    node text COLLATE "C",
    cause text COLLATE "C",
    row_hash text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    payload text COLLATE "C" NOT NULL,
    task text COLLATE "C",
    PRIMARY KEY (run, seq)
  );
  CREATE UNIQUE INDEX events_by_cursor ON cairn.events (cursor);
  CREATE INDEX events_by_context ON cairn.events (context, cursor);
  CREATE TABLE cairn.shared_rows (
    run bigint NOT NULL,
    from_seq bigint NOT NULL,
    through bigint NOT NULL,
    owner bigint NOT NULL,
    PRIMARY KEY (run, through)
  );
  CREATE INDEX shared_rows_by_owner ON cairn.shared_rows (owner, through);
  CREATE TABLE cairn.index_checkpoints (run bigint, seq bigint, body text NOT NULL, PRIMARY KEY (run, seq));

  CREATE TABLE cairn.interrupts (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    node text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    open smallint NOT NULL,
    requested_at bigint NOT NULL,
    seq bigint NOT NULL,
    votes text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    UNIQUE (run, id)
  );
  CREATE INDEX interrupts_pending ON cairn.interrupts (tenant, place) WHERE open = 1 AND tenant IS NOT NULL;
  CREATE INDEX interrupts_by_id ON cairn.interrupts (id);
  CREATE TABLE cairn.usage (
    tenant text COLLATE "C",
    writer integer,
    lane integer DEFAULT 0,
    log_bytes bigint NOT NULL,
    blob_bytes bigint NOT NULL,
    PRIMARY KEY (tenant, writer, lane)
  ) WITH (fillfactor = 50);

  CREATE TABLE cairn.purged_runs (
    key bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    context text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    fork_source text COLLATE "C",
    fork_seq bigint,
    fork_mode text COLLATE "C",
    purged_at bigint NOT NULL,
    seq bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    is_unfinished boolean NOT NULL
  );
  CREATE INDEX purged_runs_by_context ON cairn.purged_runs (context);
  CREATE INDEX purged_runs_unfinished ON cairn.purged_runs (key) WHERE is_unfinished;
  CREATE TABLE cairn.tombstones (
    run bigint NOT NULL,
    seq bigint NOT NULL,
    cursor bigint NOT NULL,
    at bigint NOT NULL,
    audience smallint NOT NULL,
    type text COLLATE "C" NOT NULL,
    node text COLLATE "C",
    cause text COLLATE "C",
    row_hash text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (run, seq)
  );`;
