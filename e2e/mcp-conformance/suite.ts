/** Runs the published conformance suite of MCP against a host in conformance mode, and tells which scenarios fail. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as forwarded } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mcpWorkflows } from '../../packages/host/src/conformance/mcp-fixtures.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { portOf } from '../../packages/host/test/kit/port-of.ts';

export const revisions = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof revisions)[number];

const key = 'a-key-for-the-conformance-suite';

/** The suite knows no keys, so that it speaks with the host through a proxy that adds one. */
async function proxied(url: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const onward = forwarded(
      { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${key}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}/v1/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A host with what the suite expects of a server. */
export async function servedToSuite() {
  const host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't', principal: 'suite' }], conformance: true },
    workflows: mcpWorkflows,
    report: () => undefined,
  });
  const proxy = await proxied(host.url ?? '');
  const close = async () => {
    await proxy.close();
    await host.close();
  };
  return { url: proxy.url, close };
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

export interface Outcome {
  readonly scenario: string;
  /** The checks that failed; empty if it passed. */
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly id: string;
  readonly message: string;
}

/** One scenario, or all that the revision requires. */
export async function outcomesOf(url: string, revision: Revision, scenario?: string): Promise<readonly Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-mcp-suite-'));
  const bin = join(
    dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
    'dist/index.js',
  );
  const what = scenario === undefined ? ['--requirements', revision] : ['--scenario', scenario];
  const version = scenario === undefined ? [] : ['--spec-version', revision];
  try {
    // It ends with an error if a scenario failed.
    await new Promise<void>((resolve) => {
      execFile(
        process.execPath,
        [bin, 'server', '--url', url, ...what, ...version, '-o', folder],
        { maxBuffer: 2e8 },
        () => resolve(),
      );
    });
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('checks.json'))
      .map((path) => outcomeIn(folder, path))
      .sort((a, b) => (a.scenario < b.scenario ? -1 : 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outcomeIn(folder: string, path: string): Outcome {
  const checks: readonly Check[] = JSON.parse(readFileSync(join(folder, path), 'utf8'));
  const [, scenario = path] = /server-(.+)-\d{4}-\d\d-\d\dT/.exec(path) ?? [];
  const failed = checks.filter(({ status }) => status === 'FAILURE');
  return { scenario, failures: failed.map(({ id, errorMessage = '' }) => ({ id, message: errorMessage })) };
}
