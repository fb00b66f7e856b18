import { expect, test } from 'vitest';
import { campaign } from './campaign.ts';
import { generatedAttacks } from './generated.ts';
import { knownAttacks } from './known-attacks.ts';

/** Attacks that take seconds even when they are refused: npm run e2e:stall plays them. */
const slow =
  /^(loops|delays|copies|results|readers?|unread|definition|versions|recorded|inputs|connections|headers|pipelined|wrong|context|messages|artifact|flood|large)-|^peers-.*-(?!away)|^route-(?!getRun$)|^gen-(unread|loops|values)/;

test('a host survives quick attacks, and each ends with a documented code (npm run e2e:stall plays all)', async () => {
  const attacks = [...knownAttacks, ...generatedAttacks('stall.test', 30)].filter(({ name }) => !slow.test(name));
  const reports = await campaign({ attacks, bounds: null, done: () => undefined });
  expect(reports.filter(({ breaches }) => breaches.length > 0)).toEqual([]);
  expect(reports.length).toBeGreaterThan(30);
}, 60_000);
