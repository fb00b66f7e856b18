/** Hints of a host name requests; the command line names its own commands instead. */
import { expect, test } from 'vitest';
import { commandHint } from './command-hint.ts';

const runId = 'run_7.0';

test.each([
  ['GET /v1/agents lists those of the tenant.', {}, '"cairn agents" lists those of the tenant.'],
  ['GET /v1/node-types shows it.', {}, '"cairn nodes TYPE" shows it.'],
  ['GET /v1/tools lists them.', {}, '"cairn tools" lists them.'],
  ['GET /v1/workflows lists them.', {}, '"cairn workflows" lists them.'],
  ['GET /v1/workflows/{workflowId} shows it.', { workflowId: 'acme.trip' }, '"cairn workflows acme.trip" shows it.'],
  ['GET /v1/workflows/{workflowId} shows it.', {}, '"cairn workflows WORKFLOW" shows it.'],
  [
    'Register it with POST /v1/workflows, or name a folder.',
    {},
    'Register it with "cairn workflows --add FILE", or name a folder.',
  ],
  ['GET /v1/host/cairn/packs lists them.', {}, '"cairn pack list" lists them.'],
  ['GET /v1/host/cairn/inbox lists them.', {}, '"cairn inbox" lists them.'],
  ['GET /v1/runs lists them.', {}, '"cairn runs" lists them.'],
  ['GET /v1/runs/{runId} shows it.', { runId }, '"cairn show run_7.0" shows it.'],
  ['Read the run to see what it waits for.', { runId }, '"cairn show run_7.0" shows what it waits for.'],
  [
    'Only the first answer counts; read the run to see where it stands.',
    {},
    'Only the first answer counts; "cairn show RUN" shows where it stands.',
  ],
  [
    'The interrupt stays open. Its data and resumeSchema say what an answer looks like.',
    { runId },
    'The interrupt stays open. "cairn show run_7.0" shows the question.',
  ],
  [
    'Wait for the time in Retry-After, then send the request again. GET /v1/host/cairn/limits shows the limits.',
    {},
    'Wait a moment, then repeat the command.',
  ],
  ['Choose another name.', { runId }, 'Choose another name.'],
])('%s %j', (hint, details, text) => {
  expect(commandHint(hint, details)).toBe(text);
});

test.each(['x; rm -rf ~', '$(id)', '--json', '$1', '', 7, null])('%j is no id to put into a command', (id) => {
  expect(commandHint('GET /v1/runs/{runId} shows it.', { runId: id })).toBe('"cairn show RUN" shows it.');
});
