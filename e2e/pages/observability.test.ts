import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { hostInstruments, type Instrument, runInstruments } from '../../packages/host/src/telemetry/instruments.ts';

const page = new URL('../../docs/reference/observability.md', import.meta.url);

const lineOf = ({ name, kind, unit, attributes, description }: Instrument): string =>
  `| \`${name}\` | ${kind} | \`${unit}\` | ${attributes.map((attribute) => `\`${attribute}\``).join(', ')} | ${description} |`;

test('the page lists every metric as it is measured, and no other', async () => {
  const text = await readFile(page, 'utf8');
  const listed = text.split('\n').filter((line) => /^\| `[a-z.]+` \| (counter|gauge|histogram) \|/.test(line));
  expect(listed).toEqual([...Object.values(runInstruments), ...Object.values(hostInstruments)].map(lineOf));
});
