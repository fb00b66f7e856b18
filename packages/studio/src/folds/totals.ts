/** Folds rows into the figures of the header: status, tokens, cost and budget. */
import type { RunStatus } from '@cairn/protocol';
import type { RunRow } from './run-row.ts';

interface Budget {
  readonly maxTokens: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly maxToolCalls: number | undefined;
}

const terminalStatus = { 'run.completed': 'completed', 'run.failed': 'failed', 'run.cancelled': 'cancelled' } as const;

export class Totals {
  workflowId = '';
  startedAt: number | null = null;
  endedAt: number | null = null;
  lastAt = 0;
  /** Between the shared events of a fork and its own, when nobody worked on it. */
  restedMs = 0;
  inputTokens = 0;
  outputTokens = 0;
  costUsd = 0;
  modelCalls = 0;
  toolCalls = 0;
  /** What child runs used, as their ends told. */
  childTokens = 0;
  childCostUsd = 0;
  childToolCalls = 0;
  budget: Budget | null = null;
  #ended: RunStatus | null = null;
  #isPaused = false;
  readonly #questions: Map<string, RunStatus>;

  constructor(origin?: Totals) {
    this.#questions = new Map(origin === undefined ? [] : origin.#questions);
    if (origin === undefined) return;
    Object.assign(this, origin);
    this.#ended = origin.#ended;
    this.#isPaused = origin.#isPaused;
  }

  fork(): Totals {
    return new Totals(this);
  }

  /** What the rows so far say. A run that waits for a child run is `running` here. */
  get status(): RunStatus {
    if (this.#ended !== null) return this.#ended;
    if (this.#isPaused) return 'paused';
    return this.#questions.values().next().value ?? 'running';
  }

  get openQuestions(): number {
    return this.#questions.size;
  }

  take(row: RunRow): void {
    if (row.type === 'cairn.run.forked' && this.lastAt > 0) this.restedMs += Math.max(0, row.at - this.lastAt);
    this.lastAt = row.at;
    switch (row.type) {
      case 'run.started':
        this.workflowId = row.payload.workflowId;
        this.startedAt = row.at;
        this.#limit(row.payload.budget);
        return;
      case 'cairn.run.forked':
        this.#limit(row.payload.budget);
        return;
      case 'provider.usage':
        this.modelCalls += 1;
        this.inputTokens += row.payload.inputTokens;
        this.outputTokens += row.payload.outputTokens;
        // Estimates in other currencies are not converted.
        if ((row.payload.currency ?? 'USD') === 'USD') this.costUsd += row.payload.costEstimateUsd ?? 0;
        return;
      case 'agent.toolCalled':
        if ((row.payload.attempt ?? 1) === 1) this.toolCalls += 1;
        return;
      case 'cairn.budget.returned':
        this.childTokens += row.payload.spent.tokens;
        this.childCostUsd += row.payload.spent.costUsd;
        this.childToolCalls += row.payload.spent.toolCalls;
        return;
      default:
        this.#takeStatus(row);
    }
  }

  #takeStatus(row: RunRow): void {
    switch (row.type) {
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        this.#ended = terminalStatus[row.type];
        this.endedAt = row.at;
        return;
      case 'run.paused':
        this.#isPaused = true;
        return;
      case 'run.resumed':
        this.#isPaused = false;
        return;
      case 'interrupt.requested': {
        const { interruptId, key, kind } = row.payload;
        const status =
          kind === 'approval' ? 'waiting-approval' : kind === 'external-event' ? 'waiting-external' : 'waiting-input';
        this.#questions.set(interruptId ?? key, status);
        return;
      }
      case 'interrupt.resolved':
        this.#questions.delete(row.payload.interruptId);
        return;
    }
  }

  #limit(
    budget: { readonly maxTokens?: number; readonly maxCostUsd?: number; readonly maxToolCalls?: number } | undefined,
  ): void {
    if (budget === undefined) return;
    const { maxTokens, maxCostUsd, maxToolCalls } = budget;
    this.budget = { maxTokens, maxCostUsd, maxToolCalls };
  }
}
