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
