/** What a row says of a run, read out of its snapshot. */
import type { InboxEntry, RunSnapshot } from '@cairn/protocol';
import { isTerminalStatus } from '@cairn/protocol';
import { shortAgent } from '../parts/figures.ts';

/** Inputs that people write, in the order of what says most. */
const telling = ['title', 'message', 'topic', 'task', 'question', 'name', 'prompt'];

/** What the run is about: its title, or its most telling input. Null if it says nothing of itself. */
export function titleOf({ metadata, inputs }: RunSnapshot): string | null {
  const { title } = metadata ?? {};
  if (typeof title === 'string' && title !== '') return title;
  const texts = Object.entries(inputs ?? {}).filter(([, value]) => typeof value === 'string' && value !== '');
  const found = telling.map((name) => texts.find(([other]) => other === name)).find((one) => one !== undefined);
  const value = (found ?? texts[0])?.[1];
  return typeof value === 'string' ? oneLine(value) : null;
}

/** Text of others may hold line breaks, and marks that turn the direction of a line. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 200);

/** The agents that worked in the run, by their short names, the busiest first. */
export function agentsOf({ metrics, agent }: RunSnapshot): readonly string[] {
  const used = Object.entries(metrics?.agents ?? {}).sort(([, one], [, other]) => other.calls - one.calls);
  const ids = used.length > 0 ? used.map(([id]) => id) : agent === undefined ? [] : [agent.agentId];
  return [...new Set(ids.map(shortAgent))];
}

export interface Usage {
  readonly tokens: number;
  readonly usd: number;
}

export function usageOf({ metrics }: RunSnapshot): Usage | null {
  const cost = metrics?.openwopCost;
  if (cost === undefined) return null;
  return { tokens: (cost.tokens?.input ?? 0) + (cost.tokens?.output ?? 0), usd: cost.usd ?? 0 };
}

/** The question that the run waits for, of the run itself or of one below it. */
export const waitingOn = (runId: string, entries: readonly InboxEntry[]): InboxEntry | null =>
  entries.find((entry) => entry.path.some((step) => step.runId === runId)) ?? null;

export const isOver = ({ status }: RunSnapshot): boolean => isTerminalStatus(status);
