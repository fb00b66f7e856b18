/** Test routes for black-box suites, beyond the protocol. Served only in conformance mode, by the production code. */
import {
  debugBundle,
  isJsonObject,
  type JsonObject,
  parseShape,
  row,
  runEventDoc,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';
import { docText } from '../log/feed/frame.ts';
import { newRow } from '../log/ports/new-row.ts';
import type { RoutePorts } from '../server/host-extension.ts';
import { type Call, pathParam, queryParam, type Route } from '../server/http/routes.ts';

const eventFilters = ['type', 'correlationId', 'causationId', 'nodeId'] as const;
const filterQuery = z.object(Object.fromEntries(eventFilters.map((name) => [name, z.string().optional()])));
const exportBody = z.strictObject({ runId: z.string() });
const variablesBody = z.strictObject({ variables: z.record(z.string(), z.json()) });
const spanList = z.object({
  spans: z.array(
    z.looseObject({ name: z.string(), attributes: z.looseObject({}), events: z.array(z.looseObject({})) }),
  ),
});

export function testSeamRoutes(ports: RoutePorts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/host/sample/test/runs/{runId}/events',
      scope: 'runs:read',
      handle: (call) => events(call, ports),
      doc: {
        id: 'testEvents',
        summary: "A run's events that fit a filter",
        query: filterQuery,
        responses: { 200: { description: 'The events.', shape: z.object({ events: z.array(runEventDoc) }) } },
        errors: ['not_found'],
      },
    },
    {
      method: 'GET',
      path: '/v1/host/sample/test/otel/spans',
      scope: 'runs:read',
      handle: (call) => spans(call, ports),
      doc: {
        id: 'testSpans',
        summary: 'The spans of a run',
        query: z.object({ runId: z.string() }),
        responses: { 200: { description: 'The spans.', shape: spanList } },
        errors: ['not_found'],
      },
    },
    {
      method: 'POST',
      path: '/v1/host/sample/test/runs/{runId}/variables',
      scope: 'runs:create',
      repeatable: true,
      handle: (call) => setVariables(call, ports),
      doc: {
        id: 'testVariables',
        summary: 'Change variables of a run that goes on',
        body: variablesBody,
        responses: { 200: { description: 'They are changed.', shape: z.object({ runId: z.string() }) } },
        errors: ['not_found', 'run_terminal'],
      },
    },
    {
      method: 'POST',
      path: '/v1/host/sample/test/debug-bundle/export',
      scope: 'runs:read',
      repeatable: true,
      handle: (call) => exported(call, ports),
      doc: {
        id: 'testDebugBundle',
        summary: 'The debug bundle of a run',
        body: exportBody,
        responses: { 200: { description: 'The bundle.', shape: debugBundle } },
        errors: ['not_found'],
      },
    },
  ];
}

async function events(call: Call, { findRun, log }: RoutePorts): Promise<string> {
  requirePrincipal(call);
  const { record, seq } = await findRun(pathParam(call, 'runId'), call.caller);
  const wanted = eventFilters.flatMap((name) => {
    const value = queryParam(call, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const found: string[] = [];
  for (let after = -1; after < seq; ) {
    const rows = await log.read({ runId: record.runId, after, limit: 200, audience: call.caller.audience });
    const texts = rows.map(docText).filter((text) => wanted.every(([name, value]) => holds(text, name, value)));
    found.push(...texts);
    after = rows.at(-1)?.seq ?? seq;
  }
  return `{"events":[${found.join()}]}`;
}

/** Compares the envelope's field, or the payload's when the envelope has none. */
function holds(text: string, name: string, value: string): boolean {
  const doc: JsonObject = JSON.parse(text);
  const payload = isJsonObject(doc.payload) ? doc.payload : {};
  return (doc[name] ?? payload[name]) === value;
}

/** Appends a fact, like a person's answer: it needs no lease, and the run continues from it. */
async function setVariables(call: Call, { engine, findRun, log, now }: RoutePorts): Promise<string> {
  requirePrincipal(call);
  const { variables } = parseShape(variablesBody, call.request.body, 'The body');
  const { runId } = (await findRun(pathParam(call, 'runId'), call.caller)).record;
  const before = (await engine.snapshot(call.caller.tenant, runId)).variables ?? {};
  const rows = Object.entries(variables).map(([name, next]) => {
    const previous = Object.hasOwn(before, name) ? before[name] : undefined;
    const changed = { name, ...(previous === undefined ? {} : { previous }), next };
    const { type, audience, payload } = row('variable.changed', changed);
    return newRow({ at: now(), type, audience, payload: JSON.stringify(payload) }, null);
  });
  if (rows.length > 0) await log.append({ runId, rows });
  return JSON.stringify({ runId });
}

async function spans(call: Call, ports: RoutePorts): Promise<string> {
  requirePrincipal(call);
  const bundle = await bundleOf(call, queryParam(call, 'runId') ?? '', ports);
  const { spans: found }: JsonObject = JSON.parse(bundle);
  return JSON.stringify({ spans: found });
}

async function exported(call: Call, ports: RoutePorts): Promise<string> {
  requirePrincipal(call);
  const body = exportBody.safeParse(call.request.body);
  if (!body.success) {
    throw new TerminalError('validation_error', { message: 'The body must be { "runId": "<id>" }.' });
  }
  return bundleOf(call, body.data.runId, ports);
}

async function bundleOf({ caller }: Call, runId: string, ports: RoutePorts): Promise<string> {
  return ports.debugBundle(await ports.findRun(runId, caller), caller);
}

/** Test routes expose more than the protocol, so the caller must have a principal. */
export function requirePrincipal({ caller }: Call): void {
  if (caller.principal !== undefined) return;
  throw new TerminalError('forbidden', {
    message: 'Test seams need a key that stands for a principal.',
    hint: 'Give the key a "principal" in the configuration.',
  });
}
