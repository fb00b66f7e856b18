/** The files of `deploy/` run the commands that the cluster test runs, with the same secrets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../packages/host/src/server/config/config.ts';
import { migrateCommand, startCommand } from './node-process.ts';

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8');

const CONFIG = '/etc/cairn/cairn.json';
const start = startCommand(CONFIG);

test('the image, the compose file and the unit start a node as the cluster test does', () => {
  expect(JSON.parse(/^CMD (.*)$/m.exec(read('Dockerfile'))?.[1] ?? '')).toEqual(start);
  const commands = [...read('compose.yaml').matchAll(/^ +command: (.*)$/gm)].map(([, text = '']) =>
    text.replaceAll("'", '"'),
  );
  expect(commands.map((text) => JSON.parse(text))).toEqual([migrateCommand(CONFIG), start]);
  expect(/^ExecStart=(.*)$/m.exec(read('cairn.service'))?.[1]).toBe(`/usr/local/bin/${start.join(' ')}`);
});

test('the configuration takes its secrets from the variables that compose file and unit name', () => {
  const variables = ['CAIRN_STORE', 'CAIRN_MASTER_KEY', 'CAIRN_KEY'];
  const key = 'k7Q2xV9mB4tRz6LwYd3HpA1s';
  const env = { CAIRN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'), CAIRN_KEY: key };
  const config = parseConfig(JSON.parse(read('cairn.json')), 'cairn.json', env);
  expect(config).toMatchObject({ leaseMs: 10_000, keys: [{ tenant: 'main' }] });
  expect(config.masterKey).toBeDefined();
  for (const variable of variables) {
    expect(read('compose.yaml')).toContain(`${variable}: `);
    expect(read('cairn.service')).toContain(variable);
  }
});

test('the proxy repeats a request that a node may have carried out only under an Idempotency-Key', () => {
  const [, ...locations] = read('nginx.conf').split(/^ {4}location /m);
  const repeating = locations.filter((text) => text.includes('non_idempotent'));
  expect([locations.length, repeating.length]).toEqual([2, 1]);
  expect(repeating[0]).toMatch(/^@repeatable /);
  expect(locations[0]).toContain('error_page 418 = @repeatable;\n      if ($is_repeatable) { return 418; }');
  expect(read('nginx.conf')).toMatch(/map \$http_idempotency_key \$is_repeatable \{\s+'' +0;\s+default 1;/);
});

test('the database counts as ready once nodes can reach it', () => {
  expect(read('compose.yaml')).toMatch(/pg_isready', '-h', '127\.0\.0\.1'/);
});
