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

/** Events that ask for a call, and which field names whom they ask: a step's type, a model, a tool. */
const callStarts: ReadonlyMap<string, string> = new Map([
  ['cairn.step.requested', 'step'],
  ['cairn.model.requested', 'model'],
  ['agent.toolCalled', 'toolName'],
]);

/** The provider of the call that an event asks for; undefined when it asks for none. */
export function startOfCall(type: string, payload: JsonObject): string | undefined {
  const field = callStarts.get(type);
  if (field === undefined) return undefined;
  const provider = payload[field];
  return typeof provider === 'string' && provider !== '' ? provider : 'unknown';
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
