/** What spans say about a run: the names the protocol lists, and only primitives, never what the run works on. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Attributes, OpenSpan } from './span-model.ts';

/** Longest text that a caller wrote and a span repeats. */
const MAX_TEXT = 256;
/** Most tags, and most entries of the metadata. */
const MAX_ENTRIES = 32;

/** What `run.started` tells: `common` goes on every span of the run, `own` on the run's. */
export function runAttributes(
  runId: string,
  started: JsonObject,
): { readonly common: Attributes; readonly own: Attributes } {
  const common: Record<string, string> = {
    'openwop.run_id': runId,
    'openwop.workflow_id': String(started.workflowId ?? ''),
  };
  const tenant = (started.owner as JsonObject | undefined)?.tenant;
  if (typeof tenant === 'string') common['openwop.tenant_id'] = tenant;
  if (typeof started.scopeId === 'string') common['openwop.scope_id'] = started.scopeId;
  const own: Record<string, string | number | boolean> = { 'openwop.protocol_version': '1.0' };
  if (typeof started.parentRunId === 'string') own['openwop.parent.run_id'] = started.parentRunId;
  if (typeof started.parentNodeId === 'string') own['openwop.parent.node_id'] = started.parentNodeId;
  const tags = Array.isArray(started.tags) ? (started.tags as readonly Json[]) : [];
  for (const [i, tag] of tags.slice(0, MAX_ENTRIES).entries()) own[`openwop.run.tag.${i}`] = shortened(String(tag));
  const metadata = (started.metadata ?? {}) as JsonObject;
  for (const [key, value] of Object.entries(metadata).slice(0, MAX_ENTRIES)) {
    if (key.length > MAX_TEXT) continue;
    if (typeof value === 'string') own[`openwop.run.metadata.${key}`] = shortened(value);
    else if (typeof value === 'number' || typeof value === 'boolean') own[`openwop.run.metadata.${key}`] = value;
  }
  return { common, own };
}

const shortened = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text);

/** Events that ask for a call, and which fields name whom they ask, the better first: a step's type, a model's provider, a tool. */
const callStarts: ReadonlyMap<string, readonly string[]> = new Map([
  ['cairn.step.requested', ['step']],
  ['cairn.model.requested', ['provider', 'model']],
  ['agent.toolCalled', ['toolName']],
]);

/** Further fields of those events that a span repeats, by the name it has there. */
const callFields: Readonly<Record<string, string>> = {
  agentId: 'gen_ai.agent.id',
  model: 'gen_ai.request.model',
  toolName: 'gen_ai.tool.name',
};

interface StartedCall {
  readonly provider: string;
  readonly attributes: Attributes;
}

/** Whom an event asks for a call; undefined when it asks nobody. */
export function startOfCall(type: string, payload: JsonObject): StartedCall | undefined {
  const fields = callStarts.get(type);
  if (fields === undefined) return undefined;
  const named = fields.map((field) => payload[field]).find((name) => typeof name === 'string' && name !== '');
  const attributes: Record<string, string> = {};
  for (const [field, name] of Object.entries(callFields)) {
    const value = payload[field];
    if (typeof value === 'string') attributes[name] = shortened(value);
  }
  return { provider: typeof named === 'string' ? named : 'unknown', attributes };
}

/** Adds a provider's bill to what a span has used so far. */
export function usageAttributes(span: OpenSpan, usage: JsonObject): void {
  const add = (name: string, value: Json | undefined): void => {
    if (typeof value === 'number') span.attributes[name] = Number(span.attributes[name] ?? 0) + value;
  };
  const { inputTokens, outputTokens, costEstimateUsd, currency, provider } = usage;
  const total = usage.totalTokens ?? Number(inputTokens ?? 0) + Number(outputTokens ?? 0);
  add('openwop.cost.tokens.input', inputTokens);
  add('openwop.cost.tokens.output', outputTokens);
  add('openwop.cost.tokens.total', total);
  if (typeof provider === 'string') span.attributes['openwop.cost.provider'] = provider;
  // Estimates in another currency cannot be added up.
  if (costEstimateUsd === undefined || (currency !== undefined && currency !== 'USD')) return;
  add('openwop.cost.usd', costEstimateUsd);
  span.attributes['openwop.cost.currency'] = 'USD';
  span.attributes['openwop.cost.estimated'] = true;
}
