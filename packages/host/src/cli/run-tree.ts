/** Follows a run and the runs below it, and shows their events in one transcript. */
import type { Client } from '@cairn/client';
import {
  type FoldEvent,
  foldRun,
  isCairnError,
  isTerminalStatus,
  newRunView,
  promptOf,
  type RunEventDoc,
  type RunId,
  type RunView,
  typedEvent,
} from '@cairn/protocol';
import { errorText } from './error-text.ts';
import type { Waiting } from './person.ts';
import type { AgentTranscript, RunPlace } from './render/agent-transcript.ts';
import { fieldsOf } from './render/fields.ts';
import { progressLine } from './render/progress.ts';
import { lookOf } from './render/status.ts';
import { oneLine, type Style, safe } from './render/style.ts';
import { span } from './render/time.ts';

export interface TreeOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Shows the events; null: show nothing. */
  readonly transcript: AgentTranscript | null;
  readonly style: Style;
  /** Whether an event is already on the screen. */
  readonly isKnown: (event: RunEventDoc) => boolean;
  /** After each event of any run. The follower of that run waits for it. */
  readonly changed: () => Promise<void>;
  /** An unexpected error of a child run's follower. */
  readonly failed: (error: unknown) => void;
  /** Whether questions of child runs are shown as lines, because this command asks no person. */
  readonly showsQuestions: boolean;
}

/** Child runs that work and are followed at the same time. Further ones wait for their turn. */
const MAX_WORKING = 8;

/**
 * Streams of child runs in total. A run that waits for a person or for its own child runs lets the next one begin:
 * otherwise runs that wait could hide the question or the run that they wait for.
 */
const MAX_STREAMS = 256;

interface Followed {
  readonly view: RunView;
  readonly place: RunPlace;
  /** Nodes with child runs that have not ended, and how many each has. */
  readonly parents: Map<string, number>;
}

export class RunTree {
  readonly #options: TreeOptions;
  readonly #runs = new Map<string, Followed>();
  /** Resolves when the last event of a child run is shown. */
  readonly #ends = new Map<string, Promise<void>>();
  /** The child runs that have a stream now. */
  readonly #streams = new Set<Followed>();
  /** Starts the child runs that wait for a stream. */
  readonly #queue = new Map<string, () => void>();

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  /** Follows the run to its end. The events of its child runs are shown before the event that reports their end. */
  async root(runId: string): Promise<void> {
    await this.#follow(newFollowed(runId, { runId: '', parent: null, heading: '' }));
  }

  /** The questions of all runs, the root's first. */
  get waiting(): readonly Waiting[] {
    return [...this.#runs].flatMap(([runId, { view, place }]) =>
      waitsOf(view).map(({ interruptId }) => ({ runId, interruptId, heading: place.heading })),
    );
  }

  /** Whether only answers can move the tree: each active node waits, or has child runs that all wait. */
  get isQuiet(): boolean {
    const open = [...this.#runs.values()].filter(({ view }) => !isTerminalStatus(view.status));
    return this.waiting.length > 0 && open.every(isQuiet);
  }

  async #follow(run: Followed): Promise<void> {
    const { client, signal, changed } = this.#options;
    const { runId } = run.view;
    this.#runs.set(runId, run);
    for await (const event of client.follow(runId, { signal })) {
      const over = endedChild(event);
      if (over !== null) {
        // The child's last event is durable before its parent reports it, so this wait is short. It has no turn to wait for.
        this.#queue.get(over)?.();
        await this.#ends.get(over);
      }
      foldRun(run.view, foldable(event));
      this.#show(event, run);
      if (event.type === 'node.dispatched') this.#dispatched(event, run);
      this.#startQueued();
      if (isTerminalStatus(run.view.status)) return;
      await changed();
    }
  }

  #dispatched(event: RunEventDoc, parent: Followed): void {
    const { transcript, style, failed } = this.#options;
    const { childRunId, childWorkflowId } = fieldsOf(event.payload);
    if (typeof childRunId !== 'string' || this.#ends.has(childRunId)) return;
    const nodeId = event.nodeId ?? '';
    parent.parents.set(nodeId, (parent.parents.get(nodeId) ?? 0) + 1);
    const heading = `${style.cyan('↳')} ${style.bold(oneLine(childWorkflowId ?? ''))}  ${style.dim(safe(childRunId))}`;
    const place = { runId: childRunId, parent: parent.place, heading };
    transcript?.begin(place);
    const ended = this.#child(childRunId, place).finally(() => {
      parent.parents.set(nodeId, (parent.parents.get(nodeId) ?? 1) - 1);
    });
    this.#ends.set(childRunId, ended.catch(failed));
  }

  /** A child run that cannot be followed does not end the command: the events of its parent still tell how it ended. */
  async #child(runId: string, place: RunPlace): Promise<void> {
    const { transcript, style, signal } = this.#options;
    const run = newFollowed(runId, place);
    await this.#turnOf(run);
    try {
      await this.#follow(run);
    } catch (error) {
      if (signal.aborted) return;
      if (!isCairnError(error)) throw error;
      const how = `${style.cairn} tail ${safe(runId)}`;
      transcript?.addLine('', `  ${style.yellow('!')} cannot be followed: ${safe(errorText(error))}  ${how}`, place);
    } finally {
      this.#streams.delete(run);
      this.#startQueued();
    }
  }

  #turnOf(run: Followed): Promise<void> {
    const { runId } = run.view;
    return new Promise((resolve) => {
      this.#queue.set(runId, () => {
        this.#queue.delete(runId);
        this.#streams.add(run);
        resolve();
      });
      this.#startQueued();
    });
  }

  #startQueued(): void {
    for (const start of this.#queue.values()) {
      const working = [...this.#streams].filter((run) => !isQuiet(run)).length;
      if (working >= MAX_WORKING || this.#streams.size >= MAX_STREAMS) return;
      start();
    }
  }

  #show(event: RunEventDoc, { view, place }: Followed): void {
    const { transcript, style, isKnown } = this.#options;
    if (transcript === null || isKnown(event) || transcript.add(event, place)) return;
    const line = progressLine(event, view, style) ?? (place.parent === null ? null : this.#childLine(event, view));
    if (line !== null) transcript.addLine(event.nodeId ?? '', line, place);
  }

  /** The end of a child run, and its questions if this command asks no person. */
  #childLine(event: RunEventDoc, view: RunView): string | null {
    const { style, showsQuestions } = this.#options;
    if (event.type !== 'interrupt.requested' || !showsQuestions) return endLine(event, view, style);
    const { interruptId } = fieldsOf(event.payload);
    const asked = typeof interruptId === 'string' && Object.hasOwn(view.interrupts, interruptId);
    const interrupt = asked ? view.interrupts[interruptId] : undefined;
    if (interrupt === undefined) return null;
    const { mark } = lookOf('suspended', style);
    const how = `${style.cairn} answer ${safe(view.runId)}/${safe(interrupt.interruptId)}`;
    return `  ${mark} ${safe(interrupt.nodeId)} asks: ${oneLine(promptOf(interrupt).replaceAll('\n', ' / '))}  ${style.dim(how)}`;
  }
}

const newFollowed = (runId: string, place: RunPlace): Followed => ({
  view: newRunView(runId as RunId),
  place,
  parents: new Map(),
});

const waitsOf = ({ interrupts }: RunView) => Object.values(interrupts).filter(({ suspended }) => suspended);

/** Every active node asks or has a child run that is still open; those are followed themselves. */
function isQuiet({ view, parents }: Followed): boolean {
  const waiting = new Set(waitsOf(view).map(({ nodeId }) => nodeId));
  const busy = [...parents].filter(([nodeId, children]) => children > 0 && !waiting.has(nodeId)).length;
  return view.lastSeq >= 0 && waiting.size + busy >= view.activeNodes;
}

/** The child run whose end an event of its parent reports; null for other events. */
function endedChild({ type, payload }: RunEventDoc): string | null {
  const { childRunId, phase, outputs, error } = fieldsOf(payload);
  if (type === 'core.workflowChain.event') {
    return typeof childRunId === 'string' && String(phase).startsWith('child.') ? childRunId : null;
  }
  if (type !== 'node.completed' && type !== 'node.failed') return null;
  const named = fieldsOf(type === 'node.completed' ? outputs : fieldsOf(error).details).childRunId;
  return typeof named === 'string' ? named : null;
}

/** How a child run ended. */
function endLine(
  { type }: RunEventDoc,
  { status, error, startedAt, lastAt, gapMs = 0 }: RunView,
  style: Style,
): string | null {
  if (!type.startsWith('run.') || !isTerminalStatus(status)) return null;
  const { mark, paint } = lookOf(status, style);
  const took = startedAt === null ? '' : style.dim(` in ${span(lastAt - startedAt - gapMs)}`);
  const why = error === null ? '' : `  ${style.red(`${safe(error.code)}: ${oneLine(error.message)}`)}`;
  return `  ${mark} ${paint(status)}${took}${why}`;
}

function foldable(event: RunEventDoc): FoldEvent {
  const { sequence: seq, type, nodeId, payload } = event;
  return typedEvent({ seq, at: Date.parse(event.timestamp), type, nodeId, payload });
}
