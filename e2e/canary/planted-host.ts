/** A host with a secret planted through every input, and access to every output through which it could leak. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHost, defineStep, type Host, type HostOptions } from '@cairn/host';
import type { Json, JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { chain } from '../../packages/host/test/kit/engine-bench.ts';
import { fields } from '../../packages/host/test/kit/json-fields.ts';

/** Contains characters that the encodings write differently. */
export const SECRET = 'sk-Canary/9+"x\\é&~ 0123';
export const ACCESS_KEY = 'access-key-of-the-canary-0001';

export interface PlantedOptions {
  readonly data: string;
  /** Whether the host is configured with the secret. */
  readonly isKnown: boolean;
  readonly collector: string;
}

export interface PlantedHost {
  readonly host: Host;
  /** The inputs of a step that ran after the leak. */
  readonly seenBySteps: readonly JsonObject[];
  readonly notices: readonly string[];
  ask(method: string, path: string, body?: Json, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Resolves once the held step runs. */
  held(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The secret in each encoding that other programs use. */
export const written: Readonly<Record<string, string>> = {
  raw: SECRET,
  inText: `Authorization: Bearer ${SECRET}\r\n`,
  json: JSON.stringify({ header: SECRET }),
  jsonTwice: JSON.stringify(JSON.stringify([SECRET])),
  url: `https://api.example.org/?key=${encodeURIComponent(SECRET)}`,
  form: new URLSearchParams({ key: SECRET }).toString(),
  base64: base64(SECRET),
  basic: `Basic ${base64(`user:${SECRET}`)}`,
  basicLonger: `Basic ${base64(`user2:${SECRET}:x`)}`,
  base64url: Buffer.from(`a${SECRET}b`).toString('base64url'),
};

const fail = defineStep({
  name: 'fail',
  safety: 'read',
  run: () => {
    // Places the secret across the point at which errors are truncated.
    const error = new Error(`${written.basic} ${'x'.repeat(1_940)}${SECRET}`, { cause: new Error(SECRET) });
    return Promise.reject(Object.assign(error, { code: SECRET, headers: { authorization: SECRET } }));
  },
});

/** An option of the workflow's own, which takes anything. */
const configurableSchema = { type: 'object', properties: { extra: {} } };

export const flows: readonly WorkflowDefinition[] = [
  {
    configurableSchema,
    ...chain('local.step.leak', 'local.step.look', { typeId: 'core.approvalGate', config: { title: 'Go on?' } }),
    id: 'leaks',
  },
  { configurableSchema, ...chain('local.step.fail'), id: 'fails' },
  { configurableSchema, ...chain('local.step.hold'), id: 'holds' },
];

export async function plantedHost({ data, isKnown, collector }: PlantedOptions): Promise<PlantedHost> {
  const seenBySteps: JsonObject[] = [];
  const notices: string[] = [];
  const running = Promise.withResolvers<void>();
  const leak = defineStep({
    name: 'leak',
    safety: 'read',
    run: async () => ({
      ...written,
      [SECRET]: [{ deep: written }],
      large: `${'x'.repeat(40_000)}${SECRET}`,
      files: [hostKey(data), ACCESS_KEY],
    }),
  });
  const look = defineStep({
    name: 'look',
    safety: 'read',
    run: async (input) => {
      seenBySteps.push(input);
      return { seen: input };
    },
  });
  const hold = defineStep({
    name: 'hold',
    safety: 'read',
    run: (_, { signal }) => {
      running.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('cut short')));
    },
  });
  const secrets: NonNullable<HostOptions['config']>['secrets'] = isKnown ? { canary: { value: SECRET } } : {};
  const host = await createHost({
    config: {
      port: 0,
      data,
      keys: [{ key: ACCESS_KEY, tenant: 'a', principal: 'tester', scopes: [...allScopes] }],
      secrets,
      otel: { endpoint: collector, protocol: 'http/json' },
    },
    steps: [leak, look, fail, hold],
    workflows: flows,
    report: ({ error, ...notice }) => notices.push(`${JSON.stringify(notice)} ${shownError(error)}`),
  });
  return { host, seenBySteps, notices, ask: asking(host), held: () => running.promise };
}

/** Sends requests with the access key. */
export function asking(host: Pick<Host, 'url'>): PlantedHost['ask'] {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${host.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${ACCESS_KEY}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: fields(isJson ? JSON.parse(text) : {}) };
  };
}

const allScopes = [
  'manifest:read',
  'manifest:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'approvals:respond',
  'webhooks:manage',
  'audit:read',
  'metrics:read',
] as const;

export function shownError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.stack} ${JSON.stringify(error)} ${error.cause === undefined ? '' : shownError(error.cause)}`;
}

/** The key that the host generated for itself. */
export const hostKey = (data: string): string => readFileSync(join(data, 'host.key'), 'utf8').trim();

/** Reads every file of a folder as bytes, except the host's own key, which belongs there. */
export function filesOf(folder: string): readonly { readonly name: string; readonly bytes: Buffer }[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names
    .filter(({ name }) => name !== 'host.key')
    .map(({ parentPath, name }) => ({ name, bytes: readFileSync(join(parentPath, name)) }));
}
