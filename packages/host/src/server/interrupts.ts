/** Answers: what a person or a program says to a node that waits. */
import { answerInterrupt, interruptAnswered, type Json, parseShape } from '@cairn/protocol';
import type { Engine } from '../engine/engine.ts';
import { runIdParam } from './params.ts';
import { type Call, pathParam, type Route } from './routes.ts';

export function interruptRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/runs/{runId}/interrupts/{nodeId}',
      scope: 'approvals:respond',
      handle: (call) => answer(call, engine),
      doc: {
        id: 'answerInterrupt',
        summary: 'Answer a node that waits',
        body: answerInterrupt,
        responses: { 200: { description: 'The answer counts.', shape: interruptAnswered } },
        errors: [
          'not_found',
          'interrupt_not_found',
          'interrupt_already_resolved',
          'interrupt_expired',
          'interrupt_cancelled',
        ],
      },
    },
  ];
}

async function answer(call: Call, engine: Engine): Promise<string> {
  const runId = runIdParam(call);
  const { resumeValue } = parseShape(answerInterrupt, call.request.body, 'The answer');
  const { tenant, principal } = call.caller;
  // A node, or an interrupt by its own id: then an answer that is sent again never meets the node's next question.
  const nodeId = pathParam(call, 'nodeId');
  const answered = await engine.answer({ tenant, runId, nodeId, value: resumeValue as Json, principal });
  return JSON.stringify({ runId, nodeId: answered.nodeId, status: answered.status });
}
