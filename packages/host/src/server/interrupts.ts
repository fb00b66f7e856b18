/** Answers: what a person or a program says to a node that waits. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../engine/engine.ts';
import { parseShape } from './body-shape.ts';
import { runIdParam } from './params.ts';
import { type Call, pathParam, type Route } from './routes.ts';

export function interruptRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/runs/{runId}/interrupts/{nodeId}',
      scope: 'approvals:respond',
      handle: (call) => answer(call, engine),
    },
  ];
}

/** `resumeValue` must be there; null is a value. Its shape is the interrupt's to check. */
const answerBody = z
  .strictObject({ resumeValue: z.unknown() })
  .refine((body) => body.resumeValue !== undefined, { message: 'required', path: ['resumeValue'] });

async function answer(call: Call, engine: Engine): Promise<string> {
  const runId = runIdParam(call);
  const { resumeValue } = parseShape(answerBody, call.request.body, 'The answer');
  const { tenant, principal } = call.caller;
  const nodeId = pathParam(call, 'nodeId');
  const answered = await engine.answer({ tenant, runId, nodeId, value: resumeValue as Json, principal });
  return JSON.stringify({ runId, nodeId: answered.nodeId, status: answered.status });
}
