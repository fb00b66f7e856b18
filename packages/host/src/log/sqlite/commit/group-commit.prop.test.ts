/** Whatever is written, read, held and flushed in whatever order: nobody hears of or sees what is not on the disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupCommit } from './group-commit.ts';

const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('write one' as const, 'write many' as const, 'write what is refused' as const),
  },
  { weight: 3, arbitrary: fc.constant('look' as const) },
  { weight: 4, arbitrary: fc.constant('flushed' as const) },
  { weight: 4, arbitrary: fc.constant('turn' as const) },
  { weight: 1, arbitrary: fc.constantFrom('hold' as const, 'resume' as const, 'the next transaction fails' as const) },
);

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A table of numbers that grow by one, its writer, and a disk that flushes when it is told to. */
class World {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cairn-group-commit-'));
  readonly #db = new DatabaseSync(join(this.#folder, 'x.db'));
  readonly #written: () => number;
  readonly #insert: (n: number) => void;
  readonly #outcomes: Promise<void>[] = [];
  readonly writer: GroupCommit;
  #flush: ((error: unknown) => void) | null = null;
  #flushedTo = 0;
  #isNextToFail = false;
  told = 0;
  settled = 0;

  constructor() {
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (n INTEGER PRIMARY KEY)');
    const last = this.#db.prepare('SELECT coalesce(max(n), 0) AS n FROM t');
    const insert = this.#db.prepare('INSERT INTO t VALUES (?)');
    this.#written = () => Number(last.get()?.n);
    this.#insert = (n) => void insert.run(n);
    this.writer = new GroupCommit(this.#db, {
      file: 'x.db',
      elapsedMs: () => 0,
      flush: (done) => {
        expect(this.#flush, 'one flush at a time').toBeNull();
        this.#flush = done;
      },
      hooks: {
        beforeCommit: () => {
          if (!this.#isNextToFail) return;
          this.#isNextToFail = false;
          throw new Error('planted');
        },
        rolledBack: () => {},
        afterCommit: () => {},
        broken: () => {},
      },
    });
  }

  /** All that was written before the flush that is under way: what a power cut would leave. */
  get #durable(): number {
    return this.#flush === null ? this.#written() : this.#flushedTo;
  }

  get isFlushing(): boolean {
    return this.#flush !== null;
  }

  flushed(error: unknown = null): void {
    const done = this.#flush;
    if (done === null) return;
    if (error === null) this.#flushedTo = this.#written();
    this.#flush = null;
    done(error);
  }

  failNext(): void {
    this.#isNextToFail = true;
  }

  write(rows: number, isRefused = false): void {
    const done = this.writer.submit({
      rows,
      bytes: 0,
      prepare: () => {
        if (isRefused) throw new Error('refused');
      },
      apply: () => {
        const n = this.#written() + 1;
        this.#insert(n);
        return n;
      },
      committed: (n) => {
        expect(n, 'told in the order of the commits').toBe(this.told + 1);
        this.told = n;
        expect(n, 'told of what is on the disk').toBeLessThanOrEqual(this.#durable);
      },
    });
    this.#settles(done.then((n) => expect(n).toBeLessThanOrEqual(this.told)));
  }

  look(): void {
    const seen = this.writer.read(() => {
      const n = this.#written();
      expect(n, 'seen of what is on the disk').toBeLessThanOrEqual(this.#durable);
      return n;
    });
    this.#settles(Promise.resolve(seen).then(() => undefined));
  }

  #settles(work: Promise<unknown>): void {
    const isOurs = (error: unknown) => error instanceof Error && /refused|planted|EIO/.test(error.message);
    this.#outcomes.push(
      work.then(
        () => {
          this.settled += 1;
        },
        (error: unknown) => {
          if (!isOurs(error)) throw error;
          this.settled += 1;
        },
      ),
    );
  }

  /** Lets everything come to its end, and says whether it did. */
  async end(): Promise<void> {
    const closed = this.writer.close();
    this.writer.resume();
    for (let i = 0; i < 500 && this.settled < this.#outcomes.length; i += 1) {
      await turn();
      this.flushed();
    }
    await closed;
    await Promise.all(this.#outcomes);
  }

  get left(): number {
    return this.#written() - this.told;
  }

  close(): void {
    this.#db.close();
    rmSync(this.#folder, { recursive: true });
  }
}

async function play(world: World, script: readonly (typeof steps extends fc.Arbitrary<infer Step> ? Step : never)[]) {
  for (const step of script) {
    if (step === 'write one') world.write(1);
    else if (step === 'write many') world.write(150);
    else if (step === 'write what is refused') world.write(1, true);
    else if (step === 'look') world.look();
    else if (step === 'flushed') world.flushed();
    else if (step === 'hold') world.writer.hold();
    else if (step === 'resume') world.writer.resume();
    else if (step === 'the next transaction fails') world.failNext();
    else await turn();
  }
}

test('all that was asked comes to its end, told in order and only of what is durable', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (script) => {
      const world = new World();
      try {
        await play(world, script);
        await world.end();
        expect(world.left).toBe(0);
      } finally {
        world.close();
      }
    }),
    { numRuns: 150 },
  );
});

test('after a flush that failed all that was asked comes to its end, and nothing more is told or seen', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (script) => {
      const world = new World();
      try {
        await play(world, ['write many', ...script, 'resume', 'write many', 'turn']);
        if (!world.isFlushing) return await world.end();
        const { told } = world;
        world.flushed(new Error('EIO'));
        world.write(1);
        expect(() => world.look()).toThrow('EIO');
        await world.end();
        expect(world.told).toBe(told);
        expect(world.writer.isBroken).toBe(true);
      } finally {
        world.close();
      }
    }),
    { numRuns: 100 },
  );
});
