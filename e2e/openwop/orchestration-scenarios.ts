/**
 * Fixtures for runs that start runs: supervisors, dispatch, sub-workflows, and how cancelling a parent cancels its
 * children.
 */
import type { JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import type { Run, RunView, WireHost } from './wire-host.ts';

const fixture = (name: string) => `conformance-${name}`;

/** Registers the fixture's workers, starts the fixture, and waits for its end. */
async function ran(host: WireHost, name: string, workers: readonly string[] = []): Promise<Ran> {
  const run = await begun(host, name, workers);
  return { ...(await run.ended()), run };
}

interface Ran extends RunView {
  readonly run: Run;
}

async function begun(host: WireHost, name: string, workers: readonly string[]): Promise<Run> {
  await host.registerFixtures(workers.map(fixture));
  return host.start(fixture(name));
}

const decisions = ({ payloads }: RunView): unknown[] =>
  payloads('runOrchestrator.decided').map(({ decision }) => fields(decision).kind);

/** Checks the chain of one dispatch: the decision causes the first link, and each link causes the next. */
function expectChain({ events }: RunView, phases: readonly string[]): readonly JsonObject[] {
  const links = events.filter(({ type }) => type === 'core.workflowChain.event');
  expect(links.map(({ payload }) => fields(payload).phase)).toEqual(phases);
  const decided = events.find(({ type }) => type === 'runOrchestrator.decided');
  expect(links.map(({ causationId }) => causationId)).toEqual(
    [decided, ...links.slice(0, -1)].map((cause) => cause?.eventId),
  );
  return links.map(({ payload }) => fields(payload));
}

const childrenOf = (snapshot: JsonObject): readonly { readonly runId: string }[] =>
  objects(snapshot.childRuns).map(({ runId }) => ({ runId: String(runId) }));

const firstChild = ({ snapshot }: RunView): string => present(childrenOf(snapshot)[0]).runId;

const childOf = async (host: WireHost, view: RunView): Promise<RunView> => host.run(firstChild(view)).settled();

/** Checks that a worker received exactly these variables. */
const handsIn = (name: string, worker: string, variables: JsonObject): Scenario => ({
  name: `gives its worker ${JSON.stringify(variables)}`,
  async run(host) {
    const view = await ran(host, name, [worker]);
    expect(view.status).toBe('completed');
    const child = await childOf(host, view);
    expect(child.snapshot).toMatchObject({ status: 'completed', parentRunId: view.run.runId });
    expect(child.snapshot.variables).toEqual(variables);
  },
});

export const orchestrationScenarios: Scenarios = {
  'conformance-dispatch-loop': [
    {
      name: 'decides twice, sends one worker, and is supervised by its node throughout',
      async run(host) {
        const view = await ran(host, 'dispatch-loop', ['noop']);
        expect(view.status).toBe('completed');
        expect(decisions(view)).toEqual(['next-worker', 'terminate']);
        expect(view.snapshot.runOrchestrator).toEqual({ agentId: 'host:orchestrator:orchestrator' });
        expectChain(view, ['dispatch.began', 'dispatch.succeeded', 'child.completed']);
      },
    },
  ],
  'conformance-orchestrator-dispatch': [
    {
      name: 'puts each decision on record before anything of it is done, and ends with the reason of the last',
      async run(host) {
        const view = await ran(host, 'orchestrator-dispatch', ['noop']);
        expect(decisions(view)).toEqual(['next-worker', 'terminate']);
        const { types, payloads, snapshot } = view;
        expect(types.indexOf('runOrchestrator.decided')).toBeLessThan(types.indexOf('node.dispatched'));
        expect(payloads('run.completed')[0]).toMatchObject({ reason: 'goal-reached' });
        expect(snapshot.runOrchestrator).toMatchObject({ agentId: 'core.conformance.supervisor' });
        for (const { agentId } of payloads('runOrchestrator.decided'))
          expect(agentId).toBe('core.conformance.supervisor');
      },
    },
    {
      name: 'causes what the dispatch node does by the decision it carries out',
      async run(host) {
        const { events } = await ran(host, 'orchestrator-dispatch', ['noop']);
        const decided = events.find(({ type }) => type === 'runOrchestrator.decided');
        expect(events.find(({ type }) => type === 'node.dispatched')?.causationId).toBe(decided?.eventId);
      },
    },
  ],
  'conformance-orchestrator-terminate': [
    {
      name: 'completes at once and sends nobody',
      async run(host) {
        const view = await ran(host, 'orchestrator-terminate');
        expect(view.status).toBe('completed');
        expect(decisions(view)).toEqual(['terminate']);
        expect(view.types).not.toContain('node.dispatched');
        expect(view.snapshot).not.toHaveProperty('childRuns');
      },
    },
  ],
  'conformance-orchestrator-low-confidence': [
    {
      name: 'holds the decision until a person has looked: nothing is decided and nobody is sent before',
      async run(host) {
        const run = await begun(host, 'orchestrator-low-confidence', ['noop']);
        const held = await run.settled();
        expect(held.status).toBe('waiting-approval');
        expect(held.types).not.toContain('runOrchestrator.decided');
        expect(held.types).not.toContain('node.dispatched');
        expect(held.payloads('interrupt.requested')[0]).toMatchObject({ kind: 'low-confidence' });
        expect((await run.answer('supervisor', { action: 'approve' })).status).toBe(200);
        const after = await run.settled();
        expect(decisions(after)).toEqual(['next-worker']);
        await run.cancel();
        await run.ended();
      },
    },
  ],
  'conformance-dispatch-input-mapping': [
    handsIn('dispatch-input-mapping', 'dispatch-input-mapping-child', { childGreeting: 'Alice' }),
  ],
  'conformance-dispatch-input-mapping-no-default': [
    handsIn('dispatch-input-mapping-no-default', 'dispatch-input-mapping-child', {}),
  ],
  'conformance-dispatch-output-mapping': [
    {
      name: 'takes what the worker made into the variable of the mapping',
      async run(host) {
        const view = await ran(host, 'dispatch-output-mapping', ['dispatch-output-mapping-child']);
        expect(view.snapshot.variables).toEqual({ parentResult: 'done' });
      },
    },
  ],
  'conformance-dispatch-cross-worker-handoff': [
    {
      name: 'gives what the first worker made to the second',
      async run(host) {
        const workers = ['a', 'b'].map((one) => `dispatch-cross-worker-handoff-child-${one}`);
        const view = await ran(host, 'dispatch-cross-worker-handoff', workers);
        expect(view.snapshot.variables).toEqual({ sharedVar: 'hello' });
        const [, second] = childrenOf(view.snapshot);
        const { snapshot } = await host.run(present(second).runId).ended();
        expect(snapshot.variables).toMatchObject({ input: 'hello' });
      },
    },
  ],
  'conformance-dispatch-per-worker-override': [
    {
      name: 'maps for one worker by its own mapping and for the other by the usual one',
      async run(host) {
        const workers = ['a', 'b'].map((one) => `dispatch-cross-worker-handoff-child-${one}`);
        const view = await ran(host, 'dispatch-per-worker-override', workers);
        const children = childrenOf(view.snapshot);
        const inputs = await Promise.all(
          children.map(async ({ runId }) => fields((await host.run(runId).ended()).snapshot.variables).input),
        );
        expect(inputs).toEqual(['default-x-value', 'shared-value']);
      },
    },
  ],
  'conformance-multi-agent-handoff': [
    {
      name: 'tells the whole chain of its one handoff, each link caused by the one before',
      async run(host) {
        const view = await ran(host, 'multi-agent-handoff', ['multi-agent-handoff-child']);
        const phases = ['dispatch.began', 'dispatch.succeeded', 'child.completed', 'output.harvested'];
        const links = expectChain(view, phases);
        const workerId = 'conformance-multi-agent-handoff-child';
        for (const link of links) expect(link).toMatchObject({ workerId, parentRunId: view.run.runId });
        expect(links[0]).not.toHaveProperty('childRunId');
        for (const link of links.slice(1)) expect(link.childRunId).toBe(firstChild(view));
        expect(present(links[3]).harvestedKeys).toEqual(['parentResult']);
        expect(view.snapshot.variables).toEqual({ parentResult: 'handoff-complete' });
        expect(view.snapshot.childRuns).toEqual([
          { runId: firstChild(view), workflowId: workerId, status: 'completed' },
        ]);
      },
    },
  ],
  'conformance-multi-agent-confidence-escalation': [
    {
      name: 'asks a person about a decision below the floor, and sends nobody before',
      async run(host) {
        const run = await begun(host, 'multi-agent-confidence-escalation', ['multi-agent-handoff-child']);
        const held = await run.settled();
        expect(held.status).toBe('waiting-approval');
        const [escalation, ...more] = held.events.filter(
          ({ type }) => type === 'core.workflowChain.confidence-escalated',
        );
        expect(more).toEqual([]);
        const decided = held.events.find(({ type }) => type === 'runOrchestrator.decided');
        expect(escalation?.causationId).toBe(decided?.eventId);
        expect(escalation?.payload).toMatchObject({
          confidence: 0.3,
          floor: 0.5,
          escalationKind: 'escalate',
          originalDecision: fields(present(decided).payload).decision,
        });
        expect(held.types).not.toContain('core.workflowChain.event');
        expect(held.types.indexOf('core.workflowChain.confidence-escalated')).toBeLessThan(
          held.types.indexOf('interrupt.requested'),
        );
        expect((await run.answer('dispatch', { action: 'accept' })).status).toBe(200);
        expect((await run.ended()).status).toBe('completed');
      },
    },
  ],
  'conformance-subworkflow-parent': [
    {
      name: 'waits for the workflow it runs as a node, and takes its result',
      async run(host) {
        const view = await ran(host, 'subworkflow-parent', ['subworkflow-child']);
        expect(view.snapshot).toMatchObject({ status: 'completed', variables: { childOutcome: 'child-completed' } });
        const done = view.payloads('node.completed').find(({ nodeId }) => nodeId === 'subwf-call');
        expect(done?.outputs).toEqual({ childRunId: firstChild(view), childStatus: 'completed' });
        const child = await childOf(host, view);
        expect(child.snapshot).toMatchObject({ parentRunId: view.run.runId, parentNodeId: 'subwf-call' });
        expect(view.types.filter((type) => type === 'node.dispatched')).toHaveLength(1);
        expect(view.types).not.toContain('core.workflowChain.event');
      },
    },
  ],
  'conformance-subworkflow-input-mapping': [
    handsIn('subworkflow-input-mapping', 'subworkflow-input-mapping-child', { receivedPrdId: 'prd-1' }),
  ],
  'conformance-subworkflow-input-mapping-no-default': [
    handsIn('subworkflow-input-mapping-no-default', 'subworkflow-input-mapping-child', {}),
  ],
  'conformance-subworkflow-mid-run-mutation': [
    {
      name: 'gives its child what a variable was when the child began, whatever becomes of it later',
      async run(host) {
        const run = await begun(host, 'subworkflow-mid-run-mutation', ['subworkflow-mid-run-mutation-child']);
        const child = await waitingChild(host, run);
        const seam = `/v1/host/sample/test/runs/${run.runId}/variables`;
        const changed = await host.call('POST', seam, { body: { variables: { currentPrdId: 'mutated-id' } } });
        expect(changed.status).toBe(200);
        expect((await child.answer('child-gate', { action: 'accept' })).status).toBe(200);
        const { snapshot } = await child.ended();
        expect(snapshot).toMatchObject({ status: 'completed', variables: { receivedPrdId: 'seeded-id' } });
        expect((await run.ended()).snapshot.variables).toMatchObject({ currentPrdId: 'mutated-id' });
      },
    },
  ],
  'conformance-interrupt-parent-child-cancel': [
    {
      name: 'is cancelled with its child within five seconds, and a token for the question of the child is gone',
      async run(host) {
        const run = await begun(host, 'interrupt-parent-child-cancel', ['interrupt-parent-child-cancel-child']);
        const child = await waitingChild(host, run);
        const { body } = await host.call('POST', `/v1/host/cairn/runs/${child.runId}/interrupts/child-gate/token`, {
          body: {},
        });
        const asked = performance.now();
        expect((await run.cancel()).status).toBe(200);
        expect((await run.ended()).status).toBe('cancelled');
        const { payloads, snapshot } = await child.ended();
        expect(performance.now() - asked).toBeLessThan(5_000);
        expect(snapshot.status).toBe('cancelled');
        expect(payloads('run.cancelled')[0]).toMatchObject({ reason: 'parent-cancelled', parentRunId: run.runId });
        const answer = { body: { resumeValue: { action: 'accept' } }, as: null };
        expect((await host.call('POST', `/v1/interrupts/${String(body.token)}`, answer)).status).toBe(410);
        expect((await host.call('GET', `/v1/interrupts/${String(body.token)}`, { as: null })).status).toBe(410);
      },
    },
  ],
};

/** Returns the child of a run once it waits. The parent run must then show as waiting, too. */
async function waitingChild(host: WireHost, run: Run): Promise<Run> {
  const dispatched = await run.after('node.dispatched');
  const child = host.run(firstChild(dispatched));
  expect((await child.settled()).status).toBe('waiting-approval');
  const { status, snapshot } = await run.settled();
  expect(status).toBe('waiting-approval');
  expect(snapshot.childRuns).toMatchObject([{ runId: child.runId, status: 'waiting-approval' }]);
  return child;
}
