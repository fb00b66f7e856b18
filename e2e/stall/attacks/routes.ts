/** Every operation that the host describes: asked many times at once, with dear bodies, and by clients that do not read. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { type ApiExample, readApiExamples } from '../../../packages/host/src/server/openapi/api-examples.ts';
import { fieldsOrNone } from '../../../packages/host/test/kit/json-fields.ts';
import type { Attack } from '../attack.ts';
import type { Attacker } from '../attacker.ts';
import { QUICK } from '../tenants.ts';

const AT_ONCE = 60;
const UNREAD = 20;

/** About as much as a body may have, in as many parts as it may have. */
const wide = { wide: Array.from({ length: 45_000 }, () => ({})) };
const long = { long: 'x'.repeat(400_000) };

/** What the examples name, which is not on this host, and what takes its place. */
async function ownNames(attacker: Attacker): Promise<readonly (readonly [RegExp, string])[]> {
  const gate = { id: 'approve', typeId: 'core.approvalGate', config: { title: 'Go on?' } };
  await attacker.register('routes', { nodes: [gate] });
  const runId = await attacker.start('routes');
  const { body } = await attacker.send(`/v1/runs/${runId}`);
  return [
    [/\brun_\d+\b/g, String(runId)],
    [/\bctx_\d+\b/g, String(body.contextId)],
    [/\bvendor\.acme\.desk\.triage\b/g, QUICK],
    [/"release"/g, '"routes"'],
  ];
}

interface Asked extends ApiExample {
  readonly method: string;
  readonly route: string;
  readonly isStream: boolean;
}

/** The operation as the running host describes it, with its example. Null when the host has none of this id. */
async function described(attacker: Attacker, id: string, example: ApiExample): Promise<Asked | null> {
  const { body } = await attacker.send('/v1/openapi.json');
  for (const [route, methods] of Object.entries(fieldsOrNone(body.paths))) {
    for (const [method, operation] of Object.entries(fieldsOrNone(methods))) {
      if (fieldsOrNone(operation).operationId !== id) continue;
      const isStream =
        method === 'get' && JSON.stringify(fieldsOrNone(operation).responses).includes('text/event-stream');
      return { ...example, method: method.toUpperCase(), route, isStream };
    }
  }
  return null;
}

/** The example with names of this host. */
function owned(asked: Asked, names: readonly (readonly [RegExp, string])[]): Asked {
  const text = names.reduce((given, [name, own]) => given.replaceAll(name, own), JSON.stringify(asked));
  return JSON.parse(text);
}

function pathOf({ route, path = {}, query = {} }: Asked): string {
  const filled = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? 'x'));
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

const withMore = (body: Json | undefined, more: JsonObject): Json => (isJsonObject(body) ? { ...body, ...more } : more);

async function askOften(attacker: Attacker, asked: Asked): Promise<void> {
  const { method, headers = {}, body } = asked;
  const path = pathOf(asked);
  const lines = Object.entries({ ...headers, ...(asked.isStream && { accept: 'text/event-stream' }) }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  if (method === 'GET') await attacker.unread(UNREAD, attacker.request(path, lines));
  if (asked.isStream) return attacker.quiet(500);
  const times = (count: number, sent: Json | undefined) =>
    Promise.all(Array.from({ length: count }, () => attacker.send(path, { method, headers, body: sent })));
  await times(AT_ONCE, body);
  if (body === undefined) return;
  await times(5, withMore(body, wide));
  await times(5, withMore(body, long));
}

/** The example is no token of this host. A caller that is limited for wrong ones gets nothing else, so these come last. */
const isGuess = ([id, { path = {} }]: readonly [string, ApiExample]): number =>
  Number('token' in path || id === 'redeemSignInLink');

/** One for each operation, by the examples of the API description, which has one for each. */
export const routeAttacks: readonly Attack[] = Object.entries(readApiExamples())
  .toSorted((a, b) => isGuess(a) - isGuess(b))
  .map(([id, example]) => ({
    name: `route-${id}`,
    async run(attacker) {
      const asked = await described(attacker, id, example);
      if (asked === null) attacker.fault(`the host describes no operation ${id}`);
      else await askOften(attacker, owned(asked, await ownNames(attacker)));
    },
  }));
