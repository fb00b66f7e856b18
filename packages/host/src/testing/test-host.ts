/** A whole host for the tests of a program: in memory, on a free port, with a client for each person. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import { TerminalError } from '@cairn/protocol';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { scopes } from '../server/access/auth.ts';
import type { ConfigInput } from '../server/config/config.ts';
import { createHostOver } from '../server/create-host.ts';
import { type App, defineApp } from '../server/define-app.ts';

export interface TestHostOptions {
  /** The people who can answer. Default: none; `client` belongs to `tester`. */
  readonly people?: readonly string[];
  /** Settings besides keys and port, such as models. Default: agents follow their rehearsals. */
  readonly config?: Omit<ConfigInput, 'keys' | 'port' | 'data'>;
}

export interface TestHost {
  /** Every call of the run surface, as the principal `tester`. */
  readonly client: Client;
  /** The same as one of `people`. */
  as(person: string): Client;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const TESTER = 'tester';

/**
 * Starts a real host with the program over a store in memory. Nothing is left when it closes.
 *
 *     await using host = await createTestHost(app, { people: ['ada', 'ben'] });
 *     const { runId } = await host.client.runs.create({ workflowId: 'refund' });
 */
export async function createTestHost(app: Partial<App>, options: TestHostOptions = {}): Promise<TestHost> {
  const { people = [], config = {} } = options;
  const keys = new Map([TESTER, ...people].map((person) => [person, randomBytes(32).toString('base64url')]));
  // Only tools that write files use it.
  const data = join(tmpdir(), `cairn-test-${randomBytes(8).toString('hex')}`);
  const host = await createHostOver(inMemoryStore(), {
    ...defineApp(app),
    config: { ...config, port: 0, data, keys: [...keys].map(keyOf) },
    report: () => undefined,
  });
  const as = (person: string): Client => {
    const key = keys.get(person);
    if (key !== undefined && host.url !== null) return createClient({ url: host.url, key });
    throw new TerminalError('config_invalid', {
      message: `There is no person ${JSON.stringify(person)} on this host.`,
      hint: `Start it with createTestHost(app, { people: [${JSON.stringify(person)}] }).`,
    });
  };
  const close = async () => {
    await host.close();
    await rm(data, { recursive: true, force: true });
  };
  return { client: as(TESTER), as, close, [Symbol.asyncDispose]: close };
}

const keyOf = ([principal, key]: readonly [string, string]) => ({
  key,
  tenant: 'test',
  principal,
  scopes: [...scopes],
  toolScopes: ['tool:*'],
});
