/** Follows a run in a terminal: shows its progress, asks its questions, and stops when the run ends or waits. */
import type { Client } from '@cairn/client';
import { isTerminalStatus, type RunEventDoc, type RunSnapshot } from '@cairn/protocol';
import { Person } from './person.ts';
import type { AgentTranscript } from './render/agent-transcript.ts';
import { fieldsOf } from './render/fields.ts';
import { styleOf } from './render/style.ts';
import { RunTree } from './run-tree.ts';
import type { Terminal } from './terminal.ts';

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Shows the progress; null: show nothing and ask nothing. */
  readonly transcript: AgentTranscript | null;
}

/** Returns the run when it has ended, or when it waits for an answer that this command does not give. */
export async function watchRun(
  terminal: Terminal,
  client: Client,
  runId: string,
  { signal, transcript }: WatchOptions,
): Promise<RunSnapshot> {
  const person = terminal.isInteractive && transcript !== null ? new Person(terminal, client) : null;
  const left = new AbortController();
  const leave = (reason?: unknown) => left.abort(reason);
  let resting: RunSnapshot | null = null;
  const leaveIfResting = async () => {
    if (!tree.isQuiet || (person !== null && !person.cannotAnswer(tree.waiting))) return;
    const snapshot = await client.runs.get(runId, { signal });
    if (!isAtRest(snapshot)) return;
    resting = snapshot;
    leave();
  };
  const turn = () => {
    const { waiting } = tree;
    if (waiting.length > 0) transcript?.flush();
    person?.turnTo(waiting, () => void turnAgain().catch(leave), leave);
  };
  const turnAgain = async () => {
    turn();
    await leaveIfResting();
  };
  const tree = new RunTree({
    client,
    signal: AbortSignal.any([signal, left.signal]),
    transcript,
    style: styleOf(terminal.colours.err, terminal.env),
    isKnown: (event) => person !== null && isOwnWords(event),
    changed: turnAgain,
    failed: leave,
    showsQuestions: person === null,
  });
  try {
    await tree.root(runId);
  } catch (error) {
    // The person ended the input, or only others can answer. The run keeps waiting.
    const hasLeft = left.signal.aborted && !signal.aborted && isAbort(left.signal.reason);
    if (!hasLeft) throw error;
  } finally {
    leave();
    transcript?.flush();
    person?.turnTo(
      [],
      () => undefined,
      () => undefined,
    );
  }
  return resting ?? (await client.runs.get(runId, { signal }));
}

/** The person has just typed this turn, so it is already on the screen. */
const isOwnWords = ({ type, payload }: RunEventDoc): boolean =>
  type === 'conversation.exchanged' && fieldsOf(fieldsOf(payload).turn).role === 'user';

/** Whether an abort had no specific reason. */
const isAbort = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'AbortError';

/**
 * Whether only an answer can move the run. While one branch asks, other branches may still run. A node that runs child
 * runs waits with them.
 */
export function isAtRest({ status, nodeStates, childRuns = [] }: RunSnapshot): boolean {
  const states = Object.values(nodeStates ?? {}).map((node) => fieldsOf(node).status);
  const open = childRuns.filter((child) => !isTerminalStatus(child.status));
  const isBusy = states.some((state) => state === 'retrying' || (state === 'running' && open.length === 0));
  return isWaiting(status) && !isBusy && open.every((child) => isWaiting(child.status));
}

const isWaiting = (status: string): boolean => status.startsWith('waiting-');
