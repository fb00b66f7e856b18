/** Many requests that make no sense: the host answers every one of them, with a success or with the envelope. */
import { randomInt } from 'node:crypto';
import { type ErrorCode, errorEnvelope } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { createRandom } from '../../../test/kit/random.ts';
import { noop } from '../sample-workflows.kit.ts';
import { type Served, served } from '../served.kit.ts';
import { drawRequest, type FuzzRequest } from './fuzz-requests.kit.ts';
import { RawConnection, type RawResponse } from './raw-http.kit.ts';
import { everyRoute, type Names, routeCases, waitingRun } from './route-cases.kit.ts';
import { documentedErrors } from './routes.ts';

/** Repeat a run: CAIRN_FUZZ_SEED=<seed> npx vitest run packages/host/src/server/http/fuzz.test.ts */
const seed = Number(process.env.CAIRN_FUZZ_SEED ?? randomInt(1_000_000_000));
const inputs = Number(process.env.CAIRN_FUZZ_INPUTS ?? 20_000);

/** An answer that takes longer is a hang. */
const ANSWER_WITHIN_MS = 10_000;

/** Polls need not wait their seconds out: what is tested is that they end. */
const hasty = {
  after(ms: number, wake: () => void) {
    const timer = setTimeout(wake, Math.min(ms, 2));
    return () => clearTimeout(timer);
  },
};

/** Refusals that come before any route, by the path or the page a request comes from. */
const anywhere: readonly ErrorCode[] = [
  'validation_error',
  'not_found',
  'method_not_allowed',
  'forbidden',
  'unsupported_media_type',
  'payload_too_large',
];

const walls: readonly ErrorCode[] = [...anywhere, 'unauthenticated'];

/** Inputs for one host; then a fresh one, before all that is worth asking for has been cancelled or answered. */
const BATCH = 2_000;

test(`${inputs} requests that make no sense are all answered (seed ${seed})`, { timeout: 120_000 }, async () => {
  const seen: Seen = { statuses: new Set(), reached: new Set(), routes: [] };
  for (let from = 0; from < inputs; from += BATCH) await batch(from, Math.min(from + BATCH, inputs), seen);
  // A fuzz that only ever meets the same wall proves nothing.
  const statuses = [200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 415];
  const missing = statuses.filter((status) => !seen.statuses.has(status));
  const unreached = seen.routes.filter((id) => !seen.reached.has(id));
  expect(inputs < 20_000 ? [] : [...missing, ...unreached]).toEqual([]);
});

interface Seen {
  readonly statuses: Set<number>;
  /** Operations that did what they are for, or refused it with a code of their own. */
  readonly reached: Set<string>;
  /** Every operation of the host. */
  routes: readonly string[];
}

async function batch(from: number, to: number, seen: Seen): Promise<void> {
  const host = await served({ ...everyRoute, timers: hasty, limits: { maxFailedAuthPerMinute: 1_000_000 } });
  const world = { routes: host.server.routes, names: await arranged(host) };
  seen.routes = host.server.routes.map(({ doc }) => doc.id);
  let connection = await RawConnection.open(host.port);
  for (let i = from; i < to; i += 1) {
    const request = drawRequest(createRandom(`${seed}:${i}`), world);
    if (connection.isClosed) connection = await RawConnection.open(host.port);
    connection.send(request.bytes);
    const response = await answered(connection, request.method);
    const problem = response === 'hang' ? 'no answer' : problemWith(request, response, host);
    if (response === 'hang' || response === null || problem !== null) {
      throw new Error(`seed ${seed}, input ${i}: ${problem}\n${request.bytes.toString('latin1').slice(0, 3_000)}`);
    }
    seen.statuses.add(response.status);
    if (request.route !== null && isReached(response)) seen.reached.add(request.route.doc.id);
    if (response.isStream || request.isMangled || response.headers.connection === 'close') {
      connection.close();
      connection = await RawConnection.open(host.port);
    }
  }
  connection.close();
  await host.stop();
}

/** Fresh things for every operation: what was cancelled or answered meanwhile is of little use. */
async function arranged(host: Served): Promise<ReadonlyMap<string, Names>> {
  const names = new Map<string, Names>();
  for (const [id, { given = waitingRun }] of Object.entries(routeCases)) names.set(id, await given(host));
  await host.engine.register('t', noop);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'noop', inputs: {}, options: {} });
  return names.set('a finished run', { runId, nodeId: 'n0', workflowId: 'noop' });
}

async function answered(connection: RawConnection, method: string): Promise<RawResponse | null | 'hang'> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<'hang'>((resolve) => {
    timer = setTimeout(() => resolve('hang'), ANSWER_WITHIN_MS);
  });
  try {
    return await Promise.race([connection.response(method), hang]);
  } finally {
    clearTimeout(timer);
  }
}

function isReached({ status, body }: RawResponse): boolean {
  if (status < 400) return true;
  const envelope = errorEnvelope.safeParse(parsed(body));
  return envelope.success && !walls.includes(envelope.data.error as ErrorCode);
}

/** What is wrong with an answer, or null. */
function problemWith({ route, method }: FuzzRequest, response: RawResponse | null, host: Served): string | null {
  if (response === null) return 'the connection ended without an answer';
  const told = host.reports.find(({ level }) => level === 'error');
  if (told !== undefined)
    return `the host reported: ${told.message} ${String((told.error as Error | undefined)?.stack)}`;
  const { status, body } = response;
  if (!(status >= 200 && status < 500) && status !== 501) return `status ${status}: ${body}`;
  if (status < 400 || method === 'HEAD') return null;
  const envelope = errorEnvelope.safeParse(parsed(body));
  if (!envelope.success) return `no envelope: ${status} ${body}`;
  if (status === 501 && envelope.data.error !== 'capability_not_provided') return `status 501: ${body}`;
  if (route === null) return null;
  const code = envelope.data.error as ErrorCode;
  if (anywhere.includes(code) || documentedErrors(route).includes(code)) return null;
  return `${route.method} ${route.path} does not describe ${code}: ${body}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
