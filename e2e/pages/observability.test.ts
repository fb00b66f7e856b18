import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { operatorEvents } from '../../packages/host/src/engine/operator-events.ts';
import { hostInstruments, type Instrument, runInstruments } from '../../packages/host/src/telemetry/instruments.ts';

const page = new URL('../../docs/reference/observability.md', import.meta.url);

const lineOf = ({ name, kind, unit, attributes, description }: Instrument): string =>
  `| \`${name}\` | ${kind} | \`${unit}\` | ${attributes.map((attribute) => `\`${attribute}\``).join(', ')} | ${description} |`;

test('the page lists every metric as it is measured, and no other', async () => {
  const text = await readFile(page, 'utf8');
  const listed = text.split('\n').filter((line) => /^\| `[a-z_.]+` \| (counter|gauge|histogram) \|/.test(line));
  expect(listed).toEqual([...Object.values(runInstruments), ...Object.values(hostInstruments)].map(lineOf));
});

test('the page lists every log message with its sentence and level as the code has them, and no other', async () => {
  const text = await readFile(page, 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z0-9_.]+)` \| (info|warn|error) \| .* \| (.*) \|$/gm)];
  expect(rows.map(([, event, , sentence]) => [event, sentence])).toEqual(Object.entries(operatorEvents));
  const levels = rows.map(([, event, level]) => `${event} ${level}`).sort();
  expect(levels).toEqual([...(await reportedLevels())].sort());
});

/** Every place in the host that reports an event names its level right before it. */
async function reportedLevels(): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const folder = new URL('../../packages/host/src/', import.meta.url);
  for await (const file of glob('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts'] })) {
    const source = await readFile(new URL(file, folder), 'utf8');
    const named = source.matchAll(/'(info|warn|error)',\s+(?:event: )?'([a-z0-9_]+\.[a-z_]+)'/g);
    for (const [, level, event] of named) found.add(`${event} ${level}`);
  }
  return found;
}
