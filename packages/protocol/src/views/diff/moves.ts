/** Which events make up a move of a run, and what is compared of each. */
import type { RawEvent } from '../../events/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { comparable, type OwnIds } from './comparable.ts';

export const diffSections = ['decisions', 'toolCalls', 'modelTurns', 'answers', 'texts', 'children'] as const;
export type DiffSection = (typeof diffSections)[number];

/** The part of a move that one event holds. */
export interface MovePart {
  readonly section: DiffSection;
  /** What kind of move it is, as readers see it: `decision`, `node`, `tool`. */
  readonly kind: string;
  /** Ties the events of one move together within its node; none for a move of one event. */
  readonly id?: string;
  /** The model turn that a tool call belongs to. */
  readonly round?: number;
  /** The compared values. */
  readonly fields: JsonObject;
  /** A piece of a text that the pieces of the same id continue. */
  readonly piece?: string;
  /** Whether the text ends here: a later piece of the same id begins another text. */
  readonly isEnd?: boolean;
}

type PartOf = (payload: JsonObject, event: RawEvent) => MovePart | null;

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** The fields of an object that are there, by these names. */
function picked(payload: JsonObject, ...names: readonly string[]): JsonObject {
  const fields: Record<string, Json> = {};
  for (const name of names) {
    const value = payload[name];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

const decision =
  (kind: string, ...names: readonly string[]): PartOf =>
  (payload) => ({ section: 'decisions', kind, fields: picked(payload, ...names) });

const outcome =
  (how: string): PartOf =>
  (payload) => ({
    section: 'decisions',
    kind: 'node',
    fields: { outcome: how, ...picked(payload, 'edges', 'outputs', 'error', 'reason', 'endsRun') },
  });

/** Payloads come without what is not compared; ids are read from the event. */
const parts: Readonly<Record<string, PartOf>> = {
  'agent.decided': decision('decision', 'agentId', 'decision', 'confidence'),
  'runOrchestrator.decided': decision('decision', 'agentId', 'decision'),
  'agent.handoff': decision('handoff', 'fromAgentId', 'toAgentId', 'reason'),
  'agent.verified': decision('verdict', 'agentId', 'target', 'verdict'),
  'cap.breached': decision('limit', 'kind', 'limit'),
  'node.completed': outcome('completed'),
  'node.failed': outcome('failed'),
  'node.skipped': outcome('skipped'),
  'node.cancelled': outcome('cancelled'),
  'agent.toolCalled': (payload, { payload: raw }) => ({
    section: 'toolCalls',
    kind: 'tool',
    id: text(raw.callId),
    ...(typeof raw.round === 'number' ? { round: raw.round } : {}),
    fields: {
      tool: text(payload.toolName),
      agentId: text(payload.agentId),
      arguments: payload.arguments ?? payload.inputs ?? null,
    },
  }),
  'agent.toolReturned': (payload, { payload: raw }) => ({
    section: 'toolCalls',
    kind: 'tool',
    id: text(raw.callId),
    fields: {
      ...picked(payload, 'status', 'error'),
      ...(payload.outcome === undefined && payload.result === undefined
        ? {}
        : { result: payload.outcome ?? payload.result ?? null }),
    },
  }),
  'agent.promptResolved': (payload) => ({
    section: 'modelTurns',
    kind: 'prompt',
    fields: picked(payload, 'kind', 'resolved', 'agentId'),
  }),
  'prompt.composed': (payload) => ({
    section: 'modelTurns',
    kind: 'prompt',
    fields: picked(payload, 'refs', 'hash', 'composed', 'systemPrompt', 'userPrompt'),
  }),
  'cairn.model.requested': (payload, { payload: raw }) => ({
    section: 'modelTurns',
    kind: 'model',
    id: text(raw.callId),
    fields: picked(payload, 'agentId', 'provider', 'model', 'options', 'note'),
  }),
  'cairn.model.returned': (payload, { payload: raw }) => ({
    section: 'modelTurns',
    kind: 'model',
    id: text(raw.callId),
    fields: isJsonObject(payload.turn)
      ? picked(payload.turn, 'text', 'reasoning', 'toolCalls', 'finish', 'usage', 'costUsd')
      : picked(payload, 'error'),
  }),
  'provider.usage': (payload) => ({
    section: 'modelTurns',
    kind: 'usage',
    fields: picked(payload, 'provider', 'model', 'inputTokens', 'outputTokens', 'costEstimateUsd'),
  }),
  'interrupt.requested': (payload, { payload: raw }) => ({
    section: 'answers',
    kind: text(payload.kind) || 'question',
    id: text(raw.interruptId),
    fields: { question: payload.data ?? null },
  }),
  'interrupt.resolved': (payload, { payload: raw }) => ({
    section: 'answers',
    kind: text(payload.kind) || 'question',
    id: text(raw.interruptId),
    fields: {
      ...(payload.resumeValue === undefined ? {} : { answer: payload.resumeValue }),
      ...picked(payload, 'resolvedBy', 'outcome', 'reason'),
    },
  }),
  'conversation.exchanged': (payload) => ({
    section: 'answers',
    kind: 'turn',
    fields: picked(payload, 'turnIndex', 'turn', 'outcome'),
  }),
  'output.chunk': (payload, { payload: raw }) => ({
    section: 'texts',
    kind: 'text',
    id: text(raw.channel),
    fields: {},
    piece: text(payload.chunk),
    isEnd: raw.isLast === true,
  }),
  'node.dispatched': (payload) => ({
    section: 'children',
    kind: 'child',
    fields: picked(payload, 'childWorkflowId', 'childStatus'),
  }),
};

/** The part of a move in an event; null for an event that is no part of one. */
export function movePartOf(event: RawEvent, ids: OwnIds): MovePart | null {
  const partOf = Object.hasOwn(parts, event.type) ? parts[event.type] : undefined;
  return partOf?.(comparable(event, ids), event) ?? null;
}
