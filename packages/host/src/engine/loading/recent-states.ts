/**
 * The states of runs that rest until a timer wakes them soon. A woken run goes on from its state and reads only the rows
 * written since, instead of a checkpoint and a tail. Bounded in total and per tenant; the oldest states make room.
 */
import type { RunId } from '@cairn/protocol';
import type { NewRun, RunFork } from '../../log/ports/event-log.ts';
import type { RunState } from '../core/state.ts';
import type { Workflow } from '../workflow/workflow.ts';

/** A state that rests longer is read from its checkpoint: it would only occupy memory. */
export const RECENT_MS = 60_000;

/** The newest checkpoint of a state, and what came after it. */
export interface LoadedCheckpoint {
  /** -1 if there was none. */
  readonly seq: number;
  readonly bytes: number;
  /** Payload bytes of the rows folded after it. */
  readonly tailBytes: number;
}

export interface RestingRun {
  /** Includes only rows that are durable. */
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly record: Pick<NewRun, 'tenant' | 'contextId'> & { readonly fork?: RunFork | null };
  readonly checkpoint: LoadedCheckpoint;
}

/** Bytes of state as JSON. A state in memory takes about three times as much heap. */
export interface RecentRoom {
  readonly bytes: number;
  readonly bytesPerTenant: number;
}

const ROOM: RecentRoom = { bytes: 32_000_000, bytesPerTenant: 8_000_000 };

export class RecentStates {
  readonly #room: RecentRoom;
  /** Oldest first, of all tenants and of each. */
  readonly #runs = new Map<RunId, RestingRun>();
  readonly #tenants = new Map<string, { bytes: number; readonly runs: Set<RestingRun> }>();
  #bytes = 0;

  constructor(room: RecentRoom = ROOM) {
    this.#room = room;
  }

  put(run: RestingRun): void {
    const { tenant } = run.record;
    const bytes = sizeOf(run);
    if (bytes > this.#room.bytesPerTenant) return;
    const ofTenant = this.#tenants.get(tenant) ?? { bytes: 0, runs: new Set() };
    this.#tenants.set(tenant, ofTenant);
    this.#runs.set(run.state.runId, run);
    this.#bytes += bytes;
    ofTenant.runs.add(run);
    ofTenant.bytes += bytes;
    if (ofTenant.bytes > this.#room.bytesPerTenant)
      this.#makeRoom(ofTenant.runs, () => ofTenant.bytes - this.#room.bytesPerTenant);
    if (this.#bytes > this.#room.bytes) this.#makeRoom(this.#runs.values(), () => this.#bytes - this.#room.bytes);
  }

  /** Hands a state over: who takes it may change it. */
  take(runId: RunId): RestingRun | null {
    const run = this.#runs.get(runId);
    if (run === undefined) return null;
    this.#remove(run);
    return run;
  }

  #makeRoom(oldestFirst: Iterable<RestingRun>, excess: () => number): void {
    for (const run of oldestFirst) {
      this.#remove(run);
      if (excess() <= 0) return;
    }
  }

  #remove(run: RestingRun): void {
    const { tenant } = run.record;
    const bytes = sizeOf(run);
    this.#runs.delete(run.state.runId);
    this.#bytes -= bytes;
    const ofTenant = this.#tenants.get(tenant);
    if (ofTenant === undefined) return;
    ofTenant.runs.delete(run);
    ofTenant.bytes -= bytes;
    if (ofTenant.runs.size === 0) this.#tenants.delete(tenant);
  }
}

const sizeOf = ({ checkpoint }: RestingRun): number => checkpoint.bytes + checkpoint.tailBytes;
