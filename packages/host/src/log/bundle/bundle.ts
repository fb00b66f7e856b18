/** Reads bundles line by line. The reader verifies every byte before it reports the end. */
import { hash as digest } from 'node:crypto';
import {
  BUNDLE_VERSION,
  type BundleBlob,
  type BundleDefinition,
  type BundleHeader,
  type BundleRow,
  type BundleRun,
  bundleBlob,
  bundleDefinition,
  bundleEnd,
  bundleHeader,
  bundleRow,
  bundleRun,
  type Cause,
  type ContextId,
  parseRunId,
  type RunId,
  TerminalError,
} from '@cairn/protocol';
import { ChainWalk } from '../chain-walk.ts';
import { MAX_BLOB_BYTES } from '../ports/blobs.ts';
import { CheckedLines, type Line, memberOf } from './checked-lines.ts';
import { KnownParts } from './known-parts.ts';
import { RowCheck } from './row-check.ts';

/** A run of a bundle. */
export interface BundledRun {
  readonly run: Omit<BundleRun, 'kind' | 'runId' | 'contextId' | 'originRunId' | 'parentRunId' | 'fork'> & {
    readonly runId: RunId;
    readonly contextId: ContextId;
    readonly originRunId: RunId;
    readonly parentRunId: RunId | null;
    readonly fork: { readonly sourceRunId: RunId; readonly fromSeq: number; readonly mode: 'replay' | 'branch' } | null;
  };
  /** Every row in order. Can be iterated once, before the next run is read. */
  readonly rows: Iterable<BundleRowRead>;
}

/** A verified row. A payload of null was retired or withheld. */
export type BundleRowRead = Omit<BundleRow, 'kind' | 'cause'> & { readonly cause: Cause | null };

/** A verified blob. */
export interface BundledBlob {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

export interface Bundle {
  /** The first run, above all others. */
  readonly runId: RunId;
  /** Bodies by hash: the workflows, agents and prompts that the runs are pinned to. */
  readonly definitions: ReadonlyMap<string, string>;
  /** Can be iterated once, before the runs; the runs skip what is left of them. */
  readonly blobs: Iterable<BundledBlob>;
  /** Can be iterated once. Reaching the end proves that the whole file is intact. */
  readonly runs: Iterable<BundledRun>;
}

/** All definitions of a bundle are held in memory. */
const MAX_DEFINITION_CHARS = 67_108_864;

/** Opens a bundle. `bundle_invalid` names the first line that is wrong, and the event in it. */
export function readBundle(lines: Iterable<string>): Bundle {
  const reader = new BundleReader(lines);
  const runId = reader.header();
  const definitions = reader.definitions();
  const known = new KnownParts(definitions);
  const blobs = reader.blobs(known);
  return { runId, definitions, blobs, runs: reader.runs(runId, known, blobs) };
}

class BundleReader {
  readonly #lines: CheckedLines;
  /** What the next line should hold, for messages about a line that cannot be read. */
  #expected = '';
  #ahead: Line | null = null;

  constructor(lines: Iterable<string>) {
    this.#lines = new CheckedLines(lines, {
      brokenOff: 'the bundle breaks off before its end',
      otherwise: 'it is not written as bundles write it',
      error: (line, why) => wrongLine(line, `${this.#expected}: ${why}`),
    });
  }

  header(): RunId {
    const line = this.#next();
    const version = memberOf(line.value, 'version');
    if (line.kind !== 'cairn-bundle') throw this.#wrong('it is not the first line of a bundle');
    if (version !== BUNDLE_VERSION) {
      const hint = version === 1 ? `; export the run again with this program` : '';
      throw this.#wrong(
        `the bundle has version ${JSON.stringify(version)}; this program reads version ${BUNDLE_VERSION}${hint}`,
      );
    }
    const { runId }: BundleHeader = this.#lines.taken(bundleHeader, line);
    return this.#runId(runId);
  }

  definitions(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    let chars = 0;
    let before = '';
    for (let line = this.#next(); ; line = this.#next()) {
      if (line.kind !== 'definition') {
        this.#ahead = line;
        return found;
      }
      const { hash, body }: BundleDefinition = this.#lines.taken(bundleDefinition, line);
      const actual = digest('sha256', body, 'hex');
      if (actual !== hash) throw this.#wrong(`the definition has the hash ${actual}, not ${hash}`);
      if (hash <= before) throw this.#wrong('the definitions are not sorted by hash');
      chars += body.length;
      if (chars > MAX_DEFINITION_CHARS)
        throw this.#wrong(`the definitions take more than ${MAX_DEFINITION_CHARS} characters`);
      before = hash;
      found.set(hash, body);
    }
  }

  /** Remembers only the hashes: an artifact may be larger than the memory. */
  *blobs(known: KnownParts): Generator<BundledBlob> {
    let before = '';
    for (let line = this.#next(); ; line = this.#next()) {
      if (line.kind !== 'blob') {
        this.#ahead = line;
        return;
      }
      const { sha256, data }: BundleBlob = this.#lines.taken(bundleBlob, line);
      const bytes = Buffer.from(data, 'base64');
      const actual = digest('sha256', bytes, 'hex');
      if (actual !== sha256) throw this.#wrong(`the blob has the hash ${actual}, not ${sha256}`);
      if (bytes.toString('base64') !== data) throw this.#wrong('the blob is not written as bundles write it');
      if (bytes.length > MAX_BLOB_BYTES) throw this.#wrong(`the blob has more than ${MAX_BLOB_BYTES} bytes`);
      if (sha256 <= before) throw this.#wrong('the blobs are not sorted by hash');
      before = sha256;
      known.blobs.add(sha256);
      yield { sha256, bytes };
    }
  }

  *runs(rootRunId: RunId, known: KnownParts, blobs: Iterable<BundledBlob>): Generator<BundledRun> {
    for (const _ of blobs);
    const seen = new Set<string>();
    const sources = new Set<string>();
    let rows = 0;
    let line = this.#next();
    for (; line.kind !== 'end'; line = this.#next()) {
      const run = this.#run(line);
      const isRoot = seen.size === 0;
      if (isRoot && run.runId !== rootRunId) throw this.#wrong(`the first run is ${run.runId}, not ${rootRunId}`);
      // Children that had ended before a branch was cut are below its source, which is not in the bundle.
      const parent = run.parentRunId ?? '';
      if (!isRoot && !seen.has(parent) && !sources.has(parent))
        throw this.#wrong(`no run above run ${run.runId} is in the bundle`);
      if (seen.has(run.runId)) throw this.#wrong(`run ${run.runId} is in the bundle twice`);
      seen.add(run.runId);
      if (run.fork !== null) sources.add(run.fork.sourceRunId).add(run.originRunId);
      const check = new RowCheck(run, known);
      const rowsOf = this.#rows(run, check);
      yield { run, rows: rowsOf };
      // A caller may skip the rows; they are verified all the same.
      for (const _ of rowsOf);
      rows += run.seq + 1;
    }
    if (seen.size === 0) throw this.#wrong('there is no run');
    const unused = known.unused();
    if (unused !== null) throw this.#wrong(unused);
    this.#end(line, { runs: seen.size, rows });
  }

  #run(line: Line): BundledRun['run'] {
    if (line.kind !== 'run') throw this.#wrong('it is not the line of a run');
    const { kind: _, ...run }: BundleRun = this.#lines.taken(bundleRun, line);
    for (const id of [run.runId, run.originRunId, run.parentRunId, run.fork?.sourceRunId ?? null])
      if (id !== null) this.#runId(id);
    if (run.fork !== null && run.fork.fromSeq > run.seq + 1)
      throw this.#wrong(`run ${run.runId} has ${run.seq + 1} events, but its fork begins at ${run.fork.fromSeq}`);
    return run as BundledRun['run'];
  }

  *#rows(run: BundledRun['run'], check: RowCheck): Generator<BundleRowRead> {
    const walk = new ChainWalk(run.originRunId);
    while (walk.next <= run.seq) {
      this.#expected = ` (event ${walk.next} of run ${run.runId})`;
      const line = this.#next();
      if (line.kind !== 'row') throw this.#wrong(`it is not event ${walk.next}; the run has ${run.seq + 1} events`);
      const { kind: _, ...row } = this.#lines.taken(bundleRow, line);
      const cause = causeOf(row.cause);
      const wrong = walk.add({ ...row, cause }) ?? check.wrong(row);
      if (wrong !== null) throw this.#wrong(wrong);
      yield { ...row, cause };
    }
    this.#expected = '';
    if (walk.hash !== run.hash) throw this.#wrong(`the rows lead to the hash ${walk.hash}, not to ${run.hash}`);
  }

  #end(line: Line, found: { readonly runs: number; readonly rows: number }): void {
    const end = this.#lines.shaped(bundleEnd, line);
    for (const what of ['runs', 'rows'] as const) {
      if (end[what] === found[what]) continue;
      throw this.#wrong(`the bundle says that it has ${end[what]} ${what}, but there are ${found[what]}`);
    }
    this.#lines.proven(end.sha256);
    this.#lines.end('it follows the end of the bundle');
  }

  #next(): Line {
    const ahead = this.#ahead;
    this.#ahead = null;
    return ahead ?? this.#lines.next();
  }

  #runId(text: string): RunId {
    const runId = parseRunId(text);
    if (runId === null) throw this.#wrong(`${JSON.stringify(text)} is not a run id`);
    return runId;
  }

  #wrong(why: string): TerminalError {
    return this.#lines.wrong(why);
  }
}

const wrongLine = (line: number, why: string): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `Line ${line} is wrong${why}.`,
    hint: 'Copy the file again, or export the run again.',
    details: { line },
  });

/** The hashes cover the cause as written. Checking more would need the run that it names. */
const causeOf = (cause: BundleRow['cause']): Cause | null => cause as Cause | null;
