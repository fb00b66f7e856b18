/**
 * An independent model of supervisors and their workers: each step of a dispatch chain happens once, in order, with the
 * cause the wire names.
 */
import { isTerminalType, type RunId } from '@cairn/protocol';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

export interface ChainWorld {
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
}

interface ChainPayload {
  readonly phase: string;
  readonly workerId: string;
  readonly childRunId?: RunId;
  readonly parentRunId: RunId;
  readonly harvestedKeys?: readonly string[];
}

/** One row of a chain, and whether the row it may cause has followed. */
interface Link {
  readonly phase: string;
  readonly workerId: string;
  readonly childRunId: RunId | null;
  followed: boolean;
}

/** The allowed causes of each step of the chain. */
const causes: Readonly<Record<string, readonly string[]>> = {
  'dispatch.succeeded': ['dispatch.began'],
  'dispatch.failed': ['dispatch.began'],
  'child.completed': ['dispatch.succeeded'],
  'child.failed': ['dispatch.succeeded'],
  'child.cancelled': ['dispatch.succeeded'],
  'output.harvested': ['child.completed'],
};

/** The chains of one run. */
class RunChains {
  readonly links = new Map<number, Link>();
  /** seq of the decision to carry out. */
  decided: number | null = null;
  /** seq of the decision that needs human review, until it is reviewed. */
  held: number | null = null;
}

export class ChainWatch {
  readonly #world: ChainWorld;
  readonly #runs = new Map<RunId, RunChains>();
  readonly #ends = new Map<string, string>();
  /** Runs whose parent was told that they never started. */
  readonly #refused = new Set<RunId>();
  readonly #begun = new Set<RunId>();

  constructor(world: ChainWorld) {
    this.#world = world;
  }

  /** Takes what a branch begins with: nothing of it happens now. */
  inherit(runId: RunId, rows: readonly Row[]): void {
    const silent = new ChainWatch({ complain: () => undefined, count: () => undefined });
    for (const row of rows) silent.take(row);
    this.#runs.set(runId, silent.#of(runId));
    this.#begun.add(runId);
  }

  take(row: Row): void {
    const { runId, type } = row;
    if (type === 'run.started') this.#started(runId);
    else if (type === 'runOrchestrator.decided') this.#decided(row);
    else if (type === 'core.workflowChain.event') this.#chain(row);
    else if (type === 'core.workflowChain.confidence-escalated') this.#escalated(row);
    else if (type === 'interrupt.resolved') this.#of(runId).held = null;
    else if (type === 'cairn.step.requested') this.#requested(row);
    else if (type === 'cairn.step.returned') this.#returned(row);
    else if (isTerminalType(type)) this.#ends.set(runId, type);
  }

  #of(runId: RunId): RunChains {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const chains = new RunChains();
    this.#runs.set(runId, chains);
    return chains;
  }

  #started(runId: RunId): void {
    this.#begun.add(runId);
    if (this.#refused.has(runId)) this.#world.complain('a run that was refused never begins', { runId });
    if (runId.split('.').length > 2) this.#world.count('run two below another');
  }

  #decided({ runId, seq, payload }: Row): void {
    const chains = this.#of(runId);
    chains.decided = seq;
    this.#world.count('supervisor decided');
    if (payload.includes('"ask-user"')) this.#world.count('supervisor asked the user');
  }

  #escalated({ runId, seq, cause }: Row): void {
    const chains = this.#of(runId);
    this.#world.count('unsure decision held');
    if (cause !== chains.decided)
      this.#world.complain('an unsure decision is held for what was decided', { runId, seq });
    chains.held = chains.decided;
  }

  #chain(row: Row): void {
    const { runId, seq, cause } = row;
    const said: ChainPayload = JSON.parse(row.payload);
    const { phase, workerId, childRunId = null } = said;
    const chains = this.#of(runId);
    const where = { runId, seq, phase, workerId, childRunId, cause };
    const { complain } = this.#world;
    if (said.parentRunId !== runId) complain('a chain names the run it is in', where);
    if (phase === 'dispatch.began') {
      if (chains.decided === null || cause !== chains.decided) {
        complain('a worker is sent out because of the last decision', where);
      }
      if (chains.held !== null) complain('a held decision is not carried out', where);
    } else {
      const before = chains.links.get(Number(cause));
      const isRight = before?.workerId === workerId && causes[phase]?.includes(before.phase) === true;
      if (!isRight) complain('each step of a chain is caused by the one before it', { ...where, before });
      else if (before.followed) complain('a step of a chain is followed once', { ...where, before });
      else if (before.childRunId !== null && before.childRunId !== childRunId) {
        complain('a chain is about one child', { ...where, before });
      }
      if (before !== undefined) before.followed = true;
      this.#checkChild(said, where);
    }
    chains.links.set(seq, { phase, workerId, childRunId, followed: false });
    const name = phaseNames[phase];
    if (name !== undefined) this.#world.count(name);
  }

  #checkChild({ phase, childRunId, harvestedKeys = [] }: ChainPayload, where: Readonly<Record<string, unknown>>): void {
    const { complain } = this.#world;
    if (phase === 'dispatch.failed') return;
    if (childRunId === undefined || !this.#begun.has(childRunId)) complain('who is sent out has begun', where);
    const ended = this.#ends.get(childRunId ?? '');
    if (phase.startsWith('child.') && ended !== `run.${phase.slice('child.'.length)}`) {
      complain('a chain tells the end of a child as it was', { ...where, ended });
    }
    if (phase === 'output.harvested' && (ended !== 'run.completed' || harvestedKeys.length === 0)) {
      complain('only children that completed give something back', { ...where, ended });
    }
  }

  /** For dispatch nodes, the `dispatch.began` row of the chain must be the cause of a child's request. */
  #requested({ runId, seq, cause, payload }: Row): void {
    const { childRunId, attempt, callId }: Record<string, unknown> = JSON.parse(payload);
    if (childRunId === undefined || attempt !== 1 || !String(callId).includes('/')) return;
    const before = this.#of(runId).links.get(Number(cause));
    if (before?.phase === 'dispatch.began') return;
    this.#world.complain('no worker is asked for before its dispatch began', { runId, seq, childRunId });
  }

  #returned({ runId, seq, payload }: Row): void {
    const { childRunId, error }: { childRunId?: RunId; error?: unknown } = JSON.parse(payload);
    if (childRunId === undefined || error === undefined) return;
    this.#refused.add(childRunId);
    if (this.#begun.has(childRunId)) {
      this.#world.complain('a run that has begun is not called refused', { runId, seq, childRunId });
    }
  }
}

const phaseNames: Readonly<Record<string, Interesting>> = {
  'dispatch.began': 'worker sent out',
  'dispatch.failed': 'worker refused',
  'child.failed': 'worker failed',
  'child.cancelled': 'worker cancelled',
  'output.harvested': 'worker gave something back',
};
