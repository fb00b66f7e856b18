/** What holds for every route, tested over the route table itself. */
import { type ErrorCode, errorEnvelope } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { scopes } from '../access/auth.ts';
import { keys, keyWith, type Served, served } from '../served.kit.ts';
import { asked, everyRoute, type Names, routeCases, unknownNames, waitingRun } from './route-cases.kit.ts';
import { documentedErrors, type KeyedRoute, type OpenRoute, type Route } from './routes.ts';

const named = ({ method, path }: Route) => `${method} ${path}`;
const isKeyed = (route: Route): route is KeyedRoute => route.scope !== null;
const isOpen = (route: Route): route is OpenRoute => route.scope === null;

const caseOf = ({ doc }: Route) => {
  const found = routeCases[doc.id];
  if (found === undefined) throw new Error(`${doc.id} has no case in route-cases.kit.ts`);
  return found;
};

const given = (host: Served, route: Route): Promise<Names> => (caseOf(route).given ?? waitingRun)(host);

/** Sends a route's request, with fresh things of tenant `t` unless names are given. */
async function send(host: Served, route: Route, key: string | null, names?: Names) {
  const request = asked(route.path, caseOf(route).request(names ?? (await given(host, route))));
  return host.ask(route.method, request.path, { ...request.with, key });
}

test('every route has a case here, and every case a route', async () => {
  const { server } = await served(everyRoute);
  const ids = server.routes.map(({ doc }) => doc.id);
  expect(Object.keys(routeCases).toSorted()).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test('every route answers its case with a success it describes, in the shape it describes', async () => {
  const host = await served(everyRoute);
  for (const route of host.server.routes) {
    const reply = await send(host, route, isOpen(route) ? null : keys.auditor);
    expect([named(route), reply.status, reply.text.slice(0, reply.status < 400 ? 0 : 500)]).toEqual([
      named(route),
      caseOf(route).status,
      '',
    ]);
    const answer = route.doc.responses[reply.status];
    if (answer === undefined) throw new Error(`${named(route)} does not describe ${reply.status}`);
    const type = reply.headers.get('content-type')?.split(';')[0] ?? null;
    const expected = answer.shape === undefined ? (answer.contentType ?? null) : 'application/json';
    expect([named(route), type]).toEqual([named(route), expected]);
    if (answer.shape !== undefined)
      expect([named(route), answer.shape.safeParse(reply.body).error]).toEqual([named(route), undefined]);
  }
});

test('HEAD gives the status and headers of GET without its body, but where a request may stay open', async () => {
  const host = await served(everyRoute);
  for (const route of host.server.routes.filter(({ method }) => method === 'GET')) {
    const { path, with: rest } = asked(route.path, caseOf(route).request(await given(host, route)));
    const ask = { ...rest, key: isOpen(route) ? null : keys.auditor };
    const head = await host.ask('HEAD', path, ask);
    expect([named(route), head.text]).toEqual([named(route), '']);
    if ('holds' in route || 'isOnce' in route) {
      const methods = host.server.routes.filter((other) => other.path === route.path).map(({ method }) => method);
      expect([named(route), head.status, head.headers.get('allow')]).toEqual([named(route), 405, methods.join(', ')]);
      continue;
    }
    const get = await host.ask('GET', path, ask);
    // Of the moment, or of the connection, which this client closes after HEAD; and figures count these requests, too.
    const passing = ['date', 'traceparent', 'connection', 'keep-alive'];
    if (route.path === '/metrics') passing.push('content-length');
    const same = ({ headers }: typeof get) => [...headers].filter(([name]) => !passing.includes(name));
    expect([named(route), head.status, same(head)]).toEqual([named(route), get.status, same(get)]);
  }
});

test('every route but the open ones refuses a caller without a key or with a wrong one, before it looks at anything', async () => {
  const host = await served(everyRoute);
  const names = await waitingRun(host);
  for (const route of host.server.routes.filter(isKeyed)) {
    const { path } = asked(route.path, caseOf(route).request(names));
    for (const key of [null, 'some-other-key-here']) {
      const reply = await host.ask(route.method, path, {
        key,
        ...(route.method === 'GET' ? {} : { raw: '{not json' }),
      });
      expect([named(route), reply.status, reply.body.error]).toEqual([named(route), 401, 'unauthenticated']);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
  }
});

test('no answer for a caller is one that a cache may give to another', async () => {
  const host = await served(everyRoute);
  for (const route of host.server.routes.filter(isKeyed)) {
    for (const key of [keys.auditor, null]) {
      const reply = await send(host, route, key);
      const said = reply.headers.get('cache-control');
      // A cache has to ask for a stream again, and then the host asks who the caller is.
      const isStream = reply.headers.get('content-type') === 'text/event-stream';
      expect([named(route), reply.status, said]).toEqual([
        named(route),
        reply.status,
        expect.stringMatching(isStream ? /^no-cache$/ : /^(no-store|private, no-cache)$/),
      ]);
    }
  }
});

test('every route refuses a key without its scope, names the scope, and passes one that has only it', async () => {
  const host = await served(everyRoute);
  for (const route of host.server.routes.filter(isKeyed)) {
    for (const held of scopes) {
      const reply = await send(host, route, keyWith(held));
      if (held === route.scope && route.alsoNeeds !== undefined) {
        expect(reply).toMatchObject({ status: 403, body: { details: { scopeRequired: route.alsoNeeds } } });
      } else if (held === route.scope && caseOf(route).isPersonal) {
        expect([403, 404]).toContain(reply.status);
        expect(reply.body.details).not.toMatchObject({ scopeRequired: expect.anything() });
      } else if (held === route.scope) {
        expect([named(route), held, reply.status]).toEqual([named(route), held, caseOf(route).status]);
      } else {
        expect([named(route), held, reply.status]).toEqual([named(route), held, 403]);
        expect(reply.body).toMatchObject({ error: 'forbidden', details: { scopeRequired: route.scope } });
      }
    }
    expect([named(route), (await send(host, route, keyWith())).status]).toEqual([named(route), 403]);
  }
});

/** Headers that differ between any two answers: the time, the trace, and the length of a name. */
const ofTheMoment = ['date', 'traceparent', 'content-length'];

/** Routes whose requests name nothing of a tenant: there is nothing that a stranger could ask for. */
const namesNothing = [
  ...[
    'listRuns',
    'listRunChanges',
    'listArtifactContexts',
    'listPendingInterrupts',
    'getInbox',
    'getRetention',
    'getCalibration',
    'getLimits',
    'metrics',
  ],
  ...['listWebhooks', 'registerWebhook', 'getCallbackSecret', 'listCredentials', 'openSession'],
  ...['getSession', 'createSignInLink'],
  ...['listAgents', 'listTools', 'getTool', 'listNodeTypes', 'listWorkflows', 'registerWorkflow'],
  ...['listPacks', 'installPack'],
  // Peers are those of the whole host.
  ...['listPeers', 'checkPeer'],
  // A chat of the same name is another tenant's own (ai-sdk/requests.test.ts); what tools of MCP name, mcp/ tests.
  ...['sendAiSdkChat', 'callMcp'],
];

test('what belongs to another tenant looks as if it were not there, and stays as it was', async () => {
  const host = await served(everyRoute);
  const passedOver: string[] = [];
  for (const route of host.server.routes.filter(isKeyed)) {
    const names = await given(host, route);
    const unknown = unknownNames(names);
    const foreign = await send(host, route, keys.stranger, names);
    const missing = await send(host, route, keys.stranger, unknown);
    const secrets = [names.runId].filter((name) => !JSON.stringify(caseOf(route).request(names)).includes(name));
    for (const secret of secrets) expect([named(route), foreign.text.includes(secret)]).toEqual([named(route), false]);
    const masked = (text: string, own: typeof names) =>
      Object.values(own).reduce((masking, name) => masking.replaceAll(name, '…'), text);
    if (JSON.stringify(caseOf(route).request(names)) !== JSON.stringify(caseOf(route).request(unknown))) {
      expect([named(route), foreign.status]).toEqual([named(route), missing.status]);
      expect([named(route), masked(foreign.text, names)]).toEqual([named(route), masked(missing.text, unknown)]);
      const told = ({ headers }: typeof foreign, own: typeof names) =>
        [...headers].filter(([name]) => !ofTheMoment.includes(name)).map(([name, value]) => [name, masked(value, own)]);
      expect([named(route), told(foreign, names)]).toEqual([named(route), told(missing, unknown)]);
      if (foreign.status >= 400) expect(documentedErrors(route)).toContain(foreign.body.error);
    } else passedOver.push(route.doc.id);
    expect([named(route), (await send(host, route, keys.auditor, names)).status]).toEqual([
      named(route),
      caseOf(route).status,
    ]);
  }
  expect(passedOver.toSorted()).toEqual(namesNothing.toSorted());
});

test('every route refuses a body that is not what it takes, in the envelope and with a code it describes', async () => {
  const host = await served(everyRoute);
  const bodies = ['{', '[]', '7', '"x"', 'null', '{"no such field":1}', `${'['.repeat(10_000)}${']'.repeat(10_000)}`];
  for (const route of host.server.routes.filter(({ method }) => method !== 'GET')) {
    const { path } = asked(route.path, caseOf(route).request(await given(host, route)));
    for (const raw of bodies) {
      const reply = await host.ask(route.method, path, { key: keys.auditor, raw });
      const takesNone = route.doc.body === undefined;
      expect([named(route), raw.slice(0, 20), reply.status < 500]).toEqual([named(route), raw.slice(0, 20), true]);
      if (reply.status >= 400) {
        errorEnvelope.parse(reply.body);
        expect([named(route), documentedErrors(route).includes(reply.body.error as ErrorCode)]).toEqual([
          named(route),
          true,
        ]);
      } else if (route.errorText !== undefined) {
        // Its protocol tells errors in its own form.
        expect([named(route), reply.body.error]).toEqual([
          named(route),
          expect.objectContaining({ code: expect.any(Number) }),
        ]);
      } else if (!takesNone) {
        throw new Error(`${named(route)} took ${raw.slice(0, 40)}`);
      }
    }
  }
});
