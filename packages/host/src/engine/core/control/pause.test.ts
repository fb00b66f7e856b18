import { type JsonObject, row } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { RunScript, step, workflowOf } from '../../../../test/kit/run-script.ts';
import { decide } from '../decide.ts';
import { recover } from './recover.ts';

const delay = (ms: number) => ({ type: 'core.delay', config: { ms } });

const readThenNoop = () => new RunScript(workflowOf({ a: step('read'), b: 'core.noop' }, [{ from: 'a', to: 'b' }]));

test('a draining pause lets the node under way finish, then takes effect, and starts no other', () => {
  const run = readThenNoop().pauses('drain-current-node', 'deploy');
  expect(run.status).toBe('running');
  run.returns('a', { n: 1 });
  expect(run.types().slice(-2)).toEqual(['node.completed', 'run.paused']);
  expect(run.last('run.paused')).toEqual({ drainPolicy: 'drain-current-node', reason: 'deploy' });
  expect(run.status).toBe('paused');
  expect(run.started()).toEqual(['a']);
  run.resumes();
  expect(run.started()).toEqual(['a', 'b']);
  expect(run.status).toBe('completed');
});

test('a run whose last node drains pauses all the same, and completes after it is resumed', () => {
  const run = new RunScript(workflowOf({ d: delay(50) })).pauses();
  run.passes(50);
  expect(run.types().slice(-2)).toEqual(['node.completed', 'run.paused']);
  expect(run.resumes().status).toBe('completed');
});

test('a draining pause waits for every branch that is under way', () => {
  const run = new RunScript(workflowOf({ a: step('read'), b: step('read') }, [])).pauses();
  expect(run.returns('a').status).toBe('running');
  expect(run.returns('b').status).toBe('paused');
});

test('an immediate pause cuts a step short; it starts again as the next attempt of the same call', () => {
  const run = readThenNoop();
  const { callId } = run.call('a');
  run.pauses('immediate');
  expect(run.status).toBe('paused');
  expect(run.state.calls).toEqual(new Map());
  run.fact('cairn.step.returned', { nodeId: 'a', callId, attempt: 1, outcome: { late: true } }, 'a');
  expect(run.types().at(-1)).toBe('cairn.step.returned');
  run.resumes();
  expect(run.call('a')).toMatchObject({ callId, attempt: 2 });
  expect(run.all('node.started').map((payload) => payload.attempt)).toEqual([0, 1]);
  expect(run.returns('a', { n: 1 }).status).toBe('completed');
  expect(run.state.outputs.a).toEqual({ n: 1 });
});

test('an immediate pause starts a delay over', () => {
  const run = new RunScript(workflowOf({ d: delay(100) })).passes(60).pauses('immediate');
  run.passes(1_000).resumes().passes(99);
  expect(run.status).toBe('running');
  expect(run.passes(1).status).toBe('completed');
});

test('an attempt that a pause cut short does not use up a retry', () => {
  const settings = { retry: { maxRetries: 1, backoffMs: 10 } };
  const run = new RunScript(workflowOf({ a: step('read', { settings }) })).pauses('immediate').resumes();
  run.throws('a', { retryable: true });
  expect(run.last('node.retried')).toMatchObject({ attempt: 2, delayMs: 10 });
  run.passes(10).throws('a', { retryable: true });
  expect(run.status).toBe('failed');
  expect(run.last('node.failed')).toMatchObject({ attempts: 3 });
});

test('a write that an immediate pause cut short is left to a human, whose answer is acted on after the resume', () => {
  const run = new RunScript(workflowOf({ w: step('write'), b: 'core.noop' }, [{ from: 'w', to: 'b' }])).pauses(
    'immediate',
  );
  expect(run.types().slice(-3)).toEqual(['interrupt.requested', 'node.suspended', 'run.paused']);
  expect(run.status).toBe('paused');
  run.answers('w', { action: 'use', result: { paid: true } }, 'ann');
  expect(run.status).toBe('paused');
  expect(run.types().at(-1)).toBe('node.resumed');
  run.resumes();
  expect(run.status).toBe('completed');
  expect(run.state.outputs.w).toEqual({ paid: true });
});

test('a write whose question is open when the run is resumed shows as waiting again', () => {
  const run = new RunScript(workflowOf({ w: step('write') })).pauses('immediate').resumes();
  expect(run.status).toBe('waiting-input');
  run.answers('w', { action: 'retry' });
  expect(run.returns('w').status).toBe('completed');
});

test('a crash while a run drains: a read is asked for again and drains on', () => {
  const run = readThenNoop().pauses().crashes();
  expect(run.call('a')).toMatchObject({ attempt: 2 });
  expect(run.status).toBe('running');
  expect(run.returns('a').status).toBe('paused');
});

test('a crash while a run drains: an interrupted write is asked about, and the pause takes effect', () => {
  const run = new RunScript(workflowOf({ w: step('write') })).pauses().crashes();
  expect(run.types().slice(-3)).toEqual(['interrupt.requested', 'node.suspended', 'run.paused']);
});

test('a crash while a run is paused changes nothing', () => {
  const run = readThenNoop().pauses('immediate');
  const rows = run.types().length;
  expect(run.crashes().types()).toHaveLength(rows);
  expect(run.resumes().returns('a').status).toBe('completed');
});

test('a crash between an immediate request and its pause asks for nothing again', () => {
  const run = readThenNoop();
  run.write([row('cairn.pause.requested', { drainPolicy: 'immediate' })]);
  expect(recover(run.state, run.workflow)).toEqual({ drafts: [], effects: [] });
  expect(run.settle().status).toBe('paused');
});

test('a node that waits for its next attempt is not under way, and is tried again only after the resume', () => {
  const settings = { retry: { maxRetries: 1, backoffMs: 20 } };
  const run = new RunScript(workflowOf({ a: step('read', { settings }), b: step('read') }, []));
  run.throws('a', { retryable: true }).pauses();
  run.passes(20);
  expect(run.all('node.started')).toHaveLength(2);
  expect(run.returns('b').status).toBe('paused');
  run.passes(5_000).resumes();
  expect(run.all('node.started').map((payload) => `${payload.nodeId} ${payload.attempt}`)).toEqual([
    'a 0',
    'b 0',
    'a 1',
  ]);
});

test('a node that fails while the run drains fails the run', () => {
  const run = readThenNoop().pauses();
  run.throws('a', { retryable: false });
  expect(run.status).toBe('failed');
  expect(run.types()).not.toContain('run.paused');
});

test('the time limit of a run goes on while it is paused, and is acted on when it is resumed', () => {
  const run = new RunScript(workflowOf({ a: step('read') }), { configurable: { runTimeoutMs: 100 } });
  run.pauses('immediate').passes(10_000);
  expect(run.status).toBe('paused');
  expect(run.types().at(-1)).toBe('run.paused');
  run.resumes().passes(0);
  expect(run.last('cap.breached')).toMatchObject({ kind: 'run-duration', limit: 100, observed: 10_000 });
  expect(run.status).toBe('failed');
});

test('the time limit of a run ends it while it drains', () => {
  const run = new RunScript(workflowOf({ a: step('read') }), { configurable: { runTimeoutMs: 100 } }).pauses();
  expect(run.passes(100).status).toBe('failed');
});

test('a paused run can be cancelled', () => {
  const run = readThenNoop().pauses('immediate').cancels();
  expect(run.status).toBe('cancelled');
  expect(run.types().at(-1)).toBe('run.cancelled');
});

test('a run that drains can be cancelled, and its node with it', () => {
  const run = readThenNoop().pauses().cancels();
  expect(run.types().slice(-2)).toEqual(['node.cancelled', 'run.cancelled']);
});

test('a draining pause can be made an immediate one, once', () => {
  const run = readThenNoop().pauses();
  expect(refusal(run, () => run.pauses())).toMatchObject({ code: 'conflict', details: { runStatus: 'running' } });
  run.pauses('immediate');
  expect(run.status).toBe('paused');
  expect(run.last('run.paused')).toEqual({ drainPolicy: 'immediate' });
});

test('what cannot be paused or resumed says the status of the run', () => {
  const paused = readThenNoop().pauses('immediate');
  const pausedAt = new Date(paused.now).toISOString();
  expect(refusal(paused, () => paused.pauses())).toMatchObject({
    code: 'conflict',
    details: { runStatus: 'paused', pausedAt },
  });
  const running = readThenNoop();
  expect(refusal(running, () => running.resumes())).toMatchObject({
    code: 'conflict',
    details: { runStatus: 'running' },
  });
  const ended = readThenNoop().returns('a');
  for (const act of [() => ended.pauses(), () => ended.resumes()]) {
    expect(refusal(ended, act)).toMatchObject({ code: 'run_terminal', details: { runStatus: 'completed' } });
  }
  const waiting = new RunScript(workflowOf({ g: 'core.approvalGate' }));
  expect(refusal(waiting, () => waiting.pauses('immediate'))).toMatchObject({
    code: 'conflict',
    details: { runStatus: 'waiting-approval' },
  });
  const cancelling = readThenNoop();
  cancelling.write([row('cairn.cancel.requested', {})]);
  for (const act of [() => cancelling.pauses(), () => cancelling.resumes()]) {
    expect(refusal(cancelling, act)).toMatchObject({ code: 'conflict', details: { runStatus: 'cancelling' } });
  }
});

test('nothing is decided of a paused run, whatever is pending', () => {
  const run = new RunScript(workflowOf({ w: step('write'), a: step('read') }, [])).pauses('immediate');
  run.answers('w', { action: 'retry' });
  expect(run.state.pending.map((fact) => fact.kind).sort()).toEqual(['abandoned', 'recovered']);
  expect(decide(run.state, run.workflow)).toEqual({ drafts: [], effects: [] });
});

/** What it was refused with; the refusal leaves the state alone. */
function refusal(run: RunScript, act: () => unknown): JsonObject {
  const before = JSON.stringify(run.state);
  try {
    act();
  } catch (error) {
    expect(JSON.stringify(run.state)).toBe(before);
    return { ...(error as object) } as JsonObject;
  }
  throw new Error('it was not refused');
}
