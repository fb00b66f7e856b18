/**
 * An independent model of a run's pauses: after a pause request no node starts, and during the pause nothing is
 * decided.
 */
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

/** Events that may still be appended to a paused run. */
const sayable = new Set([
  'interrupt.resolved',
  'approval.received',
  'clarification.resolved',
  'node.resumed',
  'cairn.cancel.requested',
  'cairn.budget.returned',
  'run.resumed',
]);

const starts = new Set(['node.started', 'node.skipped', 'run.completed']);

export interface PauseWorld {
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
}

export class PauseWatch {
  readonly #world: PauseWorld;
  #state: 'going on' | 'asked to pause' | 'paused' | 'over' = 'going on';
  #policy = '';

  constructor(world: PauseWorld) {
    this.#world = world;
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  /** Called with each row in order. `isStepping` tells whether a step has no result yet. */
  take({ runId, seq, type, payload }: Row, isStepping: boolean): void {
    const { complain, count } = this.#world;
    const where = { runId, seq, type };
    const isEndOfChild = type === 'cairn.step.returned' && payload.includes('"childRunId"');
    if (this.#state === 'paused' && !sayable.has(type) && !isEndOfChild)
      complain('nothing happens in a paused run', where);
    if (this.#state === 'asked to pause' && starts.has(type))
      complain('no node starts once a pause is asked for', where);
    switch (type) {
      case 'cairn.pause.requested':
        if (this.#state === 'asked to pause') count('draining pause hurried');
        this.#policy = policyIn(payload);
        this.#state = 'asked to pause';
        if (isStepping) count(this.#policy === 'immediate' ? 'pause cut a step short' : 'pause waits for a step');
        break;
      case 'run.paused': {
        if (this.#state !== 'asked to pause') complain('a run pauses when it is asked to', where);
        if (policyIn(payload) !== this.#policy) complain('a pause keeps its policy', { ...where, asked: this.#policy });
        this.#state = 'paused';
        count('run paused');
        break;
      }
      case 'run.resumed':
        if (this.#state !== 'paused') complain('only a paused run is resumed', where);
        this.#state = 'going on';
        count('run resumed');
        break;
      case 'interrupt.resolved':
        if (this.#state === 'paused') count('answer while paused');
        break;
      case 'cairn.cancel.requested':
        if (this.#state === 'paused') count('cancel while paused');
        this.#state = 'over';
    }
  }
}

const policyIn = (payload: string): string => String(JSON.parse(payload).drainPolicy);
