/** The content of two versions of artifacts, compared by lines as far as bounds of bytes, lines and work allow. */
import {
  type ArtifactDiff,
  type DiffRoom,
  isJsonObject,
  type Json,
  lineDiff,
  linesOf,
  MAX_LINE_EDITS,
  type RunId,
  type Slices,
  type WrittenVersion,
} from '@cairn/protocol';
import type { FairTurns } from '../../fair-turns.ts';
import { runPurged } from '../../log/ports/run-purged.ts';
import type { Store } from '../../log/ports/store.ts';
import { datasetBatches, filePieces, recordOf } from '../artifacts/artifact-pieces.ts';

/** Bytes and lines of a text that is compared. Splitting it takes less than a turn of the event loop. */
const MAX_BYTES = 1_048_576;
const MAX_LINES = 20_000;

/** Events between the first and the last piece of a version: others of the run lie between them. */
const MAX_SPAN = 20_000;

/** Bytes of all contents that one diff reads. */
const MAX_READ_BYTES = 8_388_608;

export interface ContentPorts {
  readonly store: Pick<Store, 'log' | 'blobs' | 'artifacts'>;
  readonly turns: FairTurns;
}

/** A version, and the run that wrote it. */
export interface VersionOfRun {
  readonly runId: RunId;
  readonly version: WrittenVersion;
}

type Comparison = ArtifactDiff['content'];

interface ComparerOptions {
  readonly tenant: string;
  readonly room: DiffRoom;
  readonly inSlices: <Result>(slices: Slices<Result>) => Promise<Result>;
}

/** Compares the contents of one diff, which share a bound. */
export class ContentComparer {
  readonly #ports: ContentPorts;
  readonly #options: ComparerOptions;
  #left = MAX_READ_BYTES;

  constructor(ports: ContentPorts, options: ComparerOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** Content with the same hash is not read. */
  async compared(a: VersionOfRun | null, b: VersionOfRun | null): Promise<Comparison> {
    if (isSame(a?.version, b?.version)) return { compared: 'same' };
    const sides = [a, b].filter((side) => side !== null);
    for (const { version } of sides) {
      const refused = this.#refused(version);
      if (refused !== null) return refused;
    }
    const texts: (readonly string[])[] = [];
    for (const side of [a, b]) {
      const lines = side === null ? [] : await this.#linesOf(side);
      if (!Array.isArray(lines)) return lines as Comparison;
      texts.push(lines);
    }
    return this.#difference(texts[0] ?? [], texts[1] ?? []);
  }

  async #difference(a: readonly string[], b: readonly string[]): Promise<Comparison> {
    const { inSlices, room } = this.#options;
    const found = await inSlices(lineDiff(a, b, room));
    if (found === null) return { compared: 'too_different', limit: MAX_LINE_EDITS };
    const { added, removed, hunks, leftOut } = found;
    if (added + removed === 0) return { compared: 'same' };
    return { compared: 'lines', added, removed, hunks, ...(leftOut > 0 && { leftOut }) };
  }

  /** What is known without reading it. */
  #refused({ family, size, firstSeq, lastSeq, hasContent }: WrittenVersion): Comparison | null {
    if (!hasContent) return { compared: 'none' };
    const most = family === 'dataset' ? MAX_LINES : MAX_BYTES;
    if (size > most) return { compared: 'too_large', limit: most };
    if (lastSeq - firstSeq > MAX_SPAN) return { compared: 'too_large', limit: MAX_SPAN };
    return family !== 'dataset' && size > this.#left ? { compared: 'left_out', limit: MAX_READ_BYTES } : null;
  }

  async #linesOf({ runId, version }: VersionOfRun): Promise<readonly string[] | Comparison> {
    const placed = { ...version, runId };
    try {
      if (version.family === 'file') return await this.#linesOfFile(placed);
      if (version.family === 'dataset') return await this.#linesOfRows(placed);
      const record = await recordOf(placed, this.#source);
      this.#left -= version.size;
      return await this.#inTurn(version.size, () => lines(`${JSON.stringify(sorted(record), null, 2)}\n`));
    } catch (error) {
      // It was purged meanwhile.
      const purged = await this.#ports.store.log.purged(runId);
      throw purged === null ? error : runPurged(purged);
    }
  }

  async #linesOfFile(placed: Placed): Promise<readonly string[] | Comparison> {
    const pieces: Uint8Array[] = [];
    for await (const piece of filePieces(placed, this.#source, { start: 0, end: placed.size })) {
      if (piece.includes(0)) return { compared: 'binary' };
      pieces.push(Uint8Array.from(piece));
    }
    this.#left -= placed.size;
    return this.#inTurn(placed.size, () => {
      const text = textOf(Buffer.concat(pieces));
      return text === null ? { compared: 'binary' } : lines(text);
    });
  }

  /** A line for each row, after the schema. */
  async #linesOfRows(placed: Placed): Promise<readonly string[] | Comparison> {
    const found: string[] = [];
    let size = 0;
    for await (const { schema, rows } of datasetBatches(placed, this.#source)) {
      if (schema !== undefined) found.push(`schema ${JSON.stringify(schema)}\n`);
      for (const row of rows) {
        size += row.length;
        found.push(`${row}\n`);
      }
      if (size > MAX_BYTES) return { compared: 'too_large', limit: MAX_BYTES };
      if (size > this.#left) return { compared: 'left_out', limit: MAX_READ_BYTES };
    }
    this.#left -= size;
    return found;
  }

  get #source() {
    return { store: this.#ports.store, tenant: this.#options.tenant };
  }

  #inTurn<Result>(bytes: number, work: () => Result): Result | Promise<Result> {
    const { turns } = this.#ports;
    return turns.take(this.#options.tenant, () => {
      turns.charge(bytes);
      return work();
    });
  }
}

type Placed = WrittenVersion & { readonly runId: RunId };

const isSame = (a: WrittenVersion | undefined, b: WrittenVersion | undefined): boolean =>
  a !== undefined && b !== undefined && a.family === b.family && a.sha256 !== null && a.sha256 === b.sha256;

/** Counted first: a text of nothing but line breaks would be a million lines. */
function lines(text: string): readonly string[] | Comparison {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    count += 1;
    if (count > MAX_LINES) return { compared: 'too_large', limit: MAX_LINES };
  }
  return linesOf(text);
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The order of keys does not count. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
