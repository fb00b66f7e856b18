/** What nodes share beside the log: expiring records, leases by name, what nodes say of themselves, notices. */
export const clusterTables = `
  CREATE TABLE cairn.expiring (
    place bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    body text NOT NULL,
    expires_at double precision NOT NULL,
    UNIQUE (kind, name)
  );
  CREATE INDEX expiring_of_owner ON cairn.expiring (kind, owner, expires_at);
  CREATE INDEX expiring_over ON cairn.expiring (expires_at);
  CREATE TABLE cairn.named_leases (name text COLLATE "C" PRIMARY KEY, owner text NOT NULL, until bigint NOT NULL, fence bigint NOT NULL);
  CREATE TABLE cairn.nodes (node text COLLATE "C" PRIMARY KEY, body text NOT NULL, until bigint NOT NULL);
  CREATE TABLE cairn.notices (
    key bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT now(),
    topic text NOT NULL,
    body text NOT NULL
  );
`;
