import type { JsonObject } from '@cairn/protocol';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Route } from '../http/routes.ts';
import { noop } from '../sample-workflows.kit.ts';
import { type Served, served } from '../served.kit.ts';
import { openApiDocument } from './openapi.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly JsonObject[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: JsonObject }>>;
}

interface Api {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

const read = async (host: Served): Promise<Api> =>
  JSON.parse((await host.ask('GET', '/v1/openapi.json', { key: null })).text);

const route = (over: Partial<Route> = {}): Route =>
  ({
    method: 'GET',
    path: '/v1/things/{thingId}:do',
    scope: 'runs:read',
    handle: async () => '{}',
    doc: { id: 'doThing', summary: 'Do it', responses: { 200: { description: 'Done.' } } },
    ...over,
  }) as Route;

const operationOf = async (of: Route): Promise<Operation> => {
  const api: Api = JSON.parse(JSON.stringify(await openApiDocument({ version: '1', routes: [of], examples: {} })));
  return api.paths[of.path]?.[of.method.toLowerCase()] as Operation;
};

test('is a valid OpenAPI 3.1 document', async () => {
  const api = await read(await served());
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...api });
  expect([valid, errors]).toEqual([true, undefined]);
  expect([api.openapi, validator.version]).toEqual(['3.1.0', '3.1']);
});

test('the validator would notice: a parameter without a place is refused', async () => {
  const paths = { '/v1/x': { get: { parameters: [{ name: 'a' }], responses: {} } } };
  const api = { ...(await read(await served())), paths };
  expect((await new Validator().validate({ ...api })).valid).toBe(false);
});

test('has every served route and nothing else, under names of their own', async () => {
  const host = await served();
  const { paths } = await read(host);
  const told = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(told.sort()).toEqual(host.server.routes.map(({ method, path }) => `${method} ${path}`).sort());
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(new Set(ids).size).toBe(ids.length);
});

test('each schema compiles, and every reference leads somewhere', async () => {
  const api = await read(await served());
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema(api, 'api');
  const references = [...JSON.stringify(api).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference);
  expect(references.length).toBeGreaterThan(20);
  for (const name of Object.keys(api.components.schemas)) expect(name).toMatch(/^[A-Z]\w+$/);
  for (const reference of new Set(references)) {
    expect(reference).toMatch(/^#\/components\/(schemas\/[A-Z]\w+|parameters\/\w+)$/);
    if (reference.includes('/schemas/')) expect(() => ajv.compile({ $ref: `api${reference}` })).not.toThrow();
  }
});

test('what the host answers fits what is told of it', async () => {
  const host = await served();
  await host.engine.register('t', noop);
  const api = await read(host);
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema(api, 'api');
  const created = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
  const runId = String(created.body.runId);
  const answers: readonly (readonly [string, string, typeof created])[] = [
    ['/v1/runs', 'post', created],
    ['/v1/runs', 'get', await host.ask('GET', '/v1/runs')],
    ['/v1/runs/{runId}', 'get', await host.ask('GET', `/v1/runs/${runId}`)],
    ['/v1/runs/{runId}/events', 'get', await host.ask('GET', `/v1/runs/${runId}/events`)],
    ['/v1/runs/{runId}/events/poll', 'get', await host.ask('GET', `/v1/runs/${runId}/events/poll`)],
    ['/v1/workflows', 'get', await host.ask('GET', '/v1/workflows')],
    ['/v1/workflows/{workflowId}', 'get', await host.ask('GET', '/v1/workflows/noop')],
    ['/v1/runs/{runId}', 'get', await host.ask('GET', '/v1/runs/run_nobody')],
    ['/v1/runs', 'post', await host.ask('POST', '/v1/runs', { raw: '{' })],
    ['/.well-known/openwop', 'get', await host.ask('GET', '/.well-known/openwop')],
  ];
  for (const [path, method, { status, body }] of answers) {
    const pointer = ['paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema'];
    const fits = ajv.compile({ $ref: `api#/${pointer.map((part) => part.replaceAll('/', '~1')).join('/')}` });
    expect([path, status, fits(body), fits.errors]).toEqual([path, status, true, null]);
  }
});

test('needs no key, can be cached, and is not sent again unchanged', async () => {
  const host = await served();
  const first = await host.ask('GET', '/v1/openapi.json', { key: null });
  const etag = first.headers.get('etag') ?? '';
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  const again = await host.ask('GET', '/v1/openapi.json', { key: null, headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
});

test('tells the scope of a route, and that an open one needs no key', async () => {
  expect((await operationOf(route())).security).toEqual([{ bearer: ['runs:read'] }, { session: [] }]);
  expect((await operationOf(route({ method: 'POST' }))).security).toEqual([{ bearer: ['runs:read'] }]);
  expect((await operationOf(route({ scope: 'metrics:read' }))).security).toEqual([{ bearer: ['metrics:read'] }]);
  const open = await operationOf(route({ scope: null }));
  expect(open.security).toEqual([]);
  expect(Object.keys(open.responses)).not.toContain('401');
});

test('tells the parameters of path, query and headers, and which must be there', async () => {
  const query = z.object({ must: z.string().describe('Needed.'), may: z.int().optional() });
  const headers = z.object({ 'X-Way': z.literal('fast').optional().describe('Faster.') });
  const doc = { ...route().doc, query, headers, body: z.strictObject({ a: z.string() }) };
  const { parameters, requestBody, responses } = await operationOf(route({ method: 'POST', doc }));
  expect(parameters).toMatchObject([
    { name: 'thingId', in: 'path', required: true },
    { name: 'must', in: 'query', required: true, description: 'Needed.' },
    { name: 'may', in: 'query', required: false, schema: { type: 'integer' } },
    { name: 'X-Way', in: 'header', required: false, description: 'Faster.', schema: { const: 'fast' } },
    { $ref: '#/components/parameters/IdempotencyKey' },
  ]);
  expect(requestBody?.required).toBe(true);
  expect(responses[400]?.description).toContain('`validation_error`');
});

test('groups refusals by status and names their codes', async () => {
  const doc = { ...route().doc, errors: ['conflict', 'run_terminal', 'not_found'] as const };
  const { responses } = await operationOf(route({ doc }));
  expect(responses[409]?.description).toBe('`conflict`, `run_terminal`');
  expect(responses[404]?.description).toBe('`not_found`');
});

test('tells a stream beside the JSON it stands for', async () => {
  const responses = { 200: { description: 'Both.', shape: z.object({}), orStream: z.object({ n: z.int() }) } };
  const told = await operationOf(route({ doc: { ...route().doc, responses } }));
  expect(Object.keys(told.responses[200]?.content ?? {})).toEqual(['application/json', 'text/event-stream']);
  expect(told.responses[200]?.content).toMatchObject({
    'text/event-stream': { schema: { contentSchema: { properties: { n: { type: 'integer' } } } } },
  });
  expect(told.parameters).toContainEqual({ $ref: '#/components/parameters/LastEventId' });
});
