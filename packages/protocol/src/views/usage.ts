/** The total usage of a run's model calls. */
import type { PayloadOf } from '../events/catalogue.ts';

export interface UsageView {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  costUsd: number;
  /** Of the latest call. */
  provider: string | null;
  model: string | null;
}

export const noUsage = (): UsageView => ({
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  provider: null,
  model: null,
});

export function addUsage(usage: UsageView, call: PayloadOf<'provider.usage'>): void {
  usage.calls += 1;
  usage.inputTokens += call.inputTokens;
  usage.outputTokens += call.outputTokens;
  usage.totalTokens += call.totalTokens ?? call.inputTokens + call.outputTokens;
  // Estimates in other currencies are not converted.
  if (call.currency === undefined || call.currency === 'USD') usage.costUsd += call.costEstimateUsd ?? 0;
  usage.provider = call.provider;
  usage.model = call.model;
}
