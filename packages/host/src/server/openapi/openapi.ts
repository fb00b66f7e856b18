/** The API as an OpenAPI 3.1 document, generated from the route table, so that it describes exactly what is served. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorEnvelope, errorKinds, interruptCallback, webhookDelivery } from '@cairn/protocol';
import { z } from 'zod';
import { scopes } from '../access/auth.ts';
import { sessionScopes } from '../access/sessions.ts';
import { type AnswerDoc, documentedErrors, type Route, type RouteDoc } from '../http/routes.ts';
import type { ApiExample, ApiExamples } from './api-examples.ts';
import { addEventSchemas } from './openapi-events.ts';
import { type Components, createComponents, type JsonSchema } from './openapi-schemas.ts';

export interface ApiFacts {
  readonly version: string;
  readonly routes: readonly Route[];
  readonly examples: ApiExamples;
}

/** All of it takes a while, so others have their turn after each route and each event type. */
export async function openApiDocument({ version, routes, examples }: ApiFacts): Promise<object> {
  const components = createComponents();
  const envelope = components.schemaOf(errorEnvelope);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    for (const [name, schema] of Object.entries(route.doc.schemas?.() ?? {})) components.add(name, schema);
    const described = operation(route, { components, envelope, example: examples[route.doc.id] });
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: described };
    await nextTurn();
  }
  const webhooks = outgoing(components);
  await addEventSchemas(components, nextTurn);
  const tags = [...new Set(routes.map(({ path }) => tagOf(path)))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cairn',
      version,
      summary: 'A host for multi-agent runs',
      description:
        'OpenWOP v1 over REST and server-sent events. Every refusal and failure is the closed envelope `{ error, message, details? }`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The host that serves this document' }],
    tags: tags.map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      schemas: components.schemas(),
      parameters: { IdempotencyKey: idempotencyKey, IfNoneMatch: ifNoneMatch, LastEventId: lastEventId },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `A key of the host, or a token of its identity provider. Scopes: ${scopes.join(', ')}.`,
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'cairn_session',
          description:
            'A browser session (`openSession`), good for reading. Over https its name begins with `__Host-`.',
        },
      },
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes a repeated request the same request: it acts once, and the answer is given again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'Of a stream: goes on after this event.',
  schema: { type: 'string' },
};

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of an earlier answer: 304 when nothing has changed since.',
  schema: { type: 'string' },
};

/** Requests that the host sends: deliveries to webhooks, and to the `callbackUrl` of a run. */
const outgoing = (components: Components): object => ({
  event: delivery('An event of a run, to a registered webhook', webhookDelivery, components),
  interrupt: delivery('An open interrupt, to the `callbackUrl` of its run', interruptCallback, components),
});

const delivery = (summary: string, body: z.ZodType, components: Components): object => ({
  post: {
    summary,
    requestBody: { required: true, content: { 'application/json': { schema: components.schemaOf(body) } } },
    responses: { '2XX': { description: 'Received. After any other answer the host sends it again.' } },
  },
});

interface Described {
  readonly components: Components;
  readonly envelope: JsonSchema;
  readonly example: ApiExample | undefined;
}

function operation(route: Route, { components, envelope, example }: Described): object {
  const { doc } = route;
  const parameters = [
    ...pathParameters(route.path, example),
    ...namedParameters('query', doc.query, { components, examples: example?.query }),
    ...namedParameters('header', doc.headers, { components, examples: example?.headers }),
    ...headerParameters(route),
  ];
  return {
    operationId: doc.id,
    summary: doc.summary,
    tags: [tagOf(route.path)],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.body === undefined ? {} : { requestBody: requestBody(doc, components, example) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(doc.responses).map(([status, answer]) => [
          status,
          response(answer, components, String(example?.status) === status ? example : undefined),
        ]),
      ),
      ...refusals(route, envelope),
    },
  };
}

/** Any one of these schemes is sufficient. */
function securityOf(route: Route): readonly object[] {
  const { method, scope } = route;
  if (scope === null) return [];
  const byCookie = method === 'GET' && sessionScopes.includes(scope);
  const needed = route.alsoNeeds === undefined ? [scope] : [scope, route.alsoNeeds];
  return [{ bearer: needed }, ...(byCookie ? [{ session: [] }] : [])];
}

const pathParameters = (path: string, example: ApiExample | undefined): readonly object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
    ...exampleOf(example?.path?.[name]),
  }));

const namedParameters = (
  place: 'query' | 'header',
  fields: RouteDoc['query'],
  { components, examples }: Pick<Described, 'components'> & { readonly examples: ApiExample['query'] },
): readonly object[] =>
  Object.entries(fields?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = components.schemaOf(field);
    const required = !field.safeParse(undefined).success;
    const words = description === undefined ? {} : { description };
    return { name, in: place, required, ...words, schema, ...exampleOf(examples?.[name]) };
  });

const exampleOf = (example: unknown): object => (example === undefined ? {} : { example });

function headerParameters({ method, repeatable, doc }: Route): readonly object[] {
  const changes = method !== 'GET' && !repeatable;
  const streams = Object.values(doc.responses).some(({ orStream }) => orStream !== undefined);
  return [
    ...(changes ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(streams ? [{ $ref: '#/components/parameters/LastEventId' }] : []),
    ...(doc.responses[304] === undefined ? [] : [{ $ref: '#/components/parameters/IfNoneMatch' }]),
  ];
}

function requestBody(
  { body = z.undefined(), takesBytes }: RouteDoc,
  components: Components,
  example: ApiExample | undefined,
): object {
  const json = { schema: components.schemaOf(body), ...exampleOf(example?.body) };
  const bytes = takesBytes ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } : {};
  return { required: !body.safeParse(undefined).success, content: { 'application/json': json, ...bytes } };
}

function response(answer: AnswerDoc, components: Components, example: ApiExample | undefined): object {
  const { description, shape, contentType, orStream } = answer;
  if (shape === undefined && contentType === undefined) return { description };
  const schema = { schema: shape === undefined ? { type: 'string' } : components.schemaOf(shape) };
  const content = { ...schema, ...exampleOf(example?.response) };
  const stream = orStream === undefined ? {} : { 'text/event-stream': frames(orStream, components, example) };
  return { description, content: { [contentType ?? 'application/json']: content, ...stream } };
}

/** OpenAPI 3.1 has no schema for the parts of a stream, so this is that of the data of each frame. */
const frames = (data: z.ZodType, components: Components, example: ApiExample | undefined): object => ({
  schema: {
    type: 'string',
    description: 'Server-sent events. The data of each frame is JSON.',
    contentMediaType: 'application/json',
    contentSchema: components.schemaOf(data),
  },
  ...exampleOf(example?.stream),
});

/** One entry per status, with the error codes it may carry. */
function refusals(route: Route, envelope: JsonSchema): Readonly<Record<string, object>> {
  const codes = documentedErrors(route);
  const byStatus = Map.groupBy(codes, (code) => errorKinds[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      {
        description: named.map((code) => `\`${code}\``).join(', '),
        content: { 'application/json': { schema: envelope } },
      },
    ]),
  );
}

/** Groups operations by the last noun of their path that is a known tag. */
function tagOf(path: string): string {
  const nouns = path.split(/[/:]/).reverse();
  return nouns.map((noun) => tags[noun]).find((tag) => tag !== undefined) ?? 'Host';
}

const tags: Readonly<Record<string, string>> = {
  runs: 'Runs',
  events: 'Events',
  interrupts: 'Interrupts',
  workflows: 'Workflows',
  webhooks: 'Webhooks',
};
