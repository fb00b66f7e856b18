/** What a row of the run list says of a run: what it is about, who works, what it waits for, what it used. */
import { type InterruptKind, type Json, type JsonObject, objectOrEmpty, promptOf } from '@cairn/protocol';
import type { RunSummary } from './ports/run-index.ts';

export const noSummary: RunSummary = {
  title: null,
  titleInput: null,
  agents: [],
  waitingOn: null,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

/** Agents that a row names. Hundreds may work in one run. */
const MAX_AGENTS = 8;

/** Characters of a title. The index keeps it for every run, in memory too. */
const MAX_TITLE = 160;

/** Inputs that people write, those that say most first. */
const telling = ['title', 'message', 'topic', 'task', 'question', 'name', 'prompt'];

/** The summary of a run that starts with this payload of `run.started`. */
export function startedSummary(payload: JsonObject): RunSummary {
  // Agents that are only pinned may never be asked.
  const acting = objectOrEmpty(payload.actsAs).agentId;
  return { ...noSummary, ...titleOf(payload), agents: typeof acting === 'string' ? [acting] : [] };
}

/** The summary after an agent began to work, by its payload of `agent.invocation.started`. */
export function actedSummary(summary: RunSummary, { agentId }: JsonObject): RunSummary {
  const { agents } = summary;
  if (typeof agentId !== 'string' || agents.length >= MAX_AGENTS || agents.includes(agentId)) return summary;
  return { ...summary, agents: [...agents, agentId] };
}

/** A fork may begin with another title or other inputs, by its overlay. */
export function forkedSummary(summary: RunSummary, { metadata, inputs }: JsonObject): RunSummary {
  const { title: named } = objectOrEmpty(metadata);
  // Only the input that gave the title: it is known not to be sensitive.
  const { titleInput } = summary;
  const told = titleInput === null ? undefined : objectOrEmpty(inputs)[titleInput];
  const text = typeof named === 'string' ? named : told;
  const title = typeof text === 'string' ? oneLine(text) : null;
  return title === null || title === summary.title ? summary : { ...summary, title };
}

/** The summary after one call of a model, by its payload of `provider.usage`. */
export function usedSummary(summary: RunSummary, payload: JsonObject): RunSummary {
  const { currency, costEstimateUsd } = payload;
  // Estimates in other currencies are not converted.
  const usd = currency === undefined || currency === 'USD' ? numberOr(costEstimateUsd) : 0;
  return {
    ...summary,
    inputTokens: summary.inputTokens + numberOr(payload.inputTokens),
    outputTokens: summary.outputTokens + numberOr(payload.outputTokens),
    costUsd: summary.costUsd + usd,
  };
}

/** The words of a question, by its payload of `interrupt.requested`. */
export const askedTitle = (payload: JsonObject, kind: string): string =>
  oneLine(promptOf({ kind: kind as InterruptKind, data: objectOrEmpty(payload.data) })) ?? '';

/** Its title, or its most telling input. Null if it says nothing of itself. Sensitive inputs are never shown. */
function titleOf({ metadata, inputs, sensitive }: JsonObject): Pick<RunSummary, 'title' | 'titleInput'> {
  const { title: named } = objectOrEmpty(metadata);
  const title = typeof named === 'string' ? oneLine(named) : null;
  if (title !== null) return { title, titleInput: null };
  const hidden = new Set(Array.isArray(sensitive) ? sensitive : []);
  const known = objectOrEmpty(inputs);
  const names = [...telling.filter((name) => Object.hasOwn(known, name)), ...Object.keys(known)];
  for (const titleInput of names) {
    const value = known[titleInput];
    const line = typeof value === 'string' && !hidden.has(titleInput) ? oneLine(value) : null;
    if (line !== null) return { title: line, titleInput };
  }
  return { title: null, titleInput: null };
}

/** Text of others may hold line breaks, and marks that turn the direction of a line. Cut between characters. */
function oneLine(text: string): string | null {
  const line = text
    .slice(0, 4 * MAX_TITLE)
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (line === '') return null;
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

const numberOr = (value: Json | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);
