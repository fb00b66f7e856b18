/** A host for the demo, with its data in a temporary folder. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, type ConfigInput, createHost } from '@cairn/host';
import { app } from './app.ts';
import { openForge } from './forge.ts';
import { forge } from './tools.ts';

export interface DemoHost {
  readonly url: string;
  readonly key: string;
  close(): Promise<void>;
}

/** What a host has besides the demo. Without `models`, agents only follow scripts. */
export interface DemoAdditions extends Partial<App> {
  readonly models?: ConfigInput['models'];
}

/** `pageUrl` is where browsers reach the host: the page passes their requests on. */
export async function startDemoHost(pageUrl: string, more: DemoAdditions = {}): Promise<DemoHost> {
  const key = randomBytes(24).toString('base64url');
  const [data, service] = await Promise.all([mkdtemp(join(tmpdir(), 'cairn-chat-')), openForge()]);
  forge.url = service.url;
  const host = await createHost({
    ...app,
    agents: [...app.agents, ...(more.agents ?? [])],
    tools: [...app.tools, ...(more.tools ?? [])],
    report: () => undefined,
    config: {
      port: 0,
      data,
      publicUrl: pageUrl,
      keys: [{ key, tenant: 'demo', principal: 'ada' }],
      defaultAgent: 'host:greeter',
      ...(more.models !== undefined && { models: more.models }),
      secrets: { forge: { value: service.clientSecret } },
      signIns: {
        forge: {
          kind: 'oauth2',
          authorizationEndpoint: `${service.url}/authorize`,
          tokenEndpoint: `${service.url}/token`,
          clientId: service.clientId,
          clientSecret: { secret: 'forge' },
        },
        ledger: { kind: 'api-key' },
      },
    },
  });
  return {
    url: host.url ?? '',
    key,
    async close() {
      await host.close();
      await service.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}
