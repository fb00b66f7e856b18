/** What a row says of a run, read out of its entry in the list. */
import type { InboxEntry, RunSnapshot } from '@cairn/protocol';
import { isTerminalStatus } from '@cairn/protocol';
import { shortAgent } from '../parts/figures.ts';

/** What the run is about; null if it says nothing of itself. */
export const titleOf = ({ summary }: RunSnapshot): string | null => summary?.title ?? null;

/** Inputs that people write, in the order of what says most. */
const telling = ['title', 'message', 'topic', 'task', 'question', 'name', 'prompt'];

/** The same of a whole snapshot, which has no summary. */
export function snapshotTitle({ metadata, inputs = {} }: RunSnapshot): string | null {
  const named = [metadata?.title, ...telling.map((name) => inputs[name])];
  const found = named.find((text) => typeof text === 'string' && text !== '' && text !== '[REDACTED]');
  return typeof found === 'string' ? oneLine(found) : null;
}

/** Text of others may hold line breaks, and marks that turn the direction of a line. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 200);

/** The agents that worked in the run so far, by their short names, the first of them first. */
export const agentsOf = ({ summary }: RunSnapshot): readonly string[] => [
  ...new Set((summary?.agents ?? []).filter((agentId) => agentId !== HOST).map(shortAgent)),
];

/** What the host does itself, such as an edit of an artifact by hand. */
const HOST = 'core.system';

export interface Usage {
  readonly tokens: number;
  readonly usd: number;
}

export const usageOf = ({ summary }: RunSnapshot): Usage => ({
  tokens: (summary?.tokens.input ?? 0) + (summary?.tokens.output ?? 0),
  usd: summary?.usd ?? 0,
});

/** The question that the run waits for, of the run itself or of one below it. */
export const waitingOn = (runId: string, entries: readonly InboxEntry[]): InboxEntry | null =>
  entries.find((entry) => entry.path.some((step) => !('hostId' in step) && step.runId === runId)) ?? null;

export const isOver = ({ status }: RunSnapshot): boolean => isTerminalStatus(status);
