/**
 * The file in which a process says which run it is deciding, so that the next one knows in what this one died. It is
 * written in place and never flushed: that survives the death of the process, though not a power cut. A thread writes
 * decisions that take long, because a write costs 2 to 6 microseconds. The event loop itself writes each decision until
 * the thread is ready, and after a death.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isJsonObject, type Json, parseRunId, type RunId } from '@cairn/protocol';
import type { CrashRecord, Death, EventLoop } from '../../engine/ports.ts';
import { DecisionMemory } from './decision-memory.ts';
import { lineOf, NOBODY } from './decision-watch.ts';
import type { WatchData } from './decision-watch-worker.ts';
import { withDeath } from './with-death.ts';

export const CRASH_RECORD = 'cairn.deciding';

/** The decision in progress fills the front of the file. The deaths of earlier processes follow. */
const FRONT_BYTES = 2_048;

/** A larger file is not one that this code wrote. */
const MAX_FILE_BYTES = 1_048_576;

export interface OpenCrashRecord extends CrashRecord {
  /** Resolves once a death in a decision would be seen. */
  readonly ready?: Promise<void>;
  close(): void | Promise<void>;
}

export interface CrashRecordPorts {
  readonly eventLoop: EventLoop;
  readonly failed: (error: unknown) => void;
  /** Starts the thread that watches the decisions. */
  readonly watch?: (data: WatchData, failed: (error: unknown) => void) => void;
}

/** Reads what the last process left, and counts its death. Requires that this process owns the folder. */
export function openCrashRecord(
  folder: string,
  { watch = watchInThread, ...ports }: CrashRecordPorts,
): OpenCrashRecord {
  return new CrashRecordFile(join(folder, CRASH_RECORD), { watch, ...ports });
}

class CrashRecordFile implements OpenCrashRecord {
  readonly #file: string;
  readonly #fd: number;
  readonly #ports: Required<CrashRecordPorts>;
  readonly #memory = new DecisionMemory();
  #deaths: readonly Death[];
  #hasThread = false;
  /** A decision of this turn of the event loop is marked. */
  #isMarked = false;
  /** It is in the file. */
  #isWritten = false;
  #isBroken = false;

  constructor(file: string, ports: Required<CrashRecordPorts>) {
    this.#file = file;
    this.#fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#ports = ports;
    const { decision, deaths } = readRecord(this.#fd);
    this.#deaths = decision === null ? deaths : decision.causes.reduce(withDeath(decision.runId), deaths);
    this.#save();
    this.#write(NOBODY);
  }

  deaths(): readonly Death[] {
    return this.#deaths;
  }

  deciding(runId: RunId, causes: readonly string[]): void {
    if (this.#isBroken) return;
    this.#memory.begin(runId, causes);
    if (!this.#hasThread) this.#watch();
    if (this.#deaths.length > 0 || !this.#memory.isWatched) {
      this.#isWritten = true;
      this.#write(lineOf([runId, ...causes]));
    }
    if (this.#isMarked) return;
    this.#isMarked = true;
    // Loading has no end of its own. Once per turn is enough for it.
    this.#ports.eventLoop.nextTurn(this.#endTurn);
  }

  composed(): void {
    this.#memory.end();
    if (this.#isWritten) this.#write(NOBODY);
    this.#isWritten = false;
  }

  decided(runId: RunId, causes: readonly string[]): void {
    if (this.#deaths.length > 0) this.#keep((death) => death.runId !== runId || !causes.includes(death.cause));
  }

  forget(runId: RunId): void {
    this.#keep((death) => death.runId !== runId);
  }

  close(): void {
    this.#memory.stop();
    this.#write(NOBODY);
    this.#isBroken = true;
    closeSync(this.#fd);
  }

  /** The thread starts with the first decision, because many a host never makes one. */
  #watch(): void {
    this.#hasThread = true;
    this.#ports.watch({ file: this.#file, shared: this.#memory.shared }, (error) => this.#broke(error));
  }

  readonly #endTurn = (): void => {
    this.#isMarked = false;
    this.composed();
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

  #write(bytes: Buffer): void {
    this.#guard(() => writeSync(this.#fd, bytes, 0, bytes.length, 0));
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
    this.#memory.stop();
    this.#ports.failed(error);
  }
}

/** Runs the source file in development and the built file when published. */
function watchInThread(workerData: WatchData, failed: (error: unknown) => void): void {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./decision-watch-worker.${extension}`, import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  worker.on('error', failed);
  worker.unref();
}

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
  // One death counts once for each cause, also if the file names it twice.
  return runId === null ? null : { runId, causes: [...new Set(causes.filter((cause) => typeof cause === 'string'))] };
}

function deathOf(value: Json): Death[] {
  if (!isJsonObject(value)) return [];
  const { cause, count } = value;
  const runId = typeof value.runId === 'string' ? parseRunId(value.runId) : null;
  return runId !== null && typeof cause === 'string' && typeof count === 'number' ? [{ runId, cause, count }] : [];
}
