/**
 * Tells callers what became of their work. What they do next may be slow, and one transaction may have hundreds of them:
 * they go on in slices, and other work of the event loop comes between two. Tenants take turns.
 */
import { inFairOrder } from '../../take-jobs.ts';
import { type Job, settle } from './job.ts';

/** How long callers go on before the event loop gets to timers and sockets. The last one of a slice may exceed it. */
const SLICE_MS = 4;

/** So few go on at once. */
const FEW = 4;

export interface AcknowledgementPorts {
  readonly elapsedMs: () => number;
  /** Called when everybody knows, unless they all went on at once. */
  readonly allKnow: () => void;
}

export class Acknowledgements {
  readonly #ports: AcknowledgementPorts;
  #waiting: Job[] = [];
  /** The next of them. */
  #next = 0;
  #isUnderWay = false;
  #sliceEnd = 0;

  constructor(ports: AcknowledgementPorts) {
    this.#ports = ports;
  }

  /** Whether somebody has to wait until the callers before it went on. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  add(jobs: readonly Job[]): void {
    if (!this.#isUnderWay && jobs.length <= FEW) {
      for (const job of jobs) settle(job);
      return;
    }
    if (this.#isUnderWay) {
      for (const job of jobs) this.#waiting.push(job);
      return;
    }
    this.#isUnderWay = true;
    this.#beginSlice(jobs);
  }

  /** In the order of the commits, the tenant with the most work would go first. */
  #beginSlice(jobs: readonly Job[]): void {
    this.#waiting = inFairOrder(jobs);
    this.#next = 0;
    this.#sliceEnd = this.#ports.elapsedMs() + SLICE_MS;
    this.#settleNext();
  }

  readonly #settleNext = (): void => {
    const job = this.#waiting[this.#next];
    this.#next += 1;
    if (job !== undefined) settle(job);
    if (this.#next >= this.#waiting.length) {
      this.#end();
      return;
    }
    // The reaction of the caller is older, so it comes first and its time counts.
    if (this.#ports.elapsedMs() < this.#sliceEnd) queueMicrotask(this.#settleNext);
    else setImmediate(this.#nextSlice);
  };

  readonly #nextSlice = (): void => this.#beginSlice(this.#waiting.slice(this.#next));

  #end(): void {
    this.#waiting = [];
    this.#isUnderWay = false;
    this.#ports.allKnow();
  }
}
