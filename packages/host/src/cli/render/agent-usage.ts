/** What agents used: turns of models, calls of tools, tokens and, where prices are known, money. */
import type { JsonObject, RunEventDoc } from '@cairn/protocol';

export interface Usage {
  readonly turns: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null while no row said what it cost. */
  readonly costUsd: number | null;
}

const none: Usage = { turns: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };

const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** The usage after one more row. */
export function usageAfter(usage: Usage, { type, payload }: Pick<RunEventDoc, 'type' | 'payload'>): Usage {
  if (type === 'agent.toolCalled') return { ...usage, toolCalls: usage.toolCalls + 1 };
  if (type !== 'provider.usage') return usage;
  const { inputTokens, outputTokens, costEstimateUsd } = payload as JsonObject;
  return {
    turns: usage.turns + 1,
    toolCalls: usage.toolCalls,
    inputTokens: usage.inputTokens + number(inputTokens),
    outputTokens: usage.outputTokens + number(outputTokens),
    costUsd: costEstimateUsd === undefined ? usage.costUsd : (usage.costUsd ?? 0) + number(costEstimateUsd),
  };
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** "3 turns, 2 tool calls, 1,204 tokens in, 380 out, $0.0042"; empty when there was none. Scripts cost nothing. */
export function usageText({ turns, toolCalls, inputTokens, outputTokens, costUsd }: Usage): string {
  if (turns === 0 && toolCalls === 0) return '';
  return [
    counted(turns, 'turn', 'turns'),
    counted(toolCalls, 'tool call', 'tool calls'),
    `${inputTokens.toLocaleString('en-US')} tokens in`,
    `${outputTokens.toLocaleString('en-US')} out`,
    ...(costUsd === null || costUsd === 0 ? [] : [moneyText(costUsd)]),
  ].join(', ');
}

/** Small sums need more digits. */
const moneyText = (usd: number): string => `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;

export const noUsage: Usage = none;
