import { type RunId, runId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import { openCall } from '../core/evolve/calls.ts';
import { evolve } from '../core/evolve.ts';
import { COORDINATOR_PERFORMER } from '../performer-ids.ts';
import { failWithoutRecord, unrecorded } from './missing-record.ts';
import { RecordedWork } from './recorded-work.ts';

const source: RunId = runId('source');

/** A run whose question, in the node `ask`, an agent of the run above is asked; no record tells of it. */
function routed(): RunScript {
  const question = { id: 'q', question: 'Which?' };
  const run = new RunScript(workflowOf({ ask: { type: 'core.clarificationGate', config: { questions: [question] } } }));
  const interruptId = Object.keys(run.state.view.interrupts)[0] ?? '';
  run.state.routes = { [interruptId]: { nodeId: 'ask', level: 1, callId: 'above', verdict: null } };
  openCall(run.state, {
    callId: 'above',
    nodeId: 'ask',
    step: COORDINATOR_PERFORMER,
    safety: 'idempotent',
    attempt: 1,
    requestedSeq: run.state.nextSeq - 1,
    requestedAt: run.state.now,
    recoveries: 0,
    routes: interruptId,
  });
  return run;
}

test('a question that an agent was asked goes on to people, and its node does not fail', () => {
  const { state, workflow } = routed();
  const [interruptId] = Object.keys(state.view.interrupts);
  const open = unrecorded(state, new RecordedWork());
  expect(open).toEqual({ nodeId: 'ask', what: 'result of the call above', routes: interruptId });
  if (open === null) return;
  const drafts = failWithoutRecord({ state, workflow }, open, source);
  expect(drafts).toMatchObject([{ type: 'cairn.input.forwarded', payload: { inputId: interruptId } }]);
  for (const draft of drafts) evolve(state, workflow, { ...draft, seq: state.nextSeq, at: state.now });
  expect(state.calls).toEqual(new Map());
  expect(unrecorded(state, new RecordedWork())?.what).toBe(`answer to the interrupt ${interruptId}`);
});
