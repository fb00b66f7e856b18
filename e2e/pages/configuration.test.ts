/** Keeps the configuration page and the JSON Schema of the file true: both are made from the shape the host checks with. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parseConfig } from '../../packages/host/src/server/config/config.ts';
import { configJsonSchema } from '../../packages/host/src/server/config/json-schema.ts';
import { configShape } from '../../packages/host/src/server/config/shape.ts';
import { configurationPage, flags } from './configuration-page.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/configuration.md'), 'utf8');
const schemaFile = readFileSync(join(root, 'packages/host/cairn.schema.json'), 'utf8');

const env = {
  CAIRN_KEY: 'a-key-of-some-length',
  ACME_KEY: 'another-key-of-some-length',
  COLLECTOR_TOKEN: 'a token of the collector',
};

/** Every block of JSON on the page. */
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => JSON.parse(text) as object);

test('the page is fresh (npm run docs:configuration)', () => {
  expect(page).toBe(configurationPage());
});

test('the JSON Schema is fresh (npm run docs:configuration)', () => {
  expect(JSON.parse(schemaFile)).toEqual(configJsonSchema());
});

test('every key has an example', () => {
  for (const [key, schema] of Object.entries(configShape.shape)) {
    expect([key, (schema.meta()?.examples as readonly unknown[] | undefined)?.length ?? 0]).not.toEqual([key, 0]);
  }
});

test('the examples are configurations that the host and the JSON Schema take', () => {
  const accepts = new Ajv2020({ strict: true, strictRequired: false, formats: { uri: true } }).compile(
    configJsonSchema(),
  );
  const named = ['collector', 'search', 'acme-openai-key', 'github'];
  const secrets = Object.fromEntries(named.map((name) => [name, { value: `value-of-${name}` }]));
  const models = { providers: { openai: { kind: 'openai' } } };
  expect(examples.length).toBeGreaterThan(15);
  for (const { masterKey: _, ...example } of examples as Readonly<Record<string, unknown>>[]) {
    expect(() => parseConfig({ secrets, models, ...example }, 'page', env)).not.toThrow();
  }
  const top = Object.entries(configShape.shape).flatMap(([key, schema]) =>
    ((schema.meta()?.examples ?? []) as readonly unknown[]).map((example) => ({ [key]: example })),
  );
  for (const example of [...examples, ...top])
    expect([example, accepts(example), accepts.errors]).toEqual([example, true, null]);
});

test('the JSON Schema refuses what the host refuses', () => {
  const accepts = new Ajv2020({ strict: true, strictRequired: false, formats: { uri: true } }).compile(
    configJsonSchema(),
  );
  const wrong = [
    { prot: 1 },
    { port: 70_000 },
    { keys: [{ tenant: 'a' }] },
    { keys: [{ key: 'sixteen-characters', keyEnv: 'K', tenant: 'a' }] },
    { secrets: { a: { env: 'A', value: 'b' } } },
    { masterKey: { value: 'x' } },
    { packs: 'folder' },
    { limits: { maxNodeExecution: 1 } },
    { jwt: { issuer: 'i', audience: 'a', jwksUrl: 'https://id.example.org/jwks', algorithms: ['HS256'] } },
  ];
  for (const config of wrong) {
    expect([config, accepts(config)]).toEqual([config, false]);
    expect(() => parseConfig(config, 'page', env)).toThrow('page');
  }
});

test('the flags that the page names are those of the command', () => {
  const help = execFileSync(process.execPath, [join(root, 'packages/host/bin/cairn.mjs'), 'start', '--help'], {
    encoding: 'utf8',
  });
  for (const flag of Object.values(flags)) expect(help).toContain(`${flag} <`);
});

test('the JSON Schema ships with the package, under the name that the page gives', () => {
  const { exports, files } = JSON.parse(readFileSync(join(root, 'packages/host/package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, unknown>>;
    readonly files: readonly string[];
  };
  expect(exports['./cairn.schema.json']).toBe('./cairn.schema.json');
  expect(files).toContain('cairn.schema.json');
  expect(page).toContain('node_modules/@cairn/host/cairn.schema.json');
});
