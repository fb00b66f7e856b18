/** The published conformance suite of MCP against this host. The page lists what it does not pass, and why. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failingChecks } from './failing-checks.ts';
import { outcomesOf, revisions, servedToSuite } from './suite.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/mcp.md'), 'utf8');
const [, section = ''] = page.split('\n## Conformance\n');

/** The scenarios that a row of the page names; `tasks-*` stands for all that begin so. */
const listed = [...section.matchAll(/^\| (`.+?`) \| (.+?) \| .+ \|$/gm)].map(([, names = '', versions = '']) => ({
  names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  versions,
}));

const isListed = (scenario: string, revision: string): boolean =>
  listed.some(
    ({ names, versions }) =>
      (versions === 'both' || versions.includes(revision)) &&
      names.some((name) => (name.endsWith('*') ? scenario.startsWith(name.slice(0, -1)) : name === scenario)),
  );

let served: Awaited<ReturnType<typeof servedToSuite>>;
beforeAll(async () => {
  served = await servedToSuite();
});
afterAll(() => served?.close());

test.concurrent.each(revisions)('the page lists exactly the scenarios of %s that do not pass', async (revision) => {
  const outcomes = await outcomesOf(served.url, revision);
  expect(outcomes.length).toBeGreaterThan(30);
  const failed = outcomes.filter(({ failures }) => failures.length > 0);
  const unlisted = failed.filter(({ scenario }) => !isListed(scenario, revision));
  expect(unlisted).toEqual([]);
  const passed = outcomes.filter(({ failures }) => failures.length === 0).map(({ scenario }) => scenario);
  // One of the extension passes because it has nothing to check.
  expect(passed.filter((scenario) => isListed(scenario, revision))).toEqual(
    revision === '2026-07-28' ? ['tasks-status-notifications'] : [],
  );
  // Of a listed scenario, only these checks may fail.
  const found = failed.map(({ scenario, failures }) => [scenario, failures.map(({ id }) => id)]);
  expect(Object.fromEntries(found), JSON.stringify(failed, null, 2)).toEqual(failingChecks[revision]);
});
