import type { WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { RunScript, scriptNodeTypes, step, workflowOf } from '../../../test/kit/run-script.ts';
import { decide } from '../core/decide.ts';
import { compileWorkflow } from '../workflow/workflow.ts';
import type { RecordedRow } from './recorded-row.ts';
import { type Redecided, redecide } from './redecide.ts';

const recordOf = ({ events }: RunScript): RecordedRow[] =>
  events.map(({ seq, at, type, nodeId = null, cause = null, payload }) => ({
    ...{ seq, at, type, nodeId, cause },
    payload: JSON.stringify(payload),
  }));

/** One row a page, so that nothing depends on the size of a page. */
const again = (rows: readonly RecordedRow[], definition: WorkflowDefinition): Promise<Redecided> =>
  redecide(
    { runId: 'run_1' as never, workflow: compileWorkflow(definition, 'hash', scriptNodeTypes) },
    rows.map((row) => [row]),
  );

const greeting = (expression: string) =>
  workflowOf(
    {
      call: step('read'),
      say: { type: 'core.identity', inputs: { text: { type: 'expression', expression } } },
    },
    [{ from: 'call', to: 'say' }],
  );

const seqOf = (rows: readonly RecordedRow[], type: string, nodeId: string | null): number =>
  present(rows.find((row) => row.type === type && row.nodeId === nodeId)).seq;

const changed = (rows: readonly RecordedRow[], seq: number, change: Partial<RecordedRow>): RecordedRow[] =>
  rows.map((row) => (row.seq === seq ? { ...row, ...change } : row));

describe('an unchanged workflow', () => {
  test('is decided as it was recorded: steps, retries, gates, pauses and takeovers', async () => {
    const definition = workflowOf(
      { a: step('read'), gate: { type: 'core.approvalGate' }, b: step('idempotent'), w: step('write') },
      [
        { from: 'a', to: 'gate' },
        { from: 'gate', to: 'b' },
        { from: 'b', to: 'w' },
      ],
    );
    const script = new RunScript(definition).returns('a', { n: 1 });
    script.answers('gate', { action: 'accept' }, 'ann').pauses('immediate').resumes();
    script.crashes().returns('b').crashes();
    script.answers('w', { action: 'retry' }).returns('w', { done: true });
    expect(script.status).toBe('completed');
    const rows = recordOf(script);
    const { divergence, events, state } = await again(rows, definition);
    expect(divergence).toBeNull();
    expect(events).toBe(rows.length);
    expect(state).toEqual(script.state);
  });

  test('is decided as it was recorded by three holders, of whom the first two stopped in the middle', async () => {
    const definition = workflowOf({ gate: { type: 'core.approvalGate' }, a: step('write'), b: step('write') }, [
      { from: 'gate', to: 'a' },
      { from: 'gate', to: 'b' },
    ]);
    const script = new RunScript(definition);
    const decideTheRest = script.settle.bind(script);
    script.settle = () => script;
    script.answers('gate', { action: 'accept' }, 'ann');
    while (!script.types().includes('cairn.step.requested')) {
      script.write(decide(script.state, script.workflow).drafts);
    }
    script.passes(500).crashes().passes(500);
    decideTheRest();
    script.passes(500).crashes();
    expect(script.all('interrupt.requested').map(({ nodeId }) => nodeId)).toEqual(['gate', 'a', 'b']);
    const { divergence, events } = await again(recordOf(script), definition);
    expect([divergence, events]).toEqual([null, script.events.length]);
  });

  test('is decided as it was recorded by many holders, until one asks about the calls that all of them lost', async () => {
    const definition = workflowOf({ a: step('read'), b: step('read') }, []);
    const script = new RunScript(definition);
    for (let holder = 0; holder < 11; holder += 1) script.passes(500).crashes();
    expect(script.all('interrupt.requested')).toHaveLength(2);
    const { divergence, events } = await again(recordOf(script), definition);
    expect([divergence, events]).toEqual([null, script.events.length]);
  });

  test('is decided up to where the record of a run in progress stops', async () => {
    const script = new RunScript(greeting('outputs.call.name'));
    const { divergence, events } = await again(recordOf(script), greeting('outputs.call.name'));
    expect([divergence, events]).toEqual([null, script.events.length]);
  });

  test('agrees although the keys of its definition come in another order', async () => {
    const ordered = (data: Record<string, string>) =>
      workflowOf({ n: { type: 'core.identity', inputs: { v: { type: 'static', value: data } } } });
    const script = new RunScript(ordered({ a: 'x', b: 'y' }));
    const { divergence, events } = await again(recordOf(script), ordered({ b: 'y', a: 'x' }));
    expect([divergence, events]).toEqual([null, script.events.length]);
  });

  test('takes over a failure by the host, of which no row says why', async () => {
    const definition = workflowOf({ a: step('read'), b: step('read') });
    const script = new RunScript(definition);
    script.state.failure = {
      seq: script.state.nextSeq - 1,
      nodeId: null,
      error: { code: 'quota_exceeded', message: 'full', retryable: false },
    };
    script.settle();
    expect(script.status).toBe('failed');
    const { divergence, state } = await again(recordOf(script), definition);
    expect(divergence).toBeNull();
    expect(state.view.error?.code).toBe('quota_exceeded');
  });
});

describe('the first divergence', () => {
  test('of a changed expression is the event that holds its value', async () => {
    const before = greeting('outputs.call.name');
    const rows = recordOf(new RunScript(before).returns('call', { name: 'Ann' }));
    const { divergence } = await again(rows, greeting('outputs.call.name + "!"'));
    const found = present(divergence);
    expect([found.seq, found.kind]).toEqual([seqOf(rows, 'node.started', 'say'), 'output']);
    expect(found.recorded?.payload).toContain('"text":"Ann"');
    expect(found.present?.payload).toMatchObject({ inputs: { text: 'Ann!' } });
  });

  test('of another recorded result is the first decision that uses it, not the result', async () => {
    const definition = greeting('outputs.call.name');
    const rows = recordOf(new RunScript(definition).returns('call', { name: 'Ann' }));
    const returned = seqOf(rows, 'cairn.step.returned', 'call');
    const payload = present(rows[returned]).payload.replace('Ann', 'Bob');
    const { divergence } = await again(changed(rows, returned, { payload }), definition);
    expect(divergence).toMatchObject({ seq: returned + 1, kind: 'output', recorded: { type: 'node.completed' } });
  });

  test('of an edge that is gone is the end of the node it led out of', async () => {
    const rows = recordOf(new RunScript(greeting('1')).returns('call', {}));
    const { divergence } = await again(rows, workflowOf({ call: step('read') }, []));
    expect(divergence).toMatchObject({ seq: seqOf(rows, 'node.completed', 'call'), kind: 'output' });
  });

  test.each(['cause', 'nodeId', 'type'] as const)('is found in the %s of a decision', async (field) => {
    const definition = greeting('outputs.call.name');
    const rows = recordOf(new RunScript(definition).returns('call', { name: 'Ann' }));
    const seq = seqOf(rows, 'node.completed', 'say');
    const value = field === 'cause' ? 0 : field === 'nodeId' ? 'call' : 'node.skipped';
    const { divergence } = await again(changed(rows, seq, { [field]: value }), definition);
    expect(divergence?.seq).toBe(seq);
  });

  test('is a result that nothing waits for', async () => {
    const definition = greeting('outputs.call.name');
    const rows = recordOf(new RunScript(definition).returns('call', { name: 'Ann' }));
    const returned = seqOf(rows, 'cairn.step.returned', 'call');
    const payload = present(rows[returned]).payload.replace('call#0', 'call#7');
    const { divergence } = await again(changed(rows, returned, { payload }), definition);
    expect(divergence).toMatchObject({ seq: returned, kind: 'missing' });
  });

  test('is a row that no host writes, and says why nothing can be decided from it', async () => {
    const definition = workflowOf({ talk: { type: 'core.approvalGate' } });
    const rows = recordOf(new RunScript(definition));
    const lie: RecordedRow = {
      ...{
        seq: rows.length,
        at: present(rows.at(-1)).at,
        type: 'conversation.exchanged',
        nodeId: '__proto__',
        cause: 0,
      },
      payload: '{"conversationId":"conv_1","turn":{"role":"user","content":"x"},"nodeId":"__proto__"}',
    };
    const { divergence } = await again([...rows, lie], definition);
    expect(divergence).toMatchObject({
      seq: rows.length,
      kind: 'missing',
      error: expect.stringContaining('node-known'),
    });
  });

  test('is a timer that fires before its time', async () => {
    const wait = (delayMs: number) => workflowOf({ n: { type: 'core.delay', config: { delayMs } } });
    const rows = recordOf(new RunScript(wait(1_000)));
    const at = present(rows.at(-1)).at + 500;
    const set = present(rows.find(({ type }) => type === 'cairn.timer.set'));
    const fired = { timerId: JSON.parse(set.payload).timerId, purpose: 'delay', nodeId: 'n' };
    const row = (time: number): RecordedRow => ({
      ...{ seq: rows.length, at: time, type: 'cairn.timer.fired', nodeId: 'n', cause: set.seq },
      payload: JSON.stringify(fired),
    });
    expect((await again([...rows, row(at)], wait(1_000))).divergence?.seq).toBe(rows.length);
    expect((await again([...rows, row(at + 500)], wait(1_000))).divergence).toBeNull();
  });
});
