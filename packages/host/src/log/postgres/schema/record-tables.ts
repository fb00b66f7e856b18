/** Tables of the ports beside the log: definitions, packs, requests, credentials, blobs, artifacts, memories. */
export const recordTables = `
  CREATE TABLE cairn.definitions (hash text COLLATE "C" PRIMARY KEY, body text NOT NULL);
  CREATE TABLE cairn.workflows (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    registered_at bigint NOT NULL,
    UNIQUE (tenant, id, version)
  );
  CREATE INDEX workflows_newest ON cairn.workflows (tenant, id, place);
  CREATE TABLE cairn.packs (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    installed_at bigint NOT NULL,
    body text NOT NULL,
    is_removed boolean NOT NULL,
    UNIQUE (tenant, name, version)
  );
  CREATE TABLE cairn.checkpoints (
    run text COLLATE "C",
    seq bigint,
    format text NOT NULL,
    bytes integer NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (run, seq)
  );
  CREATE TABLE cairn.positions (reader text COLLATE "C" PRIMARY KEY, position text NOT NULL);
  CREATE TABLE cairn.facts (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);
  CREATE TABLE cairn.idempotency (
    tenant text COLLATE "C",
    endpoint text COLLATE "C",
    key text COLLATE "C",
    digest text NOT NULL,
    state text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    lease_until bigint,
    status integer NOT NULL,
    headers text NOT NULL,
    body text NOT NULL,
    at bigint NOT NULL,
    run bigint,
    PRIMARY KEY (tenant, endpoint, key)
  );
  CREATE INDEX idempotency_by_age ON cairn.idempotency (at);
  CREATE INDEX idempotency_by_run ON cairn.idempotency (run) WHERE run IS NOT NULL;
  CREATE TABLE cairn.subscriptions (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    body text NOT NULL,
    state text NOT NULL,
    fence bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX subscriptions_by_kind ON cairn.subscriptions (kind, place);
  CREATE TABLE cairn.credentials (
    ref text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    scopes text NOT NULL,
    sealed text NOT NULL,
    expires_at bigint,
    stored_at bigint NOT NULL
  );
  CREATE INDEX credentials_of_user ON cairn.credentials (tenant, principal, provider);
  CREATE TABLE cairn.sign_in_attempts (
    request text COLLATE "C" PRIMARY KEY,
    state text COLLATE "C" NOT NULL UNIQUE,
    sealed text NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX sign_in_attempts_over ON cairn.sign_in_attempts (expires_at);

  CREATE TABLE cairn.blobs (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    put_at bigint NOT NULL,
    refs bigint NOT NULL,
    UNIQUE (tenant, sha256)
  ) WITH (fillfactor = 70);
  CREATE INDEX blobs_unnamed ON cairn.blobs (put_at) WHERE refs = 0;
  CREATE TABLE cairn.blob_bodies (blob bigint PRIMARY KEY, body bytea NOT NULL);
  CREATE TABLE cairn.blob_refs (run bigint, blob bigint, PRIMARY KEY (run, blob));
  CREATE TABLE cairn.artifacts (
    context text COLLATE "C",
    id text COLLATE "C",
    version bigint,
    family text NOT NULL,
    run bigint NOT NULL,
    life text,
    call text,
    state text COLLATE "C" NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    pieces bigint NOT NULL,
    size bigint NOT NULL,
    name text,
    mime text,
    updated_at bigint NOT NULL,
    PRIMARY KEY (context, id, version)
  );
  CREATE INDEX artifacts_by_run ON cairn.artifacts (run);

  CREATE TABLE cairn.memory_scopes (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    ref text COLLATE "C" NOT NULL,
    UNIQUE (tenant, ref)
  );
  CREATE TABLE cairn.memory_entries (
    cursor bigint PRIMARY KEY,
    scope bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    seq bigint NOT NULL,
    turn text COLLATE "C" NOT NULL,
    content text NOT NULL,
    tags text NOT NULL,
    at bigint NOT NULL,
    expires_at bigint,
    words tsvector NOT NULL,
    UNIQUE (scope, id)
  );
  CREATE INDEX memory_entries_newest ON cairn.memory_entries (scope, cursor);
  CREATE INDEX memory_entries_by_run ON cairn.memory_entries (run);
  CREATE INDEX memory_entries_by_word ON cairn.memory_entries USING gin (words);
  CREATE TABLE cairn.memory_drops (
    scope bigint,
    id text COLLATE "C",
    cursor bigint NOT NULL,
    run bigint NOT NULL,
    seq bigint NOT NULL,
    turn text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope, id)
  );
  CREATE INDEX memory_drops_by_run ON cairn.memory_drops (run);
  CREATE TABLE cairn.memory_tags (
    scope bigint,
    tag text COLLATE "C",
    entry bigint,
    PRIMARY KEY (scope, tag, entry)
  );
  CREATE INDEX memory_tags_by_entry ON cairn.memory_tags (entry);`;
