/** Types the commands of `docs/operate/backup-and-restore.md`, on a data folder and on a real PostgreSQL. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { moveToPostgres } from '../../packages/host/src/log/copy/move.ts';
import { freshDatabase } from '../../packages/host/src/log/postgres/server.kit.ts';
import { sampleFolder } from '../../packages/host/src/log/sqlite/verify/damaged-folder.kit.ts';
import { onDatabase } from '../campaign-store.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operate/backup-and-restore.md'), 'utf8');

/** The command lines of the page before or after its heading about PostgreSQL. */
const commands = (part: string): readonly string[] => part.match(/^cairn .*$/gm) ?? [];
const [ofFolder = '', ofDatabase = ''] = page.split('## On PostgreSQL');

async function follow(lines: readonly string[], names: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  let said = '';
  for (const line of lines) {
    const [, ...words] = line.split(' ').map((word) => names[word] ?? word);
    const { code, out, err } = await typed(words, { cwd });
    expect([line, code, err]).toEqual([line, 0, err]);
    said = out;
  }
  return said;
}

test('a data folder is backed up, checked and restored as the page says', { timeout: 120_000 }, async () => {
  const folder = await sampleFolder();
  const cwd = dirname(folder);
  const place = (name: string): string => `${relative(cwd, folder)}/${name}`;
  const names = { './data': folder, 'monday.cairn': place('monday.cairn'), './restored': place('restored') };
  expect(commands(ofFolder)).toHaveLength(3);
  expect(await follow(commands(ofFolder), names, cwd)).toContain('runs: 2, events: 12');
  expect(await typed(['verify', '--data', join(folder, 'restored')])).toMatchObject({ code: 0 });
});

test('a database is backed up, checked and restored as the page says', { timeout: 120_000 }, async () => {
  const folder = await sampleFolder();
  const [url, restored] = [await freshDatabase(), await freshDatabase()];
  await onDatabase(url, (database) => moveToPostgres({ folder, database }));
  const names = {
    'postgres://cairn@db.example.org/cairn': url,
    'postgres://cairn@db.example.org/restored': restored,
  };
  expect(commands(ofDatabase)).toHaveLength(3);
  expect(await follow(commands(ofDatabase), names, folder)).toContain('runs: 2, events: 12');
  expect(await typed(['verify', '--store', restored])).toMatchObject({ code: 0 });
});
