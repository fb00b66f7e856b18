/** Span attributes of a run: names listed by the protocol, with primitive values, and never the run's data. */
import { type EventOf, isJsonObject, type PayloadOf } from '@cairn/protocol';
import type { Attributes, OpenSpan } from './span-model.ts';

/** Longest caller-supplied text that a span repeats. */
const MAX_TEXT = 256;
/** Most tags, and most metadata entries. */
const MAX_ENTRIES = 32;

/** Attributes from `run.started`: `common` goes on every span of the run, `own` on the run's span. */
export function runAttributes(
  runId: string,
  started: PayloadOf<'run.started'>,
): { readonly common: Attributes; readonly own: Attributes } {
  const { workflowId, owner, scopeId, parentRunId, parentWorkflowId, parentNodeId, tags = [], metadata = {} } = started;
  const common: Record<string, string> = { 'openwop.run_id': runId, 'openwop.workflow_id': workflowId };
  if (owner !== undefined) common['openwop.tenant_id'] = owner.tenant;
  if (scopeId !== undefined) common['openwop.scope_id'] = scopeId;
  const own: Record<string, string | number | boolean> = { 'openwop.protocol_version': '1.0' };
  if (parentRunId !== undefined) own['openwop.parent.run_id'] = parentRunId;
  if (parentWorkflowId !== undefined) own['openwop.parent.workflow_id'] = parentWorkflowId;
  if (parentNodeId !== undefined) own['openwop.parent.node_id'] = parentNodeId;
  for (const [i, tag] of tags.slice(0, MAX_ENTRIES).entries()) own[`openwop.run.tag.${i}`] = shortened(tag);
  for (const [key, value] of Object.entries(metadata).slice(0, MAX_ENTRIES)) {
    if (key.length > MAX_TEXT) continue;
    if (typeof value === 'string') own[`openwop.run.metadata.${key}`] = shortened(value);
    else if (typeof value === 'number' || typeof value === 'boolean') own[`openwop.run.metadata.${key}`] = value;
  }
  return { common, own };
}

const shortened = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text);

/** An event that requests a call. */
export type CallStart =
  | EventOf<'cairn.step.requested'>
  | EventOf<'cairn.model.requested'>
  | EventOf<'agent.toolCalled'>;

/** The provider of a call: a step's type, a model's provider or else its name, or a tool's name. */
export function callProvider(event: CallStart): string {
  switch (event.type) {
    case 'cairn.step.requested':
      return event.payload.step || UNKNOWN;
    case 'cairn.model.requested':
      return event.payload.provider || event.payload.model || UNKNOWN;
    case 'agent.toolCalled':
      return event.payload.toolName || UNKNOWN;
  }
}

const UNKNOWN = 'unknown';

export function callAttributes(event: CallStart): Attributes {
  switch (event.type) {
    case 'cairn.step.requested': {
      // A question of a child run that is put to an agent above. Only its outcome shows whether a model was asked.
      const { routes, agentId } = event.payload;
      return routes === undefined || agentId === undefined ? {} : { 'gen_ai.agent.id': shortened(agentId) };
    }
    case 'cairn.model.requested': {
      const { agentId, model, provider } = event.payload;
      return {
        'gen_ai.operation.name': 'chat',
        ...(provider === undefined ? {} : { 'gen_ai.provider.name': shortened(provider) }),
        ...(agentId === undefined ? {} : { 'gen_ai.agent.id': shortened(agentId) }),
        ...(model === undefined ? {} : { 'gen_ai.request.model': shortened(model) }),
      };
    }
    case 'agent.toolCalled': {
      const { agentId, toolName } = event.payload;
      return {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.agent.id': shortened(agentId),
        'gen_ai.tool.name': shortened(toolName),
      };
    }
  }
}

/** The tokens of a model turn, under the names that trace viewers read costs from. A log of another host may lack them. */
export function turnAttributes({ attributes }: OpenSpan, { turn }: PayloadOf<'cairn.model.returned'>): void {
  const { usage, model } = turn ?? {};
  if (model !== undefined) attributes['gen_ai.response.model'] = shortened(model);
  if (usage === undefined) return;
  attributes['gen_ai.usage.input_tokens'] = usage.inputTokens;
  attributes['gen_ai.usage.output_tokens'] = usage.outputTokens;
}

/** The model turn of an agent that a question was put to. A function that answers for the agent has no usage. */
export function sideTurnAttributes({ attributes }: OpenSpan, { outcome }: PayloadOf<'cairn.step.returned'>): void {
  if (attributes['gen_ai.agent.id'] === undefined || !isJsonObject(outcome) || !isJsonObject(outcome.usage)) return;
  const { provider, model, inputTokens, outputTokens } = outcome.usage;
  attributes['gen_ai.operation.name'] = 'chat';
  if (typeof provider === 'string') attributes['gen_ai.provider.name'] = shortened(provider);
  if (typeof model === 'string') attributes['gen_ai.request.model'] = shortened(model);
  if (typeof inputTokens === 'number') attributes['gen_ai.usage.input_tokens'] = inputTokens;
  if (typeof outputTokens === 'number') attributes['gen_ai.usage.output_tokens'] = outputTokens;
}

/** Adds a provider's usage to the totals of a span. */
export function usageAttributes({ attributes }: OpenSpan, usage: PayloadOf<'provider.usage'>): void {
  const add = (name: string, value: number): void => {
    attributes[name] = Number(attributes[name] ?? 0) + value;
  };
  const { inputTokens, outputTokens, costEstimateUsd, currency, provider } = usage;
  const total = usage.totalTokens ?? inputTokens + outputTokens;
  add('openwop.cost.tokens.input', inputTokens);
  add('openwop.cost.tokens.output', outputTokens);
  add('openwop.cost.tokens.total', total);
  attributes['openwop.cost.provider'] = provider;
  // Estimates in another currency cannot be summed.
  if (costEstimateUsd === undefined || (currency !== undefined && currency !== 'USD')) return;
  add('openwop.cost.usd', costEstimateUsd);
  attributes['openwop.cost.currency'] = 'USD';
  attributes['openwop.cost.estimated'] = true;
}
