/** Multi-party conversations for black-box suites. Each is a run with one gate; served only in conformance mode. */
import { conversationTurn, parseShape, participant, type RunId, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../engine/engine.ts';
import { defineWorkflow } from '../engine/workflow/define-workflow.ts';
import { LruMap } from '../lru-map.ts';
import type { Call, Route } from '../server/http/routes.ts';
import { requirePrincipal } from './test-seams.ts';

const name = z.string().min(1).max(256);
const openBody = z.strictObject({
  conversationId: name,
  participants: z.array(participant),
  maxParticipants: z.int().min(1).optional(),
});
const exchangeBody = z.strictObject({ conversationId: name, turn: conversationTurn.partial().loose() });
const accepted = z.object({ accepted: z.boolean() });

/** Number of conversations remembered by their client's name for them. */
const KEPT = 1_000;

export function conversationSeamRoutes(engine: Engine): readonly Route[] {
  const runs = new LruMap<string, RunId>(KEPT);
  const base = '/v1/host/sample/conversation/multi-party';
  const common = { method: 'POST', repeatable: true } as const;
  return [
    {
      ...common,
      path: `${base}/open`,
      scope: 'runs:create',
      handle: (call) => open(call, engine, runs),
      doc: {
        id: 'testConversationOpen',
        summary: 'Open a conversation of several',
        body: openBody,
        responses: { 200: { description: 'It is open.', shape: accepted.extend({ conversationId: z.string() }) } },
        errors: ['validation_error'],
      },
    },
    {
      ...common,
      path: `${base}/exchange`,
      scope: 'approvals:respond',
      handle: (call) => exchange(call, engine, runs),
      doc: {
        id: 'testConversationExchange',
        summary: 'Take a turn in a conversation of several',
        body: exchangeBody,
        responses: { 200: { description: 'The turn is taken.', shape: accepted } },
        errors: ['not_found', 'validation_error'],
      },
    },
  ];
}

const GATE = 'talk';

async function open(call: Call, engine: Engine, runs: LruMap<string, RunId>): Promise<string> {
  requirePrincipal(call);
  const { conversationId, participants, maxParticipants } = parseShape(openBody, call.request.body, 'The body');
  if (maxParticipants !== undefined && participants.length > maxParticipants) {
    throw new TerminalError('validation_error', {
      message: `The conversation ${conversationId} has ${participants.length} participants, more than the ${maxParticipants} it may have.`,
      hint: 'Name fewer.',
    });
  }
  const config = { participants: participants.map((one) => ({ ...one })) };
  const nodes = { [GATE]: { type: 'core.conversationGate', config } };
  const definition = defineWorkflow({ id: 'conformance-conversation-of-several', version: '1', nodes });
  const { tenant, principal } = call.caller;
  const request = { tenant, principal, workflowId: definition.id, definition, inputs: {}, options: {} };
  const { runId } = await engine.start(request);
  runs.set(keyOf(tenant, conversationId), runId);
  return JSON.stringify({ conversationId, accepted: true });
}

async function exchange(call: Call, engine: Engine, runs: LruMap<string, RunId>): Promise<string> {
  requirePrincipal(call);
  const { conversationId, turn } = parseShape(exchangeBody, call.request.body, 'The body');
  const { tenant, principal } = call.caller;
  const runId = runs.get(keyOf(tenant, conversationId));
  if (runId === undefined) {
    throw new TerminalError('not_found', {
      message: `There is no conversation ${conversationId}.`,
      hint: 'Open it first.',
    });
  }
  // A suite counts its own turns; here the opening counts as the first turn.
  const { turnIndex: _, ...said } = turn;
  const value = { operation: 'exchange', turn: said };
  await engine.answer({ tenant, runId, nodeId: GATE, value, principal });
  return JSON.stringify({ accepted: true });
}

const keyOf = (tenant: string, conversationId: string): string => JSON.stringify([tenant, conversationId]);
