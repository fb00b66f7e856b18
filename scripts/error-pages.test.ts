/** Keeps docs/errors and the closed list of codes the same: a code without a page helps nobody who meets it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorKinds } from '@cairn/protocol';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../docs/errors');
const page = (name: string): string => readFileSync(join(folder, `${name}.md`), 'utf8');

/** The sections of a page, in this order. */
const parts = ['What happened.', 'Why.', 'What to do.'];

test('every error code has a page, and every page has a code', () => {
  const pages = readdirSync(folder).filter((name) => name !== 'README.md');
  expect(pages.sort()).toEqual(
    Object.keys(errorKinds)
      .map((code) => `${code}.md`)
      .sort(),
  );
});

test.each(Object.entries(errorKinds))(
  'the page of %s states its status, its exit code and what to do',
  (code, kind) => {
    const text = page(code);
    expect(text).toMatch(new RegExp(`^# ${code}\n\nHTTP status ${kind.status}, exit code ${kind.exit}\\.\n`));
    expect([...text.matchAll(/^\*\*(.+?\.)\*\*\s+\S/gm)].map(([, part]) => part)).toEqual(parts);
    expect(page('README')).toContain(`| [${code}](${code}.md) | ${kind.status} | ${kind.exit} |`);
  },
);
