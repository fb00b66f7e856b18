/** The API as an OpenAPI 3.1 document, generated from the route table, so that it describes exactly what is served. */
import { errorEnvelope, errorKinds } from '@cairn/protocol';
import type { z } from 'zod';
import { scopes } from '../access/auth.ts';
import { sessionScopes } from '../access/sessions.ts';
import { type Components, createComponents, type JsonSchema } from './openapi-schemas.ts';
import { type AnswerDoc, documentedErrors, type Route, type RouteDoc } from './routes.ts';

export interface ApiFacts {
  readonly version: string;
  readonly routes: readonly Route[];
}

export function openApiDocument({ version, routes }: ApiFacts): object {
  const components = createComponents();
  const envelope = components.schemaOf(errorEnvelope);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    for (const [name, schema] of Object.entries(route.doc.schemas?.() ?? {})) components.add(name, schema);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, components, envelope) };
  }
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
    components: {
      schemas: components.schemas(),
      parameters: { IdempotencyKey: idempotencyKey, LastEventId: lastEventId },
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

function operation(route: Route, components: Components, envelope: JsonSchema): object {
  const { doc } = route;
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(doc.query, components),
    ...headerParameters(route),
  ];
  return {
    operationId: doc.id,
    summary: doc.summary,
    tags: [tagOf(route.path)],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.body === undefined ? {} : { requestBody: requestBody(doc.body, components) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(doc.responses).map(([status, answer]) => [status, response(answer, components)]),
      ),
      ...refusals(route, envelope),
    },
  };
}

/** Any one of these schemes is sufficient. */
function securityOf({ method, scope }: Route): readonly object[] {
  if (scope === null) return [];
  const byCookie = method === 'GET' && sessionScopes.includes(scope);
  return [{ bearer: [scope] }, ...(byCookie ? [{ session: [] }] : [])];
}

const pathParameters = (path: string): readonly object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }));

const queryParameters = (query: RouteDoc['query'], components: Components): readonly object[] =>
  Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = components.schemaOf(field);
    const required = !field.safeParse(undefined).success;
    return { name, in: 'query', required, ...(description === undefined ? {} : { description }), schema };
  });

function headerParameters({ method, repeatable, doc }: Route): readonly object[] {
  const changes = method !== 'GET' && !repeatable;
  const streams = Object.values(doc.responses).some(({ orStream }) => orStream);
  return [
    ...(changes ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(streams ? [{ $ref: '#/components/parameters/LastEventId' }] : []),
  ];
}

const requestBody = (body: z.ZodType, components: Components): object => ({
  required: !body.safeParse(undefined).success,
  content: { 'application/json': { schema: components.schemaOf(body) } },
});

function response({ description, shape, contentType, orStream }: AnswerDoc, components: Components): object {
  if (shape === undefined && contentType === undefined) return { description };
  const schema = shape === undefined ? {} : { schema: components.schemaOf(shape) };
  const stream = orStream === undefined ? {} : { 'text/event-stream': { schema: { type: 'string' } } };
  return { description, content: { [contentType ?? 'application/json']: schema, ...stream } };
}

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
