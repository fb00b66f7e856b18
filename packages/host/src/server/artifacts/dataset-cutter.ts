/** Cuts a dataset into batches of rows. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { DatasetOptions } from '../../agents/tools/artifact-port.ts';
import type { Redactor } from '../../engine/ports.ts';
import { schemaProblems } from '../../engine/values/schemas.ts';
import type { Cutter, PieceSink } from './piece-writer.ts';

/** Maximum size of a batch as JSON. Its row and its task face then fit in an event. */
export const MAX_BATCH_BYTES = 120_000;

/** Time for validating rows before yielding to timers and sockets. */
const TURN_MS = 5;

export interface DatasetCut extends DatasetOptions {
  readonly name: string;
  readonly redactor: Redactor | null;
  /** The error for a row that does not match its schema. */
  readonly misfit: 'tool_failed' | 'validation_error';
}

/** Each write is a batch. */
export class DatasetCutter implements Cutter<readonly JsonObject[]> {
  readonly #sink: PieceSink;
  readonly #options: DatasetCut;
  readonly #hash = createHash('sha256');

  constructor(sink: PieceSink, options: DatasetCut) {
    this.#sink = sink;
    this.#options = options;
  }

  take(rows: readonly JsonObject[]): Promise<void> {
    return this.#write(rows, false);
  }

  finish(): Promise<void> {
    return this.#write([], true);
  }

  async #write(given: readonly JsonObject[], isLast: boolean): Promise<void> {
    const { name, schema, totalRows, redactor } = this.#options;
    const rows = redactor?.value(given) ?? given;
    await this.#check(rows);
    const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    if (bytes.length > MAX_BATCH_BYTES) throw tooLarge(name, bytes.length);
    this.#hash.update(bytes);
    const isInline = bytes.length === 0 || this.#sink.isInline(bytes.length);
    const content = isInline ? { rows: [...rows] } : { blob: await this.#sink.blob(bytes) };
    await this.#sink.add({
      type: 'cairn.artifact.rows',
      header: { ...(schema !== undefined && { schema }), ...(totalRows !== undefined && { totalRows }) },
      content: { ...content, count: rows.length },
      inlineBytes: isInline ? bytes.length : 0,
      end: isLast ? { artifactType: 'dataset', sha256: this.#hash.digest('hex') } : null,
    });
  }

  /** Measures time instead of counting rows, because the cost of a row depends on the schema. */
  async #check(rows: readonly JsonObject[]): Promise<void> {
    const { name, schema, misfit } = this.#options;
    if (schema === undefined) return;
    let end = performance.now() + TURN_MS;
    for (const [place, row] of rows.entries()) {
      if (performance.now() >= end) {
        await nextTurn();
        end = performance.now() + TURN_MS;
      }
      const problems = schemaProblems(schema, row);
      if (problems.length === 0) continue;
      throw new TerminalError(misfit, {
        message: `Row ${place} of a batch of the dataset ${JSON.stringify(name)} does not fit its schema: ${problems.join('; ')}.`,
        hint: 'Correct the row or the schema.',
      });
    }
  }
}

const tooLarge = (artifactId: string, bytes: number): TerminalError =>
  new TerminalError('artifact_too_large', {
    message: `A batch of the dataset ${JSON.stringify(artifactId)} has ${bytes} bytes; the limit is ${MAX_BATCH_BYTES}.`,
    hint: 'Write smaller batches.',
    details: { artifactId, bytes, limit: MAX_BATCH_BYTES },
  });
