/** Counts what agents use: model turns, tool calls, tokens and, if prices are known, cost. */
import type { RunEventDoc } from '@cairn/protocol';
import { fieldsOf } from './fields.ts';

export interface Usage {
  readonly turns: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null until a row contains a cost. */
  readonly costUsd: number | null;
}

const none: Usage = { turns: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };

const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** The usage after another row. */
export function usageAfter(usage: Usage, { type, payload }: Pick<RunEventDoc, 'type' | 'payload'>): Usage {
  if (type === 'agent.toolCalled') return { ...usage, toolCalls: usage.toolCalls + 1 };
  if (type !== 'provider.usage') return usage;
  const { inputTokens, outputTokens, costEstimateUsd } = fieldsOf(payload);
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

/** "3 turns, 2 tool calls, 1,204 tokens in, 380 out, $0.0042"; empty without usage. Scripted models cost nothing. */
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
