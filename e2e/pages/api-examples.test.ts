/** The examples of the API description are what a real host is sent and answers, and they fit their own schemas. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, expect, test } from 'vitest';
import { type ApiExample, readApiExamples } from '../../packages/host/src/server/openapi/api-examples.ts';
import { collectExamples } from './api-examples.ts';

interface Content {
  readonly schema: object;
  readonly example?: unknown;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: object;
  readonly example?: unknown;
  readonly $ref?: string;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const committed = readApiExamples();
let collected: { readonly examples: Readonly<Record<string, ApiExample>>; readonly api: Api };
let operations: readonly Operation[];
beforeAll(async () => {
  const { examples, api } = await collectExamples();
  collected = { examples, api: api as Api };
  operations = Object.values(collected.api.paths).flatMap((methods) => Object.values(methods));
});

const HOW = 'Add the operation to the story in e2e/pages/api-examples.ts, then run: npm run docs:examples';

test('every operation has an example, and every example an operation', () => {
  expect(Object.keys(committed).toSorted(), HOW).toEqual(operations.map(({ operationId }) => operationId).toSorted());
});

/** Which fields there are, and of which kinds; of a list the kinds of its items. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]));
}

test('a real host takes each request of an example and answers in its shape', () => {
  for (const [id, { response, stream, ...request }] of Object.entries(collected.examples)) {
    const { response: shown, stream: frames, ...sent } = committed[id] ?? { status: 0 };
    expect([id, request], HOW).toEqual([id, sent]);
    expect([id, shapeOf(response)], HOW).toEqual([id, shapeOf(shown)]);
    expect([id, shapeOf(stream)], HOW).toEqual([id, shapeOf(frames)]);
  }
});

test('each example fits its own schema', () => {
  const fits = validatorOf(collected.api);
  let checked = 0;
  const check = (id: string, { schema, example }: Content): void => {
    const validate = fits(schema);
    validate(example);
    expect([id, validate.errors]).toEqual([id, null]);
    checked += 1;
  };
  for (const { operationId: id, parameters = [], requestBody, responses } of operations) {
    for (const parameter of parameters) if (parameter.example !== undefined) check(id, parameter);
    for (const [type, content] of Object.entries(requestBody?.content ?? {})) {
      // Bytes have no example in JSON.
      if (type !== 'application/octet-stream') check(id, content);
    }
    const answer = responses[String(committed[id]?.status)]?.content ?? {};
    for (const content of Object.values(answer)) check(id, content);
    // What a stream shows is the data of its frames, which have a schema of their own.
    const stream = answer['text/event-stream'];
    if (stream === undefined) continue;
    const data = /^data: (.*)$/m.exec(String(stream.example))?.[1] ?? '';
    check(id, { schema: (stream.schema as { contentSchema: object }).contentSchema, example: JSON.parse(data) });
  }
  expect(checked).toBeGreaterThan(80);
});

test('every path parameter and every body that an operation takes has an example', () => {
  for (const { operationId, parameters = [], requestBody } of operations) {
    const bare = parameters.filter((parameter) => parameter.in === 'path' && parameter.example === undefined);
    expect([operationId, bare]).toEqual([operationId, []]);
    const body = requestBody?.content['application/json'];
    expect([operationId, body === undefined || body.example !== undefined]).toEqual([operationId, true]);
  }
});

test('creating a run tells of X-Dedup', () => {
  const createRun = operations.find(({ operationId }) => operationId === 'createRun');
  expect(createRun?.parameters).toContainEqual(
    expect.objectContaining({ in: 'header', name: 'X-Dedup', required: false, example: 'enforce' }),
  );
});

test('an event is held to the payload of its type; a type of a vendor may hold anything', () => {
  const validate = validatorOf(collected.api)({ $ref: '#/components/schemas/RunEventDoc' });
  const event = { eventId: 'e', runId: 'r', timestamp: '2026-01-05T09:00:00.000Z', sequence: 0 };
  const failed = { ...event, type: 'run.failed', payload: { error: { code: 'internal_error', message: 'Oh.' } } };
  expect([validate(failed), validate.errors]).toEqual([true, null]);
  expect(validate({ ...failed, payload: { error: 'Oh.' } })).toBe(false);
  expect(validate({ ...event, type: 'acme.order.paid', payload: 5 })).toBe(true);
  expect(validate({ ...event, type: 'no type', payload: {} })).toBe(false);
});

/** Schemas refer to components of the document. */
function validatorOf(api: Api): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema(api, 'api');
  const known = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const compiled = known.get(text) ?? ajv.compile(JSON.parse(text));
    known.set(text, compiled);
    return compiled;
  };
}
