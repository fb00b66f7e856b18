/**
 * The file in which a process says which run it is deciding, so that the next one knows in what this one died. It is
 * written in place and never flushed: that survives the death of the process, though not a power cut.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, parseRunId, type RunId } from '@cairn/protocol';
import type { CrashRecord, Death, EventLoop } from '../engine/ports.ts';

export const CRASH_RECORD = 'cairn.deciding';

/** The decision in progress fills the front of the file. The deaths of earlier processes follow. */
const FRONT_BYTES = 2_048;

/** A larger file is not one that this code wrote. */
const MAX_FILE_BYTES = 1_048_576;

const NOBODY = Buffer.from('\n');

export interface OpenCrashRecord extends CrashRecord {
  close(): void;
}

/** Reads what the last process left, and counts its death. Requires that this process owns the folder. */
export function openCrashRecord(
  folder: string,
  { eventLoop, failed }: { readonly eventLoop: EventLoop; readonly failed: (error: unknown) => void },
): OpenCrashRecord {
  const fd = openSync(join(folder, CRASH_RECORD), constants.O_RDWR | constants.O_CREAT, 0o600);
  return new CrashRecordFile(fd, eventLoop, failed);
}

class CrashRecordFile implements OpenCrashRecord {
  readonly #fd: number;
  readonly #eventLoop: EventLoop;
  readonly #failed: (error: unknown) => void;
  readonly #front = Buffer.alloc(FRONT_BYTES);
  #deaths: readonly Death[];
  /** The file names a decision of this turn of the event loop. */
  #isMarked = false;
  #isBroken = false;

  constructor(fd: number, eventLoop: EventLoop, failed: (error: unknown) => void) {
    this.#fd = fd;
    this.#eventLoop = eventLoop;
    this.#failed = failed;
    const { decision, deaths } = readRecord(fd);
    this.#deaths = decision === null ? deaths : decision.causes.reduce(withDeath(decision.runId), deaths);
    this.#save();
    this.#write(NOBODY, NOBODY.length);
  }

  deaths(): readonly Death[] {
    return this.#deaths;
  }

  deciding(runId: RunId, causes: readonly string[]): void {
    const text = `${JSON.stringify([runId, ...causes])}\n`;
    this.#write(this.#front, this.#front.write(text));
    if (this.#isMarked) return;
    this.#isMarked = true;
    // One more write per turn instead of one per decision: the rest of a turn is rarely what kills.
    this.#eventLoop.nextTurn(this.#unmark);
  }

  decided(runId: RunId, causes: readonly string[]): void {
    if (this.#deaths.length > 0) this.#keep((death) => death.runId !== runId || !causes.includes(death.cause));
  }

  forget(runId: RunId): void {
    this.#keep((death) => death.runId !== runId);
  }

  close(): void {
    this.#unmark();
    this.#isBroken = true;
    closeSync(this.#fd);
  }

  readonly #unmark = (): void => {
    this.#isMarked = false;
    this.#write(NOBODY, NOBODY.length);
  };

  #keep(stays: (death: Death) => boolean): void {
    const kept = this.#deaths.filter(stays);
    if (kept.length === this.#deaths.length) return;
    this.#deaths = kept;
    this.#save();
  }

  #save(): void {
    const text = Buffer.from(JSON.stringify(this.#deaths));
    this.#guard(() => {
      writeSync(this.#fd, text, 0, text.length, FRONT_BYTES);
      ftruncateSync(this.#fd, FRONT_BYTES + text.length);
    });
  }

  #write(bytes: Buffer, length: number): void {
    if (this.#isBroken) return;
    try {
      writeSync(this.#fd, bytes, 0, length, 0);
    } catch (error) {
      this.#broke(error);
    }
  }

  #guard(work: () => void): void {
    if (this.#isBroken) return;
    try {
      work();
    } catch (error) {
      this.#broke(error);
    }
  }

  /** Runs go on; only a death would not be attributed. */
  #broke(error: unknown): void {
    this.#isBroken = true;
    this.#failed(error);
  }
}

const withDeath =
  (runId: RunId) =>
  (deaths: readonly Death[], cause: string): readonly Death[] => {
    const same = (death: Death) => death.runId === runId && death.cause === cause;
    const count = (deaths.find(same)?.count ?? 0) + 1;
    return [...deaths.filter((death) => !same(death)), { runId, cause, count }];
  };

interface Decision {
  readonly runId: RunId;
  readonly causes: readonly string[];
}

/** A file that is torn or foreign says nothing. */
function readRecord(fd: number): { readonly decision: Decision | null; readonly deaths: readonly Death[] } {
  const { size } = fstatSync(fd);
  const file = Buffer.alloc(Math.min(size, MAX_FILE_BYTES));
  readSync(fd, file, 0, file.length, 0);
  const front = file.subarray(0, FRONT_BYTES);
  const end = front.indexOf(NOBODY);
  const decision = end < 0 ? null : decisionOf(json(front.subarray(0, end)));
  const deaths = json(file.subarray(FRONT_BYTES));
  return { decision, deaths: Array.isArray(deaths) ? deaths.flatMap(deathOf) : [] };
}

function json(text: Buffer): Json {
  try {
    return JSON.parse(text.toString());
  } catch {
    return null;
  }
}

function decisionOf(value: Json): Decision | null {
  if (!Array.isArray(value)) return null;
  const [first, ...causes] = value;
  const runId = typeof first === 'string' ? parseRunId(first) : null;
  return runId === null ? null : { runId, causes: causes.filter((cause) => typeof cause === 'string') };
}

function deathOf(value: Json): Death[] {
  if (!isJsonObject(value)) return [];
  const { cause, count } = value;
  const runId = typeof value.runId === 'string' ? parseRunId(value.runId) : null;
  return runId !== null && typeof cause === 'string' && typeof count === 'number' ? [{ runId, cause, count }] : [];
}
