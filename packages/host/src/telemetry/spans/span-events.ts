/** What single events say of spans: their node, a breached limit, a failure. */
import type { FoldEvent, PayloadOf } from '@cairn/protocol';
import type { OpenSpan, SpanStatus } from './span-model.ts';

/** The node of an event, from the row or else from its payload. */
export function nodeOf({ nodeId, payload }: FoldEvent): string | undefined {
  if (nodeId !== undefined) return nodeId;
  return 'nodeId' in payload && typeof payload.nodeId === 'string' ? payload.nodeId : undefined;
}

export function breach(span: OpenSpan | null, { kind, limit, observed }: PayloadOf<'cap.breached'>): void {
  if (span === null) return;
  span.attributes['openwop.cap_kind'] = kind;
  span.attributes['openwop.cap_limit'] = limit;
  span.attributes['openwop.cap_observed'] = observed;
}

export const failure = (error: { readonly code: string } | undefined): SpanStatus =>
  error === undefined ? { code: 'error' } : { code: 'error', message: error.code };
