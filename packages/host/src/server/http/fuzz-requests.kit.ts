/** Random careless or hostile requests from a seed, close to every route and outside all of them. Not shipped. */
import type { Random } from '../../../test/kit/random.ts';
import { keys, keyWith } from '../served.kit.ts';
import { type CaseRequest, type Names, routeCases } from './route-cases.kit.ts';
import type { Route } from './routes.ts';

export interface FuzzRequest {
  readonly method: string;
  /** The bytes to send. */
  readonly bytes: Buffer;
  /** The route whose description must list the refusal; null for a request that may match any route. */
  readonly route: Route | null;
  /** The bytes may be several requests or half of one, so the next request needs a new connection. */
  readonly isMangled: boolean;
}

export interface FuzzWorld {
  readonly routes: readonly Route[];
  /** Existing resources by operation, so that requests come close to success. */
  readonly names: ReadonlyMap<string, Names>;
}

export function drawRequest(random: Random, world: FuzzWorld): FuzzRequest {
  const drawn = random.pick(world.routes);
  const own = world.names.get(drawn.doc.id);
  const names = own !== undefined && random.chance(0.6) ? own : random.pick([...world.names.values()]);
  const request = routeCases[drawn.doc.id]?.request(names) ?? {};
  const isWild = random.chance(0.1);
  const method = random.chance(0.06) ? random.pick(methods) : drawn.method;
  const target = isWild ? wildPath(random, names) : pathOf(random, drawn, request);
  const route = isWild || method !== drawn.method || target.isRaw ? null : drawn;
  const line = `${method} ${target.path}${queryOf(random, drawn, request)} HTTP/1.1`;
  const head = [line, 'Host: localhost', ...headersOf(random), ...ownHeaders(random, request)];
  // With a body, most operations that take none stop at the same refusal.
  const isBare = random.chance(method === 'GET' ? 0.98 : request.body === undefined ? 0.8 : 0);
  const body = isBare ? null : bodyOf(random, request, names);
  if (body === null) {
    const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
    if (random.chance(0.06)) return { method, route: null, bytes: mangled(random, bytes), isMangled: true };
    return { method, route, bytes, isMangled: false };
  }
  const type = random.chance(0.95) ? 'application/json' : printable(random.pick(nastyText));
  const full = `${[...head, `Content-Type: ${type}`, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n`;
  return { method, route, bytes: Buffer.concat([Buffer.from(full), body]), isMangled: false };
}

const printable = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, '');

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'LINK'];

const nastyText: readonly string[] = [
  '',
  ' ',
  '.',
  '..',
  '%00',
  '%ff',
  '%2e%2e%2f',
  '%',
  '%zz',
  ':',
  ':cancel',
  '::',
  '{runId}',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  '-1',
  '0',
  '1e309',
  '99999999999999999999',
  '9007199254740993',
  '0x10',
  '١٢',
  'run_',
  'run_nobody',
  'ß'.repeat(200),
  '\u{1F9F1}',
  '\u202e',
  'x'.repeat(129),
  'x'.repeat(3_000),
  "';--",
  '<script>',
  '{{7*7}}',
  '../../etc/passwd',
  'debug,values',
  'updates,updates',
  '2026-02-30T25:00:00Z',
  '*',
  '"x"',
];

interface Target {
  readonly path: string;
  /** Not percent-encoded, so that it may match the path of another route. */
  readonly isRaw: boolean;
}

function pathOf(random: Random, route: Route, { path = {} }: CaseRequest): Target {
  const isRaw = random.chance(0.1);
  const filled = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = random.chance(0.7) ? (path[name] ?? 'missing') : random.pick(nastyText);
    return isRaw ? printable(value).replaceAll('?', '') : encodeURIComponent(value);
  });
  return { path: filled, isRaw };
}

function wildPath(random: Random, { runId }: Names): Target {
  const segments = [
    ...['v1', 'v2', 'runs', 'host', 'cairn', 'workflows', 'events', 'interrupts', runId, `${runId}:pause`],
    ...['api', 'contexts', 'messages', 'stream', 'tasks', 'artifacts', 'agui', 'ai-sdk', 'host:desk'],
  ];
  const parts = Array.from({ length: random.between(0, 6) }, () =>
    random.chance(0.7) ? random.pick(segments) : printable(random.pick(nastyText)),
  );
  return { path: `/${random.pick(['v1/', 'v1/', 'api/', ''])}${parts.join('/')}`, isRaw: true };
}

function queryOf(random: Random, { doc }: Route, { query }: CaseRequest): string {
  const known = Object.keys(doc.query?.shape ?? {});
  const pairs = query === undefined ? [] : [query];
  while (random.chance(0.35)) {
    const name = known.length > 0 && random.chance(0.85) ? random.pick(known) : random.pick(nastyText);
    const value = random.pick([...nastyText, '1', '2', '60', 'completed', 'debug', 'values', 'updates', 'true']);
    pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const authorizations: readonly string[] = [
  ...Array.from({ length: 8 }, () => `Bearer ${keys.auditor}`),
  `Bearer ${keys.alice}`,
  `Bearer ${keys.stranger}`,
  `Bearer ${keyWith('runs:read')}`,
  'Bearer nobody-holds-this-key',
  'Bearer eyJhbGciOiJub25lIn0.e30.x',
  'Basic eDp5',
];

/** Headers with a meaning for the host, and values for some of them. */
const optionalHeaders = [
  'Accept',
  'Idempotency-Key',
  'Last-Event-ID',
  'If-None-Match',
  'traceparent',
  'tracestate',
  'X-Dedup',
  'X-Force-Engine-Version',
  'Origin',
  'Cookie',
  'Accept-Language',
  'Content-Encoding',
  'Connection',
  'X-Forwarded-For',
] as const;

const headerValues = [
  'text/event-stream',
  'application/json',
  '0',
  '3',
  '-5',
  'enforce',
  'close',
  'http://localhost',
  `cairn_session=${'a'.repeat(43)}`,
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'k1',
  'k2',
  'x'.repeat(256),
];

/** The headers that the case needs, most of the time. */
const ownHeaders = (random: Random, { headers = {} }: CaseRequest): readonly string[] =>
  random.chance(0.8) ? Object.entries(headers).map(([name, value]) => `${name}: ${value}`) : [];

function headersOf(random: Random): readonly string[] {
  const headers = random.chance(0.97) ? [`Authorization: ${random.pick(authorizations)}`] : [];
  if (random.chance(0.03)) headers.push('If-None-Match: *');
  while (random.chance(0.35)) {
    const value = random.chance(0.8)
      ? random.pick(headerValues)
      : random.pick(nastyText).replaceAll(/[^\x20-\x7e]/g, '');
    const name = random.pick(optionalHeaders);
    if (name !== 'Content-Encoding' || random.chance(0.1)) headers.push(`${name}: ${value}`);
  }
  return headers;
}

/** A variation of the case's body; null for no body. */
function bodyOf(random: Random, { body }: CaseRequest, names: Names): Buffer | null {
  const kind = random.weighted({ near: 12, none: 2, value: 3, text: 1, bytes: 1 });
  switch (kind) {
    case 'near':
      return Buffer.from(nearJson(random, body ?? {}, names));
    case 'value':
      return Buffer.from(JSON.stringify(nastyValue(random, 3)) ?? 'null');
    case 'text':
      return Buffer.from(
        random.pick([
          '{',
          '{"a":1,"a":2}',
          '[',
          ']',
          'NaN',
          '"\\ud800"',
          '{"__proto__":1}',
          `${'['.repeat(10_000)}`,
          '\u0000',
          '{"a":1}x',
        ]),
      );
    case 'bytes':
      return Buffer.from(Array.from({ length: random.between(1, 60) }, () => random.below(256)));
    default:
      return null;
  }
}

const bodyFields = [
  'workflowId',
  'inputs',
  'configurable',
  'tags',
  'metadata',
  'agentId',
  'mode',
  'residency',
  'callbackUrl',
  'scopeId',
  'tenantId',
  'resumeValue',
  'reason',
  'runIds',
  'drainPolicy',
  'id',
  'nodes',
  'edges',
  'url',
  'events',
  'secret',
  'intent',
  'expiresInSeconds',
  'message',
  'messages',
  'tools',
  'contextId',
  'threadId',
  'runId',
  'value',
  'data',
  'denied',
];

/** The value with some parts changed, as text. */
function nearJson(random: Random, value: unknown, names: Names): string {
  const changed = structuredClone(value) as Record<string, unknown>;
  for (let place: unknown = changed; random.chance(0.55); ) {
    if (typeof place !== 'object' || place === null) break;
    const holder = place as Record<string, unknown>;
    const own = Object.keys(holder);
    const key = own.length > 0 && random.chance(0.6) ? random.pick(own) : random.pick(bodyFields);
    const action = random.weighted({ replace: 5, remove: 2, descend: 4, name: 1 });
    if (action === 'descend') place = holder[key];
    else if (action === 'remove') delete holder[key];
    else holder[key] = action === 'name' ? random.pick(Object.values(names)) : nastyValue(random, 2);
  }
  return JSON.stringify(changed);
}

function nastyValue(random: Random, depth: number): unknown {
  const kind = random.weighted({ text: 4, number: 3, simple: 2, list: depth > 0 ? 1 : 0, object: depth > 0 ? 2 : 0 });
  switch (kind) {
    case 'text':
      return random.pick(nastyText);
    case 'number':
      return random.pick([0, -1, 1.5, 1e300, 2 ** 53, 4_294_967_296, 1e-9, -0]);
    case 'list':
      return Array.from({ length: random.between(0, 4) }, () => nastyValue(random, depth - 1));
    case 'object':
      return Object.fromEntries(
        Array.from({ length: random.between(0, 4) }, () => [
          random.chance(0.5) ? random.pick(bodyFields) : random.pick(nastyText),
          nastyValue(random, depth - 1),
        ]),
      );
    default:
      return random.pick([null, true, false, {}, []]);
  }
}

/** Some bytes changed, dropped or doubled. */
function mangled(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let times = random.between(1, 3); times > 0; times -= 1) {
    const at = random.below(result.length - 8);
    const kind = random.weighted({ flip: 3, drop: 1, double: 1, insert: 1 });
    if (kind === 'flip') result[at] = random.below(256);
    else if (kind === 'drop')
      result = Buffer.concat([result.subarray(0, at), result.subarray(at + random.between(1, 8))]);
    else if (kind === 'double')
      result = Buffer.concat([result.subarray(0, at), result.subarray(at - random.below(at + 1))]);
    else
      result = Buffer.concat([
        result.subarray(0, at),
        Buffer.from(random.pick(['\r\n', '\n', '\0', ' ', '\t', '€'])),
        result.subarray(at),
      ]);
  }
  return Buffer.concat([result, Buffer.from('\r\n\r\n')]);
}
