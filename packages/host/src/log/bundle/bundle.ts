/** Reads and writes bundles line by line. The reader verifies every byte before it reports the end. */
import { createHash, hash as digest } from 'node:crypto';
import {
  BUNDLE_VERSION,
  type BundleDefinition,
  type BundleHeader,
  type BundleRow,
  bundleDefinition,
  bundleEnd,
  bundleHeader,
  bundleRow,
  type Cause,
  type ContextId,
  type DataOf,
  eventPayloads,
  isCairnError,
  isEventType,
  isoTime,
  isTerminalType,
  parseRunId,
  parseShape,
  type RunId,
  TerminalError,
} from '@cairn/protocol';
import type { z } from 'zod';
import { utf8Size } from '../../utf8.ts';
import { chainHash, chainStart, rowHash } from '../chain.ts';
import { MAX_EVENT_BYTES, type NewRow, type Row } from '../ports/rows.ts';

/** The content of a bundle. */
export interface BundleSource {
  readonly run: BundleHeader['run'];
  readonly definition: string;
  readonly exportedAt: number;
  /** In order, from the first row. */
  readonly rows: Iterable<Row>;
}

/** The lines of a bundle, each without its newline. */
export function* bundleLines({ run, definition, exportedAt, rows }: BundleSource): Generator<string> {
  const bytes = createHash('sha256');
  const line = (value: BundleHeader | BundleDefinition | BundleRow): string => {
    const text = JSON.stringify(value);
    bytes.update(`${text}\n`);
    return text;
  };
  yield line({ kind: 'cairn-bundle', version: BUNDLE_VERSION, exportedAt: isoTime(exportedAt), run });
  yield line({ kind: 'definition', hash: run.definitionHash, body: definition });
  let count = 0;
  for (const { runId: _, contextId: __, cursor: ___, ...row } of rows) {
    yield line({ kind: 'row', ...row });
    count += 1;
  }
  yield JSON.stringify({ kind: 'end', rows: count, sha256: bytes.digest('hex') });
}

export interface Bundle {
  readonly run: Omit<BundleHeader['run'], 'runId' | 'contextId' | 'originRunId' | 'parentRunId'> & {
    readonly runId: RunId;
    readonly contextId: ContextId;
    readonly originRunId: RunId;
    readonly parentRunId: RunId | null;
  };
  readonly exportedAt: string;
  readonly definition: string;
  /** Can be iterated once. Reaching the end proves that the whole file is intact. */
  readonly rows: Iterable<NewRow>;
}

/** Opens a bundle. `bundle_invalid` names the first line that is wrong. */
export function readBundle(lines: Iterable<string>): Bundle {
  const reader = new BundleReader(lines);
  const { run, exportedAt } = reader.header();
  const definition = reader.definition(run.definitionHash);
  const checked = runOf(run);
  return { run: checked, exportedAt, definition, rows: reader.rows(checked) };
}

function runOf(run: BundleHeader['run']): Bundle['run'] {
  for (const id of [run.runId, run.originRunId, run.parentRunId]) {
    if (id !== null && parseRunId(id) === null) throw invalid(1, `${JSON.stringify(id)} is no run id`);
  }
  return run as Bundle['run'];
}

class BundleReader {
  readonly #lines: Iterator<string>;
  readonly #bytes = createHash('sha256');
  #number = 0;

  constructor(lines: Iterable<string>) {
    this.#lines = lines[Symbol.iterator]();
  }

  header(): BundleHeader {
    const value = this.#parsed(this.#next());
    const version = memberOf(value, 'version');
    if (memberOf(value, 'kind') !== 'cairn-bundle') throw invalid(1, 'it is not the first line of a bundle');
    if (version !== BUNDLE_VERSION) {
      throw invalid(
        1,
        `the bundle has version ${JSON.stringify(version)}; this program reads version ${BUNDLE_VERSION}`,
      );
    }
    return this.#shaped(bundleHeader, value);
  }

  definition(hash: string): string {
    const { hash: named, body } = this.#shaped(bundleDefinition, this.#parsed(this.#next()));
    const found = digest('sha256', body, 'hex');
    if (found === hash && named === hash) return body;
    throw this.#wrong(`the definition has the hash ${found}, but the run is pinned to ${hash}`);
  }

  *rows(run: Bundle['run']): Generator<NewRow> {
    let seq = 0;
    let at = Number.NEGATIVE_INFINITY;
    let hash = chainStart(run.originRunId);
    let ended = false;
    for (;;) {
      const text = this.#next();
      const value = this.#parsed(text, false);
      if (memberOf(value, 'kind') === 'end') {
        if (hash !== run.hash) throw this.#wrong(`the rows lead to the hash ${hash}, not to ${run.hash}`);
        this.#end(text, seq);
        return;
      }
      this.#bytes.update(`${text}\n`);
      const row = this.#shaped(bundleRow, value);
      if (row.seq !== seq) throw this.#wrong(`it holds event ${row.seq} where event ${seq} belongs`);
      if (ended) throw this.#wrong('it follows the event that ended the run');
      if (row.at < at) throw this.#wrong(`event ${seq} is earlier than the one before it`);
      if (rowHash({ ...row, cause: causeOf(row.cause) }) !== row.rowHash) {
        throw this.#wrong(`event ${seq} (${row.type}) is not what its hash says`);
      }
      hash = chainHash(hash, row.rowHash);
      if (hash !== row.hash) throw this.#wrong(`event ${seq} does not follow from the one before it`);
      this.#checkBody(row, run);
      at = row.at;
      ended = isTerminalType(row.type);
      seq += 1;
      yield newRow(row);
    }
  }

  /** Views trust stored payloads without validating them again, so rows that no host would write are rejected here. */
  #checkBody(row: BundleRow, run: Bundle['run']): void {
    const bytes = utf8Size(row.payload) + utf8Size(row.task ?? '');
    if (bytes > MAX_EVENT_BYTES)
      throw this.#wrong(`event ${row.seq} has ${bytes} bytes; the limit is ${MAX_EVENT_BYTES}`);
    const texts = [row.type, row.nodeId ?? '', row.payload, row.task ?? ''];
    if (!texts.every((text) => text.isWellFormed()))
      throw this.#wrong(`event ${row.seq} holds text that is not Unicode`);
    const payload = this.#parsed(row.payload, false);
    if (row.task !== null) this.#parsed(row.task, false);
    if (isEventType(row.type)) {
      const schema: z.ZodType = eventPayloads[row.type];
      this.#shaped(schema, payload);
    }
    if (row.seq > 0) return;
    if (row.type !== 'run.started') throw this.#wrong(`the first event is ${row.type}, not run.started`);
    if (memberOf(payload, 'definitionHash') !== run.definitionHash)
      throw this.#wrong('the run was started with another definition');
    const context = memberOf(payload, 'contextId');
    // A fork shares this event with its source, which has another context.
    if (context !== undefined && context !== run.contextId && run.originRunId === run.runId)
      throw this.#wrong('the run was started in another context');
  }

  #end(text: string, rows: number): void {
    const end = this.#shaped(bundleEnd, this.#parsed(text, false));
    if (end.rows !== rows) throw this.#wrong(`the bundle says that it has ${end.rows} rows, but there are ${rows}`);
    const found = this.#bytes.digest('hex');
    if (end.sha256 !== found) throw this.#wrong(`the lines before it have the sha256 ${found}, not ${end.sha256}`);
    if (JSON.stringify(end) !== text) throw this.#wrong('it is not written as bundles write it');
    if (this.#lines.next().done !== true) throw invalid(this.#number + 1, 'it follows the end of the bundle');
  }

  #next(): string {
    this.#number += 1;
    const next = this.#lines.next();
    if (next.done === true) throw this.#wrong('the bundle breaks off before its end');
    return next.value;
  }

  /** Lines before the rows are hashed as they are read. A row is hashed once it is known not to be the end line. */
  #parsed(text: string, isCounted = this.#number <= 2): unknown {
    if (isCounted) this.#bytes.update(`${text}\n`);
    try {
      const value: unknown = JSON.parse(text);
      return value ?? {};
    } catch {
      throw this.#wrong('it is not JSON');
    }
  }

  #shaped<Schema extends z.ZodType>(shape: Schema, value: unknown): DataOf<Schema> {
    try {
      return parseShape(shape, value, 'it');
    } catch (error) {
      throw isCairnError(error) ? this.#wrong(error.message.replace(/\.$/, '')) : error;
    }
  }

  #wrong(why: string): TerminalError {
    return invalid(this.#number, why);
  }
}

const newRow = ({ at, type, nodeId, cause, audience, payload, task }: BundleRow): NewRow => ({
  at,
  type,
  nodeId: nodeId ?? undefined,
  cause: causeOf(cause) ?? undefined,
  audience,
  payload,
  task,
});

/** The hashes cover the cause as written. Checking more would need the run that it names. */
const causeOf = (cause: BundleRow['cause']): Cause | null => cause as Cause | null;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const invalid = (line: number, why: string): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `Line ${line} is wrong: ${why}.`,
    hint: 'Copy the file again, or export the run again.',
    details: { line },
  });
