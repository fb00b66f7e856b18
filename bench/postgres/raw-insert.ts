/**
 * The limit for the Postgres store: the same rows into a copy of the same table, by one prepared INSERT a commit, with no
 * checks and no computation.
 */
import { connect, Database, type Pool } from '../../packages/host/src/log/postgres/database.ts';
import { present } from '../../packages/host/test/kit/present.ts';

/** Rows of the store's event table, as elements of array literals. */
export interface RawShape {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly string[])[];
}

/** The columns that every row gets anew. */
const NEW = ['run', 'seq', 'cursor', 'context'] as const;

/** Where a row of a batch goes, and which row of the shape it is. */
export interface Put {
  readonly shape: number;
  readonly run: number;
  readonly seq: number;
}

/** Reads the rows of the newest run of a store. */
export async function readRawShape(url: string): Promise<RawShape> {
  const pool = connect({ url, connections: 1 });
  try {
    const database = new Database(pool);
    const columns = await database.rows<[name: string, type: string]>(
      `SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
         WHERE attrelid = 'cairn.events'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    );
    const list = columns.map(([name]) => `${name}::text`).join(', ');
    const rows = await database.rows<(string | null)[]>(
      `SELECT ${list} FROM cairn.events WHERE run = (SELECT max(run) FROM cairn.events) ORDER BY seq`,
    );
    return { columns: columns.map(([name, type]) => ({ name, type })), rows: rows.map((row) => row.map(element)) };
  } finally {
    await pool.end();
  }
}

/** One value of an array literal. */
const element = (text: string | null): string =>
  text === null ? 'NULL' : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

export class RawInsert implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #database: Database;
  readonly #shape: RawShape;
  readonly #insert: string;
  readonly #at: Readonly<Record<(typeof NEW)[number], number>>;
  readonly #cursors: { next: number };

  private constructor(pool: Pool, shape: RawShape, cursors: { next: number }) {
    this.#pool = pool;
    this.#database = new Database(pool);
    this.#shape = shape;
    this.#cursors = cursors;
    const names = shape.columns.map(({ name }) => name);
    const arrays = shape.columns.map(({ type }, n) => `$${n + 1}::${type}[]`);
    this.#insert = `INSERT INTO raw.events (${names.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})`;
    const at = (name: string) => names.indexOf(name);
    this.#at = { run: at('run'), seq: at('seq'), cursor: at('cursor'), context: at('context') };
  }

  /** One connection to a database of the store. The first of them makes the copy of the table. */
  static async open(url: string, shape: RawShape, count = 1): Promise<readonly RawInsert[]> {
    const cursors = { next: 1 };
    const opened = Array.from({ length: count }, () => new RawInsert(connect({ url, connections: 1 }), shape, cursors));
    const first = present(opened[0]).#database;
    await first.changed('DROP SCHEMA IF EXISTS raw CASCADE');
    await first.changed('CREATE SCHEMA raw');
    await first.changed('CREATE TABLE raw.events (LIKE cairn.events INCLUDING ALL)');
    return opened;
  }

  /** Writes rows in one transaction. */
  async commit(batch: readonly Put[]): Promise<void> {
    const { columns, rows } = this.#shape;
    const values = columns.map((_, column) => {
      if (column === this.#at.cursor) return batch.map(() => this.#cursors.next++);
      if (column === this.#at.seq) return batch.map(({ seq }) => seq);
      if (column === this.#at.run || column === this.#at.context) return batch.map(({ run }) => run);
      return batch.map(({ shape }) => present(present(rows[shape % rows.length])[column]));
    });
    await this.#database.changed(
      this.#insert,
      values.map((column) => `{${column.join()}}`),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.end();
  }
}
