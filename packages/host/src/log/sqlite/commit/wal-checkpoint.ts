/** Keeps the WAL small. Past a limit a thread copies it; appends, not the event loop, wait for the last part. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { RetryableError } from '@cairn/protocol';
import type { ListenerFault } from '../../feed/followers.ts';
import type { GroupCommit } from './group-commit.ts';
import type { CheckpointReply, CheckpointRequest } from './wal-checkpoint-worker.ts';

/** 64 MiB in pages of 4 KiB. */
const LIMIT_FRAMES = 16_384;
/** 96 MiB. A thread that gets too little of the machine would let the WAL grow on: appends wait for its copy then. */
const MAX_FRAMES = 24_576;
/** The WAL is measured after this much was written since the last measurement. */
const PROBE_ROWS = 512;
const PROBE_BYTES = 1_048_576;

/** Frames that appends may wait for at the end: 1 MiB takes a few milliseconds. */
const SHORT_FRAMES = 256;
/** Most copies before the last one, for a writer that is as fast as the disk. */
const MAX_COPIES = 6;

export interface CheckpointerPorts {
  readonly file: string;
  readonly writer: Pick<GroupCommit, 'diskIsBusy' | 'hold' | 'resume'>;
  readonly onFault: ListenerFault;
}

export class Checkpointer {
  readonly #ports: CheckpointerPorts;
  readonly #measure: StatementSync;
  #worker: Worker | null = null;
  #running: Promise<void> | null = null;
  #rows = 0;
  #bytes = 0;

  constructor(db: DatabaseSync, ports: CheckpointerPorts) {
    this.#ports = ports;
    // NOOP copies nothing: it only reports the number of frames in the WAL.
    this.#measure = db.prepare('PRAGMA wal_checkpoint(NOOP)');
  }

  /** Called after each commit. */
  wrote(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    if (this.#rows < PROBE_ROWS && this.#bytes < PROBE_BYTES) return;
    this.#rows = 0;
    this.#bytes = 0;
    const frames = Number(this.#measure.get()?.log);
    if (this.#running === null && frames >= LIMIT_FRAMES) void this.now();
    else if (this.#running !== null && frames >= MAX_FRAMES) this.#ports.writer.hold();
  }

  /** Copies the WAL whatever its size. The file of the database takes its current length then, which may be shorter. */
  now(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Stops the thread after its current copy. */
  async close(): Promise<void> {
    await this.#running;
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.ref(); // an idle thread must not keep the process alive, but an awaited one must
    worker.postMessage('close' satisfies CheckpointRequest);
    await ended;
  }

  /**
   * Copies the WAL while appends continue, and again what they wrote meanwhile, until little is left. They wait only for
   * that, so that the WAL can restart. After one copy of 64 MiB, a busy writer had left 10 MiB.
   */
  async #run(): Promise<void> {
    const { writer, onFault } = this.#ports;
    // A flush may wait until the copy is on the disk: 200 ms for 64 MiB.
    writer.diskIsBusy(true);
    try {
      await this.#ask('copy');
      for (let copies = 1; copies < MAX_COPIES && this.#left() > SHORT_FRAMES; copies += 1) await this.#ask('copy');
      writer.hold();
      await this.#ask('copy');
    } catch (error) {
      onFault(error);
    } finally {
      writer.resume();
      writer.diskIsBusy(false);
    }
  }

  /** Frames that are not copied yet. */
  #left(): number {
    const { log, checkpointed } = this.#measure.get() ?? {};
    return Number(log) - Number(checkpointed);
  }

  #ask(request: CheckpointRequest): Promise<void> {
    this.#worker ??= startWorker(this.#ports.file);
    const worker = this.#worker;
    worker.ref();
    return new Promise<void>((resolve, reject) => {
      const failed = (said: string, cause?: unknown): void => {
        reject(
          new RetryableError('store_failed', {
            message: `The WAL of ${this.#ports.file} could not be checkpointed: ${said}.`,
            hint: 'Look at the space left on the disk; the host tries again by itself.',
            cause,
          }),
        );
      };
      const died = (error: unknown): void => {
        this.#worker = null;
        failed('its thread ended', error);
      };
      worker.once('error', died);
      worker.once('message', (reply: CheckpointReply) => {
        worker.off('error', died);
        worker.unref();
        if ('error' in reply) failed(reply.error.message);
        else resolve();
      });
      worker.postMessage(request);
    });
  }
}

/** Runs the source file in development and the built file when published. */
function startWorker(file: string): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./wal-checkpoint-worker.${extension}`, import.meta.url), { workerData: file });
}
